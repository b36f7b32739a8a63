// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/faults.h"
#include "tests/apisim/api.h"
#include "tests/apisim/util.h"

#include <stdlib.h>
#include <string.h>

/* Shared by the list and the calls it has struck. */
struct fault {
	unsigned refs;
	json_t *rule;
	int64_t after, count, hits;
	struct fault *next;
};

struct faults {
	struct fault *first, **last;
};

/* A call that waits for its delay. */
struct delayed {
	struct call *c;
	void (*next)(struct call *c);
	struct event *timer;
};

static const char *text(const struct fault *f, const char *key)
{
	const char *s = util_str(f->rule, key);

	return s ? s : "";
}

static int64_t number(const struct fault *f, const char *key, int64_t otherwise)
{
	json_t *v = json_object_get(f->rule, key);

	return json_is_number(v) ? (int64_t)json_number_value(v) : otherwise;
}

static bool flag(const struct fault *f, const char *key)
{
	return json_is_true(json_object_get(f->rule, key));
}

struct faults *faults_new(void)
{
	struct faults *f = util_alloc(sizeof(*f));

	f->last = &f->first;
	return f;
}

static void fault_unref(struct fault *f)
{
	if (!f || --f->refs)
		return;
	json_decref(f->rule);
	free(f);
}

void faults_clear(struct faults *f)
{
	while (f->first) {
		struct fault *x = f->first;

		f->first = x->next;
		fault_unref(x);
	}
	f->last = &f->first;
}

void faults_free(struct faults *f)
{
	faults_clear(f);
	free(f);
}

static const char *const known[] = { "verb",          "resource",     "subresource", "namespace",
				     "name",          "path",         "after",       "count",
				     "status",        "reason",       "message",     "retryAfter",
				     "bodyText",      "contentType",  "delayMs",     "delayAnswerMs",
				     "cutAfterBytes", "dropResponse", "hang",        "garbage",
				     "headerBytes",   "wrongLength",  "headers",     "bytesPerSecond" };

static const char *check(const json_t *rule)
{
	const char *key;
	json_t *value;

	if (!json_is_object(rule))
		return "a rule is an object";
	json_object_foreach ((json_t *)(uintptr_t)rule, key, value) {
		size_t i = 0;

		while (i < sizeof(known) / sizeof(known[0]) && strcmp(known[i], key) != 0)
			i++;
		if (i == sizeof(known) / sizeof(known[0]))
			return "a rule has a field that is not known; see tests/apisim/README.md";
	}
	return NULL;
}

static void add(struct faults *f, json_t *rule)
{
	struct fault *x = util_alloc(sizeof(*x));

	x->refs = 1;
	x->rule = json_deep_copy(rule);
	x->after = number(x, "after", 0);
	x->count = number(x, "count", 1);
	*f->last = x;
	f->last = &x->next;
}

const char *faults_add(struct faults *f, const json_t *rules)
{
	json_t *rule;
	size_t i;
	const char *error;

	if (json_is_object(rules)) {
		error = check(rules);
		if (!error)
			add(f, (json_t *)(uintptr_t)rules);
		return error;
	}
	if (!json_is_array(rules))
		return "a list of rules is wanted";
	json_array_foreach (rules, i, rule) {
		error = check(rule);
		if (error)
			return error;
	}
	json_array_foreach (rules, i, rule)
		add(f, rule);
	return NULL;
}

json_t *faults_list(const struct faults *f)
{
	json_t *list = json_array();

	for (const struct fault *x = f->first; x; x = x->next) {
		json_t *row = json_deep_copy(x->rule);

		json_object_set_new(row, "hits", json_integer(x->hits));
		json_array_append_new(list, row);
	}
	return list;
}

/* A field of a rule: absent or "*" means anything. */
static bool fits(const struct fault *f, const char *key, const char *value)
{
	const char *want = util_str(f->rule, key);

	return !want || !strcmp(want, "*") || !strcmp(want, value);
}

static bool strikes(struct fault *f, const struct call *c)
{
	/* "subresource" absent means the object itself, so that a rule for pods does not hit their status. */
	const char *sub = text(f, "subresource");

	if (!fits(f, "verb", c->verb) || !fits(f, "resource", c->resource) || !fits(f, "namespace", c->ns) ||
	    !fits(f, "name", c->name) || !fits(f, "path", c->path) || !f->count ||
	    (strcmp(sub, "*") != 0 && strcmp(sub, c->sub) != 0))
		return false;
	if (f->after > 0) {
		f->after--;
		return false;
	}
	if (f->count > 0)
		f->count--;
	f->hits++;
	return true;
}

static void on_delay(evutil_socket_t fd, short what, void *arg)
{
	struct delayed *d = arg;

	(void)fd, (void)what;
	event_free(d->timer);
	d->next(d->c);
	free(d);
}

static void later(struct call *c, int64_t ms, void (*next)(struct call *c))
{
	struct timeval tv = { .tv_sec = (time_t)(ms / 1000), .tv_usec = (suseconds_t)(ms % 1000 * 1000) };
	struct delayed *d = util_alloc(sizeof(*d));

	d->c = c;
	d->next = next;
	d->timer = event_new(c->sim->base, -1, 0, on_delay, d);
	event_add(d->timer, &tv);
}

void faults_apply(struct faults *faults, struct call *c, void (*next)(struct call *c))
{
	struct fault *f = faults->first;
	int64_t ms;

	while (f && !strikes(f, c))
		f = f->next;
	if (f) {
		c->fault = f;
		f->refs++;
		ms = number(f, "delayMs", 0);
		if (ms > 0) {
			later(c, ms, next);
			return;
		}
	}
	next(c);
}

static void answer_garbage(struct call *c)
{
	char bytes[4097];

	for (size_t i = 0; i < 4096; i++)
		bytes[i] = (char)(util_random() % 255 + 1);
	bytes[4096] = '\0';
	call_answer_text(c, 200,
			 *c->http->accept && strstr(c->http->accept, TYPE_PROTOBUF) ? TYPE_PROTOBUF
										    : TYPE_JSON,
			 bytes);
}

/* NULL or header lines; the caller's. */
static char *extra_headers(const struct fault *f, const char *retry)
{
	char *lines = *retry ? util_format("Retry-After: %s\r\n", retry) : NULL, *more;
	const char *name;
	json_t *value;

	json_object_foreach (json_object_get(f->rule, "headers"), name, value) {
		more = util_format("%s%s: %s\r\n", lines ? lines : "", name,
				   json_is_string(value) ? json_string_value(value) : "");
		free(lines);
		lines = more;
	}
	return lines;
}

static void answer_status(struct call *c, const struct fault *f, int code)
{
	const char *reason = text(f, "reason"), *body = text(f, "bodyText"), *type = text(f, "contentType");
	const char *message = text(f, "message"), *retry = text(f, "retryAfter");

	c->headers = extra_headers(f, retry);
	if (json_object_get(f->rule, "bodyText")) {
		c->fault_type = util_strdup(*type ? type : "text/plain; charset=utf-8");
		call_answer_text(c, code, c->fault_type, body);
		return;
	}
	c->protobuf = c->kind == kinds_pods() && !*c->sub && strstr(c->http->accept, TYPE_PROTOBUF);
	call_answer_status(c, status_new(code, *reason ? reason : "InternalError", "%s",
					 *message ? message : "a fault that a test has asked for"));
}

bool faults_answer(struct call *c)
{
	const struct fault *f = c->fault;
	int64_t code = f ? number(f, "status", 0) : 0;

	if (!f)
		return false;
	if (flag(f, "garbage"))
		answer_garbage(c);
	else if (flag(f, "hang"))
		c->code = 0;
	else if (code)
		answer_status(c, f, (int)code);
	else if (json_object_get(f->rule, "bodyText"))
		answer_status(c, f, 200);
	else
		return false;
	return true;
}

static void drop(struct call *c, bool close)
{
	struct http_request *http = c->http;

	c->http = NULL;
	http_drop(http, close);
	api_send(c);
}

void faults_send(struct call *c)
{
	struct fault *f = c->fault;
	int64_t ms;

	if (!f) {
		api_send(c);
		return;
	}
	c->fault = NULL;
	c->http->cut_after = number(f, "cutAfterBytes", -1);
	c->http->header_padding = (size_t)number(f, "headerBytes", 0);
	c->http->no_length_check = flag(f, "wrongLength");
	c->http->bytes_per_second = (size_t)number(f, "bytesPerSecond", 0);
	ms = number(f, "delayAnswerMs", 0);
	if (flag(f, "hang") || flag(f, "dropResponse"))
		drop(c, !flag(f, "hang"));
	else if (ms > 0)
		later(c, ms, api_send);
	else
		api_send(c);
	fault_unref(f);
}
