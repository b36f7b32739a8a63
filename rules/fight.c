/* fight.c - see fight.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/fight.h"

int64_t fight_hold_ms(uint32_t count)
{
	int64_t ms = FIGHT_HOLD_MS;

	for (uint32_t i = 1; i < count && ms < FIGHT_CAP_MS; i++)
		ms *= 2;
	return ms < FIGHT_CAP_MS ? ms : FIGHT_CAP_MS;
}

void fight_acted(struct fight *f, int64_t asked)
{
	f->acted = asked;
}

bool fight_would(const struct fight *f, int64_t created, int64_t now, struct fight *ret)
{
	*ret = *f;
	if (f->acted == 0 || created <= f->acted || now > f->acted + FIGHT_MEMORY_MS)
		return false;
	if (ret->count < UINT32_MAX)
		ret->count++;
	ret->acted = 0;
	ret->until = now + fight_hold_ms(ret->count);
	return true;
}

bool fight_seen(struct fight *f, int64_t created, int64_t now)
{
	struct fight after;
	bool seen = fight_would(f, created, now, &after);

	*f = after;
	return seen;
}

bool fight_held(const struct fight *f, int64_t now)
{
	return now < f->until;
}

bool fight_over(const struct fight *f, int64_t now)
{
	int64_t last = f->acted > f->until ? f->acted : f->until;

	return now > last + FIGHT_MEMORY_MS;
}

void loop_deleted(struct evict_loop *l, int64_t created, int64_t now)
{
	if (l->last && now > l->last + LOOP_WITHIN_MS)
		l->count = 0;
	if (created > l->counted && created >= l->last - LOOP_SLACK_MS && l->count < UINT32_MAX) {
		l->count++;
		l->counted = created;
	}
	l->last = now;
}

bool loop_seen(struct evict_loop *l, int64_t created)
{
	bool newer = created > l->newest;

	if (newer)
		l->newest = created;
	return newer;
}

bool loop_keeps(const struct evict_loop *l, int64_t created, int64_t now, int64_t *ret_until)
{
	*ret_until = l->last + LOOP_KEEP_MS;
	return l->count >= LOOP_COUNT && created >= l->newest && now < *ret_until;
}
