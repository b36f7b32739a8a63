// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/faults.h"
#include "tests/apisim/api.h"
#include "tests/apisim/util.h"

#include <stdlib.h>
#include <string.h>

/* A call that waits for its delay. */
struct delayed {
	struct call *c;
	void (*next)(struct call *c);
	struct event *timer;
};

static const char *text(const json_t *rule, const char *key)
{
	const char *s = util_str(rule, key);

	return s ? s : "";
}

static int64_t number(const json_t *rule, const char *key, int64_t otherwise)
{
	json_t *v = json_object_get(rule, key);

	return json_is_number(v) ? (int64_t)json_number_value(v) : otherwise;
}

static bool flag(const json_t *rule, const char *key)
{
	return json_is_true(json_object_get(rule, key));
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

static void add(struct sim *sim, json_t *rule)
{
	json_object_set_new(rule, "hits", json_integer(0));
	json_array_append(sim->faults, rule);
}

const char *faults_add(struct sim *sim, json_t *rules)
{
	const char *error = json_is_array(rules) ? NULL : check(rules);
	json_t *rule;
	size_t i;

	if (!error && json_is_object(rules))
		add(sim, rules);
	json_array_foreach (rules, i, rule)
		if (!error)
			error = check(rule);
	json_array_foreach (rules, i, rule)
		if (!error)
			add(sim, rule);
	return error;
}

static bool strikes(json_t *rule, const struct call *c)
{
	/* "subresource" absent means the object itself, so that a rule for pods does not hit their status. */
	const char *sub = text(rule, "subresource");
	const int64_t count = number(rule, "count", 1), hits = number(rule, "hits", 0),
		      passed = number(rule, "passed", 0);

	if (!util_fits(rule, "verb", c->verb) || !util_fits(rule, "resource", c->resource) ||
	    !util_fits(rule, "namespace", c->ns) || !util_fits(rule, "name", c->name) ||
	    !util_fits(rule, "path", c->path) || (count >= 0 && hits >= count) ||
	    (strcmp(sub, "*") != 0 && strcmp(sub, c->sub) != 0))
		return false;
	if (passed < number(rule, "after", 0)) {
		json_object_set_new(rule, "passed", json_integer(passed + 1));
		return false;
	}
	json_object_set_new(rule, "hits", json_integer(hits + 1));
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

void faults_apply(struct call *c, void (*next)(struct call *c))
{
	json_t *rule;
	int64_t ms;
	size_t i;

	json_array_foreach (c->sim->faults, i, rule)
		if (!c->fault && strikes(rule, c))
			c->fault = json_incref(rule);
	ms = number(c->fault, "delayMs", 0);
	if (ms > 0)
		later(c, ms, next);
	else
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
static char *extra_headers(const json_t *f, const char *retry)
{
	char *lines = *retry ? util_format("Retry-After: %s\r\n", retry) : NULL, *more;
	const char *name;
	json_t *value;

	json_object_foreach (json_object_get(f, "headers"), name, value) {
		more = util_format("%s%s: %s\r\n", lines ? lines : "", name,
				   json_is_string(value) ? json_string_value(value) : "");
		free(lines);
		lines = more;
	}
	return lines;
}

static void answer_status(struct call *c, const json_t *f, int code)
{
	const char *reason = text(f, "reason"), *body = text(f, "bodyText"), *type = text(f, "contentType");
	const char *message = text(f, "message"), *retry = text(f, "retryAfter");

	c->headers = extra_headers(f, retry);
	if (json_object_get(f, "bodyText")) {
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
	const json_t *f = c->fault;
	int64_t code = f ? number(f, "status", 0) : 0;

	if (!f)
		return false;
	if (flag(f, "garbage"))
		answer_garbage(c);
	else if (flag(f, "hang"))
		c->code = 0;
	else if (code)
		answer_status(c, f, (int)code);
	else if (json_object_get(f, "bodyText"))
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
	const json_t *f = c->fault;
	int64_t ms;

	if (!f) {
		api_send(c);
		return;
	}
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
}
