/* supervisor.c - see supervisor.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/supervisor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define STATS_TICKS 5 /* stats of the children go to the reporter this often */

/* A history that is not open must not be taken for one that holds nothing: it is not asked. */
static bool hold_saved_get(struct supervisor *s, const struct msg *m)
{
	if (m->type != MSG_SAVED_GET || dispatch_history_is_open(s->dispatch))
		return false;
	s->saved_held[m->u.saved_get.cluster] = true;
	return true;
}

void supervisor_send_reporter(struct supervisor *s, const struct msg *m)
{
	if (hold_saved_get(s, m))
		return;
	const bool sent = children_send(lifecycle_children(s->root), ROLE_REPORTER, CLUSTERS_MAX, m);

	if (sent && m->type == MSG_SAVED_GET)
		s->saved_asked[m->u.saved_get.cluster]++;
	if (!sent && s->n_outbox < OUTBOX_MAX)
		s->outbox[s->n_outbox++] = msg_pack(m);
}

void supervisor_on_reporter_dead(struct supervisor *s)
{
	memset(s->saved_asked, 0, sizeof(s->saved_asked));
	s->no_history = false;
}

void supervisor_on_history_open(struct supervisor *s)
{
	struct msg m = { .type = MSG_SAVED_GET };

	for (uint64_t c = 0; c < CLUSTERS_MAX; c++) {
		if (s->waits_since[c]) /* for what follows now */
			s->waits_since[c] = clock_boot_ms();
		if (!s->saved_held[c])
			continue;
		s->saved_held[c] = false;
		m.u.saved_get.cluster = c;
		supervisor_send_reporter(s, &m);
	}
}

void supervisor_on_reporter_ready(struct supervisor *s)
{
	const size_t n = s->n_outbox;
	struct msg m;

	s->n_outbox = 0; /* what it does not take comes back to a place that was read already */
	for (size_t i = 0; i < n; i++) {
		struct msg_packed *p = s->outbox[i];

		msg_unpack(p, &m);
		free(p);
		supervisor_send_reporter(s, &m);
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
