/* stream_body.c - see stream_body.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/stream_body.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "kube/cursor.h"
#include "kube/decode_protobuf.h"
#include "kube/decode_objects.h"

#define MESSAGE_MAX 160 /* bytes of the server's */

/* A page with so many times its limit is no page. */
#define PAGE_EXCESS 20u /* said by TEXT_PAGE_LARGE */

static const struct str none;

const struct stream_kind stream_kinds[REFLECT__MAX] = {
	[REFLECT_PODS] = { "pods", "Pod", "PodList", true, decode_pod_protobuf,
			   "a pod that is not valid protobuf was skipped",
			   "a pod without name, namespace or uid was skipped",
			   "an object that is no Pod was skipped" },
	[REFLECT_NAMESPACES] = { "namespaces", "Namespace", "NamespaceList", false, decode_metadata_protobuf,
				 "a namespace that is not valid protobuf was skipped",
				 "a namespace without name or uid was skipped",
				 "an object that is no Namespace was skipped" },
};

struct facts stream_trouble(enum text trouble)
{
	struct facts f = { 0 };

	facts_text(&f, FACT_TROUBLE, trouble);
	return f;
}

void stream_body_refuse(struct stream_body *b, enum core_event event, const struct facts *why)
{
	if (b->end_why)
		return; /* the first one counts */
	b->end = event;
	b->end_why = facts_dup(why);
}

static void refuse_text(struct stream_body *b, enum text why)
{
	const struct facts f = stream_trouble(why);

	stream_body_refuse(b, CORE_FAILED, &f);
}

static void refuse_many(struct stream_body *b, enum text why, uint64_t max)
{
	struct facts f = stream_trouble(why);

	facts_count(&f, FACT_MAX_PODS, (int64_t)max);
	stream_body_refuse(b, CORE_FAILED, &f);
}

/* Its first bytes, for "%.*s". */
static struct str head_of(struct str s, size_t max)
{
	return (struct str){ s.n ? s.p : "", s.n < max ? s.n : max };
}

static void bad_object(struct stream_body *b, struct str ns, struct str name, const char *why)
{
	char raw[512], text[512];

	ns = head_of(ns, 64);
	name = head_of(name, 253);
	(void)snprintf(raw, sizeof(raw), "%s: %.*s/%.*s", why, STR_ARG(ns), STR_ARG(name));
	(void)str_copy_printable(text, sizeof(text), raw, strlen(raw));
	b->env->ops.on_bad_object(b->env->ctx, text);
}

/* Decodes into the owner's facts; false: reported and skipped. */
static bool take_pod(struct stream_body *b, const uint8_t *p, size_t n)
{
	struct pod_facts *f = &b->env->facts;
	const struct stream_kind *kind = b->env->kind;

	if (kind->decode(p, n, f) < 0)
		bad_object(b, f->ns, f->name, kind->no_protobuf);
	else if (str_empty(f->name) || (kind->namespaced && str_empty(f->ns)) || str_empty(f->uid))
		bad_object(b, f->ns, f->name, kind->no_name);
	else
		return true;
	return false;
}

/* Refuses what no memory would be enough for. Asked before an object is handed over. */
static bool is_too_much(struct stream_body *b)
{
	const struct stream_env *env = b->env;

	if (b->items_max && ++b->items > b->items_max)
		refuse_many(b, TEXT_PAGE_LARGE, b->items_max);
	else if (b->core->request != CORE_WATCH && env->max_objects && b->core->events >= env->max_objects)
		refuse_many(b, TEXT_LIST_LARGE, env->max_objects);
	else if (env->ops.is_full && env->ops.is_full(env->ctx, &env->facts))
		refuse_text(b, TEXT_CACHE_FULL);
	else
		return false;
	return true;
}

static int on_item(void *ctx, const uint8_t *p, size_t n)
{
	struct stream_body *b = ctx;

	if (!take_pod(b, p, n))
		return 0;
	if (is_too_much(b))
		return -ECANCELED;
	b->env->ops.on_pod(b->env->ctx, &b->env->facts);
	reflect_core_observe_rv(b->core, b->env->facts.rv, true);
	return 0;
}

static void on_oversize(void *ctx, uint64_t n)
{
	char why[96];

	(void)snprintf(why, sizeof(why), "an object of %llu bytes was skipped", (unsigned long long)n);
	bad_object(ctx, none, none, why);
}

static void take_bookmark(struct stream_body *b, const struct envelope *object)
{
	struct bookmark mark;

	if (decode_bookmark(object->raw.p, cursor_left(&object->raw), &mark) < 0 || str_empty(mark.rv)) {
		bad_object(b, none, none, "a bookmark that is none was skipped");
		return;
	}
	reflect_core_observe_rv(b->core, mark.rv, false);
	if (b->core->request == CORE_WATCH)
		b->bookmarks = true;
	else if (mark.initial_end)
		b->on_initial_end(b->ctx, mark.rv);
}

static enum core_event event_of_status(const struct status_facts *f)
{
	return f->expired        ? CORE_EXPIRED
	       : f->too_large_rv ? CORE_TOO_LARGE
	       : f->code == 429  ? CORE_BUSY
				 : CORE_FAILED;
}

static int take_error(struct stream_body *b, const struct envelope *object)
{
	struct status_facts f;

	if (!str_is(object->kind, "Status") ||
	    decode_status(object->raw.p, cursor_left(&object->raw), &f) < 0) {
		refuse_text(b, TEXT_WATCH_ERROR_UNREAD);
		return -ECANCELED;
	}
	struct facts why = stream_trouble(TEXT_WATCH_ERROR);

	facts_count(&why, FACT_HTTP_STATUS, f.code);
	facts_quoted(&why, FACT_STATUS_REASON, head_of(f.reason, 40));
	facts_quoted(&why, FACT_SERVER_MESSAGE, head_of(f.message, MESSAGE_MAX));
	stream_body_refuse(b, event_of_status(&f), &why);
	return -ECANCELED;
}

static int take_object(struct stream_body *b, const struct watch_event *e)
{
	if (!str_is(e->object.kind, b->env->kind->kind)) {
		bad_object(b, none, e->object.kind, b->env->kind->no_kind);
		return 0;
	}
	if (!take_pod(b, e->object.raw.p, cursor_left(&e->object.raw)))
		return 0;
	if (e->type != WATCH_DELETED && is_too_much(b))
		return -ECANCELED;
	if (e->type == WATCH_DELETED)
		b->env->ops.on_delete(b->env->ctx, &b->env->facts);
	else
		b->env->ops.on_pod(b->env->ctx, &b->env->facts);
	reflect_core_observe_rv(b->core, b->env->facts.rv, e->type == WATCH_ADDED);
	return 0;
}

static int on_frame(void *ctx, const uint8_t *p, size_t n)
{
	struct stream_body *b = ctx;
	struct watch_event e;

	b->env->stats.events++;
	if (decode_watch_event(p, n, &e) < 0) {
		bad_object(b, none, none, "a watch event that is none was skipped");
		return 0;
	}
	switch (e.type) {
	case WATCH_BOOKMARK:
		take_bookmark(b, &e.object);
		return 0;
	case WATCH_ERROR:
		return take_error(b, &e.object);
	case WATCH_ADDED:
	case WATCH_MODIFIED:
	case WATCH_DELETED:
		return take_object(b, &e);
	default:
		bad_object(b, none, none, "an event of an unknown type was skipped");
		return 0;
	}
}

/* -- one answer -- */

void stream_body_begin(struct stream_body *b, uint32_t limit)
{
	const bool list = b->core->request == CORE_LIST;
	const struct frame_ops ops = { list ? on_item : on_frame, on_oversize, b };

	free(b->end_why);
	b->end_why = NULL;
	b->items = 0;
	b->items_max = (uint64_t)limit * PAGE_EXCESS;
	stream_body_done(b);
	frame_parser_init(&b->parser, list ? FRAME_LIST : FRAME_WATCH, &ops);
	b->parser.list_kind = b->env->kind->list_kind;
}

void stream_body_done(struct stream_body *b)
{
	free(b->end_why);
	b->end_why = NULL;
	frame_parser_done(&b->parser);
}

int stream_body_feed(struct stream_body *b, const void *p, size_t n)
{
	const int r = frame_parser_feed(&b->parser, p, n);

	if (r < 0)
		refuse_text(b, TEXT_LIST_DAMAGED);
	return r;
}

/* -- answers that are no stream -- */

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

static void add_hint(long status, struct facts *why)
{
	static const struct {
		long status;
		enum text problem;
	} hints[] = { { 401, TEXT_CREDENTIAL_REFUSED },
		      { 403, TEXT_RBAC_REFUSED },
		      { 404, TEXT_OTHER_SERVER },
		      { 406, TEXT_NO_PROTOBUF } };

	for (size_t i = 0; i < ARRAY_SIZE(hints); i++)
		if (hints[i].status == status)
			facts_text(why, FACT_PROBLEM, hints[i].problem);
}

enum core_event stream_body_refusal(const struct http_result *r, const char *body, size_t n,
				    struct facts *ret_why)
{
	struct status_facts f;

	/* 200: headers only, or headers alone of a stream that never was */
	*ret_why = stream_trouble(r->status == 0     ? TEXT_NO_ANSWER
				  : r->status == 200 ? TEXT_ANSWER_BROKE
						     : TEXT_ANSWERED);
	if (r->status == 0 || r->status == 200) {
		facts_add(ret_why, &r->why);
		return r->status == 0 ? CORE_BUSY : CORE_FAILED;
	}
	if (decode_status_answer(body, n, &f) < 0)
		f = (struct status_facts){ 0 };
	facts_count(ret_why, FACT_HTTP_STATUS, r->status);
	add_hint(r->status, ret_why);
	facts_quoted(ret_why, FACT_SERVER_MESSAGE, head_of(f.message, MESSAGE_MAX));
	return event_of_code(r->status, &f, r->retry_after_ms);
}
