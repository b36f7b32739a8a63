/* dry_run.c - see dry_run.h. One list of questions, oldest first: those that wait, and those at a worker. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/dry_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "model/actions.h"
#include "model/reasons.h"
#include "supervisor/actions/dispatch.h"
#include "supervisor/actions/worker_pool.h"

#define DRY_RUNS_MAX 4096u
#define DRY_RUN_MS   30000u /* a worker that takes longer is killed */
#define NOBODY_MS    10000u /* a question waits this long for the first worker to be ready */

struct question {
	struct question *next;
	uint64_t conn, id, cluster;
	uint64_t since_ms;         /* boot time: asked, or given to the worker */
	struct child *worker;      /* that works on it, NULL = it waits */
	struct msg_packed *packed; /* CTL_DRY_RUN */
};

/* Where the oldest question hangs that this worker works on, or, worker NULL, that waits in the cluster. */
static struct question **find(struct supervisor *s, const struct child *worker, uint64_t cluster)
{
	struct question **at = &s->questions;

	while (*at && ((*at)->worker != worker || (*at)->cluster != cluster))
		at = &(*at)->next;
	return at;
}

static void take_off(struct supervisor *s, struct question **at)
{
	struct question *gone = *at;

	*at = gone->next;
	s->n_questions--;
	free(gone->packed);
	free(gone);
}

static void answer(struct supervisor *s, uint64_t conn, uint64_t id, enum reason reason, enum text detail)
{
	struct msg m = { .type = MSG_CTL_DRY_RUN_RESULT,
			 .u.ctl_dry_run_result = { .conn = conn,
						   .id = id,
						   .outcome = OUTCOME_FAILED,
						   .replicas = -1,
						   .at = clock_wall_ms() } };

	msg_text(&m, ctl_dry_run_result.reason, reason_code(reason));
	facts_finding(&m.u.ctl_dry_run_result.detail, detail);
	answers_send(&s->answers, conn, &m);
}

/* Without a worker's answer. When the operator has left, all their questions go, too. */
static void end(struct supervisor *s, struct question **at, enum reason reason, enum text detail)
{
	const uint64_t conn = (*at)->conn, id = (*at)->id;

	take_off(s, at);
	answer(s, conn, id, reason, detail);
}

void dry_run_on_ctl_dry_run(struct supervisor *s, const struct msg *m)
{
	const struct msg_ctl_dry_run *r = &m->u.ctl_dry_run;
	struct question **at = &s->questions, *new;
	struct msg asked = *m;

	if (r->cluster >= settings(s)->all.clusters) {
		answer(s, r->conn, r->id, REASON_CLUSTER_REMOVED, TEXT_NO_SUCH_CLUSTER);
		return;
	}
	if (s->n_questions == DRY_RUNS_MAX) {
		answer(s, r->conn, r->id, REASON_BUSY, TEXT_QUESTIONS_WAIT);
		return;
	}
	while (*at)
		at = &(*at)->next;
	own_state_history(s->own, asked.u.ctl_dry_run.history);
	*at = new = xcalloc(1, sizeof(*new));
	*new = (struct question){ .conn = r->conn,
				  .id = r->id,
				  .cluster = r->cluster,
				  .since_ms = clock_boot_ms(),
				  .packed = msg_pack(&asked) };
	s->n_questions++;
	worker_pool_start(s, r->cluster, s->n_questions);
	dispatch_cluster(s, r->cluster);
}

bool dry_run_on_idle(struct supervisor *s, struct child *worker)
{
	struct question *next = *find(s, NULL, child_info(worker)->cluster);
	struct msg m;

	if (!next)
		return false;
	next->worker = worker;
	next->since_ms = clock_boot_ms();
	msg_unpack(next->packed, &m);
	(void)child_send(worker, &m, -1); /* a failure is followed by the worker's death */
	return true;
}

void dry_run_on_ctl_dry_run_result(struct supervisor *s, struct child *worker, const struct msg *m)
{
	struct question **at = find(s, worker, child_info(worker)->cluster);
	struct msg answered = *m;

	if (!*at || m->u.ctl_dry_run_result.id != (*at)->id) {
		child_protocol_error(worker, TEXT_STRANGE_DRY_RUN);
		return;
	}
	answered.u.ctl_dry_run_result.conn = (*at)->conn;
	take_off(s, at);
	answers_send(&s->answers, answered.u.ctl_dry_run_result.conn, &answered);
	dispatch_worker_idle(s, worker);
}

void dry_run_on_worker_dead(struct supervisor *s, const struct child *worker)
{
	struct question **at = find(s, worker, child_info(worker)->cluster);

	if (*at)
		end(s, at, REASON_WORKER_DIED, TEXT_WORKER_DIED_ASKED);
}

/* Workers that do not start must not keep an operator waiting. */
static bool has_nobody(const struct supervisor *s, const struct question *w, uint64_t now_ms)
{
	return !w->worker && now_ms >= w->since_ms + NOBODY_MS &&
	       !children_find(s->children, ROLE_WORKER, w->cluster);
}

void dry_run_tick(struct supervisor *s, uint64_t now_ms)
{
	for (struct question **at = &s->questions; *at;) {
		struct question *w = *at;

		if (has_nobody(s, w, now_ms)) {
			end(s, at, REASON_NO_WORKER, TEXT_NO_WORKER);
			at = &s->questions; /* others may have gone with it */
			continue;
		}
		if (w->worker && now_ms > w->since_ms + DRY_RUN_MS)
			child_kill(w->worker, TEXT_QUESTION_HUNG, DRY_RUN_MS);
		at = &w->next;
	}
}

void dry_run_forget(struct supervisor *s, uint64_t conn)
{
	for (struct question **at = &s->questions; *at;) {
		if ((*at)->conn == conn && !(*at)->worker)
			take_off(s, at);
		else
			at = &(*at)->next;
	}
}

void dry_run_free(struct supervisor *s)
{
	while (s->questions)
		take_off(s, &s->questions);
}
