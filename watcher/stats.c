/* stats.c - see stats.h.  The timer runs only while there may be news: an idle watcher never wakes. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/stats.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"

#define PERIOD_MS 2000u

struct stats {
	uint64_t cluster;
	struct controller *controller;
	controller_send_fn *send;
	void *ctx;
	const struct reflector *reflector;
	struct reflector_stats before; /* sums of reflectors that are gone */
	struct event *timer;
	bool pending;
	char error[256];
	struct msg sent;
};

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	stats_send(arg);
}

struct stats *stats_new(struct event_base *base, uint64_t cluster, struct controller *c,
			controller_send_fn *send, void *ctx)
{
	struct stats *f = xcalloc(1, sizeof(*f));

	f->cluster = cluster;
	f->controller = c;
	f->send = send;
	f->ctx = ctx;
	f->timer = evtimer_new(base, on_timer, f);
	return f;
}

void stats_free(struct stats **f)
{
	if (!*f)
		return;
	event_free((*f)->timer);
	free(*f);
	*f = NULL;
}

/* Sums over all reflectors so far. */
static struct reflector_stats sums(const struct stats *f)
{
	struct reflector_stats s = f->before, now;

	if (f->reflector) {
		reflector_stats(f->reflector, &now);
		s.events += now.events;
		s.lists += now.lists;
	}
	return s;
}

void stats_set_reflector(struct stats *f, const struct reflector *r)
{
	f->before = sums(f);
	f->reflector = r;
}

void stats_set_error(struct stats *f, const char *text)
{
	(void)str_copy_printable(f->error, sizeof(f->error), text, strlen(text));
	stats_touch(f);
}

void stats_touch(struct stats *f)
{
	if (f->pending)
		return;
	f->pending = true;
	(void)evtimer_add(f->timer, CLOCK_TIMEVAL(PERIOD_MS));
}

static void fill(const struct stats *f, struct msg *m)
{
	const struct sync_state *g = controller_sync_state(f->controller);
	struct reflector_stats r = sums(f);
	struct controller_stats s;
	const char *error = *f->error ? f->error : sync_state_reason(g, clock_boot_ms());

	controller_stats(f->controller, &s);
	m->u.watch_stats.cluster = f->cluster;
	m->u.watch_stats.synced = sync_state_synced(g) && sync_state_fresh(g, clock_boot_ms());
	m->u.watch_stats.pods = store_count(controller_store(f->controller));
	m->u.watch_stats.bytes = s.bytes;
	m->u.watch_stats.events = r.events;
	m->u.watch_stats.lists = r.lists;
	m->u.watch_stats.queue = s.queue;
	m->u.watch_stats.deadlines = s.deadlines;
	m->u.watch_stats.nominated = s.nominated;
	m->u.watch_stats.dropped = s.dropped;
	m->u.watch_stats.last_event = s.last_byte;
	m->u.watch_stats.blocked = s.blocked;
	m->u.watch_stats.reverts = s.reverts;
	m->u.watch_stats.guards = s.guards;
	msg_set(m, watch_stats.blocked_by, s.blocked_by, strlen(s.blocked_by));
	msg_set(m, watch_stats.error, error, strlen(error));
}

void stats_send(struct stats *f)
{
	struct msg m;

	memset(&m, 0, sizeof(m)); /* compared as bytes */
	m.type = MSG_WATCH_STATS;
	fill(f, &m);
	f->pending = false;
	(void)evtimer_del(f->timer);
	if (memcmp(&m, &f->sent, sizeof(m)) == 0)
		return;
	if (f->send(f->ctx, &m) == 0)
		f->sent = m;
	else
		stats_touch(f);
}
