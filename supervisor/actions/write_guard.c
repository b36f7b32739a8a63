/* write_guard.c - see write_guard.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/write_guard.h"

#include "base/clock.h"
#include "base/log.h"

#define AHEAD_COUNT 16u

/* How many more may be written in that time. It begins anew when it is over; when the clock went back it
 * begins now and keeps its count. */
static uint64_t left_in(struct write_span *s, int64_t now, bool known, int64_t length_ms, uint64_t limit)
{
	if (known && now < s->at)
		s->at = now;
	else if (known && now - s->at >= length_ms)
		*s = (struct write_span){ .at = now };
	if (limit == 0)
		return UINT64_MAX;
	return s->used < limit ? limit - s->used : 0;
}

/* In the minute and in the hour. What an earlier life has counted does not end by a clock that is wrong
 * since: the cluster's API server knows. */
static uint64_t left_of(struct write_count *c, const struct supervisor *s, uint64_t cluster)
{
	const struct generation *g = settings(s);
	const int64_t now = own_state_now(s->own);

	c->earlier = c->earlier && !clock_is_borne_out(s, cluster);
	const uint64_t minute = left_in(&c->minute, now, !c->earlier, MINUTE_MS, g->all.writes_per_minute),
		       hour = left_in(&c->hour, now, !c->earlier, HOUR_MS, g->all.writes_per_hour);

	return minute < hour ? minute : hour;
}

static bool has_limit(const struct generation *g)
{
	return g->all.writes_per_minute || g->all.writes_per_hour;
}

/* Count one. True: `kept` has grown, and has to be on disk before the next one. */
static bool charge(struct write_span *s)
{
	const bool ahead = s->used < s->kept;

	s->used++;
	if (!ahead)
		s->kept = s->used + AHEAD_COUNT - 1;
	return !ahead;
}

/* Names of earlier lives may fill the table: one that the settings have no more makes room. */
static struct write_count *count_of(const struct supervisor *s, uint64_t cluster)
{
	const struct generation *g = settings(s);
	struct write_count *c = own_state_count(s->own, g->names[cluster]);

	for (size_t i = 0; !c && i < s->own->n_counts; i++)
		if (generation_find_cluster(g, s->own->counts[i].cluster_name) == g->all.clusters) {
			own_state_forget_count(s->own, &s->own->counts[i]);
			c = own_state_count(s->own, g->names[cluster]);
		}
	return c;
}

static uint64_t left(const struct supervisor *s, uint64_t cluster)
{
	const struct generation *g = settings(s);
	struct write_count *c = count_of(s, cluster);

	if (g->all.observe || !has_limit(g))
		return UINT64_MAX;
	return c && !s->counts_unkept ? left_of(c, s, cluster) : 0;
}

static void tell(const struct supervisor *s, uint64_t cluster, bool blocked)
{
	const char *name = settings(s)->names[cluster];

	if (blocked && s->counts_unkept)
		(void)log_error(0, "what was written cannot be counted on disk: nothing more is written",
				kv_s("cluster", name), kv_s("directory", settings(s)->all.state_dir));
	else if (blocked)
		(void)log_error(0,
				"the supervisor's own limit of writes is reached: nothing more is written to "
				"that cluster for a while; the duties' budgets should have held before, so "
				"look at what was done (history)",
				kv_s("cluster", name), kv_u("a_minute", settings(s)->all.writes_per_minute),
				kv_u("an_hour", settings(s)->all.writes_per_hour));
	else
		log_info("there is room for writes again", kv_s("cluster", name));
}

bool write_guard_check(struct supervisor *s, uint64_t cluster, uint64_t under_way)
{
	const uint64_t n = left(s, cluster);
	/* What is under way fills the limit only when its results say so. */
	const bool full = n <= under_way, reached = n == 0;

	if (reached != s->limit_reached[cluster])
		tell(s, cluster, reached);
	s->limit_reached[cluster] = reached;
	lease_table_block(s->leases, cluster, full);
	return full;
}

void write_guard_on_result(struct supervisor *s, uint64_t cluster, const struct lease *l,
			   const struct msg_result *r)
{
	struct write_count *c = count_of(s, cluster);

	if (l->by_operator || !(OUTCOMES_WRITTEN >> r->outcome & 1) || !c || !has_limit(settings(s)))
		return;
	(void)left_of(c, s, cluster); /* the spans are those of now */
	const bool minute = charge(&c->minute), hour = charge(&c->hour);

	if (minute || hour)
		s->counts_unkept = own_state_save(s->own) < 0;
}

void write_guard_tick(struct supervisor *s)
{
	if (s->counts_unkept)
		s->counts_unkept = own_state_save(s->own) < 0;
}

bool write_guard_blocks(const struct supervisor *s)
{
	for (uint64_t c = 0; generation_next(settings(s), &c); c++)
		if (s->limit_reached[c])
			return true;
	return false;
}
