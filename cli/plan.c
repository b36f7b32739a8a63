/* plan.c - `plan`: what would be done now and when next, by the code that acts: the watchers judge and admit,
 * then a worker rehearses each act up to its write. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/plan.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/args.h"
#include "cli/ctl.h"

/* Questions to workers under way at once: enough that no worker waits for this program. */
#define WINDOW 64u
/* A worker that takes longer than 30 s is killed, and says so. */
#define TRY_MS UINT64_C(120000)
#define ASK_MS UINT64_C(60000)

struct options {
	struct msg request;
	const char *socket;
	int output;
};

/* -- the clusters ---------------------------------------------------------------------------------------- */

static void on_status_row(void *ctx, const struct msg *m)
{
	struct plan *p = ctx;
	const struct msg_child_stats *c = &m->u.child_stats;

	if (m->type == MSG_CTL_SUPERVISOR)
		p->observe = m->u.ctl_supervisor.observe;
	/* Watchers come in the order of the clusters. */
	if (m->type == MSG_CHILD_STATS && strcmp(c->role, role_name(ROLE_WATCHER)) == 0 &&
	    p->n_clusters < CLUSTERS_MAX)
		(void)snprintf(p->clusters[p->n_clusters++], sizeof(p->clusters[0]), "%s", c->cluster_name);
}

/* -- the watchers ---------------------------------------------------------------------------------------- */

static void on_plan_row(void *ctx, const struct msg *m)
{
	struct plan *p = ctx;

	if (m->type != MSG_CTL_PLAN_ROW || m->u.ctl_plan_row.cluster >= p->n_clusters)
		return;
	p->v = xreallocarray(p->v, p->n + 1, sizeof(*p->v));
	p->v[p->n++] = (struct plan_row){ .row = m->u.ctl_plan_row };
}

static int ask_watchers(struct ctl *c, const struct options *o, struct plan *p)
{
	const char *only = o->request.u.ctl_plan.cluster_name;
	int code = EXIT_CODE_OK;

	for (uint64_t i = 0; code == EXIT_CODE_OK && i < p->n_clusters; i++) {
		struct msg ask = o->request;

		if (only[0] && strcmp(only, p->clusters[i]) != 0)
			continue;
		msg_set(&ask, ctl_plan.cluster_name, p->clusters[i], strlen(p->clusters[i]));
		code = ctl_request(c, &ask, ASK_MS, on_plan_row, p);
	}
	return code;
}

/* -- the workers ----------------------------------------------------------------------------------------- */

static void progress(size_t done, size_t all)
{
	if (isatty(STDERR_FILENO))
		(void)fprintf(stderr, "\rasking workers: %zu of %zu%s", done, all, done == all ? "\n" : "");
}

static int take_tried(struct ctl *c, struct plan *p)
{
	struct msg m;

	for (;;) {
		const int code = ctl_recv(c, TRY_MS, &m);

		if (code != EXIT_CODE_OK)
			return code;
		if (m.type == MSG_CTL_END && m.u.ctl_end.code != EXIT_CODE_OK) {
			(void)fprintf(stderr, "ops-pod-cleaner: %s\n", m.u.ctl_end.text);
			return (int)m.u.ctl_end.code;
		}
		if (m.type != MSG_CTL_DRY_RUN_RESULT || m.u.ctl_dry_run_result.id == 0 ||
		    m.u.ctl_dry_run_result.id > p->n)
			continue;
		p->v[m.u.ctl_dry_run_result.id - 1].tried = m.u.ctl_dry_run_result;
		return EXIT_CODE_OK;
	}
}

static int send_try(struct ctl *c, const struct plan *p, size_t i)
{
	const struct msg row = { .type = MSG_CTL_PLAN_ROW, .u.ctl_plan_row = p->v[i].row };
	struct msg m = { .type = MSG_CTL_DRY_RUN };

	msg_copy_fields(&m, &row);
	m.u.ctl_dry_run.conn = 0;
	m.u.ctl_dry_run.id = i + 1;
	return ctl_send(c, &m);
}

static int ask_workers(struct ctl *c, struct plan *p)
{
	size_t all = 0, asked = 0, done = 0, next = 0;
	int code = EXIT_CODE_OK;

	for (size_t i = 0; i < p->n; i++)
		all += plan_is_due(&p->v[i]);
	while (code == EXIT_CODE_OK && done < all) {
		if (asked == all || asked - done == WINDOW) {
			code = take_tried(c, p);
			progress(++done, all);
			continue;
		}
		while (!plan_is_due(&p->v[next]))
			next++;
		code = send_try(c, p, next++);
		asked++;
	}
	return code;
}

/* -- the command ----------------------------------------------------------------------------------------- */

static int take(struct ctl *c, const struct options *o, struct plan *p)
{
	const struct msg status = { .type = MSG_CTL_STATUS };
	const char *only = o->request.u.ctl_plan.cluster_name;
	int code = ctl_request(c, &status, ASK_MS, on_status_row, p);
	bool known = !only[0];

	for (uint64_t i = 0; i < p->n_clusters; i++)
		known = known || strcmp(only, p->clusters[i]) == 0;
	if (code == EXIT_CODE_OK && !known) {
		(void)fprintf(stderr,
			      "ops-pod-cleaner: no cluster of that name: see `ops-pod-cleaner status`\n");
		return EXIT_CODE_USAGE;
	}
	if (code == EXIT_CODE_OK)
		code = ask_watchers(c, o, p);
	if (code == EXIT_CODE_OK)
		code = ask_workers(c, p);
	return code;
}

static int take_option(const struct command *self, struct options *o, int c)
{
	switch (c) {
	case 'S':
		o->socket = optarg;
		return -1;
	case 'o':
		o->output = output_parse(optarg);
		return o->output < 0 ? command_misuse(self, "-o takes table, wide or json") : -1;
	case 'd':
		return args_parse_duty(optarg, &o->request.u.ctl_plan.duty) < 0
			       ? command_misuse(self, "--duty takes " ARGS_DUTIES)
			       : -1;
	case 'n':
	case 'C':
		if (strlen(optarg) > 63)
			return command_misuse(self, "no name is as long as '%s'", optarg);
		if (c == 'n')
			msg_set(&o->request, ctl_plan.ns, optarg, strlen(optarg));
		else
			msg_set(&o->request, ctl_plan.cluster_name, optarg, strlen(optarg));
		return -1;
	case 'h':
		return command_help(self);
	default:
		return command_misuse(self, "unknown option");
	}
}

int command_plan(const struct command *self, int argc, char **argv)
{
	static const struct option longs[] = { { "control-socket", required_argument, NULL, 'S' },
					       { "output", required_argument, NULL, 'o' },
					       { "duty", required_argument, NULL, 'd' },
					       { "namespace", required_argument, NULL, 'n' },
					       { "cluster", required_argument, NULL, 'C' },
					       { "help", no_argument, NULL, 'h' },
					       { 0 } };
	struct options o = { .request = { .type = MSG_CTL_PLAN, .u.ctl_plan = { .duty = -1 } } };
	struct ctl *ctl = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "o:n:", longs, NULL)) != -1) {
		const int code = take_option(self, &o, c);

		if (code >= 0)
			return code;
	}
	if (optind != argc)
		return command_misuse(self, "unexpected argument '%s'", argv[optind]);
	struct plan *p = xcalloc(1, sizeof(*p));

	p->taken_ms = clock_wall_ms();
	int code = ctl_open(o.socket, &ctl);

	if (code == EXIT_CODE_OK)
		code = take(ctl, &o, p);
	ctl_close(&ctl);
	plan_sort(p);
	if (code == EXIT_CODE_OK)
		plan_print(p, (enum output)o.output);
	free(p->v);
	free(p);
	return code;
}
