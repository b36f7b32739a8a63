/* stream_data.c - what the bytes of a stream mean: items, events, and answers that are neither. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "kube/cursor.h"
#include "kube/decode.h"
#include "kube/stream.h"
#include "kube/watch_event.h"

void stream_set_verdict(struct stream *s, enum core_event event, const char *text)
{
	if (s->verdict_text[0])
		return; /* the first one counts */
	s->verdict = event;
	(void)str_copy_printable(s->verdict_text, sizeof(s->verdict_text), text, strlen(text));
}

static void bad_object(struct stream *s, struct str ns, struct str name, const char *why)
{
	char raw[512], text[512];
	const int n = snprintf(raw, sizeof(raw), "%s: %.*s/%.*s", why, (int)(ns.n < 64 ? ns.n : 64),
			       ns.n ? ns.p : "", (int)(name.n < 253 ? name.n : 253), name.n ? name.p : "");

	s->owner->stats.bad_objects++;
	(void)str_copy_printable(text, sizeof(text), raw, n < 0 ? 0 : strnlen(raw, sizeof(raw)));
	s->owner->ops.on_bad_object(s->owner->ctx, text);
}

/* Decodes into the owner's facts; false: told and skipped. */
static bool take_pod(struct stream *s, const uint8_t *p, size_t n)
{
	struct pod_facts *f = &s->owner->facts;

	if (decode_pod_protobuf(p, n, f) < 0)
		bad_object(s, f->ns, f->name, "a pod that is not valid protobuf was skipped");
	else if (str_empty(f->name) || str_empty(f->ns) || str_empty(f->uid))
		bad_object(s, f->ns, f->name, "a pod without name, namespace or uid was skipped");
	else
		return true;
	return false;
}

int stream_take_item(void *stream, const uint8_t *p, size_t n)
{
	struct stream *s = stream;

	if (!take_pod(s, p, n))
		return 0;
	s->owner->ops.on_pod(s->owner->ctx, &s->owner->facts);
	reflect_core_saw(&s->core, s->owner->facts.rv, true);
	return 0;
}

void stream_take_oversize(void *stream, uint64_t n)
{
	char why[96];

	(void)snprintf(why, sizeof(why), "an object of %llu bytes was skipped", (unsigned long long)n);
	bad_object(stream, (struct str){ 0 }, (struct str){ 0 }, why);
}

static void take_bookmark(struct stream *s, const struct envelope *object)
{
	struct bookmark mark;

	if (decode_bookmark_protobuf(object->raw.p, cursor_left(&object->raw), &mark) < 0 ||
	    str_empty(mark.rv)) {
		bad_object(s, (struct str){ 0 }, (struct str){ 0 }, "a bookmark that is none was skipped");
		return;
	}
	reflect_core_saw(&s->core, mark.rv, false);
	if (s->core.request == CORE_WATCH)
		s->bookmarks = true;
	else if (mark.initial_end)
		stream_feed(s, CORE_SYNCED, mark.rv, (struct str){ 0 }, 0);
}

static enum core_event event_of_status(const struct status_facts *f)
{
	return f->expired        ? CORE_EXPIRED
	       : f->too_large_rv ? CORE_TOO_LARGE
	       : f->code == 429  ? CORE_BUSY
				 : CORE_FAILED;
}

static void describe_status(char text[static 256], const struct status_facts *f, const char *what)
{
	char raw[256];

	(void)snprintf(raw, sizeof(raw), "%s %d %.*s: %.*s", what, f->code,
		       (int)(f->reason.n < 40 ? f->reason.n : 40), f->reason.n ? f->reason.p : "",
		       (int)(f->message.n < 160 ? f->message.n : 160), f->message.n ? f->message.p : "");
	(void)str_copy_printable(text, 256, raw, strnlen(raw, sizeof(raw)));
}

static int take_error(struct stream *s, const struct envelope *object)
{
	struct status_facts f;
	char text[256];

	if (!str_is(object->kind, "Status") ||
	    status_decode_protobuf(object->raw.p, cursor_left(&object->raw), &f) < 0) {
		stream_set_verdict(s, CORE_FAILED, "the watch ended with an error that can not be read");
		return -ECANCELED;
	}
	describe_status(text, &f, "the watch ended with");
	stream_set_verdict(s, event_of_status(&f), text);
	return -ECANCELED;
}

static void take_object(struct stream *s, const struct watch_event *e)
{
	struct reflector *r = s->owner;

	if (!str_is(e->object.kind, "Pod")) {
		bad_object(s, (struct str){ 0 }, e->object.kind, "an object that is no Pod was skipped");
		return;
	}
	if (!take_pod(s, e->object.raw.p, cursor_left(&e->object.raw)))
		return;
	if (e->type == WATCH_DELETED)
		r->ops.on_delete(r->ctx, &r->facts);
	else
		r->ops.on_pod(r->ctx, &r->facts);
	reflect_core_saw(&s->core, r->facts.rv, e->type == WATCH_ADDED);
}

int stream_take_frame(void *stream, const uint8_t *p, size_t n)
{
	struct stream *s = stream;
	struct watch_event e;

	s->owner->stats.events++;
	if (watch_event_decode(p, n, &e) < 0) {
		bad_object(s, (struct str){ 0 }, (struct str){ 0 }, "a watch event that is none was skipped");
		return 0;
	}
	switch (e.type) {
	case WATCH_BOOKMARK:
		take_bookmark(s, &e.object);
		return 0;
	case WATCH_ERROR:
		return take_error(s, &e.object);
	case WATCH_ADDED:
	case WATCH_MODIFIED:
	case WATCH_DELETED:
		take_object(s, &e);
		return 0;
	default:
		bad_object(s, (struct str){ 0 }, (struct str){ 0 },
			   "an event of an unknown type was skipped");
		return 0;
	}
}

/* -- answers that are no stream -------------------------------------------------------------------------- */

static enum core_event event_of_code(long status, const struct status_facts *f, int64_t retry_after_ms)
{
	if (status == 410 || f->expired)
		return CORE_EXPIRED;
	if (f->too_large_rv)
		return CORE_TOO_LARGE;
	if (status == 401)
		return CORE_DENIED;
	if ((status == 429 || status >= 500) && retry_after_ms > 0)
		return CORE_RETRY;
	return status == 429 ? CORE_BUSY : CORE_FAILED;
}

static const char *hint_of(long status)
{
	switch (status) {
	case 401:
		return ": the credential is not accepted";
	case 403:
		return ": RBAC does not allow to list and watch pods here";
	case 404:
		return ": is this the API server's address?";
	case 406:
		return ": the server does not speak protobuf, which is needed";
	default:
		return "";
	}
}

enum core_event stream_judge_answer(struct stream *s, const struct http_result *r, char ret_text[static 256])
{
	struct status_facts f = { .retry_after_s = -1 };
	char what[96];

	if (r->status == 0) {
		(void)snprintf(ret_text, 256, "no answer from the API server: %.200s", r->error);
		return CORE_BUSY;
	}
	if (r->status == 200) { /* headers only, or headers alone of a stream that never was */
		(void)snprintf(ret_text, 256, "the answer broke off: %.200s", r->error);
		return CORE_FAILED;
	}
	(void)snprintf(what, sizeof(what), "the API server answered %ld%s", r->status, hint_of(r->status));
	(void)snprintf(ret_text, 256, "%s", what);
	if (status_open_protobuf(s->error_body, s->error_len, &f) == 0 && f.message.n)
		(void)snprintf(ret_text, 256, "%s: %.*s", what, (int)(f.message.n < 150 ? f.message.n : 150),
			       f.message.p);
	char raw[256];

	memcpy(raw, ret_text, sizeof(raw));
	(void)str_copy_printable(ret_text, 256, raw, strnlen(raw, sizeof(raw)));
	return event_of_code(r->status, &f, r->retry_after_ms);
}
