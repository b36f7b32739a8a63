/* floors.c - see floors.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/floors.h"

#include <stddef.h>

#define HEEDS(duty) (1u << DUTY_##duty)

/* A workload whose pods crash is Available for a moment with each start where no probe says otherwise: there
 * the condition's time tells of the last crash, not of the first. */
static const struct floor_desc {
	unsigned duties;
	enum text why;
} descs[] = {
	[FLOOR_WORKLOAD] = { HEEDS(IMAGE_PULL) | HEEDS(CRASH_LOOP), TEXT_FLOOR_WORKLOAD },
	[FLOOR_REVISION] = { HEEDS(IMAGE_PULL) | HEEDS(CRASH_LOOP), TEXT_FLOOR_REVISION },
	[FLOOR_UNAVAILABLE] = { HEEDS(IMAGE_PULL), TEXT_FLOOR_UNAVAILABLE },
	[FLOOR_WORKED] = { HEEDS(IMAGE_PULL) | HEEDS(CRASH_LOOP), TEXT_FLOOR_WORKED },
	[FLOOR_SERVED] = { HEEDS(IMAGE_PULL) | HEEDS(CRASH_LOOP), TEXT_FLOOR_SERVED },
	[FLOOR_KNOWN] = { HEEDS(IMAGE_PULL) | HEEDS(CRASH_LOOP), TEXT_FLOOR_KNOWN },
	[FLOOR_WATCHED] = { HEEDS(IMAGE_PULL) | HEEDS(CRASH_LOOP), TEXT_FLOOR_WATCHED },
};
_Static_assert(sizeof(descs) / sizeof(descs[0]) == FLOOR__MAX, "a row for each");

void floors_add(struct floors *f, enum floor floor, int64_t at)
{
	if (at > f->at[floor])
		f->at[floor] = at;
}

int64_t floors_since(const struct floors *f, enum duty d, int64_t since, enum text *ret_why)
{
	int64_t latest = since;

	*ret_why = TEXT__MAX;
	for (size_t i = 0; since > 0 && i < FLOOR__MAX; i++) {
		if (!(descs[i].duties >> d & 1) || f->at[i] <= latest)
			continue;
		latest = f->at[i];
		*ret_why = descs[i].why;
	}
	return latest;
}
