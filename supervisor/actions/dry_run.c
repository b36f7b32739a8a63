/* dry_run.c - questions to workers: would you do this (CTL_DRY_RUN)? They wait in a queue until a worker of
 * the cluster has nothing else to do; a lease goes first. And restores, which become leases. See tree.h. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "supervisor/supervisor.h"

#define TRIES_MAX 4096u
#define TRY_MS    30000u /* a worker that takes longer is killed */
#define NOBODY_MS 10000u /* a question waits this long for the first worker to be ready */

struct question {
	struct msg m;      /* CTL_DRY_RUN */
	uint64_t asked_ms; /* boot time */
};

struct dry_runs {
	struct question v[TRIES_MAX]; /* oldest first */
	size_t n;
};

struct dry_runs *dry_run_new(void)
{
	return xcalloc(1, sizeof(struct dry_runs));
}

void dry_run_free(struct dry_runs **q)
{
	free(*q);
	*q = NULL;
}

static void answer(struct supervisor *t, const struct msg *question, enum outcome outcome, const char *reason,
		   const char *detail)
{
	struct msg m = { .type = MSG_CTL_DRY_RUN_RESULT };

	m.u.ctl_dry_run_result = (struct msg_ctl_dry_run_result){ .conn = question->u.ctl_dry_run.conn,
								  .id = question->u.ctl_dry_run.id,
								  .outcome = outcome,
								  .replicas = -1,
								  .at = clock_wall_ms() };
	msg_set(&m, ctl_dry_run_result.reason, reason, strlen(reason));
	msg_set(&m, ctl_dry_run_result.detail, detail, strlen(detail));
	control_answer(t, m.u.ctl_dry_run_result.conn, &m);
}

void dry_run_ask(struct supervisor *t, const struct msg *m)
{
	struct dry_runs *q = t->tries;

	if (m->u.ctl_dry_run.cluster >= t->generation->clusters)
		answer(t, m, OUTCOME_FAILED, "ClusterRemoved", "no such cluster");
	else if (q->n == TRIES_MAX)
		answer(t, m, OUTCOME_FAILED, "Busy", "too many questions wait already");
	else
		q->v[q->n++] = (struct question){ *m, clock_boot_ms() };
	if (m->u.ctl_dry_run.cluster < t->generation->clusters)
		dispatch_dispatch(t, m->u.ctl_dry_run.cluster);
}

bool dry_run_give(struct supervisor *t, struct child *worker)
{
	struct dry_runs *q = t->tries;
	size_t i = 0;

	while (i < q->n && q->v[i].m.u.ctl_dry_run.cluster != worker->cluster)
		i++;
	if (i == q->n)
		return false;
	worker->try = q->v[i].m;
	worker->try_until_ms = clock_boot_ms() + TRY_MS;
	q->n--;
	memmove(&q->v[i], &q->v[i + 1], (q->n - i) * sizeof(q->v[0]));
	(void)child_send(worker, &worker->try, -1); /* a failure is followed by the worker's death */
	return true;
}

void dry_run_on_dry_run_result(struct child *s, const struct msg *m)
{
	struct msg told = *m;

	if (!s->try_until_ms || m->u.ctl_dry_run_result.id != s->try.u.ctl_dry_run.id) {
		child_protocol_error(s, "CTL_DRY_RUN_RESULT for a question it was not asked");
		return;
	}
	s->try_until_ms = 0;
	told.u.ctl_dry_run_result.conn = s->try.u.ctl_dry_run.conn;
	control_answer(s->tree, told.u.ctl_dry_run_result.conn, &told);
	dispatch_dispatch(s->tree, s->cluster);
}

void dry_run_on_worker_dead(struct child *s)
{
	if (!s->try_until_ms)
		return;
	s->try_until_ms = 0;
	answer(s->tree, &s->try, OUTCOME_FAILED, "WorkerDied", "the worker died over this question");
}

/* Workers that do not start must not keep a person waiting. */
static void answer_for_nobody(struct supervisor *t, uint64_t now_ms)
{
	struct dry_runs *q = t->tries;
	size_t kept = 0;

	for (size_t i = 0; i < q->n; i++) {
		if (now_ms - q->v[i].asked_ms < NOBODY_MS ||
		    supervisor_find_child(t, ROLE_WORKER, q->v[i].m.u.ctl_dry_run.cluster))
			q->v[kept++] = q->v[i];
		else
			answer(t, &q->v[i].m, OUTCOME_FAILED, "NoWorker",
			       "no worker of the cluster is running");
	}
	q->n = kept;
}

void dry_run_tick(struct supervisor *t, uint64_t now_ms)
{
	for (size_t i = 0; i < t->n_children; i++)
		if (t->children[i]->try_until_ms && now_ms > t->children[i]->try_until_ms &&
		    t->children[i]->pid)
			child_kill(t->children[i], "hung: a question took longer than 30 s");
	answer_for_nobody(t, now_ms);
}

void dry_run_forget(struct supervisor *t, uint64_t conn)
{
	struct dry_runs *q = t->tries;
	size_t kept = 0;

	for (size_t i = 0; i < q->n; i++)
		if (q->v[i].m.u.ctl_dry_run.conn != conn)
			q->v[kept++] = q->v[i];
	q->n = kept;
}

/* -- restores -------------------------------------------------------------------------------------------- */

void dry_run_on_restore_row(struct child *s, const struct msg *m)
{
	const struct msg_ctl_restore_row *r = &m->u.ctl_restore_row;
	struct supervisor *t = s->tree;
	struct msg ask = { .type = MSG_CTL_DRY_RUN };

	const int asked = control_take_restore(t, r->conn, r->origin, r->dry);

	if (asked == -EPERM)
		child_protocol_error(s, "CTL_RESTORE_ROW that nobody asked for");
	if (asked < 0)
		return; /* nothing is written for somebody who has left */
	if (r->cluster >= t->generation->clusters || r->action != ACTION_RESTORE) {
		control_end(t, r->conn, EXIT_CODE_FAILURE, "its cluster is not configured any more");
		return;
	}
	if (r->dry) {
		msg_copy_fields(&ask, m);
		ask.u.ctl_dry_run.id = r->origin;
		dry_run_ask(t, &ask);
		return;
	}
	if (!dispatch_restore(t, m, r->conn))
		control_end(
			t, r->conn, EXIT_CODE_TEMPORARY,
			"something else is being done with this workload, or the program ends: try again");
}
