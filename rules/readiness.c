/* readiness.c - see readiness.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/readiness.h"

#include "rules/verdict.h"

#define TELL_SHARE 100 /* of the window: a loop in which nothing is ever Ready is never told */

void readiness_begin(struct readiness *r, int64_t window, int64_t before, int64_t now)
{
	*r = (struct readiness){ .window = window, .from = now, .before = before, .counted = now };
}

/* What of the present period lies before `until` and is not counted yet. */
static int64_t uncounted(const struct readiness *r, int64_t from, int64_t until)
{
	const int64_t begin = r->counted > from ? r->counted : from;

	return r->ready_from && until > begin ? until - begin : 0;
}

static void count(struct readiness *r, int64_t now)
{
	const int64_t n = r->window > 0 && now > r->from ? (now - r->from) / r->window : 0;
	const int64_t ready = uncounted(r, r->counted, now);

	if (now < r->counted)
		return;
	r->untold = time_add(r->untold, ready);
	if (n > 0) {
		const int64_t last = r->from + (n - 1) * r->window;

		r->before = (n == 1 ? r->ready : 0) + uncounted(r, last, last + r->window);
		r->from = last + r->window;
		r->ready = uncounted(r, r->from, now);
	} else {
		r->ready += ready;
	}
	r->counted = now;
}

void readiness_set(struct readiness *r, bool ready, int64_t now)
{
	if (!r->window || ready == (r->ready_from != 0))
		return;
	count(r, now);
	r->ready_from = ready ? now : 0;
}

int64_t readiness_within(const struct readiness *r, int64_t now)
{
	struct readiness by_now = *r;
	int64_t left;

	if (!r->window)
		return 0;
	count(&by_now, now);
	left = by_now.window - (now - by_now.from);
	left = left < 0 ? 0 : left > by_now.window ? by_now.window : left;
	return by_now.ready + (int64_t)((double)by_now.before * ((double)left / (double)by_now.window));
}

bool readiness_steady(const struct readiness *r, int64_t now)
{
	return r->ready_from && time_add(now, -r->ready_from) >= JUDGE_STEADY_MS;
}

bool readiness_tell(struct readiness *r)
{
	const bool much = r->untold > 0 && r->untold >= r->window / TELL_SHARE;

	if (much)
		r->untold = 0;
	return much;
}
