/* fake.c - see fake.h. */
// SPDX-License-Identifier: Apache-2.0
#include "fake.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "tests/facts_en.h"
#include "worker/access.h"

struct fake fake;

static struct {
	bool pending, slow;
	struct http_call call;
	struct fake_reply *reply;
} wire;

void fake_setup(void)
{
	memset(&fake, 0, sizeof(fake));
	memset(&wire, 0, sizeof(wire));
	clock_fake_set(NOW, BOOT);
	fake.policy.finish_ms = 60000;
	fake.kinds = owner_kinds_new();
	for (int d = 0; d < DUTY__MAX; d++) {
		fake.policy.duty[d].enable = true;
		fake.policy.duty[d].hours_ms = HOUR;
		str_list_add(&fake.policy.duty[d].namespaces, "*", 1);
	}
	fake.policy.duty[DUTY_EVICTED].hours_ms = 0; /* without a time, as in the original's file */
	str_list_add(&fake.policy.duty[DUTY_IMAGE_PULL].status, "ErrImagePull", 12);
	str_list_add(&fake.policy.duty[DUTY_IMAGE_PULL].causes, "permanent", 9);
	fake.grant = (struct msg_grant){ .id = 7,
					 .valid_until = BOOT + 20000,
					 .ns = "shop",
					 .name = "web",
					 .uid = "pod-1",
					 .action_key = "pod-1",
					 .reason = "Evicted" };
}

void without_evictions(void)
{
	owner_kinds_learn(fake.kinds, STR_LIT("lifecycle.k8s.io/v1"), STR_LIT("Eviction"), NULL, 0,
			  clock_boot_ms());
}

void fake_teardown(void)
{
	for (int d = 0; d < DUTY__MAX; d++) {
		str_list_done(&fake.policy.duty[d].namespaces);
		str_list_done(&fake.policy.duty[d].status);
		str_list_done(&fake.policy.duty[d].causes);
	}
	for (size_t i = 0; i < fake.n_replies; i++)
		free(fake.replies[i].request), free(fake.replies[i].body);
	for (size_t i = 0; i < fake.n_log; i++)
		free(fake.log[i]);
	owner_kinds_free(&fake.kinds);
	namespace_cache_free(&fake.namespaces);
	clock_fake_clear();
}

struct fake_reply *on(const char *request, long status, const char *body, ...)
{
	struct fake_reply *r = &fake.replies[fake.n_replies++];
	va_list ap;

	ck_assert_uint_le(fake.n_replies, 64);
	va_start(ap, body);
	*r = (struct fake_reply){ .request = xstrdup(request),
				  .status = status,
				  .body = xvasprintf(body, ap) };
	va_end(ap);
	for (char *c = r->body; *c; c++)
		if (*c == '\'')
			*c = '"';
	return r;
}

struct fake_reply *on_failure(const char *request, enum http_failure failure, bool sent)
{
	struct fake_reply *r = on(request, 0, "%s", "");

	r->failure = failure;
	r->sent = sent;
	return r;
}

struct fake_reply *on_pod(const char *rv, const char *meta, const char *spec, const char *status)
{
	return on("GET " POD_PATH, 200,
		  "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'web','namespace':'shop','uid':'pod-1',"
		  "'resourceVersion':'%s','creationTimestamp':'" LIVE "'%s},'spec':{%s},'status':{%s}}",
		  rv, meta, spec, status);
}

static struct fake_reply *find_reply(const char *request)
{
	for (size_t i = fake.n_replies; i-- > 0;) {
		struct fake_reply *r = &fake.replies[i];
		const size_t n = strlen(r->request);

		if (strncmp(request, r->request, n) != 0 || (request[n] && request[n] != '?') || r->times < 0)
			continue;
		if (r->times > 0 && --r->times == 0)
			r->times = -1; /* spent */
		return r;
	}
	return NULL;
}

/* A namespace that nobody has marked, where the test does not say otherwise: neither noted nor slow. */
static bool is_plain_namespace(const char *request)
{
	static char body[] = "{\"kind\":\"Namespace\",\"metadata\":{\"name\":\"shop\"}}";
	static struct fake_reply reply = { .status = 200, .body = body };

	if (strcmp(request, "GET " NAMESPACE_PATH) != 0)
		return false;
	wire.reply = &reply;
	return true;
}

/* A credential that may write, where the test does not say otherwise. */
static bool is_review(const char *request)
{
	static char body[] = "{\"kind\":\"SelfSubjectAccessReview\",\"status\":{\"allowed\":true}}";
	static struct fake_reply reply = { .status = 201, .body = body };

	if (!fake.grant.observe || strcmp(request, "POST " ACCESS_PATH) != 0)
		return false;
	wire.reply = &reply;
	return true;
}

struct http_request *http_client_start(struct http_client *c, const struct http_call *call)
{
	(void)c;
	ck_assert(!wire.pending);
	ck_assert_uint_le(call->total_timeout_ms, 5000);
	ck_assert_uint_gt(call->total_timeout_ms, 0);
	wire.pending = true;
	wire.call = *call;
	char request[1024];

	(void)snprintf(request, sizeof(request), "%s %s", call->method, call->path);
	wire.reply = find_reply(request);
	wire.slow = wire.reply || !(is_plain_namespace(request) || is_review(request));
	if (!wire.slow)
		return (struct http_request *)&wire;
	ck_assert_msg(wire.reply != NULL, "no answer was written down for %s", request);
	ck_assert_uint_lt(fake.n_log, 64);
	fake.log[fake.n_log++] = xasprintf("%s %s%s%s", call->method, call->path, call->body ? " " : "",
					   call->body ? call->body : "");
	return (struct http_request *)&wire;
}

void http_request_cancel(struct http_request **r)
{
	if (*r)
		wire.pending = false;
	*r = NULL;
}

static bool pauses;

static void fake_wait(void *ctx, uint64_t ms)
{
	(void)ctx;
	ck_assert(!pauses && !wire.pending);
	ck_assert_uint_lt(fake.n_pauses, 16);
	fake.pauses[fake.n_pauses++] = ms;
	pauses = true;
}

static void fake_done(void *ctx, const struct msg *m)
{
	struct action **e = ctx;

	ck_assert_int_eq(m->type, MSG_RESULT);
	fake.result = m->u.result;
	fake.reported = action_event(*e, &fake.event);
	fake.done++;
	action_free(e); /* as the process does */
}

static void fake_quote(void *ctx, const struct msg *m)
{
	(void)ctx;
	ck_assert_int_eq(m->type, MSG_QUOTE);
	ck_assert_uint_eq(m->u.quote.number, fake.n_quotes);
	ck_assert_uint_lt(fake.n_quotes, QUOTES_MAX);
	fake.quotes[fake.n_quotes++] = m->u.quote;
}

static void fake_credential(void *ctx)
{
	(void)ctx;
	fake.credentials++;
}

static void fake_unmarked(void *ctx, const char *why)
{
	(void)ctx;
	ck_assert_ptr_nonnull(why);
	fake.unmarked++;
}

static void answer(void)
{
	const struct fake_reply *reply = wire.reply;
	const struct http_call call = wire.call;
	struct http_result r = { .failure = reply->failure,
				 .status = reply->status,
				 .sent = reply->status || reply->sent,
				 .content_type = "application/json",
				 .retry_after_ms = reply->retry_after_ms ? reply->retry_after_ms : -1,
				 .server_date_ms = reply->date_ms,
				 .body = reply->body,
				 .body_len = strlen(reply->body) };

	wire.pending = false;
	if (wire.slow)
		clock_fake_advance(fake.slowness_ms);
	if (reply->failure)
		transport_said(&r.why, "it broke");
	else if (call.on_headers)
		call.on_headers(call.ctx, r.status, r.content_type, r.server_date_ms);
	call.on_done(call.ctx, &r);
}

static struct action *action;

void fake_drain(void)
{
	while (wire.pending || pauses) {
		if (!pauses) {
			answer();
			continue;
		}
		pauses = false;
		clock_fake_advance((int64_t)fake.pauses[fake.n_pauses - 1]);
		action_go_on(action);
	}
}

static const char *label_of(const json_t *meta)
{
	static const char *const labels[] = { "pod-template-hash", "rollouts-pod-template-hash",
					      "controller-revision-hash" };
	const char *text = NULL;

	for (size_t i = 0; !text && i < sizeof(labels) / sizeof(labels[0]); i++)
		text = json_string_value(json_object_get(json_object_get(meta, "labels"), labels[i]));
	return text ? text : "";
}

/* As an honest supervisor and its watcher would: what the first answer shows has been known for long. */
static void fill_known(void)
{
	const char *key = "pod-1", *body = NULL;
	json_t *pod, *ref;
	size_t i;

	for (i = fake.n_replies; !body && i-- > 0;)
		if (strcmp(fake.replies[i].request, "GET " POD_PATH) == 0)
			body = fake.replies[i].body;
	pod = body ? json_loads(body, 0, NULL) : NULL;
	json_array_foreach (json_object_get(json_object_get(pod, "metadata"), "ownerReferences"), i, ref)
		if (json_is_true(json_object_get(ref, "controller")))
			key = json_string_value(json_object_get(ref, "uid"));
	(void)snprintf(fake.grant.action_key, sizeof(fake.grant.action_key), "%s", key ? key : "");
	(void)snprintf(fake.grant.revision, sizeof(fake.grant.revision), "%s",
		       label_of(json_object_get(pod, "metadata")));
	fake.grant.known_since = 1;
	json_decref(pod);
}

static void make_action(void)
{
	const struct action_env env = { .wait = fake_wait,
					.quote = fake_quote,
					.done = fake_done,
					.credential = fake_credential,
					.unmarked = fake_unmarked,
					.ctx = &action,
					.kinds = fake.kinds,
					.namespaces = fake.namespaces,
					.clock = &fake.clock,
					.windows = fake.windows,
					.contact_keys = fake.contact_keys };

	if (fake.grant.known_since == 0 && !fake.grants_as_it_is)
		fill_known();
	action = action_new(&env, &fake.policy, &fake.grant);
	if (fake.dry_run)
		action_set_dry_run(action);
}

static void end_it(void)
{
	fake_drain();
	ck_assert_uint_eq(fake.done, 1);
	ck_assert_ptr_null(action);
	ck_assert_uint_eq(fake.result.id, fake.grant.id);
}

void go(void)
{
	make_action();
	action_start(action);
	end_it();
}

void go_prefetch(void)
{
	make_action();
	action_prefetch(action);
}

void grant(void)
{
	ck_assert_uint_eq(fake.done, 0);
	action_granted(action, &fake.grant);
	end_it();
}

void settings_change(const struct policy *policy)
{
	action_set_policy(action, policy);
}

void give_up(void)
{
	action_free(&action);
}

void expect_requests(int line, const char *first, ...)
{
	const char *want = first;
	size_t i = 0;
	va_list ap;

	va_start(ap, first);
	for (; want; want = va_arg(ap, const char *), i++) {
		ck_assert_msg(i < fake.n_log, "line %d: request %zu missing: %s", line, i, want);
		ck_assert_msg(strncmp(fake.log[i], want, strlen(want)) == 0,
			      "line %d: request %zu\n  wanted %s\n  was    %s", line, i, want, fake.log[i]);
	}
	va_end(ap);
	ck_assert_msg(i == fake.n_log, "line %d: one request more than wanted: %s", line,
		      i < fake.n_log ? fake.log[i] : "?");
}

void expect_result(enum outcome outcome, enum reason reason, int line)
{
	ck_assert_msg(fake.result.outcome == (uint64_t)outcome &&
			      strcmp(fake.result.reason, reason_code(reason)) == 0,
		      "line %d: wanted %s %s, was %s %s (%s)", line, outcome_name(outcome),
		      reason_code(reason), outcome_name((enum outcome)fake.result.outcome),
		      fake.result.reason, EN(fake.result.detail));
}
