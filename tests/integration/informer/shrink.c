/* shrink.c - see shrink.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/informer/shrink.h"

#include <string.h>

struct shrinker {
	struct history *best;
	struct history tried; /* large: not on the stack */
	unsigned left;
	shrink_fails_fn *fails;
	void *ctx;
};

/* Takes what is in `tried` when it fails, too. */
static bool ask(struct shrinker *s)
{
	if (s->left == 0)
		return false;
	s->left--;
	if (!s->fails(s->ctx, &s->tried))
		return false;
	*s->best = s->tried;
	return true;
}

/* Leaves out n steps from `from` on. */
static bool without(struct shrinker *s, size_t from, size_t n)
{
	s->tried = *s->best;
	memmove(s->tried.ops + from, s->tried.ops + from + n, (s->tried.n - from - n) * sizeof(struct op));
	s->tried.n -= n;
	return ask(s);
}

/* Pieces of that size from the end: later steps are the likelier ones to be needless. */
static bool drop_pieces(struct shrinker *s, size_t size)
{
	bool any = false;

	for (size_t end = s->best->n; end >= size;) {
		if (without(s, end - size, size))
			any = true;
		end -= size;
		if (end > s->best->n)
			end = s->best->n;
	}
	return any;
}

static void drop_steps(struct shrinker *s)
{
	for (size_t size = s->best->n / 2; size > 1; size /= 2)
		(void)drop_pieces(s, size);
	while (s->left && s->best->n && drop_pieces(s, 1)) {
	}
}

static bool with_arg(struct shrinker *s, size_t i, uint16_t arg)
{
	if (s->best->ops[i].arg <= arg)
		return false;
	s->tried = *s->best;
	s->tried.ops[i].arg = arg;
	return ask(s);
}

/* Another pod instead of this one, everywhere. */
static void rename_pod(struct shrinker *s, uint16_t from, uint16_t to)
{
	s->tried = *s->best;
	for (size_t i = 0; i < s->tried.n; i++)
		if (op_table[s->tried.ops[i].kind].arg == ARG_POD && s->tried.ops[i].arg == from)
			s->tried.ops[i].arg = to;
	if (memcmp(s->tried.ops, s->best->ops, s->tried.n * sizeof(struct op)) != 0)
		(void)ask(s);
}

static void simplify(struct shrinker *s)
{
	if (s->best->mode != MODE_WATCHLIST) {
		s->tried = *s->best;
		s->tried.mode = MODE_WATCHLIST;
		(void)ask(s);
	}
	for (uint16_t from = 1; from < PODS; from++)
		for (uint16_t to = 0; to < from; to++)
			rename_pod(s, from, to);
	for (size_t i = 0; i < s->best->n; i++) {
		const struct op op = s->best->ops[i];

		if (op_table[op.kind].arg == ARG_NUMBER && !with_arg(s, i, 0) && op.kind != OP_CLOSE)
			(void)with_arg(s, i, 1);
	}
}

void shrink(struct history *h, unsigned tries, shrink_fails_fn *fails, void *ctx)
{
	static struct shrinker s;

	s = (struct shrinker){ .best = h, .left = tries, .fails = fails, .ctx = ctx };
	drop_steps(&s);
	simplify(&s);
	drop_steps(&s);
}
