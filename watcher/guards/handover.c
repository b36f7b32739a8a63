/* handover.c - see handover.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/guards/handover.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "model/actions.h"
#include "model/guards.h"

/* Of acts whose namespaces are not told any more: no namespace is called so. */
#define SOMEWHERE "*"

struct row {
	char *key; /* namespace of an act, or as saved */
	char kind[24];
	int64_t at, until; /* until 0: not known, and of acts */
	uint64_t count;
};

struct handover {
	struct row *v;
	size_t n;
	bool news;
};

struct handover *handover_new(void)
{
	return xcalloc(1, sizeof(struct handover));
}

void handover_free(struct handover **h)
{
	struct handover *old = *h;

	if (!old)
		return;
	for (size_t i = 0; i < old->n; i++)
		free(old->v[i].key);
	free(old->v);
	free(old);
	*h = NULL;
}

static bool is_act(const struct row *r)
{
	return duty_parse(STR_C(r->kind)) >= 0;
}

static void drop(struct handover *h, size_t i)
{
	free(h->v[i].key);
	memmove(&h->v[i], &h->v[i + 1], (h->n - i - 1) * sizeof(h->v[0]));
	h->n--;
	h->news = true;
}

static bool is_over(const struct row *r, int64_t now)
{
	if (is_act(r))
		return r->at < now - HOUR_MS;
	return (r->until ? r->until : r->at + DAY_MS) < now;
}

static void forget_old(struct handover *h, int64_t now)
{
	for (size_t i = h->n; i-- > 0;)
		if (is_over(&h->v[i], now))
			drop(h, i);
}

/* The same act is one of the same minute. */
static bool is_alike(const struct row *a, const struct row *b)
{
	return strcmp(a->kind, b->kind) == 0 && strcmp(a->key, b->key) == 0 &&
	       (!is_act(a) || a->at / MINUTE_MS == b->at / MINUTE_MS);
}

static struct row *find(struct handover *h, const struct row *like)
{
	for (size_t i = 0; i < h->n; i++)
		if (is_alike(&h->v[i], like))
			return &h->v[i];
	return NULL;
}

static void add(struct handover *h, const struct row *row);

static bool has_namespace(const struct row *r)
{
	return is_act(r) && strcmp(r->key, SOMEWHERE) != 0;
}

/* Acts go on to count, without their namespace: the oldest first. When there are none, the oldest row is let
 * go. */
static void make_room(struct handover *h)
{
	size_t oldest = 0;

	for (size_t i = 1; i < h->n; i++) {
		const struct row *r = &h->v[i], *o = &h->v[oldest];

		if (has_namespace(r) != has_namespace(o) ? has_namespace(r) : r->at < o->at)
			oldest = i;
	}
	struct row row = h->v[oldest];
	const bool counts_on = has_namespace(&row);

	row.key = SOMEWHERE;
	drop(h, oldest);
	if (counts_on)
		add(h, &row);
}

static void add(struct handover *h, const struct row *row)
{
	struct row *known = find(h, row);

	if (known) {
		known->count = is_act(row) ? known->count + row->count : row->count;
		known->at = known->at > row->at && is_act(row) ? known->at : row->at;
		known->until = row->until;
	} else {
		h->v = xreallocarray(h->v, h->n + 1, sizeof(h->v[0]));
		h->v[h->n] = *row;
		h->v[h->n++].key = xstrdup(row->key);
	}
	h->news = true;
	while (h->n > HANDOVER_ROWS)
		make_room(h);
}

/* Goes into JSON, and between blanks and semicolons, as it is. */
static bool is_plain(const char *key)
{
	for (const char *c = key; *c; c++)
		if (*c <= ' ' || *c > '~' || strchr("\"\\;<>&", *c))
			return false;
	return *key;
}

static void note_act(struct handover *h, uint64_t duty, const char *ns, int64_t at)
{
	char key[64];
	struct row row = { .key = key, .at = at, .count = 1 };

	(void)snprintf(key, sizeof(key), "%s", ns);
	(void)snprintf(row.kind, sizeof(row.kind), "%s", duty_name((enum duty)duty));
	add(h, &row);
}

static void note_saved(struct handover *h, const struct msg_saved_row *m)
{
	char key[sizeof(m->key)];
	struct row row = { .key = key, .at = m->at, .until = m->until, .count = m->count };
	struct row *known;

	/* What the breaker saw this replica sees, too; its row is nothing without its evidence. */
	if (strcmp(m->kind, guard_desc(GUARD_BREAKER)->saved) == 0 || !is_plain(m->key))
		return;
	memcpy(key, m->key, sizeof(key));
	(void)snprintf(row.kind, sizeof(row.kind), "%s", m->kind);
	if (m->at)
		add(h, &row);
	else if ((known = find(h, &row)))
		drop(h, (size_t)(known - h->v));
}

/* Of all that a watcher hears most is nothing of this. */
static bool is_noted(const struct msg *m)
{
	const struct msg_nomination_result *r = &m->u.nomination_result;

	if (m->type == MSG_NOMINATION_RESULT)
		return r->action != ACTION_RESTORE && OUTCOMES_WRITTEN >> r->outcome & 1;
	return m->type == MSG_SAVED || m->type == MSG_SAVED_ROW ||
	       (m->type == MSG_ACTION_ROW && !m->u.action_row.observe);
}

void handover_note(struct handover *h, const struct msg *m, int64_t now)
{
	const struct msg_action_row *act = &m->u.action_row;

	if (!is_noted(m))
		return;
	forget_old(h, now);
	if (m->type == MSG_NOMINATION_RESULT)
		note_act(h, m->u.nomination_result.duty, m->u.nomination_result.ns, now);
	else if (m->type == MSG_ACTION_ROW)
		note_act(h, act->duty, act->ns, act->at ? act->at : now);
	else
		note_saved(h, m->type == MSG_SAVED ? (const struct msg_saved_row *)&m->u.saved
						   : &m->u.saved_row);
}

bool handover_is_news(const struct handover *h)
{
	return h->news;
}

char *handover_text(struct handover *h, int64_t now)
{
	char *text = NULL;
	size_t size = 0;

	forget_old(h, now);
	FILE *f = open_memstream(&text, &size);

	for (size_t i = 0; f && i < h->n; i++)
		(void)fprintf(f, "%s %s %" PRId64 " %" PRId64 " %" PRIu64 ";", h->v[i].kind, h->v[i].key,
			      h->v[i].at, h->v[i].until, h->v[i].count);
	if (!f || fclose(f) != 0)
		abort();
	h->news = false;
	return text;
}

/* -- what another one tells -- */

/* Nothing lasts longer than a day, and what was done was done before: a clock that is a minute ahead is. */
static bool is_believable(const struct row *r, int64_t now)
{
	return r->at > 0 && r->at <= now + MINUTE_MS && r->until >= 0 &&
	       r->until <= now + DAY_MS + MINUTE_MS && r->count > 0 && r->count <= UINT32_MAX &&
	       !is_over(r, now);
}

/* key: of at least 254 bytes. */
static bool read_row(struct str line, char *key, int64_t now, struct row *ret)
{
	const struct str kind = str_cut(&line, ' '), k = str_cut(&line, ' '), at = str_cut(&line, ' '),
			 until = str_cut(&line, ' ');

	*ret = (struct row){ .key = key };
	if (!kind.n || kind.n >= sizeof(ret->kind) || !k.n || k.n > 253)
		return false;
	(void)snprintf(ret->kind, sizeof(ret->kind), "%.*s", STR_ARG(kind));
	(void)snprintf(key, 254, "%.*s", STR_ARG(k));
	return is_plain(key) && str_to_i64(at.p, at.n, &ret->at) == 0 &&
	       str_to_i64(until.p, until.n, &ret->until) == 0 &&
	       str_to_u64(line.p, line.n, &ret->count) == 0 && is_believable(ret, now);
}

static void tell_acts(const struct row *row, uint64_t count, uint64_t cluster,
		      void (*fn)(void *ctx, const struct msg *m), void *ctx)
{
	struct msg m = { .type = MSG_ACTION_ROW,
			 .u.action_row = { .cluster = cluster,
					   .duty = (uint64_t)duty_parse(STR_C(row->kind)),
					   .at = row->at } };

	msg_text(&m, action_row.ns, row->key);
	for (uint64_t i = 0; i < count; i++)
		fn(ctx, &m);
}

static void tell_saved(const struct row *row, uint64_t cluster, void (*fn)(void *ctx, const struct msg *m),
		       void *ctx)
{
	struct msg m = {
		.type = MSG_SAVED_ROW,
		.u.saved_row = { .cluster = cluster, .at = row->at, .until = row->until, .count = row->count }
	};

	msg_text(&m, saved_row.kind, row->kind);
	msg_text(&m, saved_row.key, row->key);
	fn(ctx, &m);
}

#define ACTS_MAX 10000u /* of a duty: no budget is greater, and a text says what it likes */

/* left: by duty, how many acts are still believed. */
static void take_row(struct handover *h, struct row *row, uint64_t left[static DUTY__MAX], uint64_t cluster,
		     void (*fn)(void *ctx, const struct msg *m), void *ctx)
{
	const struct row *known = find(h, row);

	if (!is_act(row)) {
		/* It can only make wait longer: who may write to the Lease is not believed more. */
		if (known &&
		    (known->until > row->until || (known->until == row->until && known->at >= row->at)))
			return;
		tell_saved(row, cluster, fn, ctx);
	} else {
		const uint64_t all = row->count < ACTS_MAX ? row->count : ACTS_MAX,
			       before = known ? known->count : 0, more = all > before ? all - before : 0;
		uint64_t *believed = &left[duty_parse(STR_C(row->kind))];

		row->count = more < *believed ? more : *believed;
		*believed -= row->count;
		if (row->count == 0)
			return;
		tell_acts(row, row->count, cluster, fn, ctx);
	}
	add(h, row);
}

void handover_take(struct handover *h, struct str text, uint64_t cluster, int64_t now,
		   void (*fn)(void *ctx, const struct msg *m), void *ctx)
{
	uint64_t left[DUTY__MAX];
	char key[254];
	struct row row;

	for (size_t i = 0; i < DUTY__MAX; i++)
		left[i] = ACTS_MAX;
	forget_old(h, now);
	for (const char *end; text.n && (end = memchr(text.p, ';', text.n));) {
		const size_t n = (size_t)(end - text.p);

		if (read_row((struct str){ text.p, n }, key, now, &row))
			take_row(h, &row, left, cluster, fn, ctx);
		text = (struct str){ end + 1, text.n - n - 1 };
	}
}
