/* service_status.c - see service_status.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/service_status.h"

#include <stdio.h>
#include <string.h>

#include "build_id.h"

#define STATS_TICKS 5 /* stats of the children go to the reporter this often */

static const struct msg *stats_of(const struct supervisor *s, uint64_t cluster)
{
	const struct msg *m = &s->watch_stats[cluster];

	return m->type == MSG_WATCH_STATS ? m : NULL;
}

void service_status_on_reporter_ready(struct supervisor *s)
{
	for (uint64_t c = 0; c < CLUSTERS_MAX; c++)
		if (stats_of(s, c))
			supervisor_send_reporter(s, stats_of(s, c));
}

static void get_child(const struct supervisor *s, const struct child *c, struct msg *ret)
{
	child_stats(c, ret);
	ret->u.child_stats.leases = dispatch_leases_of(s->dispatch, c);
}

void service_status_send_child(struct supervisor *s, const struct child *c)
{
	struct msg m;

	get_child(s, c, &m);
	supervisor_send_reporter(s, &m);
}

void service_status_tick(struct supervisor *s)
{
	const struct children *all = lifecycle_children(s->root);

	if (++s->ticks % STATS_TICKS != 0 || !lifecycle_is_running(s->root))
		return;
	for (size_t i = 0; i < children_count(all); i++)
		service_status_send_child(s, children_get(all, i));
}

void service_status_describe(const struct supervisor *s, char *ret, size_t size)
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

static void answer_supervisor(const struct supervisor *s, uint64_t conn)
{
	const struct generation *g = lifecycle_generation(s->root);
	const char *phase = lifecycle_phase_name(s->root), *note = lifecycle_note(s->root);
	struct dispatch_stats d;

	dispatch_stats(s->dispatch, &d);
	struct msg m = { .type = MSG_CTL_SUPERVISOR,
			 .u.ctl_supervisor = { .conn = conn,
					       .observe = g->observe,
					       .generation = g->number,
					       .started = s->started_at,
					       .leases = d.leases,
					       .actions = d.done,
					       .pending = d.leases - d.busy } };

	msg_set(&m, ctl_supervisor.version, OPC_BUILD_ID, strlen(OPC_BUILD_ID));
	msg_set(&m, ctl_supervisor.phase, phase, strlen(phase));
	msg_set(&m, ctl_supervisor.note, note, strlen(note));
	s->answers.send(s->answers.ctx, conn, &m);
}

void service_status_answer(struct supervisor *s, uint64_t conn)
{
	const struct children *all = lifecycle_children(s->root);
	const struct msg *said;
	struct msg m;

	answer_supervisor(s, conn);
	for (size_t i = 0; i < children_count(all); i++) {
		get_child(s, children_get(all, i), &m);
		s->answers.send(s->answers.ctx, conn, &m);
	}
	for (uint64_t c = 0; c < CLUSTERS_MAX; c++)
		if ((said = stats_of(s, c)))
			s->answers.send(s->answers.ctx, conn, said);
	pause_requests_send_status(s->pause_requests, conn);
	for (uint64_t c = 0; c < CLUSTERS_MAX; c++)
		if ((said = dispatch_leader(s->dispatch, c)))
			s->answers.send(s->answers.ctx, conn, said);
	s->answers.end(s->answers.ctx, conn, 0, "");
}
