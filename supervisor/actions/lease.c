/* lease.c - see lease.h. Two hash chains (by subject, by id) and one FIFO per cluster. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/lease.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

#define BUCKETS 4096u

struct lease_table {
	struct lease *by_subject[BUCKETS], *by_id[BUCKETS];
	struct lease *waiting[CLUSTERS_MAX + 1], **waiting_tail[CLUSTERS_MAX + 1];
	struct lease *held[CHILDREN_MAX];
	size_t count;
	uint64_t next_id;
	bool (*hold)(void *ctx, const struct lease *l);
	void *hold_ctx;
};

static size_t hash_text(const char *s, uint64_t seed)
{
	uint64_t h = 14695981039346656037u ^ seed;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return (size_t)(h >> 20) % BUCKETS;
}

static size_t subject_bucket(const struct msg_intent *i)
{
	return hash_text(i->action_key, i->cluster);
}

struct lease_table *lease_table_new(void)
{
	struct lease_table *t = xcalloc(1, sizeof(*t));

	for (size_t c = 0; c <= CLUSTERS_MAX; c++)
		t->waiting_tail[c] = &t->waiting[c];
	t->next_id = 1;
	return t;
}

void lease_table_free(struct lease_table **tp)
{
	struct lease_table *t = *tp;

	for (size_t b = 0; t && b < BUCKETS; b++) {
		while (t->by_id[b]) {
			struct lease *l = t->by_id[b];

			t->by_id[b] = l->by_id;
			free(l);
		}
	}
	free(t);
	*tp = NULL;
}

size_t lease_table_count(const struct lease_table *t)
{
	return t->count;
}

void lease_table_set_next_id(struct lease_table *t, uint64_t id)
{
	if (id > t->next_id)
		t->next_id = id;
}

static void push_waiting(struct lease_table *t, struct lease *l, bool front)
{
	const uint64_t c = l->intent.u.intent.cluster;

	l->phase = LEASE_WAITING;
	l->holder = -1;
	if (front) {
		l->next_waiting = t->waiting[c];
		t->waiting[c] = l;
		if (t->waiting_tail[c] == &t->waiting[c])
			t->waiting_tail[c] = &l->next_waiting;
		return;
	}
	l->next_waiting = NULL;
	*t->waiting_tail[c] = l;
	t->waiting_tail[c] = &l->next_waiting;
}

static struct lease *find_subject(const struct lease_table *t, const struct msg_intent *i)
{
	struct lease *l = t->by_subject[subject_bucket(i)];

	while (l && (l->intent.u.intent.cluster != i->cluster ||
		     strcmp(l->intent.u.intent.action_key, i->action_key) != 0))
		l = l->by_subject;
	return l;
}

static struct lease *insert(struct lease_table *t, const struct msg *intent)
{
	struct lease *l = xcalloc(1, sizeof(*l));
	const size_t s = subject_bucket(&intent->u.intent), i = intent->u.intent.id % BUCKETS;

	l->intent = *intent;
	l->holder = -1;
	l->by_subject = t->by_subject[s];
	t->by_subject[s] = l;
	l->by_id = t->by_id[i];
	t->by_id[i] = l;
	t->count++;
	return l;
}

struct lease *lease_open(struct lease_table *t, const struct msg *nominate, bool observe)
{
	struct msg intent = { .type = MSG_INTENT };

	msg_copy_fields(&intent, nominate);
	if (find_subject(t, &intent.u.intent))
		return NULL;
	intent.u.intent.id = t->next_id++;
	intent.u.intent.observe = observe;
	return insert(t, &intent);
}

struct lease *lease_reopen(struct lease_table *t, const struct msg *open_intent)
{
	struct msg intent = { .type = MSG_INTENT };

	msg_copy_fields(&intent, open_intent);
	lease_table_set_next_id(t, intent.u.intent.id + 1);
	if (lease_find(t, intent.u.intent.id) || find_subject(t, &intent.u.intent))
		return NULL;
	struct lease *l = insert(t, &intent);

	l->verify_first = true;
	push_waiting(t, l, false);
	return l;
}

struct lease *lease_find(const struct lease_table *t, uint64_t id)
{
	struct lease *l = t->by_id[id % BUCKETS];

	while (l && l->intent.u.intent.id != id)
		l = l->by_id;
	return l;
}

void lease_close(struct lease_table *t, struct lease **lp)
{
	struct lease *l = *lp;
	struct lease **p = &t->by_subject[subject_bucket(&l->intent.u.intent)];

	while (*p != l)
		p = &(*p)->by_subject;
	*p = l->by_subject;
	for (p = &t->by_id[l->intent.u.intent.id % BUCKETS]; *p != l; p = &(*p)->by_id)
		;
	*p = l->by_id;
	t->count--;
	free(l);
	*lp = NULL;
}

bool lease_written(struct lease_table *t, struct lease *l)
{
	if (l->phase != LEASE_NEW)
		return false;
	l->sent = false;
	push_waiting(t, l, false);
	return true;
}

void lease_table_set_hold(struct lease_table *t, bool (*fn)(void *ctx, const struct lease *l), void *ctx)
{
	t->hold = fn;
	t->hold_ctx = ctx;
}

static bool is_held(const struct lease_table *t, const struct lease *l)
{
	return t->hold && t->hold(t->hold_ctx, l);
}

static bool may_be_granted(const struct lease_table *t, const struct lease *l)
{
	return !is_held(t, l);
}

static bool may_be_refused(const struct lease_table *t, const struct lease *l)
{
	return !l->verify_first && is_held(t, l);
}

/* Where the oldest waiting lease that fits hangs; where nothing hangs when there is none. */
static struct lease **find_waiting(struct lease_table *t, uint64_t cluster,
				   bool (*fits)(const struct lease_table *t, const struct lease *l))
{
	struct lease **at = &t->waiting[cluster];

	while (*at && !fits(t, *at))
		at = &(*at)->next_waiting;
	return at;
}

/* Out of its queue. */
static void take_waiting(struct lease_table *t, struct lease **at)
{
	struct lease *l = *at;
	const uint64_t cluster = l->intent.u.intent.cluster;

	*at = l->next_waiting;
	if (t->waiting_tail[cluster] == &l->next_waiting)
		t->waiting_tail[cluster] = at;
	l->next_waiting = NULL;
}

static void set_record(struct lease *l, const struct msg *result)
{
	l->record = (struct msg){ .type = MSG_RECORD };
	msg_copy_fields(&l->record, result);
	l->record.u.record.id = l->intent.u.intent.id;
	l->phase = LEASE_RECORDING;
	l->sent = false;
}

struct lease *lease_refuse_held(struct lease_table *t, uint64_t cluster, const struct msg *result)
{
	struct lease **at = find_waiting(t, cluster, may_be_refused), *l = *at;

	if (l) {
		take_waiting(t, at);
		set_record(l, result);
	}
	return l;
}

struct lease *lease_held_by(const struct lease_table *t, int holder)
{
	return holder >= 0 && holder < CHILDREN_MAX ? t->held[holder] : NULL;
}

unsigned lease_count_held(const struct lease_table *t, int holder)
{
	unsigned n = 0;

	for (const struct lease *l = lease_held_by(t, holder); l; l = l->next_held)
		n++;
	return n;
}

static bool has_room(const struct lease_table *t, int holder, const struct lease *l)
{
	const struct lease *held = lease_held_by(t, holder);

	return !held ||
	       (!held->verify_first && !l->verify_first && lease_count_held(t, holder) < WORKER_LEASES_MAX);
}

struct lease *lease_grant(struct lease_table *t, uint64_t cluster, int holder, uint64_t deadline_ms)
{
	struct lease **at = find_waiting(t, cluster, may_be_granted);
	struct lease *l = *at;

	if (!l || holder < 0 || holder >= CHILDREN_MAX || !has_room(t, holder, l))
		return NULL;
	take_waiting(t, at);
	l->phase = LEASE_GRANTED;
	l->holder = holder;
	l->deadline_ms = deadline_ms;
	l->grants++;
	l->next_held = t->held[holder];
	t->held[holder] = l;
	return l;
}

static void let_go(struct lease_table *t, struct lease *l)
{
	struct lease **p = &t->held[l->holder];

	while (*p != l)
		p = &(*p)->next_held;
	*p = l->next_held;
	l->next_held = NULL;
	l->holder = -1;
}

void lease_holder_died(struct lease_table *t, struct lease *l)
{
	let_go(t, l);
	l->verify_first = true;
	push_waiting(t, l, true);
}

int lease_result(struct lease_table *t, int holder, const struct msg *result, struct lease **ret)
{
	struct lease *l = lease_held_by(t, holder);

	while (l && l->intent.u.intent.id != result->u.result.id)
		l = l->next_held;
	if (!l)
		return -EPERM;
	let_go(t, l);
	set_record(l, result);
	*ret = l;
	return 0;
}

void lease_each(struct lease_table *t, void (*fn)(void *ctx, struct lease *l), void *ctx)
{
	for (size_t b = 0; b < BUCKETS; b++)
		for (struct lease *l = t->by_id[b]; l; l = l->by_id)
			fn(ctx, l);
}
