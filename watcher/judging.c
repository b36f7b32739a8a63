/* judging.c - see judging.h.  Events go into the store and mark keys; judging_turn.c goes on from there. */
// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/duty.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "watcher/decide.h"
#include "watcher/judging_state.h"

#define BUDGET_LOOK_MS 1000u /* budgets that were given back are looked at together */

static const struct store_ops store_ops;

struct judging *judging_new(uint64_t cluster, const struct policy *policy, uint64_t quiet_ms,
			    judging_send_fn *send, void *ctx)
{
	struct judging *j = xcalloc(1, sizeof(*j));

	j->cluster = cluster;
	j->policy = policy;
	j->send = send;
	j->ctx = ctx;
	j->store = store_new(&store_ops, j);
	store_set_policy(j->store, policy);
	j->keys = queue_new();
	j->groups = queue_new();
	j->waiting = queue_new();
	j->since = since_new();
	j->gate = gate_new(quiet_ms);
	j->book = book_new();
	j->guards = guards_new(cluster);
	j->held = held_new();
	j->census = census_new();
	j->stay = stay_new();
	return j;
}

void judging_free(struct judging **j)
{
	if (!*j)
		return;
	store_free(&(*j)->store);
	queue_free(&(*j)->keys);
	queue_free(&(*j)->groups);
	queue_free(&(*j)->waiting);
	deadlines_done(&(*j)->deadlines);
	since_free(&(*j)->since);
	gate_free(&(*j)->gate);
	book_free(&(*j)->book);
	guards_free(&(*j)->guards);
	held_free(&(*j)->held);
	census_free(&(*j)->census);
	stay_free(&(*j)->stay);
	free((*j)->refused);
	free(*j);
	*j = NULL;
}

/* -- what a pod counts as -----------------------------------------------------------------------------------
 */

uint8_t judging_mark(const struct judging *j, const struct pod_facts *p)
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

struct str judging_clock_owner(const struct pod_facts *p)
{
	return p->owner.uid.n ? p->owner.uid : p->uid;
}

bool judging_clock_may_run(const struct judging *j, uint32_t h)
{
	struct group_tally t = { 0 };
	uint32_t group = store_group(j->store, h);

	if (group)
		store_tally(j->store, group, &t);
	return t.pulled == 0;
}

void judging_surroundings(struct judging *j, uint32_t h, const struct pod_facts *p, struct surroundings *ret)
{
	uint32_t group = store_group(j->store, h);
	struct group_tally t;

	*ret = (struct surroundings){ .stage = STAGE_CACHE };
	if (group) {
		store_tally(j->store, group, &t);
		ret->tally_known = TRI_YES;
		ret->pods = t.live;
		ret->failing = t.failing;
		ret->ready = t.ready;
	}
	if (judging_clock_may_run(j, h))
		ret->failing_since = since_get(j->since, judging_clock_owner(p), p->revision);
}

/* -- the store's callbacks
 * ----------------------------------------------------------------------------------- */

static void on_removed(void *ctx, uint32_t h)
{
	struct judging *j = ctx;

	deadlines_cancel(&j->deadlines, h);
	queue_drop(j->keys, h);
	held_remove(j->held, h);
	if (h < j->cap_refused)
		j->refused[h] = 0;
	if (!book_count(j->book) && !since_count(j->since))
		return;
	store_get(j->store, h, &j->gone);
	book_gone(j->book, j->gone.uid, h);
	book_gone(j->book, j->gone.owner.uid, h);
	if (store_group(j->store, h))
		return;
	since_idle(j->since, j->gone.uid, j->gone.revision, clock_boot_ms());
	guards_recovered(j->guards, j->gone.uid, j->gone.revision);
}

static void on_tally(void *ctx, uint32_t group)
{
	struct judging *j = ctx;
	struct group_tally t;
	struct owner_facts owner;
	struct str revision;
	char uid[37];

	queue_add(j->groups, group);
	if (!since_count(j->since))
		return;
	store_tally(j->store, group, &t);
	if (t.failing && !t.pulled)
		return;
	store_group_owner(j->store, group, &owner, &revision, uid);
	if (t.pulled)
		since_clear(j->since, owner.uid, revision);
	else
		since_idle(j->since, owner.uid, revision, clock_boot_ms());
	guards_recovered(j->guards, owner.uid, revision);
}

static const struct store_ops store_ops = { on_removed, on_tally };

/* -- what the reflector says --------------------------------------------------------------------------------
 */

int judging_pod(struct judging *j, const struct pod_facts *p)
{
	enum store_change change;
	uint64_t at;
	uint32_t h;
	int r = store_put(j->store, p, judging_mark(j, p), &h, &change);

	if (r < 0)
		return r;
	j->unread++;
	/* A first list is judged as a whole when it is complete. Of a pod that only has a new version, the
	 * verdict is the same, but a nomination that waits for a change may go on. */
	if (change != STORE_SAME && gate_namespace(j->gate, p->ns, &at) &&
	    (change != STORE_TOUCHED || book_count(j->book)))
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

void judging_delete(struct judging *j, const struct pod_facts *p)
{
	uint32_t h = store_find(j->store, p->ns, p->name);

	if (!h)
		return;
	store_get(j->store, h, &j->facts);
	if (!is_older(p, &j->facts))
		store_remove(j->store, h);
}

void judging_list(struct judging *j, struct str ns)
{
	gate_list(j->gate, ns, store_list_begin(j->store));
}

void judging_sync(struct judging *j, struct str ns)
{
	struct gate_synced sync = gate_sync(j->gate, ns, clock_boot_ms());

	(void)store_sweep(j->store, sync.list, ns);
	j->enrolled = j->enrolled && !sync.first;
	for (uint32_t h = 0; (sync.first || sync.narrowed) && (h = store_next(j->store, h));) {
		struct str of = store_namespace(j->store, h);

		if (!gate_watches(j->gate, of))
			store_remove(j->store, h);
		else if (!ns.n || str_eq(of, ns))
			queue_add(j->keys, h);
	}
}

void judging_list_failed(struct judging *j, struct str ns)
{
	gate_list_failed(j->gate, ns);
}

void judging_alive(struct judging *j)
{
	gate_alive(j->gate, clock_boot_ms());
	j->last_byte = clock_wall_ms();
}

void judging_server_date(struct judging *j, int64_t date_ms)
{
	if (!skew_note(&j->skew, date_ms, clock_boot_ms()))
		return;
	/* Deadlines were made from another server time: judged again, they are made anew. */
	for (uint32_t i = 0; i < j->deadlines.n; i++)
		queue_add(j->keys, j->deadlines.key[i]);
}

static void queue_pod(void *ctx, uint32_t h)
{
	struct judging *j = ctx;

	queue_forget(j->keys, h);
	queue_add(j->keys, h);
}

void judging_healthy(struct judging *j)
{
	book_retry_failed(j->book, clock_boot_ms(), queue_pod, j);
}

void judging_set_policy(struct judging *j, const struct policy *policy, uint64_t quiet_ms)
{
	j->policy = policy;
	store_set_policy(j->store, policy);
	j->enrolled = false;
	gate_set_quiet(j->gate, quiet_ms);
	for (uint32_t h = 0; (h = store_next(j->store, h));)
		queue_add(j->keys, h);
}

void judging_set_place(struct judging *j, const char *cluster, const void *zones, size_t n_zones)
{
	guards_set_cluster(j->guards, cluster);
	guards_set_zones(j->guards, zones, n_zones);
}

void judging_reset(struct judging *j)
{
	(void)store_sweep(j->store, store_list_begin(j->store), STR_LIT(""));
	gate_reset(j->gate);
}

/* -- what other processes say
 * -------------------------------------------------------------------------------- */

static void report_dropped(struct judging *j, const struct msg_settled *m)
{
	j->dropped++;
	(void)log_warn(0, "given up after all retries; tried again when the pod changes or in ten minutes",
		       kv_s("duty", duty_name((enum duty)m->duty)), kv_s("namespace", m->ns),
		       kv_s("pod", m->name), kv_s("outcome", outcome_name((enum outcome)m->outcome)),
		       kv_s("reason", m->reason));
}

/* What it spent is settled; a fresh attempt is remembered with the clock it belongs to. */
static void settle_guards(struct judging *j, const struct msg_settled *m)
{
	bool observe = j->policy->mode == MODE_OBSERVE;
	struct str owner, revision;
	struct moment now;

	judging_moment(j, &now);
	if (m->outcome == OUTCOME_DONE && !observe &&
	    guards_retried(j->guards, STR_C(m->subject), &owner, &revision))
		since_set_tried(j->since, owner, revision, now.latest);
	if (guards_settled(j->guards, m, observe, &now) && j->budget_at == 0)
		j->budget_at = (uint64_t)now.boot + BUDGET_LOOK_MS;
}

/* Told once, as a refusal of the pod that should have gone. */
static void report_staying(struct judging *j, uint32_t h)
{
	struct msg m = { .type = MSG_REFUSAL };
	struct surroundings s;
	struct decision d = { .v = { .kind = VERDICT_REFUSE,
				     .duty = DUTY_IMAGE_PULL,
				     .reason = REASON_PODS_DO_NOT_LEAVE,
				     .rule = "R23",
				     .override = "" } };

	if (!h || !store_has(j->store, h))
		return;
	store_get(j->store, h, &j->facts);
	judging_surroundings(j, h, &j->facts, &s);
	(void)snprintf(d.v.evidence, sizeof(d.v.evidence),
		       "%s %.*s wants no pods for longer than %llu min, and %u are still there",
		       j->facts.owner.kind.n ? "its controller" : "it", STR_ARG(j->facts.owner.name),
		       (unsigned long long)(STAY_MS / 60000), s.pods);
	decide_fill(j, &j->facts, &s, &d, &m);
	(void)j->send(j->ctx, &m);
}

/* R23: a scale to 0 is not the end of it, the pods must leave. */
static void settle_stay(struct judging *j, const struct msg_settled *m, uint32_t h, uint64_t now)
{
	if (m->duty != DUTY_IMAGE_PULL || m->action != ACTION_DUTY)
		return;
	if (m->outcome == OUTCOME_DONE && j->policy->mode != MODE_OBSERVE)
		stay_scaled(j->stay, STR_C(m->subject), now);
	else if (strcmp(m->reason, reason_code(REASON_ALREADY_ZERO)) == 0 &&
		 stay_noted(j->stay, STR_C(m->subject), now))
		report_staying(j, h);
}

void judging_on_settled(struct judging *j, const struct msg_settled *m)
{
	uint64_t now = clock_boot_ms(), delay = 0;
	uint32_t h = book_pod(j->book, STR_C(m->subject)), retries = 0;
	struct book_settled end;

	settle_guards(j, m);
	/* Put back by a person's word: it gets its whole time again, and that it comes back is no fight. */
	if (m->action == ACTION_RESTORE && m->outcome == OUTCOME_DONE && j->policy->mode != MODE_OBSERVE) {
		since_forget(j->since, STR_C(m->subject));
		guards_forgive(j->guards, STR_C(m->subject));
	}
	if (book_is_failure(m->outcome) && h) {
		delay = queue_when(j->keys, h, now);
		retries = queue_retries(j->keys, h);
	}
	if (!book_settle(j->book, m, retries, delay, j->policy->mode == MODE_OBSERVE, now, &end))
		return;
	settle_stay(j, m, end.h, now);
	if (end.h && (!book_is_failure(m->outcome) || end.dropped))
		queue_forget(j->keys, end.h);
	if (end.dropped)
		report_dropped(j, m);
	/* Otherwise judged again at once: it may be due by a newer version, or the wait gets its deadline. */
	if (end.h && book_is_failure(m->outcome) && !end.dropped)
		queue_add_after(j->keys, end.h, now, end.until - now);
	else if (end.h)
		queue_add(j->keys, end.h);
	if (end.group)
		queue_add(j->groups, end.group);
}

void judging_on_since_row(struct judging *j, const struct msg_since_row *m)
{
	since_load(j->since, STR_C(m->owner), STR_C(m->revision), m->at, m->tried, clock_boot_ms());
}

void judging_on_memo_row(struct judging *j, const struct msg_memo_row *m)
{
	struct moment now;

	judging_moment(j, &now);
	guards_on_memo(j->guards, m, &now);
}

void judging_on_act_row(struct judging *j, const struct msg_act_row *m)
{
	struct moment now;

	judging_moment(j, &now);
	guards_on_act(j->guards, m, &now);
}

void judging_on_pause(struct judging *j, const struct msg_pause *m)
{
	if (guards_on_pause(j->guards, m))
		held_wake(j->held, GUARD_PAUSE, clock_boot_ms());
}

void judging_set_leader(struct judging *j, bool leading, const char *holder)
{
	guards_set_leader(j->guards, leading, holder);
	held_wake(j->held, GUARD_LEADER, clock_boot_ms());
}

void judging_on_since_end(struct judging *j)
{
	gate_remembered(j->gate);
}

void judging_on_room(struct judging *j)
{
	j->blocked_until = 0;
}

/* -- for others
 * ----------------------------------------------------------------------------------------------- */

struct store *judging_store(struct judging *j)
{
	return j->store;
}

const struct policy *judging_policy(const struct judging *j)
{
	return j->policy;
}

struct guards *judging_guards(struct judging *j)
{
	return j->guards;
}

uint32_t judging_order(const struct judging *j, uint32_t **ret)
{
	uint32_t all = (uint32_t)store_count(j->store), n;

	*ret = xreallocarray(NULL, (size_t)all + 1, sizeof(**ret));
	n = held_list(j->held, *ret, all);
	for (uint32_t h = 0; n < all && (h = store_next(j->store, h));)
		if (!held_lists(j->held, h))
			(*ret)[n++] = h;
	return n;
}

const struct gate *judging_gate(const struct judging *j)
{
	return j->gate;
}

int64_t judging_now(const struct judging *j)
{
	return skew_now(&j->skew, clock_wall_ms(), clock_boot_ms());
}

void judging_moment(const struct judging *j, struct moment *ret)
{
	uint64_t boot = clock_boot_ms();
	int64_t wall = clock_wall_ms();

	*ret = (struct moment){ .boot = (int64_t)boot,
				.wall = wall,
				.server = skew_now(&j->skew, wall, boot),
				.latest = skew_latest(&j->skew, wall, boot) };
}

/* "Budget 12, Pause 3: ..." */
static void describe_holds(const struct judging *j, char *buf, size_t size)
{
	const char *breaker = guards_breaker_text(j->guards);
	size_t n = 0;

	buf[0] = '\0';
	for (enum guard g = 0; g < GUARD__MAX && n < size; g++)
		if (held_count_of(j->held, g))
			n += (size_t)snprintf(buf + n, size - n, "%s%s %" PRIu32, n ? ", " : "",
					      guard_name(g), held_count_of(j->held, g));
	if (*breaker && n < size)
		(void)snprintf(buf + n, size - n, "%s%s", n ? "; breaker: " : "breaker: ", breaker);
}

void judging_stats(const struct judging *j, struct judging_stats *ret)
{
	*ret = (struct judging_stats){
		.bytes = store_bytes(j->store) + queue_bytes(j->keys) + queue_bytes(j->groups) +
			 queue_bytes(j->waiting) + deadlines_bytes(&j->deadlines) +
			 j->cap_refused * sizeof(*j->refused) + held_bytes(j->held),
		.queue = queue_len(j->keys) + queue_len(j->waiting),
		.deadlines = j->deadlines.n,
		.nominated = j->nominated,
		.dropped = j->dropped,
		.judged = j->judged,
		.last_byte = j->last_byte,
		.held = held_count(j->held),
		.fights = guards_fight_count(j->guards),
	};
	describe_holds(j, ret->hold, sizeof(ret->hold));
}
