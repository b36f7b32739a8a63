/* fuzz_yaml.c - any bytes as a configuration file. Property: an error is told, or what is in force, printed,
 * reads back as the same again. */
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_print.h"
#include "config/diag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *effective(const struct config *c)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	config_print_effective(c, f);
	(void)fclose(f);
	return text;
}

static int load(const char *text, size_t n, struct config *c)
{
	struct diags d = { 0 };

	config_init(c);
	const int r = config_load_text("f", text, n, c, &d);

	if ((r < 0) != (d.errors > 0))
		abort();
	diags_done(&d);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config c, back;

	if (load((const char *)data, size, &c) == 0 && !c.settings.api_url && !c.settings.api_secret) {
		char *first = effective(&c);

		if (load(first, strlen(first), &back) < 0)
			abort();
		char *second = effective(&back);

		if (strcmp(first, second) != 0)
			abort();
		free(first);
		free(second);
		config_done(&back);
	}
	config_done(&c);
	return 0;
}
