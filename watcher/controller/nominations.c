/* nominations.c - see nominations.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/nominations.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "text/facts_text.h"
#include "watcher/cache/deadline.h"
#include "watcher/guards/blocked.h"
#include "watcher/guards/due_counts.h"
#include "watcher/guards/in_flight.h"

#define OPEN_MAX        1024u   /* nominations open at once; more due pods wait, in order */
#define RECHECK_MS      600000u /* what is refused or waits without a time is judged again */
#define BUDGET_CHECK_MS 1000u   /* budgets that were given back are checked together */
#define REPORT_AGAIN_MS 3600000u
#define REASON_BITS     10
_Static_assert((REASON__MAX + 1) * DUTY__MAX < 1 << REASON_BITS, "reason and duty leave room for the hour");

struct nominations {
	struct cluster_state *cluster;
	const struct outlet *out;
	struct queue *keys, *groups, *waiting; /* waiting: due pods above OPEN_MAX */
	struct deadlines deadlines;            /* by handle */
	struct in_flight *in_flight;
	struct blocked *blocked;
	struct due_counts *due;
	uint16_t *refused; /* by handle: duty and reason last reported as REFUSAL, 0 = none */
	uint32_t cap_refused;
	uint64_t budget_at; /* when budgets are checked, 0 = not */
	uint64_t nominated, dropped;
};

/* A pod that was judged, and what came of it. */
struct judged {
	uint32_t h;
	const struct pod_facts *pod;
	const struct pod_context *context;
	const struct decision *d;
	uint64_t seen, now;
};

struct nominations *nominations_new(struct cluster_state *cluster, struct queue *keys, struct queue *groups,
				    const struct outlet *out)
{
	struct nominations *n = xcalloc(1, sizeof(*n));

	n->cluster = cluster;
	n->keys = keys;
	n->groups = groups;
	n->out = out;
	n->waiting = queue_new();
	n->in_flight = in_flight_new();
	n->blocked = blocked_new();
	n->due = due_counts_new();
	return n;
}

void nominations_free(struct nominations **n)
{
	if (!*n)
		return;
	queue_free(&(*n)->waiting);
	deadlines_done(&(*n)->deadlines);
	in_flight_free(&(*n)->in_flight);
	blocked_free(&(*n)->blocked);
	due_counts_free(&(*n)->due);
	free((*n)->refused);
	free(*n);
	*n = NULL;
}

/* -- what leaves -- */

int nominations_flush(struct nominations *n)
{
	const struct clock_snapshot clocks = cluster_clocks(n->cluster);
	return admission_flush(n->cluster->admission, &clocks, n->out);
}

static int send_refusal(const struct nominations *n, const struct judged *j)
{
	struct msg m = { .type = MSG_REFUSAL };

	decision_fill(n->cluster, j->pod, j->context, j->d, &m);
	return outlet_send(n->out, &m);
}

/* What it spends is written down before it is done. */
static int send_nominate(struct nominations *n, const struct judged *j)
{
	struct msg m = { .type = MSG_NOMINATE };
	int r = nominations_flush(n);

	if (r < 0)
		return r;
	decision_fill(n->cluster, j->pod, j->context, j->d, &m);
	if (duty_workload(j->d->v.duty) >= 0)
		msg_set(&m, nominate.revision, j->pod->revision.p, j->pod->revision.n);
	return outlet_send(n->out, &m);
}

/* -- what follows from a decision -- */

/* Due, but blocked: it waits in the bin of all that wait for the same. What an operator should see is
 * reported once. */
static int block_pod(struct nominations *n, const struct judged *j)
{
	const struct block *block = &j->d->block;
	char key[512];
	struct str bin = { key, admission_bin_key(&j->d->ask, block, key, sizeof(key)) };

	if (guard_desc(block->guard)->reported && !blocked_has_bin(n->blocked, bin)) {
		int r = send_refusal(n, j);

		if (r < 0)
			return r;
	}
	blocked_put(n->blocked, j->h, bin, block);
	due_counts_set(n->due, j->h, j->d->v.duty, DUE_BLOCKED, block->reason, j->now);
	deadlines_cancel(&n->deadlines, j->h);
	return 0;
}

static int nominate(struct nominations *n, const struct judged *j)
{
	const struct due *due = &j->d->ask;
	struct admission *admission = n->cluster->admission;
	int r;

	blocked_remove(n->blocked, j->h);
	if (n->cluster->policy->plans_only)
		return 0;
	if (in_flight_open_count(n->in_flight) >= OPEN_MAX) {
		queue_add(n->waiting, j->h);
		return 0;
	}
	const struct clock_snapshot clocks = cluster_clocks(n->cluster);
	const bool is_open = in_flight_pod(n->in_flight, due->action_key);

	if (!due->finishes)
		admission_charge(admission, due, &clocks);
	r = send_nominate(n, j);
	if (r < 0) {
		if (!is_open) /* else it was asked for before, and its end is still to come */
			admission_give_back(admission, due->action_key, &clocks);
		return r;
	}
	n->nominated++;
	in_flight_nominated(n->in_flight, due->action_key, j->pod->rv, j->h,
			    str_eq(due->action_key, j->pod->owner.uid) ? store_group(n->cluster->store, j->h)
								       : 0,
			    j->seen, j->now);
	return 0;
}

/* How what a worker or the supervisor said of it makes it stand until they say something else: a refusal that
 * is asked for anew every few minutes is one all the while. DUE_STATE__MAX: it goes on. */
static enum due_state state_after(enum outcome before, enum reason reason)
{
	const enum reason_class class = reason_desc(reason)->class;

	if (before == OUTCOME_ANNOUNCED)
		return DUE_WAITING;
	if (before == OUTCOME_WOULD)
		return DUE_WOULD;
	if (before != OUTCOME_REFUSED)
		return DUE_STATE__MAX;
	if (class == CLASS_BLOCKED || reason == REASON_WRITE_LIMIT)
		return DUE_BLOCKED;
	return class == CLASS_OUTCOME ? DUE_STATE__MAX : DUE_REFUSED;
}

/* Due by its state, and nothing holds it here. */
static void note_going(struct nominations *n, const struct judged *j)
{
	enum reason reason = REASON__MAX;
	const enum outcome before = in_flight_before(n->in_flight, j->d->ask.action_key, &reason);
	const enum due_state state = state_after(before, reason);

	if (state < DUE_STATE__MAX)
		due_counts_set(n->due, j->h, j->d->v.duty, state, reason, j->now);
	else if (!j->d->blocked ||
		 !due_counts_is(n->due, j->h, DUE_NOW)) /* its own nomination may block it */
		due_counts_set(n->due, j->h, j->d->v.duty, DUE_NOW, j->d->v.reason, j->now);
}

/* A wait for the time at which it will be refused is no time to wait for. */
static enum due_state state_of(const struct verdict *v)
{
	return v->kind == VERDICT_WAIT && reason_desc(v->reason)->class != CLASS_REFUSAL ? DUE_WAITING
											 : DUE_REFUSED;
}

static void note_due(struct nominations *n, const struct judged *j)
{
	const struct verdict *v = &j->d->v;

	if (v->kind == VERDICT_NONE || !duty_acts(v->duty))
		due_counts_clear(n->due, j->h);
	else if (v->kind == VERDICT_ACT)
		note_going(n, j);
	else if (!j->d->blocked)
		due_counts_set(n->due, j->h, v->duty, state_of(v), v->reason, j->now);
}

static int act(struct nominations *n, const struct judged *j)
{
	const struct decision *d = j->d;
	uint64_t at = 0;
	enum in_flight_answer before =
		in_flight_ask(n->in_flight, d->ask.action_key, j->pod->rv, j->now, &at);
	bool newest;
	int r;

	/* What was done a moment ago may still be in the cache; only a return is reported before that is
	 * over. */
	if (before == IN_FLIGHT_OPEN ||
	    (before == IN_FLIGHT_WAIT && !(d->blocked && d->block.guard == GUARD_REVERTED))) {
		blocked_remove(n->blocked, j->h);
		deadlines_set(&n->deadlines, j->h, at);
		note_going(n, j);
		return 0;
	}
	const struct clock_snapshot clocks = cluster_clocks(n->cluster);
	newest = admission_note_due(n->cluster->admission, &d->ask, &clocks);
	if (!d->blocked)
		return nominate(n, j);
	r = block_pod(n, j);
	if (newest)
		blocked_wake(n->blocked, GUARD_EVICT_LOOP, j->now);
	return r;
}

/* Reported once; what needs an operator again in every hour in which it lasts, so that the history knows how
 * long. */
static int refuse(struct nominations *n, const struct judged *j)
{
	const struct verdict *v = &j->d->v;
	const uint64_t hour =
		reason_desc(v->reason)->attention == ATTENTION_OBJECT ? j->now / REPORT_AGAIN_MS % 64 : 0;
	const uint16_t report = (uint16_t)((1u + v->reason * DUTY__MAX + v->duty) | hour << REASON_BITS);
	int r;

	deadlines_set(&n->deadlines, j->h, j->now + RECHECK_MS);
	n->refused = xgrow(n->refused, &n->cap_refused, j->h, sizeof(*n->refused));
	if (n->refused[j->h] == report)
		return 0;
	r = send_refusal(n, j);
	if (r == 0)
		n->refused[j->h] = report;
	return r;
}

static int wait(struct nominations *n, const struct judged *j)
{
	const int64_t at = j->d->v.at_ms;
	int64_t left;

	if (j->d->blocked)
		return act(n, j);
	left = at ? at - cluster_clocks(n->cluster).server : RECHECK_MS;
	deadlines_set(&n->deadlines, j->h, j->now + (uint64_t)(left > 0 ? left : 0));
	return 0;
}

static int nothing(struct nominations *n, const struct judged *j)
{
	deadlines_cancel(&n->deadlines, j->h);
	return 0;
}

/* What was remembered of its being due goes. */
static void not_due(struct nominations *n, const struct judged *j)
{
	if (in_flight_count(n->in_flight)) {
		in_flight_not_due(n->in_flight, j->pod->uid, j->h);
		in_flight_not_due(n->in_flight, j->pod->owner.uid, j->h);
	}
	if (j->d->v.kind != VERDICT_REFUSE && j->h < n->cap_refused)
		n->refused[j->h] = 0;
	blocked_remove(n->blocked, j->h);
}

int nominations_apply(struct nominations *n, uint32_t h, const struct pod_facts *p,
		      const struct pod_context *s, const struct decision *d, uint64_t seen, uint64_t now)
{
	static int (*const then[])(struct nominations * n,
				   const struct judged *j) = { [VERDICT_NONE] = nothing,
							       [VERDICT_WAIT] = wait,
							       [VERDICT_ACT] = act,
							       [VERDICT_REFUSE] = refuse };
	const struct judged j = { h, p, s, d, seen, now };

	if (!d->due)
		not_due(n, &j);
	if (d->v.kind == VERDICT_ACT)
		deadlines_cancel(&n->deadlines, h);
	note_due(n, &j);
	return then[d->v.kind](n, &j);
}

/* -- what follows from an end -- */

void nominations_skip(struct nominations *n, uint32_t h)
{
	due_counts_clear(n->due, h);
	blocked_remove(n->blocked, h);
}

void nominations_gone(struct nominations *n, uint32_t h, const struct pod_facts *p)
{
	deadlines_cancel(&n->deadlines, h);
	blocked_remove(n->blocked, h);
	due_counts_clear(n->due, h);
	if (h < n->cap_refused)
		n->refused[h] = 0;
	if (!p)
		return;
	in_flight_gone(n->in_flight, p->uid, h);
	in_flight_gone(n->in_flight, p->owner.uid, h);
}

static void report_dropped(struct nominations *n, const struct msg_nomination_result *m)
{
	n->dropped++;
	(void)log_warn(0,
		       "given up after all retries; tried again when the pod changes, when another of its "
		       "namespace succeeds, or in ten minutes",
		       kv_s("duty", duty_name((enum duty)m->duty)), kv_s("namespace", m->ns),
		       kv_s("pod", m->name), kv_s("outcome", outcome_name((enum outcome)m->outcome)),
		       kv_s("reason", m->reason));
}

/* Reported once, as a refusal of the pod that should have gone. */
static void report_staying(struct nominations *n, uint32_t h, enum duty duty)
{
	struct pod_context s;
	struct pod_facts p;
	struct decision d = { .v = { .kind = VERDICT_REFUSE,
				     .duty = duty,
				     .reason = REASON_PODS_DO_NOT_LEAVE,
				     .rule = "R23",
				     .override = "" } };

	if (!h || !store_has(n->cluster->store, h))
		return;
	store_get(n->cluster->store, h, &p);
	cluster_context(n->cluster, h, &p, &s);
	facts_finding(&d.v.evidence, TEXT_PODS_STAY);
	facts_name(&d.v.evidence, FACT_CONTROLLER, p.owner.name);
	facts_duration(&d.v.evidence, FACT_LASTED, SCALED_DOWN_MS);
	facts_count(&d.v.evidence, FACT_PODS, s.pods + s.silent);
	(void)send_refusal(n, &(struct judged){ .h = h, .pod = &p, .context = &s, .d = &d });
}

/* R23: a scale to 0 is not the end of it, the pods must leave. */
static void watch_scaledown(struct nominations *n, const struct msg_nomination_result *m, uint32_t h,
			    bool written, uint64_t now)
{
	if (m->action != ACTION_SCALE_DOWN || m->on_pod)
		return;
	if (written)
		in_flight_scaled_down(n->in_flight, STR_C(m->action_key), now);
	else if (strcmp(m->reason, reason_code(REASON_ALREADY_ZERO)) == 0 &&
		 in_flight_pods_stay(n->in_flight, STR_C(m->action_key), now))
		report_staying(n, h, (enum duty)m->duty);
}

/* By the worker's clock, which is this host's: what was written into the history since does not count. */
static void note_written(const struct nominations *n, const struct msg_nomination_result *m, uint64_t seen,
			 uint64_t now)
{
	const int64_t at = m->at - (clock_wall_ms() - (int64_t)now);

	if (n->out->timed && m->at > 0 && seen > 0 && at >= (int64_t)seen &&
	    (OUTCOMES_KNOWN_WRITTEN >> m->outcome & 1))
		n->out->timed(n->out->ctx, TIMING_EVENT_TO_WRITE, ((uint64_t)at - seen) * 1000);
}

static void queue_pod(void *ctx, uint32_t h)
{
	queue_add(ctx, h);
}

void nominations_on_result(struct nominations *n, const struct msg_nomination_result *m)
{
	const bool failure = in_flight_is_failure(m->outcome);
	const bool observe = n->cluster->policy->mode == MODE_OBSERVE;
	const bool written = m->outcome == OUTCOME_DONE;
	uint64_t now = clock_boot_ms(), delay = 0;
	const uint32_t h = in_flight_pod(n->in_flight, STR_C(m->action_key));
	struct in_flight_end end;

	const struct clock_snapshot clocks = cluster_clocks(n->cluster);

	if (!admission_on_result(n->cluster->admission, m, &clocks)) {
		if (n->cluster->sync.remembered)
			admission_on_earlier_result(n->cluster->admission, m, &clocks);
	} else if (n->budget_at == 0)
		n->budget_at = now + BUDGET_CHECK_MS;
	if (failure && h)
		delay = queue_when(n->keys, h, now);
	if (!in_flight_on_result(n->in_flight, m, delay, observe, now, &end))
		return;
	in_flight_answered(n->in_flight, m, now, queue_pod, n->keys);
	if (end.probe)
		queue_add(n->keys, end.probe);
	note_written(n, m, end.seen, now);
	watch_scaledown(n, m, end.h, written, now);
	if (end.given_up)
		report_dropped(n, m);
	/* Otherwise judged again at once: it may be due by a newer version, or the wait gets its deadline. */
	if (end.h && failure && !end.dropped) {
		queue_add_after(n->keys, end.h, now, end.until - now);
	} else if (end.h) {
		queue_forget(n->keys, end.h);
		queue_add(n->keys, end.h);
	}
	if (end.group)
		queue_add(n->groups, end.group);
}

/* -- time -- */

static void queue_pod_afresh(void *ctx, uint32_t h)
{
	queue_forget(ctx, h);
	queue_add(ctx, h);
}

void nominations_wake(struct nominations *n, enum guard g)
{
	blocked_wake(n->blocked, g, clock_boot_ms());
}

void nominations_healthy(struct nominations *n)
{
	in_flight_retry_failed(n->in_flight, clock_boot_ms(), queue_pod_afresh, n->keys);
}

void nominations_judge_anew(struct nominations *n)
{
	in_flight_judge_anew(n->in_flight, clock_boot_ms());
}

void nominations_redo_deadlines(struct nominations *n)
{
	for (uint32_t i = 0; i < n->deadlines.n; i++)
		queue_add(n->keys, n->deadlines.key[i]);
}

void nominations_clock_stepped(struct nominations *n)
{
	const uint64_t now = clock_boot_ms();

	in_flight_clock_stepped(n->in_flight, now);
	due_counts_clock_stepped(n->due);
	for (enum guard g = 0; g < GUARD__MAX; g++)
		blocked_wake(n->blocked, g, now);
	nominations_redo_deadlines(n);
}

void nominations_collect(struct nominations *n, uint64_t now)
{
	uint32_t key;

	while (deadlines_pop(&n->deadlines, now, &key))
		queue_add(n->keys, key);
	for (uint32_t open = in_flight_open_count(n->in_flight);
	     open < OPEN_MAX && queue_get(n->waiting, &key) == 0; open++)
		queue_add(n->keys, key);
}

void nominations_collect_blocked(struct nominations *n, uint64_t now)
{
	if (n->budget_at && now >= n->budget_at) {
		n->budget_at = 0;
		blocked_wake(n->blocked, GUARD_BUDGET, now);
	}
	blocked_take(n->blocked, now, queue_pod, n->keys);
}

void nominations_expire(struct nominations *n, uint64_t now)
{
	in_flight_expire(n->in_flight, now);
}

uint64_t nominations_next(const struct nominations *n, uint64_t now)
{
	const uint64_t next = clock_sooner(deadlines_next(&n->deadlines), blocked_next(n->blocked));

	if (queue_len(n->waiting) && in_flight_open_count(n->in_flight) < OPEN_MAX)
		return now;
	return n->budget_at && blocked_count_of(n->blocked, GUARD_BUDGET) ? clock_sooner(next, n->budget_at)
									  : next;
}

bool nominations_any(const struct nominations *n)
{
	return in_flight_count(n->in_flight) > 0;
}

/* -- for others -- */

uint32_t nominations_order(const struct nominations *n, uint32_t **ret)
{
	const struct store *s = n->cluster->store;
	uint32_t all = (uint32_t)store_count(s), found;

	*ret = xreallocarray(NULL, (size_t)all + 1, sizeof(**ret));
	found = blocked_list(n->blocked, *ret, all);
	for (uint32_t h = 0; found < all && (h = store_next(s, h));)
		if (!blocked_lists(n->blocked, h))
			(*ret)[found++] = h;
	return found;
}

static int send_due(void *ctx, struct msg *m)
{
	const struct nominations *n = ctx;

	m->u.due_row.cluster = n->cluster->number;
	return outlet_send(n->out, m);
}

int nominations_tell_due(struct nominations *n, bool again, int64_t wall_ahead)
{
	if (again)
		due_counts_again(n->due);
	return due_counts_tell(n->due, wall_ahead, send_due, n);
}

/* "Budget 12; Pause 3; breaker: ..." */
static void describe_blocks(const struct nominations *n, struct msg *m)
{
	const struct facts *breaker = admission_breaker(n->cluster->admission);
	struct facts *all = &m->u.watch_stats.blocked_by, told = facts_of(TEXT_BREAKER_TELLS);

	facts_clear(all);
	for (enum guard g = 0; g < GUARD__MAX; g++) {
		struct facts one = facts_of(TEXT_BLOCKS);

		if (blocked_count_of(n->blocked, g) == 0)
			continue;
		m->u.watch_stats.guards |= UINT64_C(1) << g;
		facts_name(&one, FACT_GUARD, STR_C(guard_name(g)));
		facts_count(&one, FACT_BLOCKED, blocked_count_of(n->blocked, g));
		facts_facts(all, FACT_EACH, &one);
	}
	facts_facts(&told, FACT_BECAUSE, breaker);
	if (!facts_empty(breaker))
		facts_facts(all, FACT_EACH, &told);
}

void nominations_stats(const struct nominations *n, struct msg *m)
{
	struct msg_watch_stats *s = &m->u.watch_stats;

	s->bytes += queue_bytes(n->waiting) + deadlines_bytes(&n->deadlines) +
		    n->cap_refused * sizeof(*n->refused) + blocked_bytes(n->blocked) +
		    due_counts_bytes(n->due);
	s->queue += queue_len(n->waiting);
	s->deadlines = n->deadlines.n;
	s->nominated = n->nominated;
	s->dropped = n->dropped;
	s->blocked = blocked_count(n->blocked);
	describe_blocks(n, m);
}
