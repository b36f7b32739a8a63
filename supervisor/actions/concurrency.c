/* concurrency.c - see concurrency.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/concurrency.h"

#define SECOND_MS  1000u
#define SLOW_MS    25u    /* an action that takes longer waits for the server, not for a processor */
#define REFUSED_MS 10000u /* without an increase after a 429 */
#define USELESS_MS 30000u /* the same after an increase that brought less than GAIN */
#define GAIN       20u    /* one in so many more actions a second are worth a worker: 5 % */

static unsigned at_least_one(unsigned n)
{
	return n > 0 ? n : 1;
}

static void set(struct concurrency *c, unsigned limit, enum text why)
{
	c->limit = limit;
	c->why = limit == c->most && why == TEXT_WORKERS_LATENCY ? TEXT_WORKERS_MAX : why;
}

void concurrency_init(struct concurrency *c, unsigned least, unsigned most, unsigned processors)
{
	unsigned start = at_least_one(processors);

	if (start < least)
		start = least;
	if (start > most)
		start = most;
	*c = (struct concurrency){ .least = at_least_one(least), .most = most, .start = start };
	set(c, start, least == most ? TEXT_WORKERS_FIXED : TEXT_WORKERS_PROCESSORS);
}

void concurrency_note(struct concurrency *c, uint64_t took_ms, bool throttled)
{
	c->ended++;
	c->took_ms += took_ms;
	c->throttled = c->throttled || throttled;
}

static void halve(struct concurrency *c, uint64_t now_ms)
{
	const unsigned half = c->limit / 2;

	set(c, half > c->least ? half : c->least, TEXT_WORKERS_THROTTLED);
	c->hold_ms = now_ms + REFUSED_MS;
}

/* The second after an increase: did it bring anything? */
static void review(struct concurrency *c, uint64_t now_ms)
{
	if (c->ended >= c->rate + c->rate / GAIN + 1)
		return;
	set(c, c->limit - 1, TEXT_WORKERS_NO_GAIN);
	c->hold_ms = now_ms + USELESS_MS;
}

static bool may_grow(const struct concurrency *c, bool backlog, uint64_t now_ms)
{
	const bool slow = c->ended > 0 && c->took_ms / c->ended > SLOW_MS;

	return backlog && (slow || c->limit < c->start) && c->limit < c->most && now_ms >= c->hold_ms;
}

void concurrency_tick(struct concurrency *c, bool backlog, uint64_t now_ms)
{
	if (now_ms - c->since_ms < SECOND_MS)
		return;
	const bool whole = c->since_ms && now_ms - c->since_ms < 2 * SECOND_MS, tried = c->tried;

	c->tried = false;
	if (c->least == c->most) {
		/* fixed */
	} else if (c->throttled) {
		halve(c, now_ms);
	} else if (tried && whole && backlog) {
		review(c, now_ms);
	} else if (whole && may_grow(c, backlog, now_ms)) {
		c->rate = c->ended;
		c->tried = c->limit >= c->start; /* on the way back nothing has to be proven */
		set(c, c->limit + 1, c->limit < c->start ? TEXT_WORKERS_PROCESSORS : TEXT_WORKERS_LATENCY);
	}
	c->since_ms = now_ms;
	c->ended = 0;
	c->took_ms = 0;
	c->throttled = false;
}
