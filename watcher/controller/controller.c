/* controller.c - see controller.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/controller.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "watcher/controller/queue.h"
#include "watcher/controller/scaled_down.h"
#include "watcher/controller/unsettled.h"

#define RUN_MS           2u
#define READ_MANY        32u  /* events between two runs that say: there is more to read */
#define READ_MS          4u   /* reading goes before judging for so long at a time */
#define KEYS_PER_CLOCK   32u  /* keys judged between two readings of the clock */
#define BLOCKED_MS       100u /* try again when nobody says that there is room */
#define HOUSEKEEPING_MS  60000u
#define BREAKER_CHECK_MS 1000u
#define STEP_MS          1000 /* wall and boot time go apart by more: somebody set the clock */

struct controller {
	struct cluster_state cluster;
	struct nominations *nominations;
	struct unsettled *unsettled;
	struct scaled_down *scaled_down;
	struct outlet out;
	struct queue *keys, *groups; /* pods; groups whose tally changed */
	uint64_t blocked_until;      /* the outlet is full */
	uint64_t housekeeping_at, breaker_at /* checked last */, run_ended;
	uint32_t unread;  /* events since the last run, or since one was put off */
	bool all_tracked; /* every pod that fails is known to clocks and breaker */
	bool namespaces_listed;
	/* When the first key that waits in the queue was put there, at the earliest: 0 = none waits. Kept for
	 * two stretches of the queue, not for each key: of the one behind the mark it is not known yet. */
	uint64_t first_seen, mark_seen;
	size_t mark_left; /* keys before the mark, 0 = there is none */
	uint64_t judged;
	int64_t last_byte;
	int64_t wall_ahead;           /* of boot time, when that was last judged by */
	struct pod_facts facts, gone; /* large: not on the stack */
};

/* -- the store's callbacks -- */

static void on_removed(void *ctx, uint32_t h)
{
	struct controller *c = ctx;
	struct cluster_state *k = &c->cluster;
	const bool ask = nominations_any(c->nominations) || workloads_clocks(k->workloads);

	queue_drop(c->keys, h);
	unsettled_touch(c->unsettled, clock_boot_ms());
	if (ask)
		store_get(k->store, h, &c->gone);
	nominations_gone(c->nominations, h, ask ? &c->gone : NULL);
	if (!ask || store_group(k->store, h))
		return;
	for (size_t i = 0; i < WORKLOAD_DUTIES; i++)
		workloads_idle(k->workloads, (struct clock_key){ c->gone.uid, c->gone.revision, i },
			       (int64_t)clock_boot_ms());
	admission_recovered(k->admission, c->gone.uid, c->gone.revision);
}

static void on_tally(void *ctx, uint32_t group)
{
	struct controller *c = ctx;
	struct cluster_state *k = &c->cluster;
	struct group_tally t;
	struct owner_facts owner;
	struct str revision;
	bool still = false;
	char uid[37];

	queue_add(c->groups, group);
	if (!workloads_clocks(k->workloads))
		return;
	cluster_note_tally(k, group);
	groups_tally(store_groups(k->store), group, &t);
	groups_owner(store_groups(k->store), group, &owner, &revision, uid);
	for (size_t i = 0; i < WORKLOAD_DUTIES; i++) {
		const struct clock_key key = { owner.uid, revision, i };
		const bool fails = t.failing[i] && !t.works[i];

		still = still || fails;
		if (t.works[i])
			workloads_works(k->workloads, key);
		else if (!fails)
			workloads_idle(k->workloads, key, (int64_t)clock_boot_ms());
	}
	if (!still)
		admission_recovered(k->admission, owner.uid, revision);
}

/* -- start and end -- */

struct controller *controller_new(uint64_t cluster, const struct policy *policy, uint64_t quiet_ms,
				  const struct outlet *out)
{
	static const struct store_ops store_ops = { on_removed, on_tally };
	struct controller *c = xcalloc(1, sizeof(*c));

	c->out = *out;
	c->wall_ahead = clock_wall_ms() - (int64_t)clock_boot_ms();
	c->keys = queue_new();
	c->groups = queue_new();
	cluster_init(&c->cluster, cluster, policy, quiet_ms, &store_ops, c);
	c->unsettled = unsettled_new(&c->cluster, &c->out);
	c->scaled_down = scaled_down_new(&c->cluster, &c->out);
	c->nominations = nominations_new(&c->cluster, c->keys, c->groups, &c->out);
	return c;
}

void controller_free(struct controller **c)
{
	if (!*c)
		return;
	cluster_done(&(*c)->cluster);
	nominations_free(&(*c)->nominations);
	unsettled_free(&(*c)->unsettled);
	scaled_down_free(&(*c)->scaled_down);
	queue_free(&(*c)->keys);
	queue_free(&(*c)->groups);
	free(*c);
	*c = NULL;
}

void controller_set_place(struct controller *c, const char *cluster, const void *zones, size_t n_zones)
{
	admission_set_place(c->cluster.admission, cluster, zones, n_zones);
}

static void judge_all(struct controller *c)
{
	c->all_tracked = false;
	for (uint32_t h = 0; (h = store_next(c->cluster.store, h));)
		queue_add(c->keys, h);
}

void controller_set_policy(struct controller *c, const struct policy *policy, uint64_t quiet_ms)
{
	cluster_set_policy(&c->cluster, policy, quiet_ms);
	judge_all(c);
}

void controller_judge_anew(struct controller *c)
{
	nominations_judge_anew(c->nominations);
	admission_judge_anew(c->cluster.admission);
	scaled_down_judge_anew(c->scaled_down, clock_boot_ms());
	c->breaker_at = 0;
}

void controller_reset(struct controller *c)
{
	(void)store_sweep(c->cluster.store, store_list_begin(c->cluster.store), STR_LIT(""));
	sync_state_reset(&c->cluster.sync);
}

/* -- what the reflector reports -- */

/* An override may hang on them, and with it what the pod counts as. */
static const struct pod_facts *with_labels(struct controller *c, const struct pod_facts *p)
{
	if (!c->cluster.asks_labels)
		return p;
	c->facts = *p;
	c->facts.namespace_labels = namespace_table_find(c->cluster.namespaces, p->ns);
	return &c->facts;
}

int controller_pod(struct controller *c, const struct pod_facts *event)
{
	const struct pod_facts *p = with_labels(c, event);
	enum store_change change;
	uint64_t at;
	uint32_t h;
	const uint8_t mark = cluster_mark(&c->cluster, p);
	const bool pulls = cluster_pulls_now(&c->cluster, p, mark);
	int r = store_put(c->cluster.store, p, mark, &h, &change);

	if (r < 0)
		return r;
	if (pulls)
		pulls_note(c->cluster.pulls, cluster_clock_owner(p), p, cluster_clocks(&c->cluster).server);
	c->unread++;
	/* A first list is judged as a whole when it is complete. Of a pod that only has a new version, the
	 * verdict is the same, but a nomination that waits for a change may go on. */
	if (change != STORE_SAME && sync_state_namespace(&c->cluster.sync, p->ns, &at) &&
	    (change != STORE_TOUCHED || nominations_any(c->nominations))) {
		if (c->first_seen == 0)
			c->first_seen = clock_boot_ms();
		queue_add(c->keys, h);
	}
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
	uint32_t h = store_find(c->cluster.store, p->ns, p->name);

	if (!h)
		return;
	store_get(c->cluster.store, h, &c->facts);
	if (!is_older(p, &c->facts))
		store_remove(c->cluster.store, h);
}

void controller_list(struct controller *c, struct str ns)
{
	sync_state_list(&c->cluster.sync, ns, store_list_begin(c->cluster.store));
}

void controller_sync(struct controller *c, struct str ns)
{
	struct store *store = c->cluster.store;
	struct sync_state_synced sync = sync_state_sync(&c->cluster.sync, ns, clock_boot_ms());

	(void)store_sweep(store, sync.list, ns);
	unsettled_touch(c->unsettled, clock_boot_ms());
	c->all_tracked = c->all_tracked && !sync.first;
	for (uint32_t h = 0; (sync.first || sync.narrowed) && (h = store_next(store, h));) {
		struct str of = store_namespace(store, h);

		if (!sync_state_watches(&c->cluster.sync, of))
			store_remove(store, h);
		else if (!ns.n || str_eq(of, ns))
			queue_add(c->keys, h);
	}
}

void controller_list_failed(struct controller *c, struct str ns)
{
	sync_state_list_failed(&c->cluster.sync, ns);
}

void controller_alive(struct controller *c)
{
	c->cluster.sync.last_byte = clock_boot_ms();
	c->last_byte = clock_wall_ms();
}

void controller_server_date(struct controller *c, int64_t date_ms)
{
	if (!server_clock_note(&c->cluster.server_clock, date_ms, clock_boot_ms()))
		return;
	nominations_redo_deadlines(c->nominations);
	nominations_wake(c->nominations, GUARD_CLOCK);
}

void controller_healthy(struct controller *c)
{
	nominations_healthy(c->nominations);
}

/* -- and of namespaces -- */

void controller_reset_namespaces(struct controller *c)
{
	namespace_table_list(c->cluster.namespaces);
	namespace_table_sweep(c->cluster.namespaces);
	c->namespaces_listed = false;
	c->cluster.sync.waits = c->cluster.asks_labels;
}

/* The first list is judged as a whole. Later, what was refused by the labels before is judged anew. */
void controller_namespace(struct controller *c, const struct pod_facts *ns)
{
	const struct store *s = c->cluster.store;

	if (!namespace_table_put(c->cluster.namespaces, ns) || !c->namespaces_listed)
		return;
	nominations_judge_anew(c->nominations);
	for (uint32_t h = 0; (h = store_next(s, h));)
		if (str_eq(store_namespace(s, h), ns->name))
			queue_add(c->keys, h);
}

void controller_namespace_gone(struct controller *c, const struct pod_facts *ns)
{
	namespace_table_remove(c->cluster.namespaces, ns->name);
}

void controller_list_namespaces(struct controller *c)
{
	namespace_table_list(c->cluster.namespaces);
}

void controller_sync_namespaces(struct controller *c)
{
	namespace_table_sweep(c->cluster.namespaces);
	if (c->namespaces_listed)
		return;
	c->namespaces_listed = true;
	c->cluster.sync.waits = false;
	nominations_judge_anew(c->nominations);
	judge_all(c);
}

void controller_namespaces_failed(struct controller *c)
{
	c->cluster.sync.waits = false;
}

/* -- messages of other processes -- */

void controller_on_msg(struct controller *c, const struct msg *m)
{
	struct cluster_state *k = &c->cluster;
	const struct clock_snapshot clocks = cluster_clocks(k);
	const uint64_t now = (uint64_t)clocks.boot;

	switch (m->type) {
	case MSG_NOMINATION_RESULT:
		nominations_on_result(c->nominations, &m->u.nomination_result);
		unsettled_on_result(c->unsettled, &m->u.nomination_result, now);
		scaled_down_on_result(c->scaled_down, &m->u.nomination_result, now);
		break;
	case MSG_FAILING_SINCE_ROW:
		workloads_on_failing_since_row(k->workloads, &m->u.failing_since_row, clocks.boot);
		break;
	case MSG_SAVED_ROW:
		admission_on_saved_row(k->admission, &m->u.saved_row, &clocks);
		break;
	case MSG_ACTION_ROW:
		admission_on_action_row(k->admission, &m->u.action_row, &clocks);
		break;
	case MSG_UNSETTLED_ROW:
		unsettled_add(c->unsettled, STR_C(m->u.unsettled_row.ns), STR_C(m->u.unsettled_row.name),
			      STR_C(m->u.unsettled_row.uid), now);
		break;
	case MSG_SETTLED_ACK:
		unsettled_forget(c->unsettled, STR_C(m->u.settled_ack.uid));
		break;
	case MSG_SCALED_ROW:
		scaled_down_on_row(c->scaled_down, &m->u.scaled_row, now);
		break;
	case MSG_RESTORE_END:
		scaled_down_on_restore_end(c->scaled_down, &m->u.restore_end, now);
		break;
	case MSG_SAVED_END:
		if (m->u.saved_end.failed)
			admission_forget_spent(k->admission);
		else
			k->sync.remembered = true;
		break;
	case MSG_PAUSE:
		if (admission_on_pause(k->admission, &m->u.pause))
			nominations_wake(c->nominations, GUARD_PAUSE);
		break;
	default:
		break;
	}
}

void controller_set_leader(struct controller *c, bool leading, const char *holder)
{
	admission_set_leader(c->cluster.admission, leading, holder);
	nominations_wake(c->nominations, GUARD_LEADER);
}

void controller_on_room(struct controller *c)
{
	c->blocked_until = 0;
}

/* -- judging -- */

/* A tick of what the guards know of the breaker. */
static void check_breaker(struct controller *c, uint64_t now, bool asked)
{
	struct cluster_state *k = &c->cluster;
	const struct breaker_policy *p = &k->policy->breaker;
	uint64_t at;

	if (!admission_check_due(k->admission, now, &at))
		return;
	/* Open, it is in no hurry to close; closed, it must be known before anything goes. */
	if ((!asked || admission_breaker(k->admission)) && now < c->breaker_at + BREAKER_CHECK_MS)
		return;
	c->breaker_at = now;
	if (p->percent > 0)
		pod_counts_take(k->counts, k->store, now);
	const struct clock_snapshot clocks = cluster_clocks(k);
	if (admission_check(k->admission, p, pod_counts_workloads(k->counts),
			    p->same_node > 0 && pod_counts_many_nodes(k->counts, k->store) ? 2 : 1, &clocks))
		nominations_wake(c->nominations, GUARD_BREAKER);
}

/* A key leaves the queue. Returns since when it may have waited. */
static uint64_t seen_next(struct controller *c)
{
	const uint64_t seen = c->first_seen;

	if (c->mark_left > 0 && --c->mark_left == 0)
		c->first_seen = c->mark_seen;
	return seen;
}

/* What is put there from now on was seen now or later. */
static void mark_seen(struct controller *c, uint64_t now)
{
	const size_t left = queue_len(c->keys);

	if (left == 0)
		c->first_seen = c->mark_left = 0;
	else if (c->mark_left == 0) {
		c->mark_left = left;
		c->mark_seen = now;
	}
}

/* 0, or a negative errno of the outlet: the key has to come again. */
static int judge_key(struct controller *c, uint32_t h, uint64_t seen, uint64_t now)
{
	struct pod_context s;
	struct decision d;

	if (!cluster_has(&c->cluster, h)) {
		nominations_skip(c->nominations, h);
		return 0;
	}
	c->judged++;
	store_get(c->cluster.store, h, &c->facts);
	cluster_track(&c->cluster, h, &c->facts, &s);
	check_breaker(c, now, true);
	decision_make(&c->cluster, &c->facts, &s, NULL, &d);
	return nominations_apply(c->nominations, h, &c->facts, &s, &d, seen, now);
}

/* The pods whose verdict hangs on what this group is: those that fail, in every revision; and those that have
 * ended, where the newest of them are kept. */
static void mark_group(struct controller *c, uint32_t group)
{
	const bool keeps = policy_keeps_newest(c->cluster.policy);
	const struct store *s = c->cluster.store;
	struct group_tally t;

	if (!groups_has(store_groups(s), group))
		return;
	groups_tally(store_groups(s), group, &t);
	if (t.failing_all == 0 && !keeps)
		return;
	for (uint32_t g = groups_chain_first(store_groups(s), group); g;
	     g = groups_chain_next(store_groups(s), g))
		for (uint32_t h = store_group_first(s, g); h; h = store_group_next(s, h))
			if (cluster_failing_by(store_mark(s, h)) >= 0 ||
			    (keeps && !(store_mark(s, h) & MARK_LIVE)))
				queue_add(c->keys, h);
}

static int judge_some(struct controller *c, uint64_t now)
{
	uint32_t key;
	int r = 0;

	while (queue_get(c->groups, &key) == 0)
		mark_group(c, key);
	for (uint32_t i = 0; i < KEYS_PER_CLOCK && r == 0 && queue_get(c->keys, &key) == 0; i++) {
		r = judge_key(c, key, seen_next(c), now);
		if (r < 0)
			queue_add(c->keys, key);
	}
	return r;
}

/* -- a run -- */

/* Before the first of them is judged, all that fail are known: an outage must be seen as one. */
static void track_all(struct controller *c)
{
	struct store *s = c->cluster.store;
	struct pod_context ignored;

	for (uint32_t h = 0; (h = store_next(s, h));) {
		if (cluster_failing_by(store_mark(s, h)) < 0)
			continue;
		store_get(s, h, &c->facts);
		cluster_track(&c->cluster, h, &c->facts, &ignored);
	}
	c->all_tracked = true;
}

/* A pull was seen: it may not be the registry that hinders those that fail. */
static void judge_failing(struct controller *c)
{
	const struct store *s = c->cluster.store;
	const int pull = duty_workload(DUTY_IMAGE_PULL);

	for (uint32_t h = 0; (h = store_next(s, h));)
		if (cluster_failing_by(store_mark(s, h)) == pull)
			queue_add(c->keys, h);
}

/* No event of a pod follows when the host's clock is set; what was judged by the old time is judged anew. */
static void look_at_clock(struct controller *c, uint64_t now)
{
	const int64_t ahead = clock_wall_ms() - (int64_t)now, step = ahead - c->wall_ahead;
	char by[DURATION_MAX];

	if (step >= -STEP_MS && step <= STEP_MS)
		return;
	c->wall_ahead = ahead;
	(void)duration_format((step < 0 ? -step : step) * 1000000, by);
	log_info("the clock of this host was set: what waits is judged anew",
		 kv_s(step < 0 ? "back" : "forward", by));
	nominations_clock_stepped(c->nominations);
}

static void collect(struct controller *c, uint64_t now)
{
	look_at_clock(c, now);
	queue_tick(c->keys, now);
	nominations_collect(c->nominations, now);
	if (now < c->housekeeping_at)
		return;
	c->housekeeping_at = now + HOUSEKEEPING_MS;
	nominations_expire(c->nominations, now);
	if (pulls_take_news(c->cluster.pulls, cluster_clocks(&c->cluster).server))
		judge_failing(c);
	const struct clock_snapshot clocks = cluster_clocks(&c->cluster);
	admission_housekeeping(c->cluster.admission, &clocks);
}

static void collect_blocked(struct controller *c, uint64_t now)
{
	if (!c->all_tracked)
		track_all(c);
	check_breaker(c, now, false);
	nominations_collect_blocked(c->nominations, now);
}

/* Is the socket still full? What is read first collapses: keys are judged once for many events, and a server
 * cuts off a client that does not read. */
static bool reads_first(struct controller *c, uint64_t now)
{
	bool many = c->unread >= READ_MANY && now < c->run_ended + READ_MS;

	c->unread = 0;
	return many;
}

uint64_t controller_run(struct controller *c)
{
	uint64_t begin = clock_boot_ms();
	int r;

	if (begin < c->blocked_until)
		return c->blocked_until;
	if (reads_first(c, begin))
		return controller_next(c);
	r = nominations_flush(c->nominations);
	collect(c, begin);
	if (r == 0 && sync_state_open(&c->cluster.sync, begin)) {
		collect_blocked(c, begin);
		if (c->first_seen == 0) /* a time has come */
			c->first_seen = begin;
		do
			r = judge_some(c, clock_boot_ms());
		while (r == 0 && queue_len(c->keys) && clock_boot_ms() < begin + RUN_MS);
		if (r == 0)
			r = unsettled_flush(c->unsettled, begin);
		if (r == 0)
			r = scaled_down_flush(c->scaled_down, begin);
	}
	if (r == 0)
		r = nominations_flush(c->nominations);
	c->run_ended = clock_boot_ms();
	mark_seen(c, c->run_ended);
	if (r < 0)
		c->blocked_until = c->run_ended + BLOCKED_MS;
	return controller_next(c);
}

uint64_t controller_next(const struct controller *c)
{
	uint64_t now = clock_boot_ms(), next, at;

	if (now < c->blocked_until)
		return c->blocked_until;
	if (admission_is_unsaved(c->cluster.admission))
		return now;
	if (!sync_state_open(&c->cluster.sync, now))
		return UINT64_MAX; /* an event opens it */
	if (queue_len(c->keys) || queue_len(c->groups))
		return now;
	next = clock_sooner(nominations_next(c->nominations, now), queue_next(c->keys));
	next = clock_sooner(next, unsettled_next(c->unsettled));
	next = clock_sooner(next, scaled_down_next(c->scaled_down));
	if (admission_check_due(c->cluster.admission, now, &at))
		at = c->breaker_at + BREAKER_CHECK_MS;
	next = clock_sooner(next, at);
	return workloads_clocks(c->cluster.workloads) || nominations_any(c->nominations)
		       ? clock_sooner(next, c->housekeeping_at)
		       : next;
}

bool controller_is_idle(const struct controller *c)
{
	return queue_len(c->keys) == 0 && queue_len(c->groups) == 0;
}

/* -- for others -- */

const struct cluster_state *controller_cluster(const struct controller *c)
{
	return &c->cluster;
}

uint32_t controller_order(const struct controller *c, uint32_t **ret)
{
	return nominations_order(c->nominations, ret);
}

int controller_tell_due(struct controller *c, bool again)
{
	return nominations_tell_due(c->nominations, again, c->wall_ahead);
}

uint64_t controller_stats(const struct controller *c, struct msg *m)
{
	struct msg_watch_stats *s = &m->u.watch_stats;

	s->cluster = c->cluster.number;
	s->synced = cluster_in_step(&c->cluster);
	s->pods = store_count(c->cluster.store);
	s->bytes = store_bytes(c->cluster.store) + queue_bytes(c->keys) + queue_bytes(c->groups);
	s->queue = queue_len(c->keys);
	s->last_event = c->last_byte;
	s->reverts = admission_revert_count(c->cluster.admission);
	nominations_stats(c->nominations, m);
	return c->judged;
}
