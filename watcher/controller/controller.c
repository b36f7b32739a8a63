/* controller.c - see controller.h.  Events go into the store and mark keys; controller_run.c goes on from
 * there. */
// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/duties.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "watcher/controller/decision.h"
#include "watcher/controller/controller_state.h"

#define BUDGET_LOOK_MS 1000u /* budgets that were given back are looked at together */

static const struct store_ops store_ops;

struct controller *controller_new(uint64_t cluster, const struct policy *policy, uint64_t quiet_ms,
				  controller_send_fn *send, void *ctx)
{
	struct controller *c = xcalloc(1, sizeof(*c));

	c->cluster = cluster;
	c->policy = policy;
	c->send = send;
	c->ctx = ctx;
	c->store = store_new(&store_ops, c);
	store_set_policy(c->store, policy);
	c->keys = queue_new();
	c->groups = queue_new();
	c->waiting = queue_new();
	c->since = failing_since_new();
	c->sync = sync_state_new(quiet_ms);
	c->in_flight = in_flight_new();
	c->guards = guards_new(cluster);
	c->blocked = blocked_new();
	c->census = pod_counts_new();
	c->stay = scaledown_watch_new();
	return c;
}

void controller_free(struct controller **c)
{
	if (!*c)
		return;
	store_free(&(*c)->store);
	queue_free(&(*c)->keys);
	queue_free(&(*c)->groups);
	queue_free(&(*c)->waiting);
	deadlines_done(&(*c)->deadlines);
	failing_since_free(&(*c)->since);
	sync_state_free(&(*c)->sync);
	in_flight_free(&(*c)->in_flight);
	guards_free(&(*c)->guards);
	blocked_free(&(*c)->blocked);
	pod_counts_free(&(*c)->census);
	scaledown_watch_free(&(*c)->stay);
	free((*c)->refused);
	free(*c);
	*c = NULL;
}

/* -- what a pod counts as -----------------------------------------------------------------------------------
 */

uint8_t controller_mark(const struct controller *c, const struct pod_facts *p)
{
	bool live = p->deletion == 0 && !str_is(p->phase, "Succeeded") && !str_is(p->phase, "Failed");
	uint32_t container;
	unsigned mark = p->ready ? MARK_READY : 0;

	if (live)
		mark |= MARK_LIVE;
	if (live && judge_is_pull_failure(p, c->policy, &container))
		mark |= MARK_FAILING;
	else if (live && judge_has_pulled(p))
		mark |= MARK_PULLED;
	return (uint8_t)mark;
}

struct str controller_clock_owner(const struct pod_facts *p)
{
	return p->owner.uid.n ? p->owner.uid : p->uid;
}

bool controller_clock_may_run(const struct controller *c, uint32_t h)
{
	struct group_tally t = { 0 };
	uint32_t group = store_group(c->store, h);

	if (group)
		store_tally(c->store, group, &t);
	return t.pulled == 0;
}

void controller_context(struct controller *c, uint32_t h, const struct pod_facts *p, struct pod_context *ret)
{
	uint32_t group = store_group(c->store, h);
	struct group_tally t;

	*ret = (struct pod_context){ .stage = STAGE_CACHE };
	if (group) {
		store_tally(c->store, group, &t);
		ret->tally_known = TRI_YES;
		ret->pods = t.live;
		ret->failing = t.failing;
		ret->ready = t.ready;
	}
	if (controller_clock_may_run(c, h))
		ret->failing_since = failing_since_get(c->since, controller_clock_owner(p), p->revision);
}

/* -- the store's callbacks
 * ----------------------------------------------------------------------------------- */

static void on_removed(void *ctx, uint32_t h)
{
	struct controller *c = ctx;

	deadlines_cancel(&c->deadlines, h);
	queue_drop(c->keys, h);
	blocked_remove(c->blocked, h);
	if (h < c->cap_refused)
		c->refused[h] = 0;
	if (!in_flight_count(c->in_flight) && !failing_since_count(c->since))
		return;
	store_get(c->store, h, &c->gone);
	in_flight_gone(c->in_flight, c->gone.uid, h);
	in_flight_gone(c->in_flight, c->gone.owner.uid, h);
	if (store_group(c->store, h))
		return;
	failing_since_idle(c->since, c->gone.uid, c->gone.revision, clock_boot_ms());
	guards_recovered(c->guards, c->gone.uid, c->gone.revision);
}

static void on_tally(void *ctx, uint32_t group)
{
	struct controller *c = ctx;
	struct group_tally t;
	struct owner_facts owner;
	struct str revision;
	char uid[37];

	queue_add(c->groups, group);
	if (!failing_since_count(c->since))
		return;
	store_tally(c->store, group, &t);
	if (t.failing && !t.pulled)
		return;
	store_group_owner(c->store, group, &owner, &revision, uid);
	if (t.pulled)
		failing_since_clear(c->since, owner.uid, revision);
	else
		failing_since_idle(c->since, owner.uid, revision, clock_boot_ms());
	guards_recovered(c->guards, owner.uid, revision);
}

static const struct store_ops store_ops = { on_removed, on_tally };

/* -- what the reflector says --------------------------------------------------------------------------------
 */

int controller_pod(struct controller *c, const struct pod_facts *p)
{
	enum store_change change;
	uint64_t at;
	uint32_t h;
	int r = store_put(c->store, p, controller_mark(c, p), &h, &change);

	if (r < 0)
		return r;
	c->unread++;
	/* A first list is judged as a whole when it is complete. Of a pod that only has a new version, the
	 * verdict is the same, but a nomination that waits for a change may go on. */
	if (change != STORE_SAME && sync_state_namespace(c->sync, p->ns, &at) &&
	    (change != STORE_TOUCHED || in_flight_count(c->in_flight)))
		queue_add(c->keys, h);
	return 0;
}

/* A DELETED event of an older object of the same name must not remove its successor. */
static bool is_older(const struct pod_facts *event, const struct pod_facts *cached)
{
	uint64_t a, b;

	return !str_eq(event->uid, cached->uid) && str_to_u64(event->rv.p, event->rv.n, &a) == 0 &&
	       str_to_u64(cached->rv.p, cached->rv.n, &b) == 0 && a < b;
}

void controller_delete(struct controller *c, const struct pod_facts *p)
{
	uint32_t h = store_find(c->store, p->ns, p->name);

	if (!h)
		return;
	store_get(c->store, h, &c->facts);
	if (!is_older(p, &c->facts))
		store_remove(c->store, h);
}

void controller_list(struct controller *c, struct str ns)
{
	sync_state_list(c->sync, ns, store_list_begin(c->store));
}

void controller_sync(struct controller *c, struct str ns)
{
	struct sync_state_synced sync = sync_state_sync(c->sync, ns, clock_boot_ms());

	(void)store_sweep(c->store, sync.list, ns);
	c->enrolled = c->enrolled && !sync.first;
	for (uint32_t h = 0; (sync.first || sync.narrowed) && (h = store_next(c->store, h));) {
		struct str of = store_namespace(c->store, h);

		if (!sync_state_watches(c->sync, of))
			store_remove(c->store, h);
		else if (!ns.n || str_eq(of, ns))
			queue_add(c->keys, h);
	}
}

void controller_list_failed(struct controller *c, struct str ns)
{
	sync_state_list_failed(c->sync, ns);
}

void controller_alive(struct controller *c)
{
	sync_state_alive(c->sync, clock_boot_ms());
	c->last_byte = clock_wall_ms();
}

void controller_server_date(struct controller *c, int64_t date_ms)
{
	if (!server_clock_note(&c->skew, date_ms, clock_boot_ms()))
		return;
	/* Deadlines were made from another server time: judged again, they are made anew. */
	for (uint32_t i = 0; i < c->deadlines.n; i++)
		queue_add(c->keys, c->deadlines.key[i]);
}

static void queue_pod(void *ctx, uint32_t h)
{
	struct controller *c = ctx;

	queue_forget(c->keys, h);
	queue_add(c->keys, h);
}

void controller_healthy(struct controller *c)
{
	in_flight_retry_failed(c->in_flight, clock_boot_ms(), queue_pod, c);
}

void controller_set_policy(struct controller *c, const struct policy *policy, uint64_t quiet_ms)
{
	c->policy = policy;
	store_set_policy(c->store, policy);
	c->enrolled = false;
	sync_state_set_quiet(c->sync, quiet_ms);
	for (uint32_t h = 0; (h = store_next(c->store, h));)
		queue_add(c->keys, h);
}

void controller_set_place(struct controller *c, const char *cluster, const void *zones, size_t n_zones)
{
	guards_set_cluster(c->guards, cluster);
	guards_set_zones(c->guards, zones, n_zones);
}

void controller_reset(struct controller *c)
{
	(void)store_sweep(c->store, store_list_begin(c->store), STR_LIT(""));
	sync_state_reset(c->sync);
}

/* -- what other processes say
 * -------------------------------------------------------------------------------- */

static void report_dropped(struct controller *c, const struct msg_nomination_result *m)
{
	c->dropped++;
	(void)log_warn(0, "given up after all retries; tried again when the pod changes or in ten minutes",
		       kv_s("duty", duty_name((enum duty)m->duty)), kv_s("namespace", m->ns),
		       kv_s("pod", m->name), kv_s("outcome", outcome_name((enum outcome)m->outcome)),
		       kv_s("reason", m->reason));
}

/* What it spent is settled; a fresh attempt is remembered with the clock it belongs to. */
static void settle_guards(struct controller *c, const struct msg_nomination_result *m)
{
	bool observe = c->policy->mode == MODE_OBSERVE;
	struct str owner, revision;
	struct clock_snapshot now;

	controller_clocks(c, &now);
	if (m->outcome == OUTCOME_DONE && !observe &&
	    guards_retried(c->guards, STR_C(m->action_key), &owner, &revision))
		failing_since_set_tried(c->since, owner, revision, now.latest);
	if (guards_settled(c->guards, m, observe, &now) && c->budget_at == 0)
		c->budget_at = (uint64_t)now.boot + BUDGET_LOOK_MS;
}

/* Told once, as a refusal of the pod that should have gone. */
static void report_staying(struct controller *c, uint32_t h)
{
	struct msg m = { .type = MSG_REFUSAL };
	struct pod_context s;
	struct decision d = { .v = { .kind = VERDICT_REFUSE,
				     .duty = DUTY_IMAGE_PULL,
				     .reason = REASON_PODS_DO_NOT_LEAVE,
				     .rule = "R23",
				     .override = "" } };

	if (!h || !store_has(c->store, h))
		return;
	store_get(c->store, h, &c->facts);
	controller_context(c, h, &c->facts, &s);
	(void)snprintf(d.v.evidence, sizeof(d.v.evidence),
		       "%s %.*s wants no pods for longer than %llu min, and %u are still there",
		       c->facts.owner.kind.n ? "its controller" : "it", STR_ARG(c->facts.owner.name),
		       (unsigned long long)(STAY_MS / 60000), s.pods);
	decision_fill(c, &c->facts, &s, &d, &m);
	(void)c->send(c->ctx, &m);
}

/* R23: a scale to 0 is not the end of it, the pods must leave. */
static void settle_stay(struct controller *c, const struct msg_nomination_result *m, uint32_t h, uint64_t now)
{
	if (m->action != ACTION_SCALE_DOWN)
		return;
	if (m->outcome == OUTCOME_DONE && c->policy->mode != MODE_OBSERVE)
		scaledown_watch_scaled(c->stay, STR_C(m->action_key), now);
	else if (strcmp(m->reason, reason_code(REASON_ALREADY_ZERO)) == 0 &&
		 scaledown_watch_noted(c->stay, STR_C(m->action_key), now))
		report_staying(c, h);
}

void controller_on_nomination_result(struct controller *c, const struct msg_nomination_result *m)
{
	uint64_t now = clock_boot_ms(), delay = 0;
	uint32_t h = in_flight_pod(c->in_flight, STR_C(m->action_key)), retries = 0;
	struct in_flight_settled end;

	settle_guards(c, m);
	/* Put back by a person's word: it gets its whole time again, and that it comes back is no revert. */
	if (m->action == ACTION_RESTORE && m->outcome == OUTCOME_DONE && c->policy->mode != MODE_OBSERVE) {
		failing_since_forget(c->since, STR_C(m->action_key));
		guards_forgive(c->guards, STR_C(m->action_key));
	}
	if (in_flight_is_failure(m->outcome) && h) {
		delay = queue_when(c->keys, h, now);
		retries = queue_retries(c->keys, h);
	}
	if (!in_flight_settle(c->in_flight, m, retries, delay, c->policy->mode == MODE_OBSERVE, now, &end))
		return;
	settle_stay(c, m, end.h, now);
	if (end.h && (!in_flight_is_failure(m->outcome) || end.dropped))
		queue_forget(c->keys, end.h);
	if (end.dropped)
		report_dropped(c, m);
	/* Otherwise judged again at once: it may be due by a newer version, or the wait gets its deadline. */
	if (end.h && in_flight_is_failure(m->outcome) && !end.dropped)
		queue_add_after(c->keys, end.h, now, end.until - now);
	else if (end.h)
		queue_add(c->keys, end.h);
	if (end.group)
		queue_add(c->groups, end.group);
}

void controller_on_failing_since_row(struct controller *c, const struct msg_failing_since_row *m)
{
	failing_since_load(c->since, STR_C(m->owner), STR_C(m->revision), m->at, m->attempted,
			   clock_boot_ms());
}

void controller_on_saved_row(struct controller *c, const struct msg_saved_row *m)
{
	struct clock_snapshot now;

	controller_clocks(c, &now);
	guards_on_saved(c->guards, m, &now);
}

void controller_on_action_row(struct controller *c, const struct msg_action_row *m)
{
	struct clock_snapshot now;

	controller_clocks(c, &now);
	guards_on_act(c->guards, m, &now);
}

void controller_on_pause(struct controller *c, const struct msg_pause *m)
{
	if (guards_on_pause(c->guards, m))
		blocked_wake(c->blocked, GUARD_PAUSE, clock_boot_ms());
}

void controller_set_leader(struct controller *c, bool leading, const char *holder)
{
	guards_set_leader(c->guards, leading, holder);
	blocked_wake(c->blocked, GUARD_LEADER, clock_boot_ms());
}

void controller_on_saved_end(struct controller *c)
{
	sync_state_remembered(c->sync);
}

void controller_on_room(struct controller *c)
{
	c->blocked_until = 0;
}

/* -- for others
 * ----------------------------------------------------------------------------------------------- */

struct store *controller_store(struct controller *c)
{
	return c->store;
}

const struct policy *controller_policy(const struct controller *c)
{
	return c->policy;
}

struct guards *controller_guards(struct controller *c)
{
	return c->guards;
}

uint32_t controller_order(const struct controller *c, uint32_t **ret)
{
	uint32_t all = (uint32_t)store_count(c->store), n;

	*ret = xreallocarray(NULL, (size_t)all + 1, sizeof(**ret));
	n = blocked_list(c->blocked, *ret, all);
	for (uint32_t h = 0; n < all && (h = store_next(c->store, h));)
		if (!blocked_lists(c->blocked, h))
			(*ret)[n++] = h;
	return n;
}

const struct sync_state *controller_sync_state(const struct controller *c)
{
	return c->sync;
}

int64_t controller_now(const struct controller *c)
{
	return server_clock_now(&c->skew, clock_wall_ms(), clock_boot_ms());
}

void controller_clocks(const struct controller *c, struct clock_snapshot *ret)
{
	uint64_t boot = clock_boot_ms();
	int64_t wall = clock_wall_ms();

	*ret = (struct clock_snapshot){ .boot = (int64_t)boot,
					.wall = wall,
					.server = server_clock_now(&c->skew, wall, boot),
					.latest = server_clock_latest(&c->skew, wall, boot) };
}

/* "Budget 12, Pause 3: ..." */
static void describe_blocks(const struct controller *c, uint64_t guards, char *buf, size_t size)
{
	const char *breaker = guards_breaker_text(c->guards);
	size_t n = 0;

	buf[0] = '\0';
	for (enum guard g = 0; g < GUARD__MAX && n < size; g++)
		if (guards & UINT64_C(1) << g)
			n += (size_t)snprintf(buf + n, size - n, "%s%s %" PRIu32, n ? ", " : "",
					      guard_name(g), blocked_count_of(c->blocked, g));
	if (*breaker && n < size)
		(void)snprintf(buf + n, size - n, "%s%s", n ? "; breaker: " : "breaker: ", breaker);
}

void controller_stats(const struct controller *c, struct controller_stats *ret)
{
	*ret = (struct controller_stats){
		.bytes = store_bytes(c->store) + queue_bytes(c->keys) + queue_bytes(c->groups) +
			 queue_bytes(c->waiting) + deadlines_bytes(&c->deadlines) +
			 c->cap_refused * sizeof(*c->refused) + blocked_bytes(c->blocked),
		.queue = queue_len(c->keys) + queue_len(c->waiting),
		.deadlines = c->deadlines.n,
		.nominated = c->nominated,
		.dropped = c->dropped,
		.judged = c->judged,
		.last_byte = c->last_byte,
		.blocked = blocked_count(c->blocked),
		.reverts = guards_revert_count(c->guards),
	};
	for (enum guard g = 0; g < GUARD__MAX; g++)
		ret->guards |= (uint64_t)(blocked_count_of(c->blocked, g) > 0) << g;
	describe_blocks(c, ret->guards, ret->blocked_by, sizeof(ret->blocked_by));
}
