/* lease.c - see lease.h. Two hash chains (by action key, by id), two queues a cluster, one list a holder. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/lease.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/xalloc.h"

#if !defined(BUCKETS) /* the fuzz build has few: their chains are long, and all are looked through often */
#define BUCKETS 4096u
#endif

struct queue {
	struct lease *first, **end;
};

struct lease_table {
	struct lease *by_key[BUCKETS], *by_id[BUCKETS];
	struct queue unsent[CLUSTERS_MAX + 1]; /* LEASE_NEW whose INTENT is not on its way */
	struct queue waiting[CLUSTERS_MAX + 1];
	uint16_t intents_sent[CLUSTERS_MAX + 1]; /* the other LEASE_NEW */
	struct lease *held[CHILDREN_MAX];
	uint8_t n_held[CHILDREN_MAX];
	struct usage {
		size_t count, bytes;
	} all, of[CLUSTERS_MAX + 1];
	uint64_t next_id;
	bool blocked[CLUSTERS_MAX + 1];
	bool (*is_paused)(void *ctx, const struct lease *l);
	void *ctx;
};

static struct lease **key_bucket(struct lease_table *t, uint64_t cluster, const char *key)
{
	return &t->by_key[(size_t)(fnv_text(FNV_START ^ cluster, key) >> 20) % BUCKETS];
}

/* -- a queue -- */

static void clear(struct queue *q)
{
	*q = (struct queue){ .end = &q->first };
}

static void push(struct queue *q, struct lease *l, bool front)
{
	struct lease **at = front ? &q->first : q->end;

	l->next = *at;
	*at = l;
	if (q->end == at)
		q->end = &l->next;
}

static void take(struct queue *q, struct lease **at)
{
	struct lease *l = *at;

	*at = l->next;
	if (q->end == &l->next)
		q->end = at;
	l->next = NULL;
}

/* -- the table -- */

struct lease_table *lease_table_new(bool (*is_paused)(void *ctx, const struct lease *l), void *ctx)
{
	struct lease_table *t = xcalloc(1, sizeof(*t));

	t->is_paused = is_paused;
	t->ctx = ctx;
	for (size_t c = 0; c <= CLUSTERS_MAX; c++) {
		clear(&t->unsent[c]);
		clear(&t->waiting[c]);
	}
	t->next_id = 1;
	return t;
}

static size_t quotes_size(const struct lease_quotes *q)
{
	size_t size = q ? sizeof(*q) : 0;

	for (size_t i = 0; q && i < QUOTES_MAX; i++)
		size += msg_packed_size(q->v[i]);
	return size;
}

static void free_quotes(struct lease *l)
{
	for (size_t i = 0; l->quotes && i < QUOTES_MAX; i++)
		free(l->quotes->v[i]);
	free(l->quotes);
	l->quotes = NULL;
}

static void free_lease(struct lease *l)
{
	free_quotes(l);
	free(l->intent);
	free(l->record);
	free(l);
}

void lease_table_free(struct lease_table **tp)
{
	struct lease_table *t = *tp;

	for (size_t b = 0; t && b < BUCKETS; b++) {
		while (t->by_id[b]) {
			struct lease *l = t->by_id[b];

			t->by_id[b] = l->by_id;
			free_lease(l);
		}
	}
	free(t);
	*tp = NULL;
}

size_t lease_table_count(const struct lease_table *t)
{
	return t->all.count;
}

size_t lease_table_bytes(const struct lease_table *t)
{
	return t->all.bytes;
}

static bool takes_up(const struct usage *mine, const struct usage *all)
{
	return mine->count + 2 * all->count >= 2 * LEASES_MAX ||
	       mine->bytes + 2 * all->bytes >= 2 * LEASES_BYTES_MAX;
}

bool lease_table_is_full(const struct lease_table *t, uint64_t cluster, bool alone)
{
	static const struct usage none;

	return t->next_id > LEASE_ID_MAX || takes_up(alone ? &none : &t->of[cluster], &t->all);
}

size_t lease_table_count_of(const struct lease_table *t, uint64_t cluster)
{
	return t->of[cluster].count;
}

static void charge(struct lease_table *t, uint64_t cluster, size_t count, size_t bytes)
{
	t->all.count += count;
	t->all.bytes += bytes;
	t->of[cluster].count += count;
	t->of[cluster].bytes += bytes;
}

bool lease_table_set_next_id(struct lease_table *t, uint64_t id)
{
	if (id > t->next_id && id - t->next_id > LEASES_AHEAD_MAX)
		return false;
	if (id > t->next_id)
		t->next_id = id;
	return true;
}

uint64_t lease_table_lowest_id(const struct lease_table *t)
{
	uint64_t lowest = t->next_id;

	for (const struct lease *l = lease_next(t, NULL); l; l = lease_next(t, l))
		lowest = l->id < lowest ? l->id : lowest;
	return lowest;
}

void lease_table_block(struct lease_table *t, uint64_t cluster, bool on)
{
	t->blocked[cluster] = on;
}

static void push_waiting(struct lease_table *t, struct lease *l, bool front)
{
	l->phase = LEASE_WAITING;
	l->holder = -1;
	push(&t->waiting[l->cluster], l, front);
}

static void push_unsent(struct lease_table *t, struct lease *l)
{
	push(&t->unsent[l->cluster], l, l->by_operator);
}

static struct lease *find_key(struct lease_table *t, const struct msg_intent *i)
{
	struct lease *l = *key_bucket(t, i->cluster, i->action_key);

	while (l && (l->cluster != i->cluster || strcmp(l->key, i->action_key) != 0))
		l = l->by_key;
	return l;
}

static size_t size_of(const struct lease *l)
{
	return sizeof(*l) + strlen(l->key) + 1 + msg_packed_size(l->intent) + msg_packed_size(l->record) +
	       quotes_size(l->quotes);
}

static struct lease *insert(struct lease_table *t, const struct msg *intent)
{
	const struct msg_intent *i = &intent->u.intent;
	const size_t key_size = strlen(i->action_key) + 1;
	struct lease *l = xcalloc(1, sizeof(*l) + key_size);
	struct lease **by_key = key_bucket(t, i->cluster, i->action_key),
		     **by_id = &t->by_id[i->id % BUCKETS];

	memcpy(l->key, i->action_key, key_size);
	l->id = i->id;
	l->cluster = (uint16_t)i->cluster;
	l->duty = (uint8_t)i->duty;
	l->by_operator = i->by_operator;
	l->holder = -1;
	l->intent = msg_pack(intent);
	l->by_key = *by_key;
	*by_key = l;
	l->by_id = *by_id;
	*by_id = l;
	charge(t, l->cluster, 1, size_of(l));
	return l;
}

struct lease *lease_open(struct lease_table *t, const struct msg *nominate, bool observe)
{
	struct msg intent = { .type = MSG_INTENT };

	msg_copy_fields(&intent, nominate);
	if (t->next_id > LEASE_ID_MAX || find_key(t, &intent.u.intent))
		return NULL;
	intent.u.intent.id = t->next_id++;
	intent.u.intent.observe = observe;
	intent.u.intent.in_bulk = t->of[intent.u.intent.cluster].count >= LEASES_BULK;
	struct lease *l = insert(t, &intent);

	push_unsent(t, l);
	return l;
}

struct lease *lease_reopen(struct lease_table *t, const struct msg *open_intent, const char *revision)
{
	struct msg intent = { .type = MSG_INTENT };

	msg_copy_fields(&intent, open_intent);
	msg_text(&intent, intent.revision, revision);
	if (t->next_id <= intent.u.intent.id)
		t->next_id = intent.u.intent.id + 1;
	if (t->all.count >= LEASES_MAX || lease_find(t, intent.u.intent.id) || find_key(t, &intent.u.intent))
		return NULL;
	struct lease *l = insert(t, &intent);

	l->verify_first = true;
	push_waiting(t, l, false);
	return l;
}

struct lease *lease_find(const struct lease_table *t, uint64_t id)
{
	struct lease *l = t->by_id[id % BUCKETS];

	while (l && l->id != id)
		l = l->by_id;
	return l;
}

void lease_close(struct lease_table *t, struct lease **lp)
{
	struct lease *l = *lp;
	struct lease **p = key_bucket(t, l->cluster, l->key);

	while (*p != l)
		p = &(*p)->by_key;
	*p = l->by_key;
	for (p = &t->by_id[l->id % BUCKETS]; *p != l; p = &(*p)->by_id)
		;
	*p = l->by_id;
	charge(t, l->cluster, -(size_t)1, -size_of(l));
	if (l->phase == LEASE_NEW)
		t->intents_sent[l->cluster]--;
	free_lease(l);
	*lp = NULL;
}

struct lease *lease_next_intent(const struct lease_table *t, uint64_t cluster)
{
	return t->intents_sent[cluster] < INTENTS_SENT_MAX ? t->unsent[cluster].first : NULL;
}

void lease_intent_sent(struct lease_table *t, struct lease *l)
{
	take(&t->unsent[l->cluster], &t->unsent[l->cluster].first);
	t->intents_sent[l->cluster]++;
	l->sent = true;
}

void lease_table_set_unsent(struct lease_table *t)
{
	for (size_t c = 0; c <= CLUSTERS_MAX; c++)
		clear(&t->unsent[c]);
	memset(t->intents_sent, 0, sizeof(t->intents_sent));
	for (struct lease *l = lease_next(t, NULL); l; l = lease_next(t, l)) {
		l->sent = false;
		if (l->phase == LEASE_NEW)
			push_unsent(t, l);
	}
}

bool lease_written(struct lease_table *t, struct lease *l)
{
	if (l->phase != LEASE_NEW || !l->sent)
		return false;
	t->intents_sent[l->cluster]--;
	l->sent = false;
	push_waiting(t, l, false);
	return true;
}

static bool may_be_granted(const struct lease_table *t, const struct lease *l)
{
	if (t->blocked[l->cluster] && !l->by_operator)
		return false;
	return !t->is_paused(t->ctx, l);
}

static bool may_be_refused(const struct lease_table *t, const struct lease *l)
{
	return !l->verify_first && t->is_paused(t->ctx, l);
}

bool lease_is_waiting(const struct lease_table *t, uint64_t cluster)
{
	return t->waiting[cluster].first != NULL;
}

/* Where the oldest waiting lease that fits hangs; where nothing hangs when there is none. */
static struct lease **find_waiting(struct lease_table *t, uint64_t cluster,
				   bool (*fits)(const struct lease_table *t, const struct lease *l))
{
	struct lease **at = &t->waiting[cluster].first;

	while (*at && !fits(t, *at))
		at = &(*at)->next;
	return at;
}

static void set_record(struct lease_table *t, struct lease *l, const struct msg *result)
{
	struct msg record = { .type = MSG_RECORD };

	msg_copy_fields(&record, result);
	record.u.record.id = l->id;
	l->record = msg_pack(&record);
	charge(t, l->cluster, 0, msg_packed_size(l->record));
	l->phase = LEASE_RECORDING;
	l->sent = false;
}

struct lease *lease_refuse_paused(struct lease_table *t, uint64_t cluster, const struct msg *result)
{
	struct lease **at = find_waiting(t, cluster, may_be_refused), *l = *at;

	if (l) {
		take(&t->waiting[cluster], at);
		set_record(t, l, result);
	}
	return l;
}

struct lease *lease_held_by(const struct lease_table *t, int holder)
{
	return holder >= 0 && holder < CHILDREN_MAX ? t->held[holder] : NULL;
}

unsigned lease_count_held(const struct lease_table *t, int holder)
{
	return lease_held_by(t, holder) ? t->n_held[holder] : 0;
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
	take(&t->waiting[cluster], at);
	l->phase = LEASE_GRANTED;
	l->holder = (int16_t)holder;
	l->deadline_ms = deadline_ms;
	l->grants++;
	l->next = t->held[holder];
	t->held[holder] = l;
	t->n_held[holder]++;
	return l;
}

static void let_go(struct lease_table *t, struct lease *l)
{
	struct lease **p = &t->held[l->holder];

	while (*p != l)
		p = &(*p)->next;
	*p = l->next;
	t->n_held[l->holder]--;
	l->next = NULL;
	l->holder = -1;
}

void lease_holder_died(struct lease_table *t, struct lease *l)
{
	let_go(t, l);
	l->verify_first = true;
	push_waiting(t, l, true);
}

/* The one of that id that holder has, or NULL. */
static struct lease *find_held(const struct lease_table *t, int holder, uint64_t id)
{
	struct lease *l = lease_held_by(t, holder);

	while (l && l->id != id)
		l = l->next;
	return l;
}

int lease_quote(struct lease_table *t, int holder, const struct msg *quote)
{
	struct lease *l = find_held(t, holder, quote->u.quote.id);

	if (!l)
		return -EPERM;
	const size_t before = quotes_size(l->quotes);
	struct msg_packed **at;

	if (!l->quotes)
		l->quotes = xcalloc(1, sizeof(*l->quotes));
	at = &l->quotes->v[quote->u.quote.number];
	free(*at);
	*at = msg_pack(quote);
	charge(t, l->cluster, 0, quotes_size(l->quotes) - before);
	return 0;
}

int lease_result(struct lease_table *t, int holder, const struct msg *result, struct lease **ret)
{
	struct lease *l = find_held(t, holder, result->u.result.id);

	if (!l)
		return -EPERM;
	let_go(t, l);
	set_record(t, l, result);
	*ret = l;
	return 0;
}

struct lease *lease_next(const struct lease_table *t, const struct lease *l)
{
	size_t b = l ? l->id % BUCKETS + 1 : 0;

	if (l && l->by_id)
		return l->by_id;
	while (b < BUCKETS && !t->by_id[b])
		b++;
	return b < BUCKETS ? t->by_id[b] : NULL;
}
