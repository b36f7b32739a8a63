/* command.h - the commands of ops-pod-cleaner: one row each in main.c's table.
 * Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct command {
	const char *name;    /* one word, or two: "config check" */
	const char *usage;   /* arguments, as printed behind the name */
	const char *summary; /* one line */
	const char *help;    /* the options, ready to print */
	/* argv[0] is the command's last word. Returns the exit code (base/exit.h). */
	int (*run)(const struct command *self, int argc, char **argv);
	bool hidden;
};

int command_run(const struct command *self, int argc, char **argv);
int command_status(const struct command *self, int argc, char **argv);
int command_history(const struct command *self, int argc, char **argv);
int command_explain(const struct command *self, int argc, char **argv);
int command_plan(const struct command *self, int argc, char **argv);
int command_pause(const struct command *self, int argc, char **argv); /* and resume */
int command_show(const struct command *self, int argc, char **argv);
int command_restore(const struct command *self, int argc, char **argv);
int command_undo(const struct command *self, int argc, char **argv);
int command_man(const struct command *self, int argc, char **argv);
int command_reload(const struct command *self, int argc, char **argv);
int command_probe(const struct command *self, int argc, char **argv);
int command_config(const struct command *self, int argc, char **argv);
int command_cron(const struct command *self, int argc, char **argv);
int command_version(const struct command *self, int argc, char **argv);

/* The rows of the table, NULL behind the last. */
const struct command *command_at(size_t i);
/* Print help for one command to stdout and return EXIT_CODE_OK. */
int command_help(const struct command *self);
/* Print "ops-pod-cleaner NAME: text" and a pointer to --help on stderr; returns EXIT_CODE_USAGE. */
int command_misuse(const struct command *self, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

enum output { OUTPUT_TABLE, OUTPUT_WIDE, OUTPUT_JSON };
/* "table", "wide", "json" -> enum output, or -1. */
int output_parse(const char *name);

#endif
