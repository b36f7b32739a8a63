/* tries.c - questions to workers: would you do this (CTL_TRY)? They wait in a queue until a worker of the
 * cluster has nothing else to do; a lease goes first. And restores, which become leases. See tree.h. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "supervisor/tree.h"

#define TRIES_MAX 4096u
#define TRY_MS    30000u /* a worker that takes longer is killed */
#define NOBODY_MS 10000u /* a question waits this long for the first worker to be ready */

struct question {
	struct msg m;      /* CTL_TRY */
	uint64_t asked_ms; /* boot time */
};

struct tries {
	struct question v[TRIES_MAX]; /* oldest first */
	size_t n;
};

struct tries *tries_new(void)
{
	return xcalloc(1, sizeof(struct tries));
}

void tries_free(struct tries **q)
{
	free(*q);
	*q = NULL;
}

static void answer(struct tree *t, const struct msg *question, enum outcome outcome, const char *reason,
		   const char *detail)
{
	struct msg m = { .type = MSG_CTL_TRIED };

	m.u.ctl_tried = (struct msg_ctl_tried){ .conn = question->u.ctl_try.conn,
						.id = question->u.ctl_try.id,
						.outcome = outcome,
						.replicas = -1,
						.at = clock_wall_ms() };
	msg_set(&m, ctl_tried.reason, reason, strlen(reason));
	msg_set(&m, ctl_tried.detail, detail, strlen(detail));
	control_answer(t, m.u.ctl_tried.conn, &m);
}

void tries_ask(struct tree *t, const struct msg *m)
{
	struct tries *q = t->tries;

	if (m->u.ctl_try.cluster >= t->generation->clusters)
		answer(t, m, OUTCOME_FAILED, "ClusterRemoved", "no such cluster");
	else if (q->n == TRIES_MAX)
		answer(t, m, OUTCOME_FAILED, "Busy", "too many questions wait already");
	else
		q->v[q->n++] = (struct question){ *m, clock_boot_ms() };
	if (m->u.ctl_try.cluster < t->generation->clusters)
		book_dispatch(t, m->u.ctl_try.cluster);
}

bool tries_give(struct tree *t, struct slot *worker)
{
	struct tries *q = t->tries;
	size_t i = 0;

	while (i < q->n && q->v[i].m.u.ctl_try.cluster != worker->cluster)
		i++;
	if (i == q->n)
		return false;
	worker->try = q->v[i].m;
	worker->try_until_ms = clock_boot_ms() + TRY_MS;
	q->n--;
	memmove(&q->v[i], &q->v[i + 1], (q->n - i) * sizeof(q->v[0]));
	(void)slot_send(worker, &worker->try, -1); /* a failure is followed by the worker's death */
	return true;
}

void tries_on_tried(struct slot *s, const struct msg *m)
{
	struct msg told = *m;

	if (!s->try_until_ms || m->u.ctl_tried.id != s->try.u.ctl_try.id) {
		slot_accuse(s, "CTL_TRIED for a question it was not asked");
		return;
	}
	s->try_until_ms = 0;
	told.u.ctl_tried.conn = s->try.u.ctl_try.conn;
	control_answer(s->tree, told.u.ctl_tried.conn, &told);
	book_dispatch(s->tree, s->cluster);
}

void tries_on_worker_dead(struct slot *s)
{
	if (!s->try_until_ms)
		return;
	s->try_until_ms = 0;
	answer(s->tree, &s->try, OUTCOME_FAILED, "WorkerDied", "the worker died over this question");
}

/* Workers that do not start must not keep a person waiting. */
static void answer_for_nobody(struct tree *t, uint64_t now_ms)
{
	struct tries *q = t->tries;
	size_t kept = 0;

	for (size_t i = 0; i < q->n; i++) {
		if (now_ms - q->v[i].asked_ms < NOBODY_MS ||
		    tree_find_slot(t, ROLE_WORKER, q->v[i].m.u.ctl_try.cluster))
			q->v[kept++] = q->v[i];
		else
			answer(t, &q->v[i].m, OUTCOME_FAILED, "NoWorker",
			       "no worker of the cluster is running");
	}
	q->n = kept;
}

void tries_tick(struct tree *t, uint64_t now_ms)
{
	for (size_t i = 0; i < t->n_slots; i++)
		if (t->slots[i]->try_until_ms && now_ms > t->slots[i]->try_until_ms && t->slots[i]->pid)
			slot_accuse(t->slots[i], "hung: a question took longer than 30 s");
	answer_for_nobody(t, now_ms);
}

void tries_forget(struct tree *t, uint64_t conn)
{
	struct tries *q = t->tries;
	size_t kept = 0;

	for (size_t i = 0; i < q->n; i++)
		if (q->v[i].m.u.ctl_try.conn != conn)
			q->v[kept++] = q->v[i];
	q->n = kept;
}

/* -- restores -------------------------------------------------------------------------------------------- */

void tries_on_restore_row(struct slot *s, const struct msg *m)
{
	const struct msg_ctl_restore_row *r = &m->u.ctl_restore_row;
	struct tree *t = s->tree;
	struct msg ask = { .type = MSG_CTL_TRY };

	const int asked = control_take_restore(t, r->conn, r->origin, r->dry);

	if (asked == -EPERM)
		slot_accuse(s, "CTL_RESTORE_ROW that nobody asked for");
	if (asked < 0)
		return; /* nothing is written for somebody who has left */
	if (r->cluster >= t->generation->clusters || r->action != ACTION_RESTORE) {
		control_end(t, r->conn, EXIT_CODE_FAILURE, "its cluster is not configured any more");
		return;
	}
	if (r->dry) {
		msg_copy_fields(&ask, m);
		ask.u.ctl_try.id = r->origin;
		tries_ask(t, &ask);
		return;
	}
	if (!book_restore(t, m, r->conn))
		control_end(
			t, r->conn, EXIT_CODE_TEMPORARY,
			"something else is being done with this workload, or the program ends: try again");
}
