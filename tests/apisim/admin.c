// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/admin.h"
#include "tests/apisim/auth.h"
#include "tests/apisim/faults.h"
#include "tests/apisim/hooks.h"
#include "tests/apisim/kinds.h"
#include "tests/apisim/log.h"
#include "tests/apisim/object.h"
#include "tests/apisim/storm.h"
#include "tests/apisim/util.h"
#include "tests/apisim/watch.h"

#include <string.h>

static void refuse(struct call *c, const char *why)
{
	if (why)
		call_answer_json(c, 400, json_pack("{s:b, s:s}", "ok", 0, "error", why));
}

/* A number from the query or the body. */
static double value(const struct call *c, const char *key, double otherwise)
{
	json_t *v = json_object_get(c->body, key);
	double n;

	if (json_is_number(v))
		return json_number_value(v);
	return util_parse_double(call_query(c, key), &n) ? n : otherwise;
}

static void add_faults(struct call *c)
{
	refuse(c, faults_add(c->sim, c->body));
}

static void add_hook(struct call *c)
{
	refuse(c, hooks_add(c->sim, c->body));
}

/* That of the faults or of the hooks. */
static json_t *rules(const struct call *c)
{
	return strcmp(c->path, "/_sim/hook") ? c->sim->faults : c->sim->hooks;
}

static void clear_rules(struct call *c)
{
	json_array_clear(rules(c));
}

static void get_rules(struct call *c)
{
	call_answer_json(c, 200, json_incref(rules(c)));
}

static void compact(struct call *c)
{
	store_compact(c->sim->store);
}

static void close_watches(struct call *c)
{
	const char *error = call_query(c, "error");
	int64_t code = 0;
	json_t *status = NULL;

	if (error && (!util_parse_int(error, &code) || code < 400 || code > 599)) {
		refuse(c, "error is an HTTP status, 400 to 599");
		return;
	}
	if (code == 410)
		status = status_expired("too old resource version: 1 (%llu)",
					(unsigned long long)store_rv(c->sim->store));
	else if (code)
		status = status_new((int)code, code == 429 ? "TooManyRequests" : "InternalError",
				    "a fault that a test has asked for");
	watches_close(c->sim->watches, status);
	json_decref(status);
}

static void close_connections(struct call *c)
{
	http_server_close_all(c->sim->http);
}

static void pause_watches(struct call *c)
{
	watches_pause(c->sim->watches, (unsigned)value(c, "ms", 1000));
}

static void bookmarks(struct call *c)
{
	watches_bookmark(c->sim->watches, (unsigned)value(c, "count", 1), (uint64_t)value(c, "behind", 0));
}

static void repeat_events(struct call *c)
{
	watches_repeat(c->sim->watches, (uint64_t)value(c, "count", 1));
}

static void giant_event(struct call *c)
{
	watches_giant(c->sim->watches, (size_t)value(c, "bytes", 200e6));
}

/* As a DELETE of a pod that has failed leaves it when it is cut off between its two halves. */
static void half_delete(struct call *c)
{
	const char *ns = call_query(c, "namespace"), *name = call_query(c, "name");
	struct obj *o = ns && name ? store_get(c->sim->store, kinds_pods(), ns, name) : NULL;
	char text[21];

	if (!o) {
		refuse(c, "no such pod: namespace and name are wanted");
		return;
	}
	json_t *tree = object_tree(o);

	util_time_format((int64_t)util_now(), text);
	tree = object_with(tree, "metadata.deletionTimestamp", json_string(text));
	tree = object_with(tree, "metadata.deletionGracePeriodSeconds", json_integer(0));
	(void)store_put(c->sim->store, kinds_pods(), tree);
}

static void deny(struct call *c)
{
	if (json_is_object(c->body))
		auth_deny(c->sim->auth, c->body);
	else
		refuse(c, "a body is wanted: {\"user\", \"verb\", \"resource\", \"namespace\"}");
}

static void undeny(struct call *c)
{
	auth_undeny(c->sim->auth, call_query(c, "user"));
}

static void add_token(struct call *c)
{
	const char *text = util_str(c->body, "token");

	refuse(c, text && auth_add(c->sim->auth, text)
			  ? NULL
			  : "a body is wanted: {\"token\": \"TOKEN=USER[:RULE...]\"}");
}

static void remove_token(struct call *c)
{
	const char *token = call_query(c, "token");

	refuse(c, token && auth_revoke(c->sim->auth, token) ? NULL : "?token= names no token");
}

static void skew(struct call *c)
{
	util_clock_skew_set(value(c, "seconds", 0));
}

static void storm(struct call *c)
{
	double rate = value(c, "ratePerSecond", 1000), seconds = value(c, "seconds", 1);

	if (rate <= 0 || seconds <= 0)
		refuse(c, "ratePerSecond and seconds are greater than 0");
	else
		storm_start(c->sim->storm, (size_t)value(c, "pods", 0), rate, seconds);
}

static void stats(struct call *c)
{
	struct sim *sim = c->sim;
	json_t *objects = json_object();
	char name[160];

	for (size_t i = 0; i < kinds_count; i++) {
		size_t n = store_count(sim->store, &kinds[i]);

		if (n)
			json_object_set_new(objects, kinds_qualified(&kinds[i], "", name),
					    json_integer((json_int_t)n));
	}
	call_answer_json(c, 200,
			 json_pack("{s:o, s:I, s:I, s:I, s:O, s:I, s:I, s:I, s:b, s:f}", "objects", objects,
				   "resourceVersion", (json_int_t)store_rv(sim->store), "compacted",
				   (json_int_t)store_floor(sim->store), "requests", (json_int_t)sim->requests,
				   "requestsByVerb", sim->by_verb, "bytes",
				   (json_int_t)http_server_bytes(sim->http), "watches",
				   (json_int_t)watches_count(sim->watches), "stormUpdates",
				   (json_int_t)storm_updates(sim->storm), "stormRunning",
				   storm_running(sim->storm), "now", util_now()));
}

static void on_quit(evutil_socket_t fd, short what, void *arg)
{
	struct sim *sim = arg;

	(void)fd, (void)what;
	sim->quit = true;
}

static void quit(struct call *c)
{
	struct timeval soon = { .tv_usec = 20000 };

	event_base_once(c->sim->base, -1, EV_TIMEOUT, on_quit, c->sim, &soon);
}

static const struct {
	const char *method, *path;
	void (*run)(struct call *c);
} endpoints[] = {
	{ "POST", "/_sim/faults", add_faults },
	{ "GET", "/_sim/faults", get_rules },
	{ "DELETE", "/_sim/faults", clear_rules },
	{ "POST", "/_sim/hook", add_hook },
	{ "GET", "/_sim/hook", get_rules },
	{ "DELETE", "/_sim/hook", clear_rules },
	{ "POST", "/_sim/compact", compact },
	{ "POST", "/_sim/close-watches", close_watches },
	{ "POST", "/_sim/close-connections", close_connections },
	{ "POST", "/_sim/pause-watches", pause_watches },
	{ "POST", "/_sim/bookmarks", bookmarks },
	{ "POST", "/_sim/repeat-events", repeat_events },
	{ "POST", "/_sim/giant-event", giant_event },
	{ "POST", "/_sim/half-delete", half_delete },
	{ "POST", "/_sim/deny", deny },
	{ "DELETE", "/_sim/deny", undeny },
	{ "POST", "/_sim/token", add_token },
	{ "DELETE", "/_sim/token", remove_token },
	{ "POST", "/_sim/clock-skew", skew },
	{ "POST", "/_sim/storm", storm },
	{ "GET", "/_sim/stats", stats },
	{ "POST", "/_sim/quit", quit },
};
enum { ENDPOINTS = sizeof(endpoints) / sizeof(endpoints[0]) };

void admin_run(struct call *c)
{
	bool has_body = c->http && c->http->body_size;
	json_error_t error;
	size_t i = 0;

	if (has_body)
		c->body = json_loadb(c->http->body, c->http->body_size, 0, &error);
	while (i < ENDPOINTS &&
	       (strcmp(endpoints[i].method, c->method) || strcmp(endpoints[i].path, c->path)))
		i++;
	if (has_body && !c->body)
		refuse(c, error.text);
	else if (i < ENDPOINTS)
		endpoints[i].run(c);
	else
		call_answer_json(
			c, 404, json_pack("{s:b, s:s}", "ok", 0, "error", "no such endpoint; see README.md"));
	if (!c->out)
		call_answer_json(c, 200, json_pack("{s:b}", "ok", 1));
	log_flush(c->sim->log);
}
