/* pause.c - `pause` and `resume`. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "cli/commands/command.h"
#include "cli/instance/ctl.h"
#include "cli/view/output.h"
#include "cli/view/json.h"
#include "model/duties.h"

/* Each argument is a duty or else a cluster; an empty one, as of a variable that is not set, is not all of
 * them. Exit code. */
static int take_arguments(const struct options *o, struct msg *request)
{
	struct msg_ctl_pause *p = &request->u.ctl_pause;

	for (size_t i = 0; i < o->n_args; i++) {
		const int duty = duty_parse(STR_C(o->args[i]));
		const size_t n = strlen(o->args[i]);

		if (duty >= 0 && !duty_acts((enum duty)duty))
			return command_misuse(o, TEXT(PAUSE_ONLY_REPORTS), o->args[i]);
		if ((duty >= 0 ? p->duty >= 0 : p->cluster_name[0] != '\0') || n == 0 || n > 63)
			return command_misuse(o, "%s", TEXT(PAUSE_TAKES));
		if (duty >= 0)
			p->duty = duty;
		else
			msg_set(request, ctl_pause.cluster_name, o->args[i], n);
	}
	return EXIT_CODE_OK;
}

static void print_text(const struct msg_ctl_pause *p, const struct table_view *view)
{
	_cleanup_free_ char *clusters = output_clusters(p->cluster_name);
	char until[RFC3339_MAX];

	output_time(view, p->until, until);
	if (p->on)
		table_text(stdout, view, TEXT(PAUSE_ON), output_duties(p->duty), clusters,
			   p->until ? until : TEXT(UNTIL_RESUMED));
	else
		table_text(stdout, view, TEXT(PAUSE_OFF), output_duties(p->duty), clusters);
}

/* The pauses that `resume` left in force and that cover a part of what it named. */
struct remaining {
	struct msg_pause *v;
	size_t n;
};

static void add_remaining(void *ctx, const struct msg *m)
{
	struct remaining *r = ctx;

	if (m->type != MSG_PAUSE)
		return;
	r->v = xreallocarray(r->v, r->n + 1, sizeof(*r->v));
	r->v[r->n++] = m->u.pause;
}

static void print_json(const struct msg_ctl_pause *p, const struct remaining *r)
{
	json_t *root = json_of(MSG_CTL_PAUSE, p), *pauses = json_array();

	for (size_t i = 0; i < r->n; i++)
		(void)json_array_append_new(pauses, json_of(MSG_PAUSE, &r->v[i]));
	if (p->on)
		json_decref(pauses);
	else
		(void)json_object_set_new(root, "pauses", pauses);
	output_json(root);
}

int command_pause(const struct options *o)
{
	struct msg request = { .type = MSG_CTL_PAUSE, .u.ctl_pause = { .duty = -1 } };
	const struct table_view view = options_view(o);
	struct msg_ctl_pause *p = &request.u.ctl_pause;

	int code = take_arguments(o, &request);

	if (code != EXIT_CODE_OK)
		return code;
	p->on = strcmp(o->command, "pause") == 0;
	p->until = o->for_ms ? clock_wall_ms() + o->for_ms : 0;
	if (o->reason)
		facts_quoted(&p->why, FACT_WHY, STR_C(o->reason));
	const char *name = ctl_operator();

	msg_set(&request, ctl_pause.by, name, strlen(name));
	struct remaining remaining = { 0 };

	code = ctl_ask(o->socket, &request, 20000, add_remaining, &remaining);
	if (code == EXIT_CODE_OK && o->output == OUTPUT_JSON) {
		print_json(p, &remaining);
	} else if (code == EXIT_CODE_OK) {
		print_text(p, &view);
		for (size_t i = 0; i < remaining.n; i++)
			output_pause(&remaining.v[i], &view);
	}
	free(remaining.v);
	return code;
}
