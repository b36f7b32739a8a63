/* server_clock.c - see server_clock.h. */
// SPDX-License-Identifier: Apache-2.0
#include "base/server_clock.h"

#define ROUNDING_MS 1000 /* a Date is cut to seconds */
#define LATENCY_MS  5000 /* and may be this old when it is read */
#define JUMP_MS     2000 /* a larger step forward wants a second witness */
#define JITTER_MS   50   /* clocks kept by NTP differ by so much */
#define MOVED_MS    1000
#define AHEAD_MAX   3600000

bool server_clock_note(struct server_clock *s, int64_t date_ms, uint64_t boot_ms)
{
	int64_t at_least = date_ms - (int64_t)boot_ms, before = s->offset;
	bool forward = at_least > s->offset + JUMP_MS;
	bool backward = at_least + ROUNDING_MS + LATENCY_MS < s->offset;

	if (!s->known) {
		s->known = true;
		s->offset = at_least;
		return true;
	}
	if (!forward && !backward) {
		s->is_pending = false;
		if (at_least > s->offset)
			s->offset = at_least;
	} else if (!s->is_pending) {
		s->is_pending = true;
		s->pending = at_least;
	} else {
		/* Two in a row: the one that claims less. */
		s->is_pending = false;
		s->offset = at_least < s->pending ? at_least : s->pending;
	}
	return s->offset > before + MOVED_MS || s->offset < before - MOVED_MS;
}

/* At least so late is it; *ret_exact when the local clock may tell it to the millisecond. */
static int64_t estimate(const struct server_clock *s, int64_t wall_ms, uint64_t boot_ms, bool *ret_exact)
{
	int64_t least = (int64_t)boot_ms + s->offset;

	*ret_exact = !s->known || (wall_ms >= least - JITTER_MS && wall_ms <= least + ROUNDING_MS);
	if (!s->known || (*ret_exact && wall_ms > least))
		return wall_ms;
	return least > wall_ms + AHEAD_MAX ? wall_ms + AHEAD_MAX : least;
}

int64_t server_clock_now(const struct server_clock *s, int64_t wall_ms, uint64_t boot_ms)
{
	bool exact;

	return estimate(s, wall_ms, boot_ms, &exact);
}

int64_t server_clock_latest(const struct server_clock *s, int64_t wall_ms, uint64_t boot_ms)
{
	bool exact;
	int64_t now = estimate(s, wall_ms, boot_ms, &exact);

	return exact ? now : now + ROUNDING_MS;
}

int64_t server_clock_excess(const struct server_clock *s, int64_t wall_ms, uint64_t boot_ms)
{
	int64_t ahead = s->known ? (int64_t)boot_ms + s->offset - wall_ms : 0;

	return ahead > AHEAD_MAX || ahead < -AHEAD_MAX ? ahead : 0;
}
