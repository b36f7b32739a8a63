/* mirror.c - see mirror.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/kube/mirror.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "kube/decode_json.h"

#define TURN_MS 2

static char *key_of(const struct pod_facts *f)
{
	return xasprintf("%.*s/%.*s", STR_ARG(f->ns), STR_ARG(f->name));
}

static void on_list(void *ctx, const char *ns)
{
	struct mirror *m = ctx;

	(void)ns;
	ck_assert(!m->listing);
	m->listing = true;
	m->list++;
	m->lists++;
}

static void on_pod(void *ctx, const struct pod_facts *f)
{
	struct mirror *m = ctx;
	_cleanup_free_ char *key = key_of(f);

	ck_assert(m->listing || m->synced);
	json_object_set_new(m->pods, key,
			    json_pack("{s:s%, s:s%, s:I}", "uid", f->uid.p, f->uid.n, "rv", f->rv.p, f->rv.n,
				      "list", m->list));
}

static void on_delete(void *ctx, const struct pod_facts *f)
{
	struct mirror *m = ctx;
	_cleanup_free_ char *key = key_of(f);
	const json_t *old = json_object_get(m->pods, key);

	if (old && str_is(f->uid, json_string_value(json_object_get(old, "uid"))))
		json_object_del(m->pods, key);
}

static void on_sync(void *ctx, const char *ns)
{
	struct mirror *m = ctx;
	const char *key;
	json_t *v;
	void *next;

	(void)ns;
	ck_assert(m->listing);
	m->listing = false;
	m->synced = true;
	json_object_foreach_safe (m->pods, next, key, v) {
		if (json_integer_value(json_object_get(v, "list")) != m->list)
			json_object_del(m->pods, key);
	}
}

static void on_list_failed(void *ctx, const char *ns)
{
	struct mirror *m = ctx;

	(void)ns;
	ck_assert(m->listing);
	m->listing = false;
	m->failed++;
}

static void on_alive(void *ctx, int64_t date)
{
	(void)ctx;
	(void)date;
}

static void on_trouble(void *ctx, long status, const struct facts *why)
{
	struct mirror *m = ctx;

	(void)status;
	m->troubles += why != NULL;
}

static void on_bad_object(void *ctx, const char *text)
{
	struct mirror *m = ctx;

	(void)text;
	m->bad++;
}

static const struct reflector_ops ops = { on_list,        on_pod,   on_delete,  on_sync,
					  on_list_failed, on_alive, on_trouble, on_bad_object };

void mirror_again(struct mirror *m, const struct reflector_config *config)
{
	reflector_free(&m->reflector);
	json_object_clear(m->pods);
	m->listing = m->synced = false;
	m->reflector = reflector_new(m->base, m->client, config, &ops, m);
}

void mirror_start(struct mirror *m, const char *const *flags, const struct reflector_config *config)
{
	char url[64];
	const struct http_endpoint e = { .base_url = url, .user_agent = "test" };

	*m = (struct mirror){ .pods = json_object(), .base = event_base_new() };
	m->server = inside_new(m->base, flags);
	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u", inside_port(m->server));
	m->client = http_client_new(m->base, &e);
	mirror_again(m, config);
}

void mirror_stop(struct mirror *m)
{
	reflector_free(&m->reflector);
	http_client_free(&m->client);
	inside_free(&m->server);
	event_base_free(m->base);
	json_decref(m->pods);
}

void mirror_turn(struct mirror *m, long ms)
{
	event_base_loopexit(m->base, &(struct timeval){ ms / 1000, ms % 1000 * 1000 });
	event_base_dispatch(m->base);
}

struct waiting {
	bool done;
	long status;
	json_t *body;
};

static void on_done(void *ctx, const struct http_result *r)
{
	struct waiting *w = ctx;

	*w = (struct waiting){ true, r->status, json_loadb(r->body, r->body_len, 0, NULL) };
}

long mirror_request(struct mirror *m, const char *method, const char *path, const char *body, json_t **ret)
{
	struct waiting w = { 0 };
	const struct http_call call = {
		.method = method,
		.path = path,
		.content_type = strcmp(method, "PATCH") ? "application/json" : "application/merge-patch+json",
		.body = body,
		.body_len = body ? strlen(body) : 0,
		.max_body = 64u << 20,
		.total_timeout_ms = 20000,
		.on_done = on_done,
		.ctx = &w,
	};

	(void)http_client_start(m->client, &call);
	while (!w.done)
		event_base_loop(m->base, EVLOOP_ONCE);
	if (ret)
		*ret = w.body;
	else
		json_decref(w.body);
	return w.status;
}

static json_t *truth(struct mirror *m)
{
	static struct pod_facts f;
	json_t *list = NULL, *all = json_object();

	ck_assert_int_eq(mirror_request(m, "GET", "/api/v1/pods", NULL, &list), 200);
	const json_t *items = json_object_get(list, "items");

	for (size_t i = 0; i < json_array_size(items); i++) {
		ck_assert_int_eq(decode_pod_json(json_array_get(items, i), &f), 0);
		_cleanup_free_ char *key = key_of(&f);

		json_object_set_new(all, key,
				    json_pack("{s:s%, s:s%}", "uid", f.uid.p, f.uid.n, "rv", f.rv.p, f.rv.n));
	}
	json_decref(list);
	return all;
}

static const char *difference(json_t *want, json_t *have)
{
	static char text[512];
	const char *key;
	json_t *v;

	json_object_foreach (want, key, v) {
		const json_t *h = json_object_get(have, key);

		(void)snprintf(text, sizeof(text), "%s: rv %s there, %s here", key,
			       json_string_value(json_object_get(v, "rv")),
			       h ? json_string_value(json_object_get(h, "rv")) : "nothing");
		if (!h || !json_equal(json_object_get(v, "uid"), json_object_get(h, "uid")) ||
		    !json_equal(json_object_get(v, "rv"), json_object_get(h, "rv")))
			return text;
	}
	json_object_foreach (have, key, v) {
		(void)snprintf(text, sizeof(text), "%s is still here", key);
		if (!json_object_get(want, key))
			return text;
	}
	return NULL;
}

void mirror_settle_within(struct mirror *m, const char *what, int turns)
{
	json_t *want = truth(m);
	const char *diff = "";

	for (int i = 0; i < turns; i++) {
		diff = m->listing || !m->synced ? "not synced" : difference(want, m->pods);
		if (!diff)
			break;
		mirror_turn(m, TURN_MS);
	}
	ck_assert_msg(!diff, "%s: %s (lists %u, failed %u, troubles %u)", what, diff, m->lists, m->failed,
		      m->troubles);
	json_decref(want);
}

void mirror_settle(struct mirror *m, const char *what)
{
	mirror_settle_within(m, what, 12000);
}

void mirror_sim(struct mirror *m, const char *path, const char *body)
{
	ck_assert_int_eq(mirror_request(m, "POST", path, body, NULL), 200);
}

json_int_t mirror_requests(struct mirror *m, const char *verb)
{
	_cleanup_free_ char *key = xasprintf("%s pods", verb);
	json_t *stats = NULL;

	ck_assert_int_eq(mirror_request(m, "GET", "/_sim/stats", NULL, &stats), 200);
	const json_t *verbs = json_object_get(stats, "requestsByVerb");
	const json_int_t n = json_integer_value(json_object_get(verbs, key));

	ck_assert_ptr_nonnull(verbs);
	json_decref(stats);
	return n;
}

void mirror_create(struct mirror *m, const char *ns, const char *name, size_t filler)
{
	_cleanup_free_ char *path = xasprintf("/api/v1/namespaces/%s/pods", ns);
	_cleanup_free_ char *text = xcalloc(1, filler + 1);

	memset(text, 'x', filler);
	_cleanup_free_ char *body =
		xasprintf("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\"},"
			  "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"args\":[\"%s\"]}]}}",
			  name, text);

	ck_assert_int_eq(mirror_request(m, "POST", path, body, NULL), 201);
}
