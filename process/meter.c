/* meter.c - see meter.h. */
// SPDX-License-Identifier: Apache-2.0
#include "process/meter.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "ipc/timer.h"

struct meter {
	uint64_t cluster;
	int (*send)(void *ctx, const struct msg *m);
	void *ctx;
	struct timer *timer;
	struct {
		enum api_verb verb;
		long code;
		uint64_t n;
	} requests[METER_CODES_MAX];
	unsigned n_requests;
	struct {
		uint64_t n, sum_us;
	} times[TIMING_COMMIT][TIMING_BOUNDS + 1];
};

static void touch(struct meter *m)
{
	if (!timer_is_set(m->timer))
		timer_set(m->timer, METER_MS);
}

static void on_timer(void *ctx)
{
	meter_flush(ctx);
}

struct meter *meter_new(struct event_base *base, uint64_t cluster,
			int (*send)(void *ctx, const struct msg *m), void *ctx)
{
	struct meter *m = xcalloc(1, sizeof(*m));

	m->cluster = cluster;
	m->send = send;
	m->ctx = ctx;
	m->timer = timer_new(base, on_timer, m);
	return m;
}

void meter_free(struct meter **m)
{
	if (!*m)
		return;
	timer_free(&(*m)->timer);
	free(*m);
	*m = NULL;
}

void meter_time(struct meter *m, enum timing t, uint64_t us)
{
	const unsigned bucket = timing_bucket(us);

	m->times[t][bucket].n++;
	m->times[t][bucket].sum_us += us;
	touch(m);
}

void meter_request(void *ctx, const struct http_seen *seen)
{
	struct meter *m = ctx;
	const long code = seen->status > 0 && seen->status <= 999 ? seen->status : 0;
	unsigned i = 0;

	while (i < m->n_requests && (m->requests[i].verb != seen->verb || m->requests[i].code != code))
		i++;
	if (i == METER_CODES_MAX)
		i--;
	if (i == m->n_requests) {
		m->requests[i].verb = seen->verb;
		m->requests[i].code = code;
		m->n_requests++;
	}
	m->requests[i].n++;
	touch(m);
}

void meter_timed_request(void *ctx, const struct http_seen *seen)
{
	meter_request(ctx, seen);
	if (seen->verb == API_GET || seen->verb == API_LIST)
		meter_time(ctx, TIMING_READ, seen->us);
	else if (api_verb_writes(seen->verb) && seen->verb != API_CREATE) /* Events and reviews */
		meter_time(ctx, TIMING_WRITE, seen->us);
}

static int flush_requests(struct meter *m)
{
	for (unsigned i = 0; i < m->n_requests; i++) {
		const struct msg row = { .type = MSG_REQUESTS,
					 .u.requests = { .cluster = m->cluster,
							 .verb = m->requests[i].verb,
							 .code = (uint64_t)m->requests[i].code,
							 .n = m->requests[i].n } };

		if (m->requests[i].n == 0)
			continue;
		if (m->send(m->ctx, &row) < 0)
			return -1;
		m->requests[i].n = 0;
	}
	m->n_requests = 0;
	return 0;
}

static int flush_times(struct meter *m, enum timing t)
{
	for (unsigned i = 0; i <= TIMING_BOUNDS; i++) {
		const struct msg row = { .type = MSG_TIMING,
					 .u.timing = { .cluster = m->cluster,
						       .timing = t,
						       .bucket = i,
						       .n = m->times[t][i].n,
						       .sum_us = m->times[t][i].sum_us } };

		if (m->times[t][i].n == 0)
			continue;
		if (m->send(m->ctx, &row) < 0)
			return -1;
		m->times[t][i].n = m->times[t][i].sum_us = 0;
	}
	return 0;
}

void meter_flush(struct meter *m)
{
	int r = flush_requests(m);

	for (enum timing t = 0; t < TIMING_COMMIT && r == 0; t++)
		r = flush_times(m, t);
	timer_stop(m->timer);
	if (r < 0)
		touch(m);
}
