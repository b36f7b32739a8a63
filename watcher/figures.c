/* figures.c - see figures.h.  The timer runs only while there may be news: an idle watcher never wakes. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/figures.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "watcher/timer.h"

#define PERIOD_MS 2000u

struct figures {
	uint64_t cluster;
	struct judging *judging;
	judging_send_fn *send;
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
	figures_send(arg);
}

struct figures *figures_new(struct event_base *base, uint64_t cluster, struct judging *j,
			    judging_send_fn *send, void *ctx)
{
	struct figures *f = xcalloc(1, sizeof(*f));

	f->cluster = cluster;
	f->judging = j;
	f->send = send;
	f->ctx = ctx;
	f->timer = evtimer_new(base, on_timer, f);
	return f;
}

void figures_free(struct figures **f)
{
	if (!*f)
		return;
	event_free((*f)->timer);
	free(*f);
	*f = NULL;
}

/* Sums over all reflectors so far. */
static struct reflector_stats sums(const struct figures *f)
{
	struct reflector_stats s = f->before, now;

	if (f->reflector) {
		reflector_stats(f->reflector, &now);
		s.events += now.events;
		s.lists += now.lists;
	}
	return s;
}

void figures_set_reflector(struct figures *f, const struct reflector *r)
{
	f->before = sums(f);
	f->reflector = r;
}

void figures_set_error(struct figures *f, const char *text)
{
	(void)str_copy_printable(f->error, sizeof(f->error), text, strlen(text));
	figures_touch(f);
}

void figures_touch(struct figures *f)
{
	if (f->pending)
		return;
	f->pending = true;
	timer_arm(f->timer, PERIOD_MS);
}

static void fill(const struct figures *f, struct msg *m)
{
	const struct gate *g = judging_gate(f->judging);
	struct reflector_stats r = sums(f);
	struct judging_stats s;
	const char *error = *f->error ? f->error : gate_reason(g, clock_boot_ms());

	judging_stats(f->judging, &s);
	m->u.watch_stats.cluster = f->cluster;
	m->u.watch_stats.synced = gate_synced(g) && gate_fresh(g, clock_boot_ms());
	m->u.watch_stats.pods = store_count(judging_store(f->judging));
	m->u.watch_stats.bytes = s.bytes;
	m->u.watch_stats.events = r.events;
	m->u.watch_stats.lists = r.lists;
	m->u.watch_stats.queue = s.queue;
	m->u.watch_stats.deadlines = s.deadlines;
	m->u.watch_stats.nominated = s.nominated;
	m->u.watch_stats.dropped = s.dropped;
	m->u.watch_stats.last_event = s.last_byte;
	m->u.watch_stats.held = s.held;
	m->u.watch_stats.fights = s.fights;
	msg_set(m, watch_stats.hold, s.hold, strlen(s.hold));
	msg_set(m, watch_stats.error, error, strlen(error));
}

void figures_send(struct figures *f)
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
		figures_touch(f);
}
