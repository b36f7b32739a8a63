/* reverted.c - see reverted.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/reverted.h"

int64_t reverted_block_ms(uint32_t count)
{
	int64_t ms = REVERTED_BLOCK_MS;

	for (uint32_t i = 1; i < count && ms < REVERTED_CAP_MS; i++)
		ms *= 2;
	return ms < REVERTED_CAP_MS ? ms : REVERTED_CAP_MS;
}

void reverted_acted(struct reverted *f, int64_t asked)
{
	f->acted = asked;
}

bool reverted_would(const struct reverted *f, int64_t created, int64_t now, struct reverted *ret)
{
	*ret = *f;
	if (f->acted == 0 || created <= f->acted || now > f->acted + REVERTED_MEMORY_MS)
		return false;
	if (ret->count < UINT32_MAX)
		ret->count++;
	ret->acted = 0;
	ret->until = now + reverted_block_ms(ret->count);
	return true;
}

bool reverted_seen(struct reverted *f, int64_t created, int64_t now)
{
	struct reverted after;
	bool seen = reverted_would(f, created, now, &after);

	*f = after;
	return seen;
}

bool reverted_blocks(const struct reverted *f, int64_t now)
{
	return now < f->until;
}

bool reverted_over(const struct reverted *f, int64_t now)
{
	int64_t last = f->acted > f->until ? f->acted : f->until;

	return now > last + REVERTED_MEMORY_MS;
}

void evict_loop_deleted(struct evict_loop *l, int64_t created, int64_t now)
{
	if (l->last && now > l->last + LOOP_WITHIN_MS)
		l->count = 0;
	if (created > l->counted && created >= l->last - LOOP_SLACK_MS && l->count < UINT32_MAX) {
		l->count++;
		l->counted = created;
	}
	l->last = now;
}

bool evict_loop_seen(struct evict_loop *l, int64_t created)
{
	bool newer = created > l->newest;

	if (newer)
		l->newest = created;
	return newer;
}

bool evict_loop_keeps(const struct evict_loop *l, int64_t created, int64_t now, int64_t *ret_until)
{
	*ret_until = l->last + LOOP_KEEP_MS;
	return l->count >= LOOP_COUNT && created >= l->newest && now < *ret_until;
}
