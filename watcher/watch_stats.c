/* watch_stats.c - see watch_stats.h.  The timer runs only while there may be news: an idle watcher never
 * wakes. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/watch_stats.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"

#define PERIOD_MS 2000u

struct watch_stats {
	const struct controller *controller;
	const struct outbox *out;
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
	watch_stats_send(arg);
}

struct watch_stats *watch_stats_new(struct event_base *base, const struct controller *c,
				    const struct outbox *out)
{
	struct watch_stats *f = xcalloc(1, sizeof(*f));

	f->controller = c;
	f->out = out;
	f->timer = evtimer_new(base, on_timer, f);
	return f;
}

void watch_stats_free(struct watch_stats **f)
{
	if (!*f)
		return;
	event_free((*f)->timer);
	free(*f);
	*f = NULL;
}

/* Sums over all reflectors so far. */
static struct reflector_stats sums(const struct watch_stats *f)
{
	struct reflector_stats s = f->before, now;

	if (f->reflector) {
		reflector_stats(f->reflector, &now);
		s.events += now.events;
		s.lists += now.lists;
	}
	return s;
}

void watch_stats_set_reflector(struct watch_stats *f, const struct reflector *r)
{
	f->before = sums(f);
	f->reflector = r;
}

void watch_stats_set_error(struct watch_stats *f, const char *text)
{
	(void)str_copy_printable(f->error, sizeof(f->error), text, strlen(text));
	watch_stats_touch(f);
}

void watch_stats_touch(struct watch_stats *f)
{
	if (f->pending)
		return;
	f->pending = true;
	(void)evtimer_add(f->timer, CLOCK_TIMEVAL(PERIOD_MS));
}

static void fill(const struct watch_stats *f, struct msg *m)
{
	const char *error = *f->error ? f->error : cluster_stale(controller_cluster(f->controller));
	const struct reflector_stats r = sums(f);

	(void)controller_stats(f->controller, m);
	m->u.watch_stats.events = r.events;
	m->u.watch_stats.lists = r.lists;
	msg_set(m, watch_stats.error, error, strlen(error));
}

void watch_stats_send(struct watch_stats *f)
{
	struct msg m;

	memset(&m, 0, sizeof(m)); /* compared as bytes */
	m.type = MSG_WATCH_STATS;
	fill(f, &m);
	f->pending = false;
	(void)evtimer_del(f->timer);
	if (memcmp(&m, &f->sent, sizeof(m)) == 0)
		return;
	if (outbox_send(f->out, &m) == 0)
		f->sent = m;
	else
		watch_stats_touch(f);
}
