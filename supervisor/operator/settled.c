/* settled.c - see settled.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/operator/settled.h"

#include "base/clock.h"
#include "supervisor/actions/dispatch.h"

/* NULL before the watcher's first word. */
static const struct msg_watch_stats *stats_of(const struct supervisor *s, uint64_t cluster)
{
	const struct msg *m = &s->watch_stats[cluster];

	return m->type == MSG_WATCH_STATS ? &m->u.watch_stats : NULL;
}

/* Ready, or not needed. */
static bool is_at_rest(const struct child *c)
{
	const enum fsm_state state = child_info(c)->state;

	return child_is_ready(c) || state == FSM_RESTING || state == FSM_LEAVING;
}

/* Is the list of the cluster complete, all of it judged, and every process that serves it ready? */
static bool is_judged(const struct supervisor *s, uint64_t cluster)
{
	const struct children *all = s->children;
	const struct msg_watch_stats *w = stats_of(s, cluster);

	if (!w || !w->synced || w->queue > 0)
		return false;
	for (size_t i = 0; i < children_count(all); i++) {
		const struct child *c = children_get(all, i);
		const uint64_t of = child_info(c)->cluster;

		if ((of == cluster || of == CLUSTERS_MAX) && !is_at_rest(c))
			return false;
	}
	return true;
}

static bool is_failing(const struct supervisor *s, uint64_t cluster)
{
	const struct msg_watch_stats *w = stats_of(s, cluster);

	return !facts_empty(&settings(s)->problem[cluster]) || (w && w->failing);
}

void settled_check(struct supervisor *s)
{
	const struct generation *g = settings(s);
	const uint64_t now = clock_boot_ms();
	struct settled_state *t = &s->settled;
	bool judged = true;

	if (!g)
		return;
	const struct dispatch_stats d = dispatch_stats(s);
	uint64_t moves = d.done;

	for (uint64_t c = 0; generation_next(g, &c); c++) {
		const struct msg_watch_stats *w = stats_of(s, c);

		moves += w ? w->nominated + w->dropped : 0;
		judged = judged && is_judged(s, c);
		if (!is_failing(s, c))
			t->failing_since[c] = 0;
		else if (!t->failing_since[c])
			t->failing_since[c] = now;
	}
	if (d.leases > 0 || moves != t->moves || !judged || !t->moved_ms)
		t->moved_ms = now;
	t->moves = moves;
	t->checked_ms = now;
}

void settled_describe(const struct supervisor *s, struct msg_ctl_supervisor *ret)
{
	ret->quiet_ms = s->settled.checked_ms - s->settled.moved_ms;
}

void settled_describe_cluster(const struct supervisor *s, uint64_t cluster, struct msg_ctl_cluster *ret)
{
	const uint64_t since = s->settled.failing_since[cluster];

	ret->judged = is_judged(s, cluster);
	ret->failing_ms = since ? s->settled.checked_ms - since + 1 : 0;
}
