/* dispatch.c - the way of one action through the tree: NOMINATE -> INTENT on disk -> GRANT -> RESULT on disk
 * -> NOMINATION_RESULT. The state is lease.h's; here are the messages. See tree.h. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "model/duties.h"
#include "model/reasons.h"
#include "supervisor/supervisor.h"

#define LEASES_MAX      8192u  /* open at once; a nomination above it is asked to come back */
#define LEASE_MS        30000u /* a holder that takes longer is killed */
#define VALID_MS        20000u /* a write may start this long after the grant */
#define GRANTS_MAX      5u     /* holders that may die on one lease before it is given up */
#define BUSY_RETRY_MS   1000u
#define PAUSED_RETRY_MS 5000u

static void send_nomination_result(struct supervisor *t, const struct msg *from, enum outcome outcome,
				   const char *reason, uint64_t retry_ms)
{
	struct msg m = { .type = MSG_NOMINATION_RESULT };

	msg_copy_fields(&m, from);
	m.u.nomination_result.outcome = outcome;
	m.u.nomination_result.retry_ms = retry_ms;
	msg_set(&m, nomination_result.reason, reason, strlen(reason));
	struct child *watcher = supervisor_find_child(t, ROLE_WATCHER, m.u.nomination_result.cluster);

	/* A watcher that is down nominates again after its list: the rules decide anew. */
	if (watcher && child_send(watcher, &m, -1) < 0)
		t->dropped++;
}

static void send_intent(struct supervisor *t, struct lease *l)
{
	struct child *reporter = supervisor_find_child(t, ROLE_REPORTER, CLUSTERS_MAX);

	l->sent = reporter && child_send(reporter, &l->intent, -1) == 0;
}

static void send_record(struct supervisor *t, struct lease *l)
{
	struct child *reporter = supervisor_find_child(t, ROLE_REPORTER, CLUSTERS_MAX);

	l->sent = reporter && child_send(reporter, &l->record, -1) == 0;
}

static bool may_take(const struct supervisor *t, const struct child *s, uint64_t cluster, unsigned held)
{
	return s->role == ROLE_WORKER && s->cluster == cluster && s->state == FSM_READY && !s->condemned &&
	       !s->try_until_ms && lease_count_held(t->leases, s->index) == held;
}

static bool reads_ahead(const struct supervisor *t, const struct child *s)
{
	const struct lease *l = s->ahead_id ? lease_find(t->leases, s->ahead_id) : NULL;

	return l && (l->phase == LEASE_NEW || l->phase == LEASE_WAITING);
}

/* An idle worker reads and judges while the intent is being written down. It is a hint: the grant may go to
 * another one, and then that one reads. */
static void read_ahead(struct supervisor *t, const struct lease *l)
{
	const uint64_t cluster = l->intent.u.intent.cluster;
	struct msg m = { .type = MSG_PREFETCH };

	for (size_t i = 0; i < t->n_children; i++) {
		struct child *s = t->children[i];

		if (!may_take(t, s, cluster, 0) || reads_ahead(t, s))
			continue;
		msg_copy_fields(&m, &l->intent);
		if (child_send(s, &m, -1) == 0)
			s->ahead_id = l->intent.u.intent.id;
		return;
	}
}

void dispatch_on_nominate(struct child *s, const struct msg *m)
{
	struct supervisor *t = s->tree;

	if (t->phase != SUPERVISOR_RUNNING || lease_table_count(t->leases) >= LEASES_MAX) {
		send_nomination_result(t, m, OUTCOME_REFUSED, reason_code(REASON_BUSY), BUSY_RETRY_MS);
		return;
	}
	if (pause_requests_holds(t, m->u.nominate.cluster, m->u.nominate.duty)) {
		send_nomination_result(t, m, OUTCOME_REFUSED, reason_code(REASON_PAUSED), PAUSED_RETRY_MS);
		return;
	}
	struct lease *l = lease_open(t->leases, m, t->generation->observe);

	if (!l)
		return; /* the subject has an open lease, whose end will be told */
	send_intent(t, l);
	read_ahead(t, l);
}

bool dispatch_restore(struct supervisor *t, const struct msg *row, uint64_t conn)
{
	struct lease *l =
		t->phase == SUPERVISOR_RUNNING ? lease_open(t->leases, row, t->generation->observe) : NULL;

	if (!l)
		return false;
	l->conn = conn;
	send_intent(t, l);
	return true;
}

/* Its id is taken in the history: what is nominated again gets another one. */
static void drop_unwritable(struct supervisor *t, struct lease *l)
{
	if (l->phase != LEASE_NEW)
		return;
	control_end(t, l->conn, EXIT_CODE_TEMPORARY, "the history does not take it: try again");
	send_nomination_result(t, &l->intent, OUTCOME_REFUSED, reason_code(REASON_BUSY), BUSY_RETRY_MS);
	lease_close(t->leases, &l);
}

void dispatch_on_intent_ack(struct child *s, const struct msg *m)
{
	struct lease *l = lease_find(s->tree->leases, m->u.intent_ack.id);

	if (l && !m->u.intent_ack.written)
		drop_unwritable(s->tree, l);
	else if (l && lease_written(s->tree->leases, l))
		dispatch_dispatch(s->tree, l->intent.u.intent.cluster);
}

void dispatch_on_open_intent(struct child *s, const struct msg *m)
{
	if (m->u.open_intent.cluster >= s->tree->generation->clusters) {
		(void)log_warn(0, "history holds an open intent of a cluster that is not configured any more",
			       kv_u("id", m->u.open_intent.id));
		return;
	}
	const bool known = lease_find(s->tree->leases, m->u.open_intent.id) != NULL;

	if (lease_reopen(s->tree->leases, m))
		log_info("taking back an action that an earlier life left open",
			 kv_u("id", m->u.open_intent.id), kv_s("namespace", m->u.open_intent.ns),
			 kv_s("pod", m->u.open_intent.name));
	else if (!known)
		(void)log_warn(0,
			       "history holds two open actions on one object: the second is looked at after "
			       "the next start of the history",
			       kv_u("id", m->u.open_intent.id), kv_s("uid", m->u.open_intent.uid));
}

void dispatch_on_open_end(struct child *s, const struct msg *m)
{
	struct supervisor *t = s->tree;

	lease_table_set_next_id(t->leases, m->u.open_end.next_id);
	t->history_open = true;
	pause_requests_on_open_end(t);
	for (uint64_t c = 0; c < t->generation->clusters; c++)
		dispatch_dispatch(t, c);
	lifecycle_on_child_changed(s);
}

static void send_again(void *ctx, struct lease *l)
{
	if (l->phase == LEASE_NEW && !l->sent)
		send_intent(ctx, l);
	else if (l->phase == LEASE_RECORDING && !l->sent)
		send_record(ctx, l);
}

static void mark_unsent(void *ctx, struct lease *l)
{
	(void)ctx;
	l->sent = false;
}

/* What the dead reporter may have read without writing it down is sent again; ids make that harmless. */
void dispatch_on_reporter_ready(struct supervisor *t)
{
	lease_each(t->leases, mark_unsent, t);
	lease_each(t->leases, send_again, t);
}

uint64_t dispatch_may_write_until(const struct supervisor *t, uint64_t cluster, uint64_t now_ms)
{
	const struct msg_leader *l = &t->leader[cluster].u.leader;

	if (!t->generation->election)
		return now_ms + VALID_MS;
	if (t->leader[cluster].type != MSG_LEADER || !l->leading || now_ms >= l->valid_until)
		return 0;
	return l->valid_until < now_ms + VALID_MS ? l->valid_until : now_ms + VALID_MS;
}

static bool grant_to(struct supervisor *t, struct child *worker)
{
	const uint64_t now = clock_boot_ms(), until = dispatch_may_write_until(t, worker->cluster, now);

	if (!until)
		return false; /* another replica may lead: what waits here is taken up when this one does */
	struct lease *l = lease_grant(t->leases, worker->cluster, worker->index, now + LEASE_MS);
	struct msg m = { .type = MSG_GRANT };

	if (!l)
		return false;
	msg_copy_fields(&m, &l->intent);
	m.u.grant.verify_first = l->verify_first;
	m.u.grant.valid_until = until;
	(void)child_send(worker, &m, -1); /* a failure is followed by the worker's death */
	return true;
}

/* What was written down before the pause ends now: a person who pauses sees that nothing is under way. */
static void refuse_paused(struct supervisor *t, uint64_t cluster)
{
	struct msg m = { .type = MSG_RESULT };
	struct lease *l;

	m.u.result = (struct msg_result){ .id = 1,
					  .outcome = OUTCOME_REFUSED,
					  .replicas = -1,
					  .at = clock_wall_ms(),
					  .retry_ms = PAUSED_RETRY_MS };
	msg_set(&m, result.reason, "Paused", strlen("Paused"));
	while ((l = lease_refuse_held(t->leases, cluster, &m)))
		send_record(t, l);
}

/* One more for each worker that holds so many; a question only for one that holds none. */
static void dispatch_to(struct supervisor *t, uint64_t cluster, unsigned held)
{
	for (size_t i = 0; i < t->n_children; i++) {
		struct child *s = t->children[i];

		if (may_take(t, s, cluster, held) && !grant_to(t, s) && held == 0)
			(void)dry_run_give(t, s);
	}
}

void dispatch_dispatch(struct supervisor *t, uint64_t cluster)
{
	if (t->phase != SUPERVISOR_RUNNING || !t->history_open)
		return;
	if (pause_requests_any(t)) /* what waits is looked at one by one */
		refuse_paused(t, cluster);
	for (unsigned held = 0; held < WORKER_LEASES_MAX; held++)
		dispatch_to(t, cluster, held);
}

void dispatch_on_result(struct child *s, const struct msg *m)
{
	struct lease *l;

	if (lease_result(s->tree->leases, s->index, m, &l) < 0) {
		child_protocol_error(s, "RESULT for a lease that it does not hold");
		return;
	}
	send_record(s->tree, l);
	dispatch_dispatch(s->tree, s->cluster);
}

static void log_end(const struct supervisor *t, const struct lease *l)
{
	const struct msg_intent *i = &l->intent.u.intent;
	const struct msg_record *r = &l->record.u.record;

	log_info("action ended", kv_u("id", i->id), kv_s("cluster", t->generation->names[i->cluster]),
		 kv_s("duty", duty_name((enum duty)i->duty)), kv_s("namespace", i->ns), kv_s("pod", i->name),
		 kv_s("uid", i->uid), kv_s("outcome", outcome_name((enum outcome)r->outcome)),
		 kv_s("reason", r->reason), kv_s("target", r->target),
		 kv_s("mode", i->observe ? "observe" : "enforce"), kv_s("detail", r->detail));
}

/* Somebody waits for the end of what they asked for. */
static void tell_person(struct supervisor *t, const struct lease *l)
{
	struct msg m = { .type = MSG_CTL_DRY_RUN_RESULT };

	if (!l->conn)
		return;
	msg_copy_fields(&m, &l->record);
	m.u.ctl_dry_run_result.conn = l->conn;
	control_answer(t, l->conn, &m);
}

void dispatch_on_record_ack(struct child *s, const struct msg *m)
{
	struct supervisor *t = s->tree;
	struct lease *l = lease_find(t->leases, m->u.record_ack.id);

	if (!l || l->phase != LEASE_RECORDING)
		return; /* acknowledged twice, by two lives of the reporter */
	const struct msg_record *r = &l->record.u.record;

	log_end(t, l);
	tell_person(t, l);
	t->actions += r->outcome == OUTCOME_DONE;
	send_nomination_result(t, &l->intent, (enum outcome)r->outcome, r->reason, r->retry_ms);
	lease_close(t->leases, &l);
}

static void give_up(struct supervisor *t, struct lease *l)
{
	static const char text[] = "every worker that held this lease died";
	struct msg m = { .type = MSG_RESULT };

	m.u.result = (struct msg_result){
		.id = l->intent.u.intent.id, .outcome = OUTCOME_FAILED, .replicas = -1, .at = clock_wall_ms()
	};
	msg_set(&m, result.reason, "WorkerDied", strlen("WorkerDied"));
	msg_set(&m, result.detail, text, sizeof(text) - 1);
	if (lease_result(t->leases, l->holder, &m, &l) == 0)
		send_record(t, l);
}

void dispatch_on_worker_dead(struct child *s)
{
	struct lease *l;

	s->ahead_id = 0;
	dry_run_on_worker_dead(s);
	while ((l = lease_held_by(s->tree->leases, s->index))) {
		if (l->grants >= GRANTS_MAX)
			give_up(s->tree, l);
		else
			lease_holder_died(s->tree->leases, l);
	}
	dispatch_dispatch(s->tree, s->cluster);
}

/* Never released by time: the holder is killed, and its death releases. */
static bool holds_overdue(const struct supervisor *t, const struct child *s, uint64_t now_ms)
{
	for (const struct lease *l = lease_held_by(t->leases, s->index); l; l = l->next_held)
		if (now_ms > l->deadline_ms)
			return true;
	return false;
}

void dispatch_tick(struct supervisor *t, uint64_t now_ms)
{
	for (size_t i = 0; i < t->n_children; i++) {
		struct child *s = t->children[i];
		if (s->pid && holds_overdue(t, s, now_ms))
			child_kill(s, "hung: a lease took longer than 30 s");
	}
	dry_run_tick(t, now_ms);
	pause_requests_tick(t);
	if (t->history_open)
		lease_each(t->leases, send_again, t);
}

static void count_busy(void *ctx, struct lease *l)
{
	*(size_t *)ctx += l->phase == LEASE_GRANTED || l->phase == LEASE_RECORDING;
}

size_t dispatch_busy(struct supervisor *t)
{
	size_t n = 0;

	lease_each(t->leases, count_busy, &n);
	return n;
}
