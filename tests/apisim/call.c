// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/call.h"
#include "tests/apisim/http_parse.h"
#include "tests/apisim/podpb.h"
#include "tests/apisim/text.h"
#include "tests/apisim/util.h"

#include <stdlib.h>
#include <string.h>

/* A copy of n bytes in the call's room. */
static char *keep(char **room, const char *s, size_t n)
{
	char *copy = *room;

	memcpy(copy, s, n);
	copy[n] = '\0';
	*room += n + 1;
	return copy;
}

static const char *keep_decoded(char **room, const char *s, size_t n)
{
	char *copy = keep(room, s, n);

	http_unescape(copy, true);
	return util_make_text(copy);
}

static void parse_query(struct call *c, char **room)
{
	const char *p = c->query_text;

	while (*p && c->query_count < QUERY_MAX) {
		const size_t n = strcspn(p, "&"), key = strcspn(p, "=&"), value = key + (key < n);

		c->query[c->query_count].key = keep_decoded(room, p, key);
		c->query[c->query_count].value = keep_decoded(room, p + value, n - value);
		c->query_count++;
		p += n + (p[n] == '&');
	}
}

const char *call_query(const struct call *c, const char *key)
{
	for (size_t i = 0; i < c->query_count; i++)
		if (!strcmp(c->query[i].key, key))
			return c->query[i].value;
	return NULL;
}

bool call_query_true(const struct call *c, const char *key)
{
	const char *v = call_query(c, key);

	return v && strcmp(v, "false") != 0 && strcmp(v, "0") != 0;
}

/* Cuts the next segment off a path; "" at its end. */
static const char *take_segment(char **p)
{
	char *s = *p;
	const size_t n = strcspn(s, "/");

	*p += n + (s[n] == '/');
	s[n] = '\0';
	return s;
}

/* p: a copy of the path, which the parts stay in. */
static void parse_path(struct call *c, char *p)
{

	if (!strncmp(p, "/api/", 5)) {
		p += 5;
	} else if (!strncmp(p, "/apis/", 6)) {
		p += 6;
		c->group = take_segment(&p);
	} else {
		return;
	}
	c->version = take_segment(&p);
	if (!strncmp(p, "namespaces/", 11)) {
		const char *after = strchr(p + 11, '/');

		if (after && strcmp(after, "/status") != 0 && strcmp(after, "/finalize") != 0) {
			p += 11;
			c->ns = take_segment(&p);
		}
	}
	c->resource = take_segment(&p);
	c->name = take_segment(&p);
	c->sub = take_segment(&p);
	c->kind = kinds_find(c->group, c->version, c->resource);
	if (c->kind && (*p || (!c->kind->namespaced && *c->ns)))
		c->kind = NULL;
}

static const char *verb_of(const struct call *c)
{
	if (!strcmp(c->method, "GET")) {
		if (*c->resource && !*c->name && call_query_true(c, "watch"))
			return "watch";
		return *c->name || !*c->resource ? "get" : "list";
	}
	if (!strcmp(c->method, "DELETE"))
		return *c->name ? "delete" : "deletecollection";
	if (!strcmp(c->method, "POST"))
		return "create";
	if (!strcmp(c->method, "PUT"))
		return "update";
	return !strcmp(c->method, "PATCH") ? "patch" : "";
}

struct call *call_new(struct sim *sim, const char *method, const char *path, const char *query,
		      const char *agent)
{
	const size_t method_size = strlen(method), path_size = strlen(path), query_size = strlen(query),
		     agent_size = strlen(agent);
	struct call *c = util_alloc(sizeof(*c));
	char *room = util_alloc_raw(method_size + agent_size + 2 * (path_size + query_size + QUERY_MAX) + 5);

	c->texts = room;
	c->sim = sim;
	c->at = util_now();
	c->method = util_make_text(keep(&room, method, method_size));
	c->path = util_make_text(keep(&room, path, path_size));
	c->query_text = util_make_text(keep(&room, query, query_size));
	c->agent = util_make_text(keep(&room, agent, agent_size));
	c->user = c->group = c->version = c->resource = c->ns = c->name = c->sub = c->content_type = "";
	c->length = -1;
	parse_path(c, keep(&room, c->path, path_size));
	parse_query(c, &room);
	c->verb = verb_of(c);
	return c;
}

void call_free(struct call *c)
{
	free(c->texts);
	free(c->new_name);
	if (c->out)
		evbuffer_free(c->out);
	if (c->stream)
		c->stream->free(c->stream);
	free(c->headers);
	free(c->fault_type);
	json_decref(c->body);
	json_decref(c->fault);
	object_unref(c->before);
	object_unref(c->answer);
	free(c);
}

static struct evbuffer *begin(struct call *c, int code, const char *type)
{
	if (c->out)
		evbuffer_free(c->out);
	c->out = evbuffer_new();
	c->code = code;
	c->type = type;
	return c->out;
}

void call_answer_json(struct call *c, int code, json_t *doc)
{
	struct text t = { 0 };

	text_json(&t, doc);
	text_add(&t, "\n", 1);
	evbuffer_add(begin(c, code, TYPE_JSON), t.data, t.size);
	text_done(&t);
	json_decref(doc);
}

void call_answer_text(struct call *c, int code, const char *type, const char *text)
{
	evbuffer_add(begin(c, code, type), text, strlen(text));
}

void call_answer_status(struct call *c, json_t *status)
{
	int code = (int)json_integer_value(json_object_get(status, "code"));
	json_t *retry = object_at(status, "details.retryAfterSeconds");
	struct pb_buf b;
	char head[64];

	if (json_integer_value(retry) && !c->headers)
		c->headers = util_format("Retry-After: %d\r\n", (int)json_integer_value(retry));
	if (!c->protobuf) {
		call_answer_json(c, code, status);
		return;
	}
	pb_init(&b, 512);
	podpb_status(&b, status);
	evbuffer_add(begin(c, code, TYPE_PROTOBUF), head, podpb_envelope(head, "Status", pb_size(&b)));
	evbuffer_add(c->out, b.data + b.at, pb_size(&b));
	evbuffer_add(c->out, PODPB_TAIL, PODPB_TAIL_SIZE);
	pb_done(&b);
	json_decref(status);
}

void call_answer_object(struct call *c, int code, struct obj *o)
{
	struct blob *b;
	char head[64];

	if (c->protobuf) {
		struct evbuffer *out = begin(c, code, TYPE_PROTOBUF);

		b = object_pb(o);
		evbuffer_add(out, head, podpb_envelope(head, o->kind->kind, b->size - b->head));
		blob_add(out, b, b->head);
		evbuffer_add(out, PODPB_TAIL, PODPB_TAIL_SIZE);
		return;
	}
	b = object_text(o);
	blob_add(begin(c, code, TYPE_JSON), b, 0);
	evbuffer_add(c->out, "\n", 1);
	blob_unref(b);
}

void call_answer_stream(struct call *c, const char *type, int64_t length, struct stream *s)
{
	c->code = 200;
	c->type = type;
	c->length = length;
	c->stream = s;
}

void call_note_before(struct call *c, struct obj *o)
{
	object_unref(c->before);
	c->before = object_ref(o);
	c->rv_before = o->rv;
	object_uid(o, c->uid);
}

void call_note_after(struct call *c, struct obj *o)
{
	c->rv_after = o->rv;
	object_uid(o, c->uid);
	if (c->sim->opt->log_answers) {
		object_unref(c->answer);
		c->answer = object_ref(o);
	}
}
