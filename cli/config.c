/* config.c - `config check|print|help`: what config/ knows, for people. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/exit.h"
#include "cli/command.h"
#include "config/config_print.h"
#include "config/diag.h"

static int print_effective(const char *path)
{
	struct config c;
	struct diags d = { 0 };

	config_init(&c);
	const int r = config_load(path, &c, &d);

	for (size_t i = 0; i < d.n; i++)
		(void)fprintf(stderr, "%s\n", d.v[i].text);
	if (r == 0)
		config_print_effective(&c, stdout);
	diags_done(&d);
	config_done(&c);
	return r < 0 ? EXIT_CODE_CONFIG : EXIT_CODE_OK;
}

int command_config(const struct options *o)
{
	const char *verb = o->n_args > 0 ? o->args[0] : "";

	if (o->n_args == 1 && strcmp(verb, "help") == 0) {
		config_print_help(stdout);
		return EXIT_CODE_OK;
	}
	if (o->n_args == 2 && strcmp(verb, "check") == 0)
		return config_check(o->args[1], stdout);
	if (o->n_args == 2 && strcmp(verb, "print") == 0)
		return print_effective(o->args[1]);
	return command_misuse(o, "needs `check FILE`, `print FILE` or `help`");
}
