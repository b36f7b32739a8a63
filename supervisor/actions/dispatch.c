/* dispatch.c - see dispatch.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "model/duties.h"
#include "model/actions.h"
#include "model/reasons.h"
#include "supervisor/actions/lease_history.h"
#include "supervisor/actions/replicas.h"
#include "supervisor/actions/worker_pool.h"
#include "supervisor/actions/write_guard.h"
#include "text/texts.h"

#define LEASE_MS        30000u /* a holder that takes longer is killed */
#define VALID_MS        20000u /* a write may start this long after the grant */
#define GRANTS_MAX      5u     /* holders that may die on one lease before it is given up */
#define BUSY_RETRY_MS   1000u
#define PAUSED_RETRY_MS 5000u
#define LIMIT_RETRY_MS  10000u
#define SLACK_MS        2000   /* what a watcher says it has seen a moment before: so much is believed */
#define FLOOR_MS        60000u /* how often it is kept up to when all has ended */

/* Leases a cluster may open: a storm at once, then so many a second that write nothing. One that wrote gives
 * its token back; those have their own limit (write_guard.h). */
static const struct bucket_size nomination_rate = { LEASES_MAX, 10 };

bool dispatch_is_paused(const struct supervisor *s, uint64_t cluster, uint64_t duty)
{
	return pause_list_pauses(&s->pause_list, settings(s)->names[cluster], duty, own_state_now(s->own),
				 clock_is_borne_out(s, cluster));
}

/* What is in doubt is looked at before its cluster goes. */
static bool lease_is_paused(void *ctx, const struct lease *l)
{
	const struct supervisor *s = ctx;

	if (!l->verify_first && replicas_is_yielding(s, l->cluster))
		return true;
	return !l->by_operator && (dispatch_is_paused(s, l->cluster, l->duty) ||
				   (!l->verify_first && lifecycle_is_leaving(s->root, l->cluster)));
}

/* -- messages -- */

/* To a watcher; one that is down nominates again after its list: the rules decide anew. */
static void refuse_nomination(const struct supervisor *s, const struct msg *nomination, enum reason reason,
			      uint64_t retry_ms)
{
	struct msg m = { .type = MSG_NOMINATION_RESULT };

	msg_copy_fields(&m, nomination);
	m.u.nomination_result.outcome = OUTCOME_REFUSED;
	m.u.nomination_result.retry_ms = retry_ms;
	msg_text(&m, nomination_result.reason, reason_code(reason));
	(void)children_send(s->children, ROLE_WATCHER, m.u.nomination_result.cluster, &m);
}

/* What a scale-down has deleted is a pod that held up its StatefulSet. */
static void send_end(const struct supervisor *s, const struct msg *intent, const struct msg *record)
{
	struct msg m = { .type = MSG_NOMINATION_RESULT };

	msg_copy_fields(&m, intent);
	msg_copy_fields(&m, record);
	m.u.nomination_result.on_pod = ACTIONS_ON_PODS >> intent->u.intent.action & 1 ||
				       strcmp(record->u.record.target_uid, intent->u.intent.uid) == 0;
	(void)children_send(s->children, ROLE_WATCHER, m.u.nomination_result.cluster, &m);
}

unsigned dispatch_leases_of(const struct supervisor *s, const struct child *worker)
{
	return lease_count_held(s->leases, (int)child_info(worker)->index);
}

static struct worker *state_of(struct supervisor *s, const struct child *worker)
{
	return &s->workers[child_info(worker)->index];
}

/* The next worker of the cluster, from *i on, that may take a lease and holds so many; NULL behind the last.
 * One that goes by older settings than those in force takes none. */
static struct child *next_free(struct supervisor *s, uint64_t cluster, unsigned held, size_t *i)
{
	struct child *w;

	while ((w = children_next(s->children, ROLE_WORKER, cluster, i)))
		if (lifecycle_is_current(s->root, w) && !state_of(s, w)->otherwise_busy &&
		    dispatch_leases_of(s, w) == held && worker_pool_may_act(s, w))
			return w;
	return NULL;
}

static bool prefetches(struct supervisor *s, const struct child *worker)
{
	const uint64_t id = state_of(s, worker)->prefetch_id;
	const struct lease *l = id ? lease_find(s->leases, id) : NULL;

	return l && (l->phase == LEASE_NEW || l->phase == LEASE_WAITING);
}

/* -- since when it is known to fail -- */

/* As a GRANT or PREFETCH says it to a worker: Unix ms; 0 for an action that no such time concerns. What is
 * not known, or only from now on, is known since now. */
static int64_t known_since(const struct supervisor *s, uint64_t action, const struct failing_since_key *key)
{
	if (duty_workload((enum duty)key->duty) < 0 || action == ACTION_RESTORE)
		return 0;
	const int64_t since = failing_since_get(s->own->known, key), now = own_state_now(s->own);

	return clock_wall_ago(since > 0 && since < now ? now - since : 0);
}

/* Likewise, since when its cluster has been watched without a break; 0 where there was none. */
static int64_t watched_since(const struct supervisor *s, uint64_t action, const struct failing_since_key *key)
{
	const int64_t since = failing_since_watched_since(s->own->known, key->cluster_name);
	const int64_t now = own_state_now(s->own);

	if (duty_workload((enum duty)key->duty) < 0 || action == ACTION_RESTORE || since == 0)
		return 0;
	return clock_wall_ago(since < now ? now - since : 0);
}

/* What it said last may be as old as SLACK_MS. */
static void note_watched(struct supervisor *s, uint64_t cluster)
{
	failing_since_watched(s->own->known, settings(s)->names[cluster], own_state_now(s->own) - SLACK_MS);
}

/* Names of earlier lives may fill the registry: one that the settings have no more makes room. Returns false
 * when there is none, or room for another cluster. */
static bool forget_cluster(const struct supervisor *s)
{
	const struct generation *g = settings(s);
	const struct failing_since_cluster *c, *gone = NULL;
	size_t n = 0;

	for (size_t i = 0; (c = failing_since_next_cluster(s->own->known, &i)); n++)
		if (generation_find_cluster(g, c->name) == g->all.clusters)
			gone = c;
	if (n < CLUSTERS_MAX || !gone)
		return false;
	failing_since_forget_cluster(s->own->known, gone);
	return true;
}

/* Without room it is left out, which is logged once. */
static void add_known(struct supervisor *s, const struct failing_since_key *key, int64_t at)
{
	bool added;

	do
		added = failing_since_add(s->own->known, key, at > 1 ? at : 1);
	while (!added && forget_cluster(s));
	if (added || s->failing_is_full)
		return;
	s->failing_is_full = true;
	(void)log_warn(
		0, "more workloads fail than can be kept in mind: what begins to fail now is not scaled down",
		kv_s("cluster", key->cluster_name), kv_u("kept", FAILING_SINCE_MAX));
}

static struct failing_since_key key_of(const struct supervisor *s, uint64_t cluster, uint64_t duty,
				       const char *owner, const char *revision)
{
	return (struct failing_since_key){ settings(s)->names[cluster], duty, owner, revision };
}

void dispatch_on_failing_since(struct supervisor *s, const struct msg_failing_since *m)
{
	if (m->cluster >= settings(s)->all.clusters || duty_workload((enum duty)m->duty) < 0)
		return;
	const struct failing_since_key key = key_of(s, m->cluster, m->duty, m->owner, m->revision);

	note_watched(s, m->cluster);
	if (m->at > 0)
		add_known(s, &key, own_state_now(s->own) - SLACK_MS);
	else
		failing_since_remove(s->own->known, &key);
}

/* -- nominations -- */

/* An idle worker reads and judges while the intent is being written down. It is a hint: the grant may go to
 * another one, and then that one reads. */
static void send_prefetch(struct supervisor *s, const struct lease *l, const struct msg *from,
			  const struct failing_since_key *key)
{
	struct msg m = { .type = MSG_PREFETCH };
	struct child *w;
	size_t i = 0;

	do
		w = next_free(s, l->cluster, 0, &i);
	while (w && prefetches(s, w));
	if (!w)
		return;
	msg_copy_fields(&m, from);
	m.u.prefetch.id = l->id;
	m.u.prefetch.observe = settings(s)->all.observe;
	m.u.prefetch.known_since = known_since(s, from->u.nominate.action, key);
	m.u.prefetch.watched_since = watched_since(s, from->u.nominate.action, key);
	worker_pool_note_used(s, w);
	if (child_send(w, &m, -1) == 0)
		state_of(s, w)->prefetch_id = l->id;
}

static bool may_open(const struct supervisor *s, uint64_t cluster)
{
	return lifecycle_is_running(s->root) && s->intents_known && !lifecycle_is_leaving(s->root, cluster) &&
	       !replicas_is_yielding(s, cluster);
}

static bool has_room(const struct supervisor *s, uint64_t cluster)
{
	return !lease_table_is_full(s->leases, cluster, settings(s)->n_wanted == 1) &&
	       !bucket_is_empty(&s->nominations[cluster], &nomination_rate, clock_boot_ms());
}

/* Why a nomination becomes no lease now. */
struct objection {
	enum reason reason; /* REASON__MAX: it does */
	uint64_t retry_ms;
};

static struct objection objection(struct supervisor *s, const struct msg_nominate *n)
{
	if (!may_open(s, n->cluster) || !has_room(s, n->cluster))
		return (struct objection){ REASON_BUSY, BUSY_RETRY_MS };
	if (write_guard_check(s, n->cluster, 0))
		return (struct objection){ REASON_WRITE_LIMIT, LIMIT_RETRY_MS };
	if (dispatch_is_paused(s, n->cluster, n->duty))
		return (struct objection){ REASON_PAUSED, PAUSED_RETRY_MS };
	if (!(settings(s)->all.duties >> n->duty & 1))
		return (struct objection){ REASON_DUTY_DISABLED, 0 };
	return (struct objection){ REASON__MAX, 0 };
}

/* Under several keys two workers would delete one pod at the same time. */
static bool has_its_key(const struct msg_nominate *n)
{
	return duty_desc((enum duty)n->duty)->key != KEY_POD || strcmp(n->action_key, n->uid) == 0;
}

/* A nomination arrives. It becomes a lease and an INTENT; dispatch_on_intent_ack() grants it to a worker,
 * dispatch_on_result() has the end written down, and dispatch_on_record_ack() closes it. */
void dispatch_on_nominate(struct supervisor *s, struct child *watcher, const struct msg *m)
{
	const struct msg_nominate *n = &m->u.nominate;

	if (n->action == ACTION_RESTORE) {
		child_protocol_error(watcher, TEXT_NOMINATED_RESTORE);
		return;
	}
	if (!has_its_key(n)) {
		child_protocol_error(watcher, TEXT_NOMINATED_UNDER_KEY);
		return;
	}
	const struct objection no = objection(s, n);

	if (no.reason != REASON__MAX) {
		refuse_nomination(s, m, no.reason, no.retry_ms);
		return;
	}
	const struct failing_since_key key = key_of(s, n->cluster, n->duty, n->action_key, n->revision);

	note_watched(s, n->cluster);
	if (duty_workload((enum duty)n->duty) >= 0) /* named now, if it was not before */
		add_known(s, &key, own_state_now(s->own));
	struct lease *l = lease_open(s->leases, m, settings(s)->all.observe);

	if (!l)
		return; /* the action key has an open lease, whose end is reported */
	(void)bucket_take(&s->nominations[n->cluster], &nomination_rate, clock_boot_ms());
	worker_pool_start(s, n->cluster, lease_table_count_of(s->leases, n->cluster));
	lease_history_send_intents(s, n->cluster);
	send_prefetch(s, l, m, &key);
}

bool dispatch_vouches(const struct supervisor *s, const struct msg *row)
{
	const struct msg_ctl_restore_row *r = &row->u.ctl_restore_row;

	return own_state_vouches(s->own, r, settings(s)->names[r->cluster]);
}

bool dispatch_restore(struct supervisor *s, const struct msg *row, uint64_t conn, bool by_operator)
{
	struct msg m = { .type = MSG_INTENT };

	msg_copy_fields(&m, row);
	m.u.intent.by_operator = by_operator;
	m.u.intent.vouched = dispatch_vouches(s, row);
	const uint64_t cluster = row->u.ctl_restore_row.cluster;
	struct lease *l = may_open(s, cluster) ? lease_open(s->leases, &m, settings(s)->all.observe) : NULL;

	if (!l)
		return false;
	l->conn = conn;
	lease_history_send_intents(s, cluster);
	return true;
}

/* Its id is taken in the history: what is nominated again gets another one. */
static void drop_unwritable(struct supervisor *s, struct lease *l)
{
	struct msg intent;

	msg_unpack(l->intent, &intent);
	answers_refuse(&s->answers, l->conn, EXIT_CODE_TEMPORARY, TEXT_NOT_TAKEN);
	refuse_nomination(s, &intent, REASON_BUSY, BUSY_RETRY_MS);
	lease_close(s->leases, &l);
}

/* The present history acknowledges what it was sent, and nothing else. */
static bool was_sent(const struct lease *l, enum lease_phase phase, struct child *reporter)
{
	if (!l || l->phase != phase)
		return false; /* acknowledged twice, by two lives of the reporter */
	if (!l->sent)
		child_protocol_error(reporter, TEXT_UNSENT_ACKNOWLEDGED);
	return l->sent;
}

void dispatch_on_intent_ack(struct supervisor *s, struct child *reporter, const struct msg *m)
{
	struct lease *l = lease_find(s->leases, m->u.intent_ack.id);

	if (!was_sent(l, LEASE_NEW, reporter))
		return;
	const uint64_t cluster = l->cluster;

	if (!m->u.intent_ack.written)
		drop_unwritable(s, l);
	else if (lease_written(s->leases, l))
		dispatch_cluster(s, cluster);
	lease_history_send_intents(s, cluster);
}

void dispatch_on_open_intent(struct supervisor *s, struct child *reporter, const struct msg *m)
{
	if (s->history_open)
		child_protocol_error(reporter, TEXT_OPEN_INTENT_LATE);
	else
		open_intents_take(s, m);
}

bool dispatch_on_open_end(struct supervisor *s, struct child *reporter, const struct msg *m)
{
	if (s->history_open) {
		child_protocol_error(reporter, TEXT_OPEN_END_TWICE);
		return false;
	}
	open_intents_end(s, m->u.open_end.next_id);
	s->history_open = true;
	lifecycle_open(s->root);
	dispatch_all(s);
	return true;
}

/* What the dead reporter may have read without writing it down is sent again; ids make that harmless. */
void dispatch_on_reporter_ready(struct supervisor *s)
{
	lease_table_set_unsent(s->leases);
	s->intents_refused = 0;
	lease_history_send_all(s);
}

/* -- granting -- */

/* Leases that the workers of the cluster hold; asked for where writes are limited. */
static uint64_t under_way(const struct supervisor *s, uint64_t cluster)
{
	const bool limited = settings(s)->all.writes_per_minute || settings(s)->all.writes_per_hour;
	const struct child *w;
	uint64_t n = 0;
	size_t i = 0;

	while (limited && (w = children_next_of(s->children, ROLE_WORKER, cluster, &i)))
		n += dispatch_leases_of(s, w);
	return n;
}

static bool send_grant(struct supervisor *s, struct child *worker)
{
	const struct child_info *at = child_info(worker);
	const uint64_t now = clock_boot_ms(), until = replicas_write_until(s, at->cluster, now, VALID_MS);
	struct msg intent, m = { .type = MSG_GRANT };

	if (!until)
		return false; /* another replica may lead: what waits here is taken up when this one does */
	(void)write_guard_check(s, at->cluster, under_way(s, at->cluster));
	const struct lease *l = lease_grant(s->leases, at->cluster, (int)at->index, now + LEASE_MS);

	if (!l)
		return false;
	msg_unpack(l->intent, &intent);
	msg_copy_fields(&m, &intent);
	m.u.grant.verify_first = l->verify_first;
	m.u.grant.valid_until = until;
	const struct msg_intent *i = &intent.u.intent;
	const struct failing_since_key key = key_of(s, at->cluster, i->duty, i->action_key, i->revision);

	own_state_history(s->own, m.u.grant.history);
	m.u.grant.known_since = known_since(s, i->action, &key);
	m.u.grant.watched_since = watched_since(s, i->action, &key);
	worker_pool_note_used(s, worker);
	(void)child_send(worker, &m, -1); /* a failure is followed by the worker's death */
	return true;
}

static struct msg new_result(uint64_t id, enum outcome outcome, enum reason reason, uint64_t retry_ms)
{
	struct msg m = { .type = MSG_RESULT,
			 .u.result = { .id = id,
				       .outcome = outcome,
				       .replicas = -1,
				       .at = clock_wall_ms(),
				       .retry_ms = retry_ms } };

	msg_text(&m, result.reason, reason_code(reason));
	return m;
}

/* What was written down before the pause ends now: an operator who pauses sees that nothing is in flight. */
static void refuse_paused(struct supervisor *s, uint64_t cluster)
{
	const enum reason why = replicas_is_yielding(s, cluster)         ? REASON_NOT_LEADER
				: lifecycle_is_leaving(s->root, cluster) ? REASON_CLUSTER_REMOVED
									 : REASON_PAUSED;
	const struct msg m = new_result(1, OUTCOME_REFUSED, why, PAUSED_RETRY_MS);
	struct lease *l;

	while ((l = lease_refuse_paused(s->leases, cluster, &m)))
		lease_history_send_record(s, l);
}

/* One lease more for each worker that has this many. */
static void grant_where_held(struct supervisor *s, uint64_t cluster, unsigned held)
{
	struct child *w;
	size_t i = 0;

	while (lease_is_waiting(s->leases, cluster) && (w = next_free(s, cluster, held, &i)))
		(void)send_grant(s, w);
}

/* Leases go first. */
static void ask_idle(struct supervisor *s, uint64_t cluster)
{
	struct child *w;
	size_t i = 0;

	while (s->idle && (w = next_free(s, cluster, 0, &i))) {
		if (s->idle(s, w)) {
			state_of(s, w)->otherwise_busy = true;
			worker_pool_note_used(s, w);
		}
	}
}

void dispatch_cluster(struct supervisor *s, uint64_t cluster)
{
	if (!lifecycle_is_running(s->root) || !s->history_open)
		return;
	if (lease_is_waiting(s->leases, cluster))
		worker_pool_start(s, cluster, lease_table_count_of(s->leases, cluster));
	const bool yielding = replicas_is_yielding(s, cluster);

	if (s->pause_list.n > 0 || yielding ||
	    lifecycle_is_leaving(s->root, cluster)) /* what waits is looked at one by one */
		refuse_paused(s, cluster);
	if (yielding && lease_table_count_of(s->leases, cluster) == 0)
		replicas_let_go(s, cluster);
	for (unsigned held = 0; held < WORKER_LEASES_MAX; held++)
		grant_where_held(s, cluster, held);
	ask_idle(s, cluster);
}

void dispatch_all(struct supervisor *s)
{
	for (uint64_t c = 0; generation_next(settings(s), &c); c++)
		dispatch_cluster(s, c);
}

void dispatch_worker_idle(struct supervisor *s, const struct child *worker)
{
	state_of(s, worker)->otherwise_busy = false;
	dispatch_cluster(s, child_info(worker)->cluster);
}

/* -- the end of an action -- */

void dispatch_on_quote(struct supervisor *s, struct child *worker, const struct msg *m)
{
	if (lease_quote(s->leases, (int)child_info(worker)->index, m) < 0)
		child_protocol_error(worker, TEXT_STRANGE_RESULT);
}

void dispatch_on_result(struct supervisor *s, struct child *worker, const struct msg *m)
{
	struct lease *l;

	if (lease_result(s->leases, (int)child_info(worker)->index, m, &l) < 0) {
		child_protocol_error(worker, TEXT_STRANGE_RESULT);
		return;
	}
	worker_pool_note_end(s, l->cluster, clock_boot_ms() + LEASE_MS - l->deadline_ms, m->u.result.http);
	end_log_note_dry_run(&s->end_log, l->cluster, settings(s)->names[l->cluster], &m->u.result);
	write_guard_on_result(s, l->cluster, l, &m->u.result);
	lease_history_send_record(s, l);
	dispatch_cluster(s, child_info(worker)->cluster);
}

void dispatch_on_record_ack(struct supervisor *s, struct child *reporter, const struct msg *m)
{
	struct lease *l = lease_find(s->leases, m->u.record_ack.id);
	struct msg intent, record, answer = { .type = MSG_CTL_DRY_RUN_RESULT };

	if (!was_sent(l, LEASE_RECORDING, reporter))
		return;
	msg_unpack(l->intent, &intent);
	msg_unpack(l->record, &record);
	const struct msg_record *r = &record.u.record;

	end_log_note(&s->end_log, settings(s)->names[l->cluster], &intent.u.intent, r);
	if (OUTCOMES_WRITTEN >> r->outcome & 1)
		bucket_put(&s->nominations[l->cluster], &nomination_rate);
	failures_note(&s->failures, l->cluster, (enum duty)intent.u.intent.duty, (enum outcome)r->outcome,
		      &r->detail, clock_boot_ms());
	msg_copy_fields(&answer, &record);
	answer.u.ctl_dry_run_result.conn = l->conn;
	answers_send(&s->answers, l->conn, &answer);
	s->done += r->outcome == OUTCOME_DONE;
	send_end(s, &intent, &record);
	const uint64_t cluster = l->cluster;

	lease_close(s->leases, &l);
	if (replicas_is_yielding(s, cluster))
		dispatch_cluster(s, cluster);
}

/* Any of them may have written before it died. A workload bears a mark then, which the next nomination's
 * worker sees; of a pod, the history follows what became of it. */
static void give_up(struct supervisor *s, struct lease *l)
{
	struct msg intent;

	msg_unpack(l->intent, &intent);
	const bool is_in_doubt = (ACTIONS_ON_PODS >> intent.u.intent.action & 1) && !intent.u.intent.observe;
	struct msg m =
		new_result(l->id, is_in_doubt ? OUTCOME_UNCONFIRMED : OUTCOME_FAILED, REASON_WORKER_DIED, 0);

	facts_finding(&m.u.result.detail, TEXT_WORKERS_DIED);
	write_guard_on_result(s, l->cluster, l, &m.u.result);
	if (lease_result(s->leases, l->holder, &m, &l) == 0)
		lease_history_send_record(s, l);
}

void dispatch_on_worker_dead(struct supervisor *s, struct child *worker)
{
	const int index = (int)child_info(worker)->index;
	struct lease *l;

	*state_of(s, worker) = (struct worker){ 0 };
	while ((l = lease_held_by(s->leases, index))) {
		if (l->grants >= GRANTS_MAX)
			give_up(s, l);
		else
			lease_holder_died(s->leases, l);
	}
	dispatch_cluster(s, child_info(worker)->cluster);
}

/* Never released by time: the holder is killed, and its death releases. */
static void check_overdue(const struct supervisor *s, struct child *worker, uint64_t now_ms)
{
	const struct lease *l = lease_held_by(s->leases, (int)child_info(worker)->index);

	for (; l; l = l->next)
		if (now_ms > l->deadline_ms && child_info(worker)->pid)
			child_kill(worker, TEXT_LEASE_HUNG, LEASE_MS);
}

/* An intent that has ended cannot be opened again, by whoever keeps the history. */
static void keep_floor(struct supervisor *s, uint64_t now_ms)
{
	const uint64_t lowest = lease_table_lowest_id(s->leases);

	if (!s->history_open || now_ms - s->floor_ms < FLOOR_MS || lowest == s->own->floor)
		return;
	s->floor_ms = now_ms;
	own_state_set_floor(s->own, lowest);
	(void)own_state_save(s->own); /* else the old one holds, which is lower */
}

void dispatch_tick(struct supervisor *s, uint64_t now_ms)
{
	for (size_t i = 0; i < children_count(s->children); i++)
		check_overdue(s, children_get(s->children, i), now_ms);
	if (s->history_open)
		lease_history_send_all(s);
	write_guard_tick(s);
	worker_pool_tick(s, now_ms);
	for (uint64_t c = 0; settings(s) && generation_next(settings(s), &c); c++)
		if (lease_is_waiting(s->leases, c))
			dispatch_cluster(s, c);
	for (uint64_t c = 0; settings(s) && generation_next(settings(s), &c); c++)
		if (s->watch_stats[c].u.watch_stats.synced)
			note_watched(s, c);
	keep_floor(s, now_ms);
	own_state_keep_known(s->own);
	if (settings(s))
		end_log_tick(&s->end_log, settings(s)->names, settings(s)->all.clusters, now_ms);
}

size_t dispatch_count_busy(const struct supervisor *s)
{
	size_t busy = 0;

	for (const struct lease *l = lease_next(s->leases, NULL); l; l = lease_next(s->leases, l))
		busy += l->phase == LEASE_GRANTED || l->phase == LEASE_RECORDING;
	return busy;
}

void dispatch_init(struct supervisor *s)
{
	s->leases = lease_table_new(lease_is_paused, s);
}
