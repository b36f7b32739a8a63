/* names.c - `names WHAT`: what a shell completes with, from the running instance; nothing where none runs. */
// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "cli/commands/command.h"
#include "cli/instance/ctl.h"

#define ASK_MS  2000
#define ACTIONS 20

static void print_cluster(void *ctx, const struct msg *m)
{
	(void)ctx;
	if (m->type == MSG_CTL_CLUSTER)
		printf("%s\n", msg_cluster_name(m));
}

static void print_sink(void *ctx, const struct msg *m)
{
	(void)ctx;
	if (m->type == MSG_CTL_SINK_ROW)
		printf("%s\n", m->u.ctl_sink_row.name);
}

static void print_action(void *ctx, const struct msg *m)
{
	(void)ctx;
	if (m->type == MSG_CTL_HISTORY_ROW)
		printf("%" PRIu64 "\n", m->u.ctl_history_row.id);
}

static void print_namespace(void *ctx, const struct msg *m)
{
	(void)ctx;
	if (m->type == MSG_CTL_HISTORY_ROW)
		printf("%s\n", m->u.ctl_history_row.ns);
}

#define HISTORY(n)                                                                                           \
	{                                                                                                    \
		.type = MSG_CTL_HISTORY,                                                                     \
		.u.ctl_history = { .limit = (n), .duty = DUTY_ALL, .outcomes = OUTCOMES_ALL },               \
	}

static const struct {
	const char *what;
	struct msg request;
	void (*print)(void *ctx, const struct msg *m);
} rows[] = {
	{ "clusters", { .type = MSG_CTL_STATUS }, print_cluster },
	{ "sinks", { .type = MSG_CTL_SINKS }, print_sink },
	{ "actions", HISTORY(ACTIONS), print_action },
	{ "namespaces", HISTORY(500), print_namespace },
};

int command_names(const struct options *o)
{
	for (size_t i = 0; o->n_args == 1 && i < ARRAY_SIZE(rows); i++)
		if (strcmp(o->args[0], rows[i].what) == 0)
			return ctl_ask(o->socket, &rows[i].request, ASK_MS, rows[i].print, NULL);
	return EXIT_CODE_USAGE;
}
