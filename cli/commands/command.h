/* command.h - the commands of ops-pod-cleaner: one row each in the table of commands.c, one function each in
 * its file. Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_COMMANDS_COMMAND_H
#define CLI_COMMANDS_COMMAND_H

#include "cli/options.h"

struct command {
	const char *name;
	const char *usage;                      /* arguments, as printed behind the name */
	const char *summary;                    /* one line */
	struct option_use options[OPTIONS_MAX]; /* the last one is zero */
	const char *notes;                      /* printed behind the options, NULL = none */
	size_t max_args;                        /* of what is no option */
	bool one_dash;                          /* long options may begin with one dash */
	bool hidden;                            /* from the list of commands */
	/* Returns the exit code (base/exit.h). */
	int (*run)(const struct options *o);
};

int command_run(const struct options *o);
int command_status(const struct options *o);
int command_history(const struct options *o);
int command_explain(const struct options *o);
int command_plan(const struct options *o);
int command_pause(const struct options *o); /* and resume */
int command_show(const struct options *o);
int command_report(const struct options *o);
int command_restore(const struct options *o);
int command_config(const struct options *o);
int command_completion(const struct options *o);
int command_names(const struct options *o);
int command_cron(const struct options *o);
int command_rbac(const struct options *o);
int command_probe(const struct options *o); /* test builds */

/* The rows of the table, NULL behind the last. */
const struct command *command_at(size_t i);
/* Print "ops-pod-cleaner NAME: text" and a pointer to --help on stderr; returns EXIT_CODE_USAGE. */
int command_misuse(const struct options *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* End a line with the number of things that are due and not done, then print them. A dry run prints what
 * would be done, and leaves none. Returns the exit code of asking (plan.c). */
int plan_print_left(const struct options *o, const char *socket, size_t *ret_left);

#endif
