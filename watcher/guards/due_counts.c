/* due_counts.c - see due_counts.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/guards/due_counts.h"

#include <stdlib.h>

#include "base/xalloc.h"

#define CLASS_BITS 8u
#define CLASS_MASK ((1u << CLASS_BITS) - 1)
#define SINCE_MAX  ((1u << (32 - CLASS_BITS)) - 1) /* in grains: two years */

struct due_class {
	enum duty duty;
	enum due_state state;
	enum reason reason;
	uint32_t n, oldest;           /* oldest: of the last look, in grains */
	uint32_t told_n, told_oldest; /* by the last row; 0 = whoever listens knows of none */
};

struct due_counts {
	uint32_t *of; /* by handle: class, since when above it; 0 = none */
	uint32_t cap;
	struct due_class classes[DUE_CLASSES_MAX + 1]; /* [0] is of none */
	uint32_t n_classes;
};

struct due_counts *due_counts_new(void)
{
	return xcalloc(1, sizeof(struct due_counts));
}

void due_counts_free(struct due_counts **t)
{
	if (!*t)
		return;
	free((*t)->of);
	free(*t);
	*t = NULL;
}

static uint32_t class_at(const struct due_counts *t, uint32_t h)
{
	return h < t->cap ? t->of[h] & CLASS_MASK : 0;
}

static bool is_class(const struct due_class *k, enum duty duty, enum due_state state, enum reason reason)
{
	return k->duty == duty && k->state == state && k->reason == reason;
}

/* 0 = there is no room for one more. */
static uint32_t find_or_make(struct due_counts *t, enum duty duty, enum due_state state, enum reason reason)
{
	uint32_t i = 1;

	while (i <= t->n_classes && !is_class(&t->classes[i], duty, state, reason))
		i++;
	if (i > DUE_CLASSES_MAX)
		return 0;
	if (i > t->n_classes)
		t->classes[t->n_classes = i] =
			(struct due_class){ .duty = duty, .state = state, .reason = reason };
	return i;
}

void due_counts_clear(struct due_counts *t, uint32_t h)
{
	const uint32_t i = class_at(t, h);

	if (!i)
		return;
	t->classes[i].n--;
	t->of[h] = 0;
}

void due_counts_set(struct due_counts *t, uint32_t h, enum duty duty, enum due_state state,
		    enum reason reason, uint64_t now)
{
	const uint64_t grain = now / DUE_GRAIN_MS;
	uint32_t i = class_at(t, h);

	if (i && is_class(&t->classes[i], duty, state, reason))
		return;
	due_counts_clear(t, h);
	i = find_or_make(t, duty, state, reason);
	if (!i)
		return;
	t->of = xgrow(t->of, &t->cap, h, sizeof(*t->of));
	t->of[h] = (uint32_t)(grain < SINCE_MAX ? grain : SINCE_MAX) << CLASS_BITS | i;
	t->classes[i].n++;
}

bool due_counts_is(const struct due_counts *t, uint32_t h, enum due_state state)
{
	const uint32_t i = class_at(t, h);

	return i && t->classes[i].state == state;
}

void due_counts_again(struct due_counts *t)
{
	for (uint32_t i = 1; i <= t->n_classes; i++)
		t->classes[i].told_n = t->classes[i].told_oldest = 0;
}

void due_counts_clock_stepped(struct due_counts *t)
{
	for (uint32_t i = 1; i <= t->n_classes; i++)
		t->classes[i].told_oldest = UINT32_MAX;
}

static void find_oldest(struct due_counts *t)
{
	for (uint32_t i = 1; i <= t->n_classes; i++)
		t->classes[i].oldest = UINT32_MAX;
	for (uint32_t h = 0; t->n_classes && h < t->cap; h++) {
		struct due_class *k = &t->classes[t->of[h] & CLASS_MASK];

		if (t->of[h] >> CLASS_BITS < k->oldest)
			k->oldest = t->of[h] >> CLASS_BITS;
	}
}

int due_counts_tell(struct due_counts *t, int64_t wall_ahead, int (*send)(void *ctx, struct msg *m),
		    void *ctx)
{
	find_oldest(t);
	for (uint32_t i = 1; i <= t->n_classes; i++) {
		struct due_class *k = &t->classes[i];
		const int64_t since = (int64_t)k->oldest * DUE_GRAIN_MS + wall_ahead;
		struct msg m = { .type = MSG_DUE_ROW,
				 .u.due_row = { .duty = k->duty,
						.state = k->state,
						.n = k->n,
						.oldest = k->n && since > 0 ? since : 0 } };

		if (k->n == k->told_n && (k->n == 0 || k->oldest == k->told_oldest))
			continue;
		msg_text(&m, due_row.reason, reason_code(k->reason));
		const int r = send(ctx, &m);

		if (r < 0)
			return r;
		k->told_n = k->n;
		k->told_oldest = k->oldest;
	}
	return 0;
}

size_t due_counts_bytes(const struct due_counts *t)
{
	return sizeof(*t) + t->cap * sizeof(*t->of);
}
