/* fallback.c - see fallback.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/notify/fallback.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "reporter/notify/sink_select.h"

/* Notices are by alarm, as many as there is room for: an alarm behind them has none. */
struct notified_sink {
	char *name;
	struct alarm_notice *notices;
	size_t room;
	struct alarm_notice *sent; /* what they become with the message on its way; NULL = there is none */
	size_t n_sent;
};

struct fallback {
	struct alarms all;
	struct notified_sink *sinks;
	size_t n_sinks;
	bool is_repeat;
};

static void grow(struct notified_sink *s, size_t n)
{
	if (n <= s->room)
		return;
	s->notices = xreallocarray(s->notices, n, sizeof(*s->notices));
	memset(s->notices + s->room, 0, (n - s->room) * sizeof(*s->notices));
	s->room = n;
}

static struct notified_sink *find_sink(struct fallback *f, const char *name)
{
	for (size_t i = 0; i < f->n_sinks; i++)
		if (strcmp(f->sinks[i].name, name) == 0)
			return &f->sinks[i];
	return NULL;
}

static struct notified_sink *find_or_make(struct fallback *f, const char *name)
{
	struct notified_sink *s = find_sink(f, name);

	if (!s) {
		f->sinks = xreallocarray(f->sinks, f->n_sinks + 1, sizeof(*f->sinks));
		s = &f->sinks[f->n_sinks++];
		*s = (struct notified_sink){ .name = xstrdup(name) };
	}
	grow(s, f->all.n);
	return s;
}

struct fallback *fallback_new(const struct alarm_sources *from, bool is_repeat)
{
	struct fallback *f = xcalloc(1, sizeof(*f));
	int64_t waiting = 0;

	f->is_repeat = is_repeat;
	(void)alarms_read(from->history, &f->all);
	for (size_t i = 0; i < from->settings->n_sinks; i++) {
		const char *name = from->settings->sinks[i].name;
		struct notified_sink *s = find_or_make(f, name);

		if (db_number(db_stmt(from->history, DB_OUTBOX_ATTENTION, db_s("sink", name)), &waiting) <
			    0 ||
		    waiting > 0)
			continue;
		for (size_t k = 0; k < f->all.n; k++)
			(void)alarm_notice_read(from->history, &f->all.v[k], name, &s->notices[k]);
	}
	return f;
}

void fallback_free(struct fallback **f)
{
	if (!*f)
		return;
	for (size_t i = 0; i < (*f)->n_sinks; i++) {
		free((*f)->sinks[i].name);
		free((*f)->sinks[i].notices);
		free((*f)->sinks[i].sent);
	}
	free((*f)->sinks);
	alarms_done(&(*f)->all);
	free(*f);
	*f = NULL;
}

/* True: a message is on its way. */
static bool send_to(struct fallback *f, const struct alarm_sources *from, const struct sink_settings *sink,
		    fallback_send_fn *send, void *ctx)
{
	struct notified_sink *s = find_or_make(f, sink->name);
	struct sink_alarm_state *of = xcalloc(f->all.n + 1, sizeof(*of));
	struct document doc;
	bool sent = false;

	for (size_t i = 0; i < f->all.n; i++)
		of[i].notice = s->notices[i];
	if (alarm_messages_compose(from, sink, &f->all, clock_wall_ms(), of, &doc) > 0) {
		doc.is_repeat = f->is_repeat;
		sent = send(ctx, sink->name, &doc);
		document_done(&doc);
	}
	if (sent) {
		s->sent = xcalloc(f->all.n, sizeof(*s->sent));
		s->n_sent = f->all.n;
		for (size_t i = 0; i < s->n_sent; i++)
			s->sent[i] = of[i].next;
	}
	free(of);
	return sent;
}

void fallback_look(struct fallback *f, const struct alarm_sources *from, fallback_send_fn *send, void *ctx)
{
	struct alarms present = { 0 };
	bool sent = false;

	alarm_messages_find(from, &present);
	alarms_merge(&f->all, &present, clock_wall_ms());
	alarms_done(&present);
	for (size_t i = 0; f->all.n > 0 && i < from->settings->n_sinks; i++) {
		const struct sink_settings *sink = &from->settings->sinks[i];
		const struct notified_sink *s = find_sink(f, sink->name);

		if (select_news(sink, NEWS_ATTENTION) && !(s && s->sent))
			sent = send_to(f, from, sink, send, ctx) || sent;
	}
	f->is_repeat = f->is_repeat && !sent;
}

void fallback_sent(struct fallback *f, const char *sink, bool is_settled)
{
	struct notified_sink *s = find_sink(f, sink);

	if (!s || !s->sent)
		return;
	if (is_settled)
		memcpy(s->notices, s->sent, s->n_sent * sizeof(*s->sent));
	free(s->sent);
	s->sent = NULL;
}

int fallback_return(struct fallback *f, struct db *history)
{
	int r = db_begin(history);

	if (r == 0)
		r = alarms_join(history);
	for (size_t i = 0; i < f->all.n; i++)
		f->all.v[i].is_changed = true;
	if (r == 0)
		r = alarms_write(history, &f->all);
	for (size_t i = 0; i < f->n_sinks; i++)
		for (size_t k = 0; r == 0 && k < f->sinks[i].room; k++)
			r = alarm_notice_write(history, &f->all.v[k], f->sinks[i].name,
					       &f->sinks[i].notices[k]);
	return db_end(history, r);
}
