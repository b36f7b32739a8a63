// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/storm.h"
#include "tests/apisim/util.h"

#include <stdlib.h>

enum { TICK_MS = 5 };

struct storm {
	struct sim *sim;
	struct event *timer;
	struct snapshot pods;
	size_t at;
	double rate, started, seconds;
	uint64_t made, total;
	bool running;
};

static void stop(struct storm *s)
{
	event_del(s->timer);
	store_snapshot_done(&s->pods);
	s->running = false;
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct storm *s = arg;
	double elapsed = util_now() - s->started;
	uint64_t due = (uint64_t)((elapsed < s->seconds ? elapsed : s->seconds) * s->rate);

	(void)fd, (void)what;
	for (size_t tries = 0; s->made < due && tries <= s->pods.count; s->at = (s->at + 1) % s->pods.count) {
		struct obj *was = s->pods.items[s->at],
			   *o = store_get(s->sim->store, was->kind, was->ns, was->name);

		tries++;
		if (!o || !o->group)
			continue;
		store_put_filled(s->sim->store, o, o->round + 1);
		s->made++;
		s->total++;
		tries = 0;
	}
	if (elapsed >= s->seconds)
		stop(s);
}

static bool is_filled(const void *arg, const struct obj *o)
{
	(void)arg;
	return o->group != NULL;
}

struct storm *storm_new(struct sim *sim)
{
	struct storm *s = util_alloc(sizeof(*s));

	s->sim = sim;
	s->timer = event_new(sim->base, -1, EV_PERSIST, on_tick, s);
	return s;
}

void storm_free(struct storm *s)
{
	stop(s);
	event_free(s->timer);
	free(s);
}

void storm_start(struct storm *s, size_t pods, double rate, double seconds)
{
	struct timeval tv = { .tv_usec = TICK_MS * 1000 };

	stop(s);
	store_snapshot(s->sim->store, kinds_pods(), NULL, 0, NULL, pods, is_filled, NULL, &s->pods);
	if (!s->pods.count)
		return;
	s->at = 0;
	s->made = 0;
	s->rate = rate;
	s->seconds = seconds;
	s->started = util_now();
	s->running = true;
	event_add(s->timer, &tv);
}

uint64_t storm_updates(const struct storm *s)
{
	return s->total;
}

bool storm_running(const struct storm *s)
{
	return s->running;
}
