/* completion.c - `completion`: scripts that complete the command line, from the tables that print help and
 * the templates of text/templates/completion. Sources: bash(1), Programmable Completion; zshcompsys(1),
 * _arguments; fish complete(1). */
// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/commands/command.h"
#include "cli/instance/ctl.h"
#include "cli/view/json.h"
#include "cli/view/output.h"

/* What of the running instance completes an option (command_names()); "" nothing. */
static const char *live_of_option(enum option_id id)
{
	static const struct {
		enum option_id id;
		const char *what;
	} rows[] = { { OPTION_CLUSTER, "clusters" },
		     { OPTION_NAMESPACE, "namespaces" },
		     { OPTION_SINK, "sinks" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].id == id)
			return rows[i].what;
	return "";
}

/* The names that may be written for an option, behind *words. */
static void append_values(char **words, enum option_id id)
{
	const char *value;

	for (int i = 0; (value = option_value_at(id, i)); i++)
		xappend(words, " ", value);
}

static json_t *option_values(enum option_id id, const char *help)
{
	const struct option_desc *d = option_desc(id);
	const bool path = d->argument && strstr("FILE PATH DIR", d->argument);
	const char letter[] = { d->letter, '\0' };
	_cleanup_free_ char *values = NULL;

	append_values(&values, id);
	return json_pack("{s:s, s:s, s:s, s:b, s:s, s:s, s:b, s:s}", "option", d->name, "letter", letter,
			 "argument", d->argument ? d->argument : "", "path", path, "values",
			 values ? values : "", "live", live_of_option(id), "contexts", id == OPTION_CONTEXT,
			 "help", help);
}

/* Does an argument stand for a file? Behind an option it completes as the option does. */
static bool takes_file(const char *usage)
{
	const char *file = strstr(usage, " FILE");

	return file && file - usage > 2 && file[-2] != '-';
}

/* The words of a command's usage that stand for themselves: "check FILE | print FILE" -> "check print"; in
 * the place of DUTY every duty. Owned by the caller; NULL: there are none. */
static char *words_of(const char *usage)
{
	_cleanup_free_ char *copy = xstrdup(usage);
	char *words = NULL, *rest = copy;

	for (char *word; (word = strsep(&rest, " |[]/"));)
		if (strcmp(word, "DUTY") == 0)
			append_values(&words, OPTION_DUTY);
		else if (word[0] >= 'a' && word[0] <= 'z' && word[1] && strcmp(word, "options") != 0)
			xappend(&words, " ", word);
	return words;
}

static json_t *command_values(const struct command *c)
{
	_cleanup_free_ char *words = words_of(c->usage);
	json_t *options = json_array();

	for (const struct option_use *use = c->options; use->help; use++)
		json_array_append_new(options, option_values(use->id, use->help));
	return json_pack("{s:s, s:s, s:s, s:b, s:b, s:o}", "command", c->name, "summary", c->summary, "words",
			 words ? words : "", "actions", strstr(c->usage, "ID") != NULL, "files",
			 takes_file(c->usage), "options", options);
}

static json_t *values_of_all(void)
{
	json_t *commands = json_array();
	const struct command *c;

	for (size_t i = 0; (c = command_at(i)); i++)
		if (!c->hidden)
			json_array_append_new(commands, command_values(c));
	return json_pack("{s:o}", "commands", commands);
}

int command_completion(const struct options *o)
{
	static const char *const shells[][2] = { { "bash", "" }, { "zsh", "[]:" }, { "fish", "" } };

	for (size_t i = 0; o->n_args == 1 && i < ARRAY_SIZE(shells); i++)
		if (strcmp(o->args[0], shells[i][0]) == 0) {
			_cleanup_free_ char *name = xconcat("completion/", shells[i][0], NULL);

			output_template(name, shells[i][1], values_of_all());
			return EXIT_CODE_OK;
		}
	return command_misuse(o, "%s", TEXT(COMPLETION_NEEDS));
}

/* -- `names WHAT`: what a shell completes with, from the running instance; nothing where none runs -- */

#define ASK_MS  2000
#define ACTIONS 20

#define HISTORY(n)                                                                                           \
	{                                                                                                    \
		.type = MSG_CTL_HISTORY,                                                                     \
		.u.ctl_history = { .limit = (n), .duty = DUTY_ALL, .outcomes = OUTCOMES_ALL },               \
	}

static const struct names_row {
	const char *what;
	struct msg request;
	enum msg_type type; /* of the messages that are printed */
	const char *member; /* of their JSON */
} names_rows[] = {
	{ "clusters", { .type = MSG_CTL_STATUS }, MSG_CTL_CLUSTER, "cluster" },
	{ "sinks", { .type = MSG_CTL_SINKS }, MSG_CTL_SINK_ROW, "name" },
	{ "actions", HISTORY(ACTIONS), MSG_CTL_HISTORY_ROW, "id" },
	{ "namespaces", HISTORY(500), MSG_CTL_HISTORY_ROW, "namespace" },
};

static void print_name(void *ctx, const struct msg *m)
{
	const struct names_row *row = ctx;

	if (m->type != row->type)
		return;
	json_auto_t *message = json_of(m->type, &m->u);
	const json_t *name = json_object_get(message, row->member);

	if (json_is_integer(name))
		printf("%" JSON_INTEGER_FORMAT "\n", json_integer_value(name));
	else
		printf("%s\n", json_string_value(name));
}

int command_names(const struct options *o)
{
	for (size_t i = 0; o->n_args == 1 && i < ARRAY_SIZE(names_rows); i++) {
		struct names_row row = names_rows[i];

		if (strcmp(o->args[0], row.what) == 0)
			return ctl_ask(o->socket, &row.request, ASK_MS, print_name, &row);
	}
	return EXIT_CODE_USAGE;
}
