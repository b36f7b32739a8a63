/* controller.c - see controller.h.  Events go into the store and mark keys; controller_turn.c goes on from
 * there. */
// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/duty.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "watcher/controller/decision.h"
#include "watcher/controller/controller_state.h"

#define BUDGET_LOOK_MS 1000u /* budgets that were given back are looked at together */

static const struct store_ops store_ops;

struct controller *controller_new(uint64_t cluster, const struct policy *policy, uint64_t quiet_ms,
				  controller_send_fn *send, void *ctx)
{
	struct controller *j = xcalloc(1, sizeof(*j));

	j->cluster = cluster;
	j->policy = policy;
	j->send = send;
	j->ctx = ctx;
	j->store = store_new(&store_ops, j);
	store_set_policy(j->store, policy);
	j->keys = queue_new();
	j->groups = queue_new();
	j->waiting = queue_new();
	j->since = failing_since_new();
	j->gate = sync_state_new(quiet_ms);
	j->book = in_flight_new();
	j->guards = guards_new(cluster);
	j->held = blocked_new();
	j->census = pod_counts_new();
	j->stay = scaledown_watch_new();
	return j;
}

void controller_free(struct controller **j)
{
	if (!*j)
		return;
	store_free(&(*j)->store);
	queue_free(&(*j)->keys);
	queue_free(&(*j)->groups);
	queue_free(&(*j)->waiting);
	deadlines_done(&(*j)->deadlines);
	failing_since_free(&(*j)->since);
	sync_state_free(&(*j)->gate);
	in_flight_free(&(*j)->book);
	guards_free(&(*j)->guards);
	blocked_free(&(*j)->held);
	pod_counts_free(&(*j)->census);
	scaledown_watch_free(&(*j)->stay);
	free((*j)->refused);
	free(*j);
	*j = NULL;
}

/* -- what a pod counts as -----------------------------------------------------------------------------------
 */

uint8_t controller_mark(const struct controller *j, const struct pod_facts *p)
{
	bool live = p->deletion == 0 && !str_is(p->phase, "Succeeded") && !str_is(p->phase, "Failed");
	uint32_t container;
	unsigned mark = p->ready ? MARK_READY : 0;

	if (live)
		mark |= MARK_LIVE;
	if (live && judge_is_pull_failure(p, j->policy, &container))
		mark |= MARK_FAILING;
	else if (live && judge_has_pulled(p))
		mark |= MARK_PULLED;
	return (uint8_t)mark;
}

struct str controller_clock_owner(const struct pod_facts *p)
{
	return p->owner.uid.n ? p->owner.uid : p->uid;
}

bool controller_clock_may_run(const struct controller *j, uint32_t h)
{
	struct group_tally t = { 0 };
	uint32_t group = store_group(j->store, h);

	if (group)
		store_tally(j->store, group, &t);
	return t.pulled == 0;
}

void controller_context(struct controller *j, uint32_t h, const struct pod_facts *p, struct pod_context *ret)
{
	uint32_t group = store_group(j->store, h);
	struct group_tally t;

	*ret = (struct pod_context){ .stage = STAGE_CACHE };
	if (group) {
		store_tally(j->store, group, &t);
		ret->tally_known = TRI_YES;
		ret->pods = t.live;
		ret->failing = t.failing;
		ret->ready = t.ready;
	}
	if (controller_clock_may_run(j, h))
		ret->failing_since = failing_since_get(j->since, controller_clock_owner(p), p->revision);
}

/* -- the store's callbacks
 * ----------------------------------------------------------------------------------- */

static void on_removed(void *ctx, uint32_t h)
{
	struct controller *j = ctx;

	deadlines_cancel(&j->deadlines, h);
	queue_drop(j->keys, h);
	blocked_remove(j->held, h);
	if (h < j->cap_refused)
		j->refused[h] = 0;
	if (!in_flight_count(j->book) && !failing_since_count(j->since))
		return;
	store_get(j->store, h, &j->gone);
	in_flight_gone(j->book, j->gone.uid, h);
	in_flight_gone(j->book, j->gone.owner.uid, h);
	if (store_group(j->store, h))
		return;
	failing_since_idle(j->since, j->gone.uid, j->gone.revision, clock_boot_ms());
	guards_recovered(j->guards, j->gone.uid, j->gone.revision);
}

static void on_tally(void *ctx, uint32_t group)
{
	struct controller *j = ctx;
	struct group_tally t;
	struct owner_facts owner;
	struct str revision;
	char uid[37];

	queue_add(j->groups, group);
	if (!failing_since_count(j->since))
		return;
	store_tally(j->store, group, &t);
	if (t.failing && !t.pulled)
		return;
	store_group_owner(j->store, group, &owner, &revision, uid);
	if (t.pulled)
		failing_since_clear(j->since, owner.uid, revision);
	else
		failing_since_idle(j->since, owner.uid, revision, clock_boot_ms());
	guards_recovered(j->guards, owner.uid, revision);
}

static const struct store_ops store_ops = { on_removed, on_tally };

/* -- what the reflector says --------------------------------------------------------------------------------
 */

int controller_pod(struct controller *j, const struct pod_facts *p)
{
	enum store_change change;
	uint64_t at;
	uint32_t h;
	int r = store_put(j->store, p, controller_mark(j, p), &h, &change);

	if (r < 0)
		return r;
	j->unread++;
	/* A first list is judged as a whole when it is complete. Of a pod that only has a new version, the
	 * verdict is the same, but a nomination that waits for a change may go on. */
	if (change != STORE_SAME && sync_state_namespace(j->gate, p->ns, &at) &&
	    (change != STORE_TOUCHED || in_flight_count(j->book)))
		queue_add(j->keys, h);
	return 0;
}

/* A DELETED event of an older object of the same name must not remove its successor. */
static bool is_older(const struct pod_facts *event, const struct pod_facts *cached)
{
	uint64_t a, b;

	return !str_eq(event->uid, cached->uid) && str_to_u64(event->rv.p, event->rv.n, &a) == 0 &&
	       str_to_u64(cached->rv.p, cached->rv.n, &b) == 0 && a < b;
}

void controller_delete(struct controller *j, const struct pod_facts *p)
{
	uint32_t h = store_find(j->store, p->ns, p->name);

	if (!h)
		return;
	store_get(j->store, h, &j->facts);
	if (!is_older(p, &j->facts))
		store_remove(j->store, h);
}

void controller_list(struct controller *j, struct str ns)
{
	sync_state_list(j->gate, ns, store_list_begin(j->store));
}

void controller_sync(struct controller *j, struct str ns)
{
	struct sync_state_synced sync = sync_state_sync(j->gate, ns, clock_boot_ms());

	(void)store_sweep(j->store, sync.list, ns);
	j->enrolled = j->enrolled && !sync.first;
	for (uint32_t h = 0; (sync.first || sync.narrowed) && (h = store_next(j->store, h));) {
		struct str of = store_namespace(j->store, h);

		if (!sync_state_watches(j->gate, of))
			store_remove(j->store, h);
		else if (!ns.n || str_eq(of, ns))
			queue_add(j->keys, h);
	}
}

void controller_list_failed(struct controller *j, struct str ns)
{
	sync_state_list_failed(j->gate, ns);
}

void controller_alive(struct controller *j)
{
	sync_state_alive(j->gate, clock_boot_ms());
	j->last_byte = clock_wall_ms();
}

void controller_server_date(struct controller *j, int64_t date_ms)
{
	if (!clock_skew_note(&j->skew, date_ms, clock_boot_ms()))
		return;
	/* Deadlines were made from another server time: judged again, they are made anew. */
	for (uint32_t i = 0; i < j->deadlines.n; i++)
		queue_add(j->keys, j->deadlines.key[i]);
}

static void queue_pod(void *ctx, uint32_t h)
{
	struct controller *j = ctx;

	queue_forget(j->keys, h);
	queue_add(j->keys, h);
}

void controller_healthy(struct controller *j)
{
	in_flight_retry_failed(j->book, clock_boot_ms(), queue_pod, j);
}

void controller_set_policy(struct controller *j, const struct policy *policy, uint64_t quiet_ms)
{
	j->policy = policy;
	store_set_policy(j->store, policy);
	j->enrolled = false;
	sync_state_set_quiet(j->gate, quiet_ms);
	for (uint32_t h = 0; (h = store_next(j->store, h));)
		queue_add(j->keys, h);
}

void controller_set_place(struct controller *j, const char *cluster, const void *zones, size_t n_zones)
{
	guards_set_cluster(j->guards, cluster);
	guards_set_zones(j->guards, zones, n_zones);
}

void controller_reset(struct controller *j)
{
	(void)store_sweep(j->store, store_list_begin(j->store), STR_LIT(""));
	sync_state_reset(j->gate);
}

/* -- what other processes say
 * -------------------------------------------------------------------------------- */

static void report_dropped(struct controller *j, const struct msg_nomination_result *m)
{
	j->dropped++;
	(void)log_warn(0, "given up after all retries; tried again when the pod changes or in ten minutes",
		       kv_s("duty", duty_name((enum duty)m->duty)), kv_s("namespace", m->ns),
		       kv_s("pod", m->name), kv_s("outcome", outcome_name((enum outcome)m->outcome)),
		       kv_s("reason", m->reason));
}

/* What it spent is settled; a fresh attempt is remembered with the clock it belongs to. */
static void settle_guards(struct controller *j, const struct msg_nomination_result *m)
{
	bool observe = j->policy->mode == MODE_OBSERVE;
	struct str owner, revision;
	struct clock_snapshot now;

	controller_clock(j, &now);
	if (m->outcome == OUTCOME_DONE && !observe &&
	    guards_retried(j->guards, STR_C(m->action_key), &owner, &revision))
		failing_since_set_tried(j->since, owner, revision, now.latest);
	if (guards_settled(j->guards, m, observe, &now) && j->budget_at == 0)
		j->budget_at = (uint64_t)now.boot + BUDGET_LOOK_MS;
}

/* Told once, as a refusal of the pod that should have gone. */
static void report_staying(struct controller *j, uint32_t h)
{
	struct msg m = { .type = MSG_REFUSAL };
	struct pod_context s;
	struct decision d = { .v = { .kind = VERDICT_REFUSE,
				     .duty = DUTY_IMAGE_PULL,
				     .reason = REASON_PODS_DO_NOT_LEAVE,
				     .rule = "R23",
				     .override = "" } };

	if (!h || !store_has(j->store, h))
		return;
	store_get(j->store, h, &j->facts);
	controller_context(j, h, &j->facts, &s);
	(void)snprintf(d.v.evidence, sizeof(d.v.evidence),
		       "%s %.*s wants no pods for longer than %llu min, and %u are still there",
		       j->facts.owner.kind.n ? "its controller" : "it", STR_ARG(j->facts.owner.name),
		       (unsigned long long)(STAY_MS / 60000), s.pods);
	decision_fill(j, &j->facts, &s, &d, &m);
	(void)j->send(j->ctx, &m);
}

/* R23: a scale to 0 is not the end of it, the pods must leave. */
static void settle_stay(struct controller *j, const struct msg_nomination_result *m, uint32_t h, uint64_t now)
{
	if (m->duty != DUTY_IMAGE_PULL || m->action != ACTION_DUTY)
		return;
	if (m->outcome == OUTCOME_DONE && j->policy->mode != MODE_OBSERVE)
		scaledown_watch_scaled(j->stay, STR_C(m->action_key), now);
	else if (strcmp(m->reason, reason_code(REASON_ALREADY_ZERO)) == 0 &&
		 scaledown_watch_noted(j->stay, STR_C(m->action_key), now))
		report_staying(j, h);
}

void controller_on_nomination_result(struct controller *j, const struct msg_nomination_result *m)
{
	uint64_t now = clock_boot_ms(), delay = 0;
	uint32_t h = in_flight_pod(j->book, STR_C(m->action_key)), retries = 0;
	struct in_flight_settled end;

	settle_guards(j, m);
	/* Put back by a person's word: it gets its whole time again, and that it comes back is no fight. */
	if (m->action == ACTION_RESTORE && m->outcome == OUTCOME_DONE && j->policy->mode != MODE_OBSERVE) {
		failing_since_forget(j->since, STR_C(m->action_key));
		guards_forgive(j->guards, STR_C(m->action_key));
	}
	if (in_flight_is_failure(m->outcome) && h) {
		delay = queue_when(j->keys, h, now);
		retries = queue_retries(j->keys, h);
	}
	if (!in_flight_settle(j->book, m, retries, delay, j->policy->mode == MODE_OBSERVE, now, &end))
		return;
	settle_stay(j, m, end.h, now);
	if (end.h && (!in_flight_is_failure(m->outcome) || end.dropped))
		queue_forget(j->keys, end.h);
	if (end.dropped)
		report_dropped(j, m);
	/* Otherwise judged again at once: it may be due by a newer version, or the wait gets its deadline. */
	if (end.h && in_flight_is_failure(m->outcome) && !end.dropped)
		queue_add_after(j->keys, end.h, now, end.until - now);
	else if (end.h)
		queue_add(j->keys, end.h);
	if (end.group)
		queue_add(j->groups, end.group);
}

void controller_on_failing_since_row(struct controller *j, const struct msg_failing_since_row *m)
{
	failing_since_load(j->since, STR_C(m->owner), STR_C(m->revision), m->at, m->attempted,
			   clock_boot_ms());
}

void controller_on_saved_row(struct controller *j, const struct msg_saved_row *m)
{
	struct clock_snapshot now;

	controller_clock(j, &now);
	guards_on_saved(j->guards, m, &now);
}

void controller_on_action_row(struct controller *j, const struct msg_action_row *m)
{
	struct clock_snapshot now;

	controller_clock(j, &now);
	guards_on_act(j->guards, m, &now);
}

void controller_on_pause(struct controller *j, const struct msg_pause *m)
{
	if (guards_on_pause(j->guards, m))
		blocked_wake(j->held, GUARD_PAUSE, clock_boot_ms());
}

void controller_set_leader(struct controller *j, bool leading, const char *holder)
{
	guards_set_leader(j->guards, leading, holder);
	blocked_wake(j->held, GUARD_LEADER, clock_boot_ms());
}

void controller_on_saved_end(struct controller *j)
{
	sync_state_remembered(j->gate);
}

void controller_on_room(struct controller *j)
{
	j->blocked_until = 0;
}

/* -- for others
 * ----------------------------------------------------------------------------------------------- */

struct store *controller_store(struct controller *j)
{
	return j->store;
}

const struct policy *controller_policy(const struct controller *j)
{
	return j->policy;
}

struct guards *controller_guards(struct controller *j)
{
	return j->guards;
}

uint32_t controller_order(const struct controller *j, uint32_t **ret)
{
	uint32_t all = (uint32_t)store_count(j->store), n;

	*ret = xreallocarray(NULL, (size_t)all + 1, sizeof(**ret));
	n = blocked_list(j->held, *ret, all);
	for (uint32_t h = 0; n < all && (h = store_next(j->store, h));)
		if (!blocked_lists(j->held, h))
			(*ret)[n++] = h;
	return n;
}

const struct sync_state *controller_gate(const struct controller *j)
{
	return j->gate;
}

int64_t controller_now(const struct controller *j)
{
	return clock_skew_now(&j->skew, clock_wall_ms(), clock_boot_ms());
}

void controller_clock(const struct controller *j, struct clock_snapshot *ret)
{
	uint64_t boot = clock_boot_ms();
	int64_t wall = clock_wall_ms();

	*ret = (struct clock_snapshot){ .boot = (int64_t)boot,
					.wall = wall,
					.server = clock_skew_now(&j->skew, wall, boot),
					.latest = clock_skew_latest(&j->skew, wall, boot) };
}

/* "Budget 12, Pause 3: ..." */
static void describe_holds(const struct controller *j, char *buf, size_t size)
{
	const char *breaker = guards_breaker_text(j->guards);
	size_t n = 0;

	buf[0] = '\0';
	for (enum guard g = 0; g < GUARD__MAX && n < size; g++)
		if (blocked_count_of(j->held, g))
			n += (size_t)snprintf(buf + n, size - n, "%s%s %" PRIu32, n ? ", " : "",
					      guard_name(g), blocked_count_of(j->held, g));
	if (*breaker && n < size)
		(void)snprintf(buf + n, size - n, "%s%s", n ? "; breaker: " : "breaker: ", breaker);
}

void controller_stats(const struct controller *j, struct controller_stats *ret)
{
	*ret = (struct controller_stats){
		.bytes = store_bytes(j->store) + queue_bytes(j->keys) + queue_bytes(j->groups) +
			 queue_bytes(j->waiting) + deadlines_bytes(&j->deadlines) +
			 j->cap_refused * sizeof(*j->refused) + blocked_bytes(j->held),
		.queue = queue_len(j->keys) + queue_len(j->waiting),
		.deadlines = j->deadlines.n,
		.nominated = j->nominated,
		.dropped = j->dropped,
		.judged = j->judged,
		.last_byte = j->last_byte,
		.blocked = blocked_count(j->held),
		.reverts = guards_revert_count(j->guards),
	};
	describe_holds(j, ret->blocked_by, sizeof(ret->blocked_by));
}
