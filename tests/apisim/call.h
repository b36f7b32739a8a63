/* One request to the API on its way through the server, from HTTP or from a hook. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_CALL_H
#define APISIM_CALL_H

#include "tests/apisim/http.h"
#include "tests/apisim/options.h"
#include "tests/apisim/status.h"
#include "tests/apisim/store.h"

struct auth;
struct log;
struct watches;
struct storm;

/* The whole server. */
struct sim {
	struct event_base *base;
	const struct options *opt;
	struct store *store;
	struct http_server *http;
	struct auth *auth;
	json_t *faults, *hooks; /* lists of rules, each with how often it was used */
	struct log *log;
	struct watches *watches;
	struct storm *storm;
	uint64_t requests;
	json_t *by_verb; /* "get pods" -> count */
	bool quit;
};

enum { QUERY_MAX = 24 };

struct call {
	struct sim *sim;
	struct http_request *http; /* NULL: made by a hook, or answered already */
	bool internal;             /* made by a hook */
	double at;
	char *texts;    /* room of most of those below */
	char *new_name; /* of an object that a create gave one to, or NULL */
	const char *method, *path, *query_text, *agent;
	bool kept;                                                /* a watch holds it and frees it */
	const char *verb;                                         /* as in an audit event */
	const struct kind *kind;                                  /* NULL: no resource of ours */
	const char *group, *version, *resource, *ns, *name, *sub; /* "" when absent */
	const char *user;                                         /* "" until known */
	struct {
		const char *key, *value;
	} query[QUERY_MAX];
	size_t query_count;
	const char *content_type; /* borrowed from the request, "" when absent */
	json_t *body;             /* NULL when there is none */
	bool protobuf;            /* the client wants it and this kind has it */
	bool dry_run;
	/* The answer, made by exactly one call_answer_*: */
	int code;
	const char *type;
	char *headers; /* owned, or NULL */
	struct evbuffer *out;
	struct stream *stream;
	int64_t length; /* of the stream, -1: unknown */
	json_t *fault;  /* the rule that faults.c has found for it, or NULL */
	char *fault_type;
	/* For the log: */
	char uid[64];
	uint64_t rv_before, rv_after;
	struct obj *before; /* what a write found, counted */
	struct obj *answer; /* and what it answered, counted, with --log-answers */
};

/* Copies the texts. */
struct call *call_new(struct sim *sim, const char *method, const char *path, const char *query,
		      const char *agent);
void call_free(struct call *c);

/* Value of a query parameter, NULL when absent. */
const char *call_query(const struct call *c, const char *key);
bool call_query_true(const struct call *c, const char *key);

void call_answer_status(struct call *c, json_t *status);      /* taken */
void call_answer_json(struct call *c, int code, json_t *doc); /* taken */
void call_answer_text(struct call *c, int code, const char *type, const char *text);
void call_answer_object(struct call *c, int code, struct obj *o);
void call_answer_stream(struct call *c, const char *type, int64_t length, struct stream *s);

/* Remembers the object as it was, and as it is after the write, for the log. */
void call_note_before(struct call *c, struct obj *o);
void call_note_after(struct call *c, struct obj *o);

#define TYPE_JSON     "application/json"
#define TYPE_PROTOBUF "application/vnd.kubernetes.protobuf"

#endif
