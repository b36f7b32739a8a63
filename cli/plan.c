/* plan.c - `plan`: what would be done now and when next, by the code that acts: the watchers judge, then a
 * worker does a dry run of each action. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/ctl.h"

/* Questions to workers under way at once: enough that no worker waits for this program. */
#define WINDOW 64u
/* A worker that takes longer than 30 s is killed, and says so. */
#define DRY_RUN_MS UINT64_C(120000)
#define ASK_MS     UINT64_C(60000)

/* -- the clusters -- */

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

/* -- the watchers -- */

static void on_plan_row(void *ctx, const struct msg *m)
{
	struct plan *p = ctx;

	if (m->type != MSG_CTL_PLAN_ROW || m->u.ctl_plan_row.cluster >= p->n_clusters)
		return;
	p->v = xreallocarray(p->v, p->n + 1, sizeof(*p->v));
	p->v[p->n++] = (struct plan_row){ .row = m->u.ctl_plan_row };
}

static int ask_watchers(struct ctl *c, const struct msg *request, const char *cluster, struct plan *p)
{
	int code = EXIT_CODE_OK;

	for (uint64_t i = 0; code == EXIT_CODE_OK && i < p->n_clusters; i++) {
		struct msg ask = *request;

		if (cluster && strcmp(cluster, p->clusters[i]) != 0)
			continue;
		msg_set(&ask, ctl_plan.cluster_name, p->clusters[i], strlen(p->clusters[i]));
		code = ctl_request(c, &ask, ASK_MS, on_plan_row, p);
	}
	return code;
}

/* -- the workers -- */

static void progress(size_t done, size_t all)
{
	if (isatty(STDERR_FILENO))
		(void)fprintf(stderr, "\rasking workers: %zu of %zu%s", done, all, done == all ? "\n" : "");
}

static int take_answer(struct ctl *c, struct plan *p)
{
	struct msg m;

	for (;;) {
		const int code = ctl_recv(c, DRY_RUN_MS, &m);

		if (code != EXIT_CODE_OK)
			return code;
		if (m.type == MSG_CTL_END && m.u.ctl_end.code != EXIT_CODE_OK) {
			(void)fprintf(stderr, "ops-pod-cleaner: %s\n", m.u.ctl_end.text);
			return (int)m.u.ctl_end.code;
		}
		if (m.type != MSG_CTL_DRY_RUN_RESULT || m.u.ctl_dry_run_result.id == 0 ||
		    m.u.ctl_dry_run_result.id > p->n)
			continue;
		p->v[m.u.ctl_dry_run_result.id - 1].dry_run = m.u.ctl_dry_run_result;
		return EXIT_CODE_OK;
	}
}

static int send_question(struct ctl *c, const struct plan *p, size_t i)
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
			code = take_answer(c, p);
			progress(++done, all);
			continue;
		}
		while (!plan_is_due(&p->v[next]))
			next++;
		code = send_question(c, p, next++);
		asked++;
	}
	return code;
}

/* -- the command -- */

static int take(struct ctl *c, const struct msg *request, const char *cluster, struct plan *p)
{
	const struct msg status = { .type = MSG_CTL_STATUS };
	int code = ctl_request(c, &status, ASK_MS, on_status_row, p);
	bool known = !cluster;

	for (uint64_t i = 0; i < p->n_clusters; i++)
		known = known || strcmp(cluster, p->clusters[i]) == 0;
	if (code == EXIT_CODE_OK && !known) {
		(void)fprintf(stderr,
			      "ops-pod-cleaner: no cluster of that name: see `ops-pod-cleaner status`\n");
		return EXIT_CODE_USAGE;
	}
	if (code == EXIT_CODE_OK)
		code = ask_watchers(c, request, cluster, p);
	return code == EXIT_CODE_OK ? ask_workers(c, p) : code;
}

int command_plan(const struct command *self, const struct options *o)
{
	struct msg request = { .type = MSG_CTL_PLAN, .u.ctl_plan = { .duty = o->duty } };
	struct plan *p = xcalloc(1, sizeof(*p));
	struct ctl *ctl = NULL;

	(void)self;
	if (o->ns)
		msg_set(&request, ctl_plan.ns, o->ns, strlen(o->ns));
	p->taken_ms = clock_wall_ms();
	int code = ctl_open(o->socket, &ctl);

	if (code == EXIT_CODE_OK)
		code = take(ctl, &request, o->cluster, p);
	ctl_close(&ctl);
	plan_sort(p);
	if (code == EXIT_CODE_OK)
		plan_print(p, (enum output)o->output);
	free(p->v);
	free(p);
	return code;
}
