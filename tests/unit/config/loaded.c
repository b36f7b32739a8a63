/* loaded.c - see loaded.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/config/loaded.h"

#include <string.h>

struct config config;
struct diags diags;

void loaded_setup(void)
{
	config_init(&config);
}

void loaded_teardown(void)
{
	config_done(&config);
	diags_done(&diags);
}

int load(const char *text)
{
	return config_load_text("f", text, strlen(text), &config, &diags);
}

char *printed(void (*print)(const struct config *, FILE *), const struct config *c)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	print(c, f);
	(void)fclose(f);
	return text;
}
