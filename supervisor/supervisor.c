/* supervisor.c - see supervisor.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/supervisor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define STATS_TICKS    5     /* stats of the children go to the reporter this often */
#define SAVED_AGAIN_MS 5000u /* less than SAVED_GET_MS of an honest watcher */

/* A history that is not open must not be taken for one that holds nothing: it is not asked. Neither is it
 * asked again while it answers: an answer is all rows of a cluster. One that could not be read has no end. */
static bool hold_saved_get(struct supervisor *s, const struct msg *m)
{
	if (m->type != MSG_SAVED_GET)
		return false;
	const uint64_t cluster = m->u.saved_get.cluster;
	const bool is_asked =
		s->saved_asked[cluster] && clock_boot_ms() < s->saved_asked_ms[cluster] + SAVED_AGAIN_MS;

	if (!dispatch_history_is_open(s->dispatch) || (is_asked && s->saved_stale[cluster]))
		s->saved_held[cluster] = true;
	return s->saved_held[cluster] || is_asked;
}

static void note_asked(struct supervisor *s, uint64_t cluster)
{
	s->saved_asked[cluster]++;
	s->saved_asked_ms[cluster] = clock_boot_ms();
	s->saved_stale[cluster] = false;
}

static bool send_now(struct supervisor *s, const struct msg *m)
{
	const bool sent = children_send(lifecycle_children(s->root), ROLE_REPORTER, CLUSTERS_MAX, m);

	if (sent && m->type == MSG_SAVED_GET)
		note_asked(s, m->u.saved_get.cluster);
	return sent;
}

void supervisor_send_reporter(struct supervisor *s, const struct msg *m)
{
	if (hold_saved_get(s, m))
		return;
	if (reporter_queue_count(s->reporter_queue) > 0 || !send_now(s, m))
		reporter_queue_put(s->reporter_queue, m);
}

static void log_dropped(struct supervisor *s)
{
	for (uint64_t c = 0; c <= CLUSTERS_MAX; c++) {
		const uint64_t dropped = reporter_queue_dropped(s->reporter_queue, c);

		if (dropped)
			(void)log_warn(0, "messages for the reporter were dropped while it took none",
				       kv_s("cluster",
					    c < CLUSTERS_MAX ? lifecycle_generation(s->root)->names[c] : ""),
				       kv_u("dropped", dropped));
	}
	reporter_queue_reset_dropped(s->reporter_queue);
}

void supervisor_send_waiting(struct supervisor *s)
{
	struct msg m;

	while (reporter_queue_first(s->reporter_queue, &m)) {
		if (!hold_saved_get(s, &m) && !send_now(s, &m))
			return;
		reporter_queue_remove_first(s->reporter_queue);
	}
	log_dropped(s);
}

void supervisor_on_reporter_dead(struct supervisor *s)
{
	memset(s->saved_asked, 0, sizeof(s->saved_asked));
	memset(s->saved_stale, 0, sizeof(s->saved_stale));
	s->no_history = false;
}

void supervisor_on_watcher_dead(struct supervisor *s, uint64_t cluster)
{
	s->watch_stats[cluster].u.watch_stats.synced = false;
	s->saved_stale[cluster] = s->saved_asked[cluster] > 0;
	s->saved_held[cluster] = false;
}

static void ask_for_saved(struct supervisor *s, uint64_t cluster)
{
	const struct msg m = { .type = MSG_SAVED_GET, .u.saved_get.cluster = cluster };

	if (!s->saved_held[cluster])
		return;
	s->saved_held[cluster] = false;
	supervisor_send_reporter(s, &m);
}

bool supervisor_takes_saved(struct supervisor *s, uint64_t cluster, bool ends)
{
	const bool stale = s->saved_stale[cluster];

	if (ends) {
		s->saved_asked[cluster]--;
		s->saved_stale[cluster] = false;
		ask_for_saved(s, cluster);
	}
	return !stale;
}

void supervisor_on_history_open(struct supervisor *s)
{
	for (uint64_t c = 0; c < CLUSTERS_MAX; c++) {
		if (s->waits_since[c]) /* for what follows now */
			s->waits_since[c] = clock_boot_ms();
		ask_for_saved(s, c);
	}
}

void supervisor_send_log_level(const struct supervisor *s, struct child *c)
{
	const struct msg m = { .type = MSG_LOG_LEVEL, .u.log_level = s->log_level };

	if (s->log_level.until_ms && child_is_ready(c))
		(void)child_send(c, &m, -1);
}

void supervisor_child_stats(const struct supervisor *s, const struct child *c, struct msg *ret)
{
	child_stats(c, ret);
	ret->u.child_stats.leases = dispatch_leases_of(s->dispatch, c);
}

void supervisor_send_child_stats(struct supervisor *s, const struct child *c)
{
	struct msg m;

	supervisor_child_stats(s, c, &m);
	supervisor_send_reporter(s, &m);
}

void supervisor_tick(struct supervisor *s)
{
	const struct children *all = lifecycle_children(s->root);

	if (reporter_queue_count(s->reporter_queue) > 0)
		supervisor_send_waiting(s);
	if (++s->ticks % STATS_TICKS != 0 || !lifecycle_is_running(s->root))
		return;
	for (size_t i = 0; i < children_count(all); i++)
		supervisor_send_child_stats(s, children_get(all, i));
}

void supervisor_describe(const struct supervisor *s, char *ret, size_t size)
{
	const uint64_t clusters = lifecycle_generation(s->root)->clusters;
	uint64_t pods = 0, synced = 0;
	struct dispatch_stats d;

	for (uint64_t c = 0; c < clusters; c++) {
		pods += s->watch_stats[c].u.watch_stats.pods;
		synced += s->watch_stats[c].u.watch_stats.synced;
	}
	dispatch_stats(s->dispatch, &d);
	(void)snprintf(ret, size, "%llu/%llu clusters synced, %llu pods, %llu actions",
		       (unsigned long long)synced, (unsigned long long)clusters, (unsigned long long)pods,
		       (unsigned long long)d.done);
}
