// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/api.h"
#include "tests/apisim/admin.h"
#include "tests/apisim/auth.h"
#include "tests/apisim/faults.h"
#include "tests/apisim/hooks.h"
#include "tests/apisim/log.h"
#include "tests/apisim/util.h"
#include "tests/apisim/verbs.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *verb, *sub;
	void (*run)(struct call *c);
} routes[] = {
	{ "get", "", verb_get },       { "get", "status", verb_get },       { "get", "scale", verb_scale },
	{ "list", "", verb_list },     { "watch", "", verb_watch },         { "create", "", verb_create },
	{ "update", "", verb_update }, { "update", "status", verb_update }, { "update", "scale", verb_scale },
	{ "patch", "", verb_update },  { "patch", "status", verb_update },  { "patch", "scale", verb_scale },
	{ "delete", "", verb_delete }, { "get", "log", verb_pod_log },
};

enum accepted { ACCEPT_NONE, ACCEPT_JSON, ACCEPT_PROTOBUF };

/* The quality of one media range in thousandths, and its kind. Clauses that ask for another shape
 * ("as=Table") are not served. */
static enum accepted media_range(const char *p, size_t n, bool protobuf, int *ret_q)
{
	char text[256], *q;
	size_t type;

	if (n >= sizeof(text))
		n = sizeof(text) - 1;
	memcpy(text, p, n);
	text[n] = '\0';
	q = strstr(text, "q=");
	*ret_q = q ? (int)(strtod(q + 2, NULL) * 1000) : 1000;
	if (strstr(text, "as="))
		return ACCEPT_NONE;
	type = strcspn(text, "; ");
	text[type] = '\0';
	if (!strcmp(text, TYPE_PROTOBUF))
		return protobuf ? ACCEPT_PROTOBUF : ACCEPT_NONE;
	return !strcmp(text, TYPE_JSON) || !strcmp(text, "*/*") || !strcmp(text, "application/*")
		       ? ACCEPT_JSON
		       : ACCEPT_NONE;
}

static enum accepted negotiate(const char *accept, bool protobuf)
{
	enum accepted best = ACCEPT_NONE;
	int best_q = -1;

	if (!*accept)
		return ACCEPT_JSON;
	for (const char *p = accept; *p;) {
		size_t n;
		enum accepted a;
		int q;

		p += strspn(p, " ,");
		n = strcspn(p, ",");
		a = media_range(p, n, protobuf, &q);
		if (a != ACCEPT_NONE && q > best_q) {
			best = a;
			best_q = q;
		}
		p += n;
	}
	return best;
}

static bool negotiate_call(struct call *c)
{
	bool protobuf = kinds_has_protobuf(c->kind) && !*c->sub;
	enum accepted a = negotiate(c->http ? c->http->accept : "", protobuf);

	c->protobuf = a == ACCEPT_PROTOBUF;
	if (a != ACCEPT_NONE)
		return true;
	call_answer_status(c, status_new(406, "NotAcceptable",
					 "only the following media types are accepted: " TYPE_JSON
					 ", application/yaml%s",
					 c->kind->crd ? "" : ", " TYPE_PROTOBUF));
	return false;
}

static bool read_body(struct call *c)
{
	json_error_t error;

	if (!c->http || !c->http->body_size || !strcmp(c->method, "GET"))
		return true;
	if (!strncmp(c->content_type, TYPE_PROTOBUF, strlen(TYPE_PROTOBUF))) {
		call_answer_status(
			c,
			status_new(415, "UnsupportedMediaType",
				   "the body of the request was in an unknown format - accepted media types "
				   "include: " TYPE_JSON));
		return false;
	}
	c->body = json_loadb(c->http->body, c->http->body_size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	if (!c->body)
		call_answer_status(
			c, status_bad_request(
				   "the object provided is unrecognized (must be of type %s): couldn't get "
				   "version/kind; json parse error: %s",
				   c->kind->kind, error.text));
	return c->body != NULL;
}

static bool needs_body(const struct call *c)
{
	return strcmp(c->verb, "create") == 0 || strcmp(c->verb, "update") == 0 ||
	       strcmp(c->verb, "patch") == 0;
}

static bool read_write(struct call *c)
{
	const char *dry = call_query(c, "dryRun");

	if (!read_body(c))
		return false;
	if (needs_body(c) && (!c->body || (strcmp(c->verb, "patch") != 0 && !json_is_object(c->body)))) {
		call_answer_status(c, status_bad_request("the request needs a body: a JSON document"));
		return false;
	}
	if (dry && *dry && strcmp(dry, "All") != 0) {
		call_answer_status(
			c, status_new(422, "Invalid",
				      "dryRun: Unsupported value: \"%s\": supported values: \"All\"", dry));
		return false;
	}
	c->dry_run = util_streq(dry, "All");
	return true;
}

static json_t *not_allowed(void)
{
	return status_new(405, "MethodNotAllowed",
			  "the server does not allow this method on the requested resource");
}

/* A create goes to a collection in its namespace, other writes to an object. */
static bool misplaced(const struct call *c)
{
	bool create = !strcmp(c->verb, "create"),
	     update = !strcmp(c->verb, "update") || !strcmp(c->verb, "patch");

	return (create && (*c->name || (c->kind->namespaced && !*c->ns))) || (update && !*c->name);
}

static void run_verb(struct call *c)
{
	bool scale = !strcmp(c->sub, "scale"), status = !strcmp(c->sub, "status");
	bool log = !strcmp(c->sub, "log");

	if ((scale && !c->kind->replicas) || (status && !c->kind->status) ||
	    (log && strcmp(c->kind->kind, "Pod") != 0) || (*c->sub && !scale && !status && !log)) {
		call_answer_status(
			c, status_new(404, "NotFound", "the server could not find the requested resource"));
		return;
	}
	if (misplaced(c)) {
		call_answer_status(c, not_allowed());
		return;
	}
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (strcmp(routes[i].sub, c->sub) != 0 || strcmp(routes[i].verb, c->verb) != 0)
			continue;
		if (read_write(c))
			routes[i].run(c);
		return;
	}
	call_answer_status(c, not_allowed());
}

static bool is_health(const struct call *c)
{
	return !strcmp(c->path, "/readyz") || !strcmp(c->path, "/livez") || !strcmp(c->path, "/healthz");
}

/* What the caller may do; false: it asks for something else. */
static bool run_review(struct call *c)
{
	json_t *review;

	if (strcmp(c->resource, "selfsubjectaccessreviews") != 0 || strcmp(c->verb, "create") != 0 ||
	    !c->http)
		return false;
	review = json_loadb(c->http->body, c->http->body_size, 0, NULL);
	call_answer_json(c, 201, auth_review(c->sim->auth, c, review));
	json_decref(review);
	return true;
}

static void run_plain(struct call *c)
{
	json_t *doc;

	if (run_review(c))
		return;

	if (is_health(c)) {
		call_answer_text(c, 200, "text/plain; charset=utf-8", "ok");
		return;
	}
	if (!strcmp(c->path, "/version")) {
		call_answer_json(c, 200,
				 json_pack("{s:s, s:s, s:s, s:s}", "major", "1", "minor", "34", "gitVersion",
					   "v1.34.1", "platform", "linux/amd64"));
		return;
	}
	doc = kinds_discovery(c->path);
	if (doc)
		call_answer_json(c, 200, doc);
	else if (!strncmp(c->path, "/api/v1/", 8) || *c->resource || (*c->group && kinds_has_group(c->group)))
		call_answer_status(
			c, status_new(404, "NotFound", "the server could not find the requested resource"));
	else
		call_answer_text(c, 404, "text/plain; charset=utf-8", "404 page not found\n");
}

static void run(struct call *c)
{
	if (!is_health(c) && !auth_check_token(c->sim->auth, c))
		return;
	if (!c->kind)
		run_plain(c);
	else if (auth_check_access(c->sim->auth, c) && negotiate_call(c))
		run_verb(c);
}

static void count(struct sim *sim, const struct call *c)
{
	char key[160];
	json_t *n;

	snprintf(key, sizeof(key), "%s %s%s%s", c->verb, c->resource, *c->sub ? "/" : "", c->sub);
	n = json_object_get(sim->by_verb, key);
	if (n)
		json_integer_set(n, 1 + json_integer_value(n));
	else
		json_object_set_new(sim->by_verb, key, json_integer(1));
	sim->requests++;
}

void api_send(struct call *c)
{
	struct http_request *http = c->http;
	struct stream *stream = c->stream;
	struct evbuffer *out = c->out;
	bool kept = c->kept;

	c->http = NULL;
	c->out = NULL;
	if (!kept)
		c->stream = NULL;
	if (!http) {
		if (stream)
			stream->free(stream);
		if (out)
			evbuffer_free(out);
	} else if (stream) {
		http_reply_stream(http, c->code, c->type, c->length, stream);
	} else {
		http_reply(http, c->code, c->type, c->headers, out);
	}
	if (!kept)
		call_free(c);
}

/* The last part of a request, after faults have had their say. */
static void finish(struct call *c)
{
	struct sim *sim = c->sim;
	json_t *after;

	hooks_run(sim, hooks_take(c, true));
	if (!faults_answer(c))
		run(c);
	log_call(sim->log, c, c->kept ? "start" : NULL);
	count(sim, c);
	after = hooks_take(c, false);
	faults_send(c);
	hooks_run(sim, after);
}

void api_on_request(void *arg, struct http_request *req)
{
	struct sim *sim = arg;
	struct call *c = call_new(sim, req->method, req->path, req->query, req->agent);

	c->http = req;
	c->at = req->at;
	c->content_type = req->content_type;
	if (!strncmp(c->path, "/_sim/", 6)) {
		admin_run(c);
		api_send(c);
	} else {
		faults_apply(c, finish);
	}
}

void api_before_send(void *arg)
{
	const struct sim *sim = arg;

	log_flush(sim->log);
}

int api_run_internal(struct sim *sim, const char *method, const char *path, json_t *body)
{
	char *copy = util_strdup(path), *query = strchr(copy, '?');
	struct call *c;
	int code;

	if (query)
		*query++ = '\0';
	c = call_new(sim, method, copy, query ? query : "", "");
	free(copy);
	c->internal = true;
	c->body = body;
	if (!strcmp(method, "PATCH"))
		c->content_type =
			json_is_array(body) ? "application/json-patch+json" : "application/merge-patch+json";
	if (!strncmp(c->path, "/_sim/", 6))
		admin_run(c);
	else
		run(c);
	code = c->code;
	log_call(sim->log, c, NULL);
	api_send(c);
	return code;
}
