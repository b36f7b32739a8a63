/* fallback.c - see fallback.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/notify/fallback.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "reporter/notify/sink_select.h"

struct notified_sink {
	char *name;
	struct sink_alarm_state
		*of; /* by alarm, as many as there is room for: an alarm behind them has no notice */
	size_t room;
	size_t n_sent; /* of them go with the message on its way; 0 = there is none */
};

struct fallback {
	struct alarms all;
	struct notified_sink *sinks;
	size_t n_sinks;
	bool is_repeat;
};

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
	if (f->all.n > s->room) {
		s->of = xreallocarray(s->of, f->all.n, sizeof(*s->of));
		memset(s->of + s->room, 0, (f->all.n - s->room) * sizeof(*s->of));
		s->room = f->all.n;
	}
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
			(void)alarm_notice_read(from->history, &f->all.v[k], name, &s->of[k].notice);
	}
	return f;
}

void fallback_free(struct fallback **f)
{
	if (!*f)
		return;
	for (size_t i = 0; i < (*f)->n_sinks; i++) {
		free((*f)->sinks[i].name);
		free((*f)->sinks[i].of);
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
	struct document doc;

	if (alarm_messages_compose(from, sink, &f->all, clock_wall_ms(), s->of, &doc) <= 0)
		return false;
	doc.is_repeat = f->is_repeat;
	s->n_sent = send(ctx, sink->name, &doc) ? f->all.n : 0;
	document_done(&doc);
	return s->n_sent > 0;
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

		if (select_news(sink, NEWS_ATTENTION) && !(s && s->n_sent > 0))
			sent = send_to(f, from, sink, send, ctx) || sent;
	}
	f->is_repeat = f->is_repeat && !sent;
}

void fallback_sent(struct fallback *f, const char *sink, bool is_settled)
{
	struct notified_sink *s = find_sink(f, sink);

	if (!s)
		return;
	for (size_t i = 0; is_settled && i < s->n_sent; i++)
		s->of[i].notice = s->of[i].next;
	s->n_sent = 0;
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
					       &f->sinks[i].of[k].notice);
	return db_end(history, r);
}
