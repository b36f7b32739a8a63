/* write_guard.c - see write_guard.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/write_guard.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"

struct write_guard {
	const struct lifecycle *root;
	struct own_state *own;
	struct lease_table *leases;
	bool reached[CLUSTERS_MAX]; /* said so */
	bool unkept;                /* the file does not hold all that was counted */
};

static const struct generation *settings(const struct write_guard *g)
{
	return lifecycle_generation(g->root);
}

static struct write_limit limit_of(const struct write_guard *g)
{
	return (struct write_limit){ settings(g)->writes_per_minute, settings(g)->writes_per_hour };
}

static uint64_t left(const struct write_guard *g, uint64_t cluster)
{
	const struct write_limit limit = limit_of(g);
	struct write_count *c = own_state_count(g->own, settings(g)->names[cluster]);

	if (settings(g)->observe || (limit.per_minute == 0 && limit.per_hour == 0))
		return UINT64_MAX;
	return c && !g->unkept ? write_limit_left(c, &limit, clock_wall_ms()) : 0;
}

static void tell(const struct write_guard *g, uint64_t cluster, bool blocked)
{
	const char *name = settings(g)->names[cluster];

	if (blocked && g->unkept)
		(void)log_error(0, "what was written cannot be counted on disk: nothing more is written",
				kv_s("cluster", name), kv_s("directory", settings(g)->state_dir));
	else if (blocked)
		(void)log_error(0, WRITE_GUARD_LIMITED, kv_s("cluster", name),
				kv_u("a_minute", settings(g)->writes_per_minute),
				kv_u("an_hour", settings(g)->writes_per_hour));
	else
		log_info("there is room for writes again", kv_s("cluster", name));
}

bool write_guard_check(struct write_guard *g, uint64_t cluster, uint64_t under_way)
{
	const uint64_t n = left(g, cluster);
	/* What is under way fills the limit only when its results say so. */
	const bool full = n <= under_way, reached = n == 0;

	if (reached != g->reached[cluster])
		tell(g, cluster, reached);
	g->reached[cluster] = reached;
	lease_table_block(g->leases, cluster, full);
	return full;
}

void write_guard_on_result(struct write_guard *g, uint64_t cluster, const struct lease *l,
			   const struct msg_result *r)
{
	const struct write_limit limit = limit_of(g);
	struct write_count *c = own_state_count(g->own, settings(g)->names[cluster]);

	if (l->by_operator || !(OUTCOMES_WRITTEN >> r->outcome & 1) || !c)
		return;
	if (write_limit_charge(c, &limit, clock_wall_ms()))
		g->unkept = own_state_save(g->own) < 0;
}

void write_guard_tick(struct write_guard *g)
{
	if (g->unkept)
		g->unkept = own_state_save(g->own) < 0;
}

bool write_guard_blocks(const struct write_guard *g)
{
	for (uint64_t c = 0; generation_next(settings(g), &c); c++)
		if (g->reached[c])
			return true;
	return false;
}

struct write_guard *write_guard_new(const struct lifecycle *root, struct own_state *own,
				    struct lease_table *leases)
{
	struct write_guard *g = xcalloc(1, sizeof(*g));

	*g = (struct write_guard){ .root = root, .own = own, .leases = leases };
	return g;
}

void write_guard_free(struct write_guard **g)
{
	free(*g);
	*g = NULL;
}
