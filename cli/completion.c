/* completion.c - `completion`: scripts that complete the command line, from the tables that print help.
 * Sources: bash(1), Programmable Completion; zshcompsys(1), _arguments; fish complete(1). */
// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "cli/command.h"
#include "cli/output.h"

/* Does the option name a file or folder? */
static bool is_path(const struct option_shape *s)
{
	static const char *const names[] = { "FILE", "PATH", "DIR" };

	for (size_t i = 0; s->argument && i < ARRAY_SIZE(names); i++)
		if (strcmp(s->argument, names[i]) == 0)
			return true;
	return false;
}

/* In single quotes of a shell; the characters of `also` are escaped by a backslash, too. */
static void print_quoted(const char *text, const char *also)
{
	for (; *text; text++)
		if (*text == '\'')
			printf("'\\''");
		else
			printf("%s%c", strchr(also, *text) ? "\\" : "", *text);
}

static void print_values(const struct option_shape *s)
{
	const char *value;

	for (int i = 0; s->value_at && (value = s->value_at(i)); i++)
		printf("%s%s", i ? " " : "", value);
}

static const struct command *shown_at(size_t *i)
{
	const struct command *c;

	while ((c = command_at((*i)++)))
		if (!c->hidden)
			return c;
	return NULL;
}

/* The words of a command's usage that stand for themselves: "check FILE | print FILE" -> check, print. */
static void print_words(const char *usage)
{
	for (size_t n; *usage; usage += n) {
		usage += strspn(usage, " |[]/");
		n = strcspn(usage, " |[]/");
		if (n > 1 && usage[0] >= 'a' && usage[0] <= 'z' && strncmp(usage, "options", n) != 0)
			printf(" %.*s", (int)n, usage);
	}
}

/* -- bash -- */

static void bash_values(void)
{
	for (int id = 0; id < OPTION__MAX; id++) {
		const struct option_shape s = options_shape((enum option_id)id);

		if (!s.argument)
			continue;
		printf("\t--%s", s.name);
		if (s.letter)
			printf("|-%c", s.letter);
		printf(") COMPREPLY=($(compgen %s\"", is_path(&s) ? "-f -W " : "-W ");
		print_values(&s);
		printf("\" -- \"$cur\")); return ;;\n");
	}
}

static void bash(void)
{
	const struct command *c;

	printf("_ops_pod_cleaner() {\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
	       "\tcase $prev in\n");
	bash_values();
	printf("\tesac\n\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\twords='");
	for (size_t i = 0; (c = shown_at(&i));)
		printf("%s ", c->name);
	printf("--help'\n\telse\n\t\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; (c = shown_at(&i));) {
		printf("\t\t%s) words='--help", c->name);
		print_words(c->usage);
		for (const struct option_use *use = c->options; use->help; use++)
			printf(" --%s", options_shape(use->id).name);
		printf("' ;;\n");
	}
	printf("\t\tesac\n\tfi\n"
	       "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	       "}\n"
	       "complete -o default -F _ops_pod_cleaner ops-pod-cleaner\n");
}

/* -- zsh -- */

static void zsh_option(const struct option_use *use)
{
	const struct option_shape s = options_shape(use->id);

	printf(" \\\n\t\t\t'--%s[", s.name);
	print_quoted(use->help, "[]:");
	printf("]");
	if (s.argument)
		printf(":%s:%s", s.argument, is_path(&s) ? "_files" : "");
	if (s.value_at) {
		printf("(");
		print_values(&s);
		printf(")");
	}
	printf("'");
}

static void zsh(void)
{
	const struct command *c;

	printf("#compdef ops-pod-cleaner\n\nlocal -a commands\ncommands=(\n");
	for (size_t i = 0; (c = shown_at(&i));) {
		printf("\t'%s:", c->name);
		print_quoted(c->summary, ":");
		printf("'\n");
	}
	printf(")\nif (( CURRENT == 2 )); then\n\t_describe command commands\nelse\n\tcase $words[2] in\n");
	for (size_t i = 0; (c = shown_at(&i));) {
		printf("\t%s) _arguments -s '--help[list the options]'", c->name);
		for (const struct option_use *use = c->options; use->help; use++)
			zsh_option(use);
		printf(" \\\n\t\t\t'*:argument:_default' ;;\n");
	}
	printf("\tesac\nfi\n");
}

/* -- fish -- */

static void fish_option(const struct command *c, const struct option_use *use)
{
	const struct option_shape s = options_shape(use->id);

	printf("complete -c ops-pod-cleaner -n '__fish_seen_subcommand_from %s' -l %s", c->name, s.name);
	if (s.letter)
		printf(" -s %c", s.letter);
	if (s.argument)
		printf(" %s", is_path(&s) ? "-rF" : "-x");
	if (s.value_at) {
		printf(" -a '");
		print_values(&s);
		printf("'");
	}
	printf(" -d '");
	print_quoted(use->help, "");
	printf("'\n");
}

static void fish(void)
{
	const struct command *c;

	for (size_t i = 0; (c = shown_at(&i));) {
		printf("complete -c ops-pod-cleaner -n __fish_use_subcommand -f -a %s -d '", c->name);
		print_quoted(c->summary, "");
		printf("'\n");
		for (const struct option_use *use = c->options; use->help; use++)
			fish_option(c, use);
	}
}

int command_completion(const struct options *o)
{
	static const struct {
		const char *shell;
		void (*print)(void);
	} shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

	for (size_t i = 0; o->n_args == 1 && i < ARRAY_SIZE(shells); i++)
		if (strcmp(o->args[0], shells[i].shell) == 0) {
			shells[i].print();
			return EXIT_CODE_OK;
		}
	return command_misuse(o, "%s", TEXT(COMPLETION_NEEDS));
}
