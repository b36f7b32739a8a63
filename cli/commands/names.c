/* names.c - `names WHAT`: what a shell completes with, from the running instance; nothing where none runs. */
// SPDX-License-Identifier: Apache-2.0
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "cli/commands/command.h"
#include "cli/instance/ctl.h"
#include "cli/view/json.h"

#define ASK_MS  2000
#define ACTIONS 20

#define HISTORY(n)                                                                                           \
	{                                                                                                    \
		.type = MSG_CTL_HISTORY,                                                                     \
		.u.ctl_history = { .limit = (n), .duty = DUTY_ALL, .outcomes = OUTCOMES_ALL },               \
	}

static const struct row {
	const char *what;
	struct msg request;
	enum msg_type type; /* of the messages that are printed */
	const char *member; /* of their JSON */
} rows[] = {
	{ "clusters", { .type = MSG_CTL_STATUS }, MSG_CTL_CLUSTER, "cluster" },
	{ "sinks", { .type = MSG_CTL_SINKS }, MSG_CTL_SINK_ROW, "name" },
	{ "actions", HISTORY(ACTIONS), MSG_CTL_HISTORY_ROW, "id" },
	{ "namespaces", HISTORY(500), MSG_CTL_HISTORY_ROW, "namespace" },
};

static void print_name(void *ctx, const struct msg *m)
{
	const struct row *row = ctx;

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
	for (size_t i = 0; o->n_args == 1 && i < ARRAY_SIZE(rows); i++) {
		struct row row = rows[i];

		if (strcmp(o->args[0], row.what) == 0)
			return ctl_ask(o->socket, &row.request, ASK_MS, print_name, &row);
	}
	return EXIT_CODE_USAGE;
}
