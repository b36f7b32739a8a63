/* write_guard.c - see write_guard.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/write_guard.h"

#include "base/clock.h"
#include "base/log.h"

static struct write_limit limit_of(const struct supervisor *s)
{
	return (struct write_limit){ settings(s)->writes_per_minute, settings(s)->writes_per_hour };
}

static uint64_t left(const struct supervisor *s, uint64_t cluster)
{
	const struct write_limit limit = limit_of(s);
	struct write_count *c = own_state_count(s->own, settings(s)->names[cluster]);

	if (settings(s)->observe || (limit.per_minute == 0 && limit.per_hour == 0))
		return UINT64_MAX;
	return c && !s->counts_unkept ? write_limit_left(c, &limit, clock_wall_ms()) : 0;
}

static void tell(const struct supervisor *s, uint64_t cluster, bool blocked)
{
	const char *name = settings(s)->names[cluster];

	if (blocked && s->counts_unkept)
		(void)log_error(0, "what was written cannot be counted on disk: nothing more is written",
				kv_s("cluster", name), kv_s("directory", settings(s)->state_dir));
	else if (blocked)
		(void)log_error(0, WRITE_GUARD_LIMITED, kv_s("cluster", name),
				kv_u("a_minute", settings(s)->writes_per_minute),
				kv_u("an_hour", settings(s)->writes_per_hour));
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
	const struct write_limit limit = limit_of(s);
	struct write_count *c = own_state_count(s->own, settings(s)->names[cluster]);

	if (l->by_operator || !(OUTCOMES_WRITTEN >> r->outcome & 1) || !c)
		return;
	if (write_limit_charge(c, &limit, clock_wall_ms()))
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
