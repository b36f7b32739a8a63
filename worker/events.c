/* events.c - see events.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/events.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bucket.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fnv.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "kube/path.h"
#include "text/texts.h"
#include "worker/managed_fields.h"
#include "worker/read.h"

#define QUEUE_MAX  32
#define RECENT_MAX 256
#define HASH_TEXT  17 /* "." and 16 digits */

/* What was reported lately. */
struct recent {
	uint64_t hash, at; /* at: boot ms; 0 = free */
	uint64_t unsaid;   /* how often since */
};

enum phase { PHASE_POST, PHASE_GET, PHASE_PATCH };

struct events {
	struct http_client *client;
	void (*denied)(void *ctx, const struct facts *why);
	void *ctx;
	struct {
		struct object_event event;
		uint64_t count; /* how often it happened */
	} queue[QUEUE_MAX];     /* the first is under way */
	size_t n;
	enum phase phase;
	uint64_t said; /* count of the Event there is */
	struct http_request *request;
	struct bucket spent;
	bool off;
	struct recent recent[RECENT_MAX];
};

struct events *events_new(struct http_client *client, void (*denied)(void *ctx, const struct facts *why),
			  void *ctx)
{
	struct events *e = xcalloc(1, sizeof(*e));

	e->client = client;
	e->denied = denied;
	e->ctx = ctx;
	return e;
}

void events_free(struct events **e)
{
	if (*e)
		http_request_cancel(&(*e)->request);
	free(TAKE_PTR(*e));
}

/* -- what is reported -- */

/* Uids are made by the server: nobody chooses them to collide. */
static uint64_t hash_of(const struct object_event *event)
{
	return fnv_text(fnv_text(fnv_text(FNV_START, event->uid), "/"), event->reason);
}

void events_name(const struct object_event *event, char ret[static EVENT_NAME_MAX])
{
	size_t n = strlen(event->name);

	if (n > EVENT_NAME_MAX - 1 - HASH_TEXT)
		n = EVENT_NAME_MAX - 1 - HASH_TEXT;
	while (n > 0 && (event->name[n - 1] == '-' || event->name[n - 1] == '.'))
		n--;
	(void)snprintf(ret, EVENT_NAME_MAX, "%.*s.%016" PRIx64, (int)n, event->name, hash_of(event));
}

/* Of the first in the queue: the Event, or what of it changes when it is there already. NULL: not UTF-8. */
static char *body_of(const struct events *e)
{
	const struct object_event *event = &e->queue[0].event;
	const json_int_t count = (json_int_t)(e->said + e->queue[0].count);
	char now[RFC3339_MAX], name[EVENT_NAME_MAX], *text;
	json_t *o;

	rfc3339_format(clock_wall_ms(), false, now);
	events_name(event, name);
	if (e->phase == PHASE_PATCH)
		o = json_pack("{s:I, s:s, s:s}", "count", count, "lastTimestamp", now, "message",
			      event->message);
	else
		o = json_pack(
			"{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s, s:s, s:s, s:s}, s:s, s:s, s:s, s:s, s:s, s:I, "
			"s:{s:s}, s:s, s:s}",
			"apiVersion", "v1", "kind", "Event", "metadata", "name", name, "namespace", event->ns,
			"involvedObject", "apiVersion", event->api_version, "kind", event->kind, "namespace",
			event->ns, "name", event->name, "uid", event->uid, "reason", event->reason, "message",
			event->message, "type", event->warning ? "Warning" : "Normal", "firstTimestamp", now,
			"lastTimestamp", now, "count", count, "source", "component", MANAGED_US,
			"reportingComponent", MANAGED_US, "reportingInstance", MANAGED_US);
	text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	json_decref(o);
	return text;
}

/* -- sending, one after the other -- */

static void next(struct events *e);
static void on_done(void *ctx, const struct http_result *r);

static void drop_first(struct events *e)
{
	e->n--;
	memmove(&e->queue[0], &e->queue[1], e->n * sizeof(e->queue[0]));
	e->phase = PHASE_POST;
	e->said = 0;
}

static bool send(struct events *e)
{
	static const char *const methods[] = { "POST", "GET", "PATCH" };
	static const char *const types[] = { "application/json", NULL, "application/merge-patch+json" };
	const struct object_event *event = &e->queue[0].event;
	char name[EVENT_NAME_MAX];

	events_name(event, name);
	_cleanup_free_ char *path =
		path_format("", "v1", event->ns, "events", e->phase == PHASE_POST ? NULL : name, NULL, NULL);
	_cleanup_free_ char *body = e->phase == PHASE_GET ? NULL : body_of(e);

	if (!path || (!body && e->phase != PHASE_GET))
		return false;
	const struct http_call call = { .method = methods[e->phase],
					.path = path,
					.content_type = types[e->phase],
					.body = body,
					.body_len = body ? strlen(body) : 0,
					.total_timeout_ms = EVENTS_TIMEOUT_MS,
					.on_done = on_done,
					.ctx = e };

	e->request = http_client_start(e->client, &call);
	return true;
}

static void next(struct events *e)
{
	while (e->n > 0 && !e->request && !send(e))
		drop_first(e);
}

static uint64_t count_of(const struct http_result *r)
{
	json_t *o = json_loadb(r->body ? r->body : "", r->body_len, 0, NULL);
	const json_int_t n = json_integer_value(json_object_get(o, "count"));

	json_decref(o);
	return n > 0 && n < INT32_MAX ? (uint64_t)n : 0;
}

/* Without the right none is sent any more. A namespace that is terminating takes none either, nor one whose
 * quota is used up: that is no matter of the others. */
static bool is_denied(const struct http_result *r, struct facts *why)
{
	struct refusal s = { 0 };

	if (r->failure == HTTP_OK && r->status == 403)
		read_refusal(r->body, r->body_len, &s);
	*why = facts_of(TEXT_ANSWERED);
	facts_count(why, FACT_HTTP_STATUS, r->status);
	facts_quoted(why, FACT_SERVER_MESSAGE, STR_C(s.message));
	return s.by_rights;
}

static void on_done(void *ctx, const struct http_result *r)
{
	struct events *e = ctx;
	const bool ok = r->failure == HTTP_OK && r->status >= 200 && r->status <= 299;
	struct facts why;

	e->request = NULL;
	if (is_denied(r, &why)) {
		e->off = true;
		e->n = 0;
		e->denied(e->ctx, &why);
		return;
	}
	if (e->phase == PHASE_POST && r->failure == HTTP_OK && r->status == 409) {
		e->phase = PHASE_GET;
	} else if (e->phase == PHASE_GET && ok) {
		e->said = count_of(r);
		e->phase = PHASE_PATCH;
	} else {
		drop_first(e); /* reported, or not: it is not tried again */
	}
	next(e);
}

/* -- what is left out -- */

/* The place of this hash, or the one that was used longest ago. */
static struct recent *recent_of(struct events *e, uint64_t hash)
{
	struct recent *oldest = &e->recent[0];

	for (size_t i = 0; i < RECENT_MAX; i++) {
		if (e->recent[i].at > 0 && e->recent[i].hash == hash)
			return &e->recent[i];
		if (e->recent[i].at < oldest->at)
			oldest = &e->recent[i];
	}
	*oldest = (struct recent){ .hash = hash };
	return oldest;
}

void events_add(struct events *e, const struct object_event *event)
{
	static const struct bucket_size rate = { EVENTS_BURST, EVENTS_PERIOD_MS };
	const uint64_t now = clock_boot_ms();
	struct recent *r;

	if (e->off)
		return;
	r = recent_of(e, hash_of(event));
	r->unsaid++;
	if ((r->at > 0 && now - r->at < EVENTS_AGAIN_MS) || e->n == QUEUE_MAX ||
	    !bucket_take(&e->spent, &rate, now))
		return;
	e->queue[e->n].event = *event;
	e->queue[e->n].count = r->unsaid;
	e->n++;
	*r = (struct recent){ .hash = r->hash, .at = now ? now : 1 };
	next(e);
}
