/* reporter_link.c - see reporter_link.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/reporter_link.h"

#include "base/log.h"
#include "supervisor/actions/dispatch.h"

/* A history that is not open must not be taken for one that holds nothing: it is not asked. Neither is it
 * asked again while it answers, however long that takes: rows of two answers would count twice. */
static bool hold_saved_get(struct supervisor *s, const struct msg *m)
{
	if (m->type != MSG_SAVED_GET)
		return false;
	struct saved_get *g = &s->saved[m->u.saved_get.cluster];

	g->pending = g->pending || !s->history_open || g->stale;
	return g->pending || g->asked;
}

static bool send_now(struct supervisor *s, const struct msg *m)
{
	const bool sent = children_send(s->children, ROLE_REPORTER, CLUSTERS_MAX, m);

	if (sent && m->type == MSG_SAVED_GET)
		s->saved[m->u.saved_get.cluster].asked = true;
	return sent;
}

void reporter_link_send(struct supervisor *s, const struct msg *m)
{
	if (hold_saved_get(s, m))
		return;
	if (reporter_queue_count(s->queue) > 0 || !send_now(s, m))
		reporter_queue_put(s->queue, m);
}

static void log_dropped(struct supervisor *s)
{
	for (uint64_t c = 0; c <= CLUSTERS_MAX; c++) {
		const uint64_t dropped = reporter_queue_dropped(s->queue, c);

		if (dropped)
			(void)log_warn(0, "messages for the reporter were dropped while it took none",
				       kv_s("cluster", c < CLUSTERS_MAX ? settings(s)->names[c] : ""),
				       kv_u("dropped", dropped));
	}
	reporter_queue_reset_dropped(s->queue);
}

void reporter_link_send_waiting(struct supervisor *s)
{
	struct msg m;

	while (reporter_queue_first(s->queue, &m)) {
		if (!hold_saved_get(s, &m) && !send_now(s, &m))
			return;
		reporter_queue_remove_first(s->queue);
	}
	log_dropped(s);
}

/* -- what is saved for watchers -- */

/* All of it or nothing: a watcher that takes no more of it begins anew. */
static void tell_saved(struct supervisor *s, uint64_t cluster, const struct msg *m)
{
	struct child *watcher = children_find(s->children, ROLE_WATCHER, cluster);

	if (watcher && child_send(watcher, m, -1) < 0)
		child_kill(watcher, TEXT_SAVED_UNTAKEN, 0);
}

void reporter_link_on_reporter_dead(struct supervisor *s)
{
	for (uint64_t c = 0; c < CLUSTERS_MAX; c++) {
		const struct msg cut = { .type = MSG_SAVED_END,
					 .u.saved_end = { .cluster = c, .failed = true } };
		const bool is_cut = s->saved[c].asked && !s->saved[c].stale;

		if (is_cut)
			tell_saved(s, c, &cut);
		/* The next one is asked at once. */
		s->saved[c].pending |= is_cut;
		s->saved[c].asked = s->saved[c].stale = false;
	}
}

void reporter_link_on_watcher_dead(struct supervisor *s, uint64_t cluster)
{
	s->saved[cluster].stale = s->saved[cluster].asked;
	s->saved[cluster].pending = false;
}

static void ask_for_saved(struct supervisor *s, uint64_t cluster)
{
	const struct msg m = { .type = MSG_SAVED_GET, .u.saved_get.cluster = cluster };

	if (!s->saved[cluster].pending)
		return;
	s->saved[cluster].pending = false;
	reporter_link_send(s, &m);
}

void reporter_link_on_saved(struct supervisor *s, uint64_t cluster, const struct msg *m)
{
	if (!s->saved[cluster].stale)
		tell_saved(s, cluster, m);
	if (m->type != MSG_SAVED_END)
		return;
	s->saved[cluster].asked = s->saved[cluster].stale = false;
	ask_for_saved(s, cluster);
}

void reporter_link_on_history_open(struct supervisor *s)
{
	for (uint64_t c = 0; c < CLUSTERS_MAX; c++)
		ask_for_saved(s, c);
}
