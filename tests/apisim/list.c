// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/podpb.h"
#include "tests/apisim/selector.h"
#include "tests/apisim/token.h"
#include "tests/apisim/util.h"
#include "tests/apisim/verbs.h"

#include <stdlib.h>
#include <string.h>

/* What a LIST asks for, after all rules. */
struct asked {
	int64_t limit;
	uint64_t rv; /* exactly this one; 0: now */
	char *after;
	struct selector *selector;
};

struct list_stream {
	struct stream st;
	struct snapshot snap;
	size_t at;
	bool protobuf, crd, started;
	char *head; /* before the first item */
	size_t head_size;
};

static void list_free(struct stream *s)
{
	struct list_stream *l = (struct list_stream *)s;

	store_snapshot_done(&l->snap);
	free(l->head);
	free(l);
}

static void add_json(struct list_stream *l, struct evbuffer *out, struct obj *o)
{
	struct blob *b = object_text(o);

	if (l->at)
		evbuffer_add(out, ",", 1);
	if (!l->crd)
		evbuffer_add(out, "{", 1);
	blob_add(out, b, l->crd ? 0 : b->head);
	blob_unref(b);
}

static enum stream_state list_fill(struct stream *s, struct evbuffer *out, size_t room)
{
	struct list_stream *l = (struct list_stream *)s;

	if (!l->started)
		evbuffer_add(out, l->head, l->head_size);
	l->started = true;
	for (; l->at < l->snap.count; l->at++) {
		if (evbuffer_get_length(out) >= room)
			return STREAM_MORE;
		if (l->protobuf)
			blob_add(out, object_pb(l->snap.items[l->at]), 0);
		else
			add_json(l, out, l->snap.items[l->at]);
	}
	if (l->protobuf)
		evbuffer_add(out, PODPB_TAIL, PODPB_TAIL_SIZE);
	else
		evbuffer_add(out, "]}\n", 3);
	return STREAM_END;
}

/* The head and the length of the whole body. */
static int64_t protobuf_head(struct list_stream *l, const struct kind *kind, const char *cont,
			     int64_t remaining)
{
	char rv[21], list_kind[80], envelope[64];
	size_t items = 0, n;
	struct pb_buf b;

	snprintf(list_kind, sizeof(list_kind), "%sList", kind->kind);
	for (size_t i = 0; i < l->snap.count; i++)
		items += object_pb(l->snap.items[i])->size;
	pb_init(&b, 256);
	podpb_list_meta(&b, util_number(l->snap.rv, rv), cont, remaining);
	n = podpb_envelope(envelope, list_kind, pb_size(&b) + items);
	pb_raw(&b, envelope, n);
	l->head_size = pb_size(&b);
	l->head = util_strndup(b.data + b.at, l->head_size);
	pb_done(&b);
	return (int64_t)(l->head_size + items + PODPB_TAIL_SIZE);
}

static void json_head(struct list_stream *l, const struct kind *kind, const char *cont, int64_t remaining)
{
	char api[96], list_kind[80], rv[21];
	json_t *meta = json_pack("{s:s}", "resourceVersion", util_number(l->snap.rv, rv)), *doc;
	char *text;

	snprintf(list_kind, sizeof(list_kind), "%sList", kind->kind);
	if (*cont)
		json_object_set_new(meta, "continue", json_string(cont));
	if (remaining >= 0)
		json_object_set_new(meta, "remainingItemCount", json_integer(remaining));
	doc = json_pack("{s:s, s:s, s:o, s:[]}", "kind", list_kind, "apiVersion",
			kinds_api_version(kind, api), "metadata", meta, "items");
	text = json_dumps(doc, JSON_COMPACT);
	l->head = text;
	l->head_size = strlen(text) - 2; /* without the closing of items and document */
	json_decref(doc);
}

static void answer_expired(struct call *c, const char *after)
{
	json_t *s;
	char *token;

	if (!after) {
		call_answer_status(c,
				   status_expired("The resourceVersion for the provided list is too old."));
		return;
	}
	s = status_expired(
		"The provided continue parameter is too old to display a consistent list result. You can "
		"start a "
		"new list without the continue parameter, or use the continue token in this response to "
		"retrieve the remainder of the results. Continuing with the provided token results in an "
		"inconsistent list - objects that were created, modified, or deleted between the time the "
		"first chunk was returned and now may show up in the list.");
	token = token_encode(-1, after);
	json_object_set_new(s, "metadata", json_pack("{s:s}", "continue", token));
	free(token);
	call_answer_status(c, s);
}

static void answer_list(struct call *c, const struct asked *a)
{
	struct list_stream *l = util_alloc(sizeof(*l));
	char *cont = NULL;
	int64_t length = -1, remaining;

	l->st = (struct stream){ .fill = list_fill, .free = list_free };
	l->protobuf = c->protobuf;
	l->crd = c->kind->crd;
	if (store_snapshot(c->sim->store, c->kind, *c->ns ? c->ns : NULL, a->rv, a->after, (size_t)a->limit,
			   a->selector ? selector_match : NULL, a->selector, &l->snap) < 0) {
		list_free(&l->st);
		answer_expired(c, a->after);
		return;
	}
	if (l->snap.left)
		cont = token_encode((int64_t)l->snap.rv, l->snap.last_key);
	remaining = l->snap.left && !a->selector ? (int64_t)l->snap.left : -1;
	if (l->protobuf)
		length = protobuf_head(l, c->kind, cont ? cont : "", remaining);
	else
		json_head(l, c->kind, cont ? cont : "", remaining);
	free(cont);
	call_answer_stream(c, c->protobuf ? TYPE_PROTOBUF : TYPE_JSON, length, &l->st);
}

static json_t *match_unknown(const char *match)
{
	char why[200];

	snprintf(why, sizeof(why),
		 "Unsupported value: \"%.80s\": supported values: \"Exact\", \"NotOlderThan\", \"\"", match);
	return status_list_options("resourceVersionMatch", why);
}

/* The continue token, when there is one; the status to refuse with, or NULL. */
static json_t *ask_continue(struct call *c, struct asked *a, const char *rv)
{
	const char *token = call_query(c, "continue");
	int64_t at;

	if (!token || !*token)
		return NULL;
	if (call_query(c, "resourceVersionMatch"))
		return status_list_options(
			"resourceVersionMatch",
			"Forbidden: resourceVersionMatch is forbidden when continue is provided");
	if (*rv && strcmp(rv, "0") != 0)
		return status_bad_request("specifying resource version is not allowed when using continue");
	if (!token_decode(token, &at, &a->after))
		return status_bad_request("invalid continue token: continue key is not valid: invalid token");
	a->rv = at > 0 ? (uint64_t)at : 0;
	return NULL;
}

static json_t *ask_version(struct call *c, struct asked *a, const char *rv)
{
	const char *match = call_query(c, "resourceVersionMatch");
	uint64_t now = store_rv(c->sim->store);
	int64_t n = 0;

	if (match && !*rv)
		return status_list_options(
			"resourceVersionMatch",
			"Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided");
	if (match && strcmp(match, "Exact") != 0 && strcmp(match, "NotOlderThan") != 0)
		return match_unknown(match);
	if (util_streq(match, "Exact") && !strcmp(rv, "0"))
		return status_list_options(
			"resourceVersionMatch",
			"Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
	if (*rv && (!util_parse_int(rv, &n) || n < 0))
		return status_bad_request("invalid resource version: resourceVersion: Invalid value: \"%s\": "
					  "strconv.ParseUint: parsing \"%s\": invalid syntax",
					  rv, rv);
	if ((uint64_t)n > now)
		return status_too_large((unsigned long long)n, now);
	if (*rv && n == 0 && !a->after)
		a->limit = 0; /* from the cache, which does not page */
	if (n > 0 && !a->after && (util_streq(match, "Exact") || (!match && a->limit > 0)))
		a->rv = (uint64_t)n;
	return NULL;
}

static json_t *ask(struct call *c, struct asked *a)
{
	const char *rv = call_query(c, "resourceVersion"), *limit = call_query(c, "limit");
	char why[256];
	json_t *error;

	if (limit && *limit && !util_parse_int(limit, &a->limit))
		return status_bad_request("strconv.ParseInt: parsing \"%s\": invalid syntax", limit);
	if (a->limit < 0)
		a->limit = 0;
	if (call_query(c, "sendInitialEvents"))
		return status_list_options("sendInitialEvents",
					   "Forbidden: sendInitialEvents is forbidden for list");
	if (selector_new(c->kind, call_query(c, "labelSelector"), call_query(c, "fieldSelector"), why,
			 &a->selector) < 0)
		return status_bad_request("%s", why);
	error = ask_continue(c, a, rv ? rv : "");
	return error ? error : ask_version(c, a, rv ? rv : "");
}

void verb_list(struct call *c)
{
	struct asked a = { 0 };
	json_t *error = ask(c, &a);

	if (error)
		call_answer_status(c, error);
	else
		answer_list(c, &a);
	selector_free(a.selector);
	free(a.after);
}

void verb_get(struct call *c)
{
	struct obj *o = store_get(c->sim->store, c->kind, c->ns, c->name);

	if (!o) {
		call_answer_status(c, status_not_found(c->kind, "", c->name));
		return;
	}
	object_uid(o, c->uid);
	call_answer_object(c, 200, o);
}
