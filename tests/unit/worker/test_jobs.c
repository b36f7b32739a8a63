/* test_jobs.c - the worker's main.c between a supervisor and a server that are played here: which grant takes
 * up what was prefetched, and how many it takes at once. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "config/settings.h"
#include "http/client.h"
#include "http/global.h"
#include "model/reasons.h"
#include "process/cluster_endpoint.h"
#include "process/meter.h"
#include "process/process.h"
#include "worker/worker.h"
#include "tests/suite.h"

#define BOOT UINT64_C(5000000)

/* -- what is played: the process, whose loop is the test; the server, which answers when it is told to -- */

static const struct process_spec *const spec = &worker_spec;
static void *process_context;
static struct msg sent[64];
static size_t n_sent;

static struct {
	struct http_call call;
	char *text; /* "GET web-1" */
	bool pending;
} calls[64];
static size_t n_calls;

void *process_ctx(struct process *p)
{
	(void)p;
	return process_context;
}

void process_set_ctx(struct process *p, void *ctx)
{
	(void)p;
	process_context = ctx;
}

struct event_base *process_base(struct process *p)
{
	(void)p;
	return NULL;
}

void process_say_trouble(struct process *p, enum trouble kind, const struct facts *particulars)
{
	(void)p, (void)kind, (void)particulars;
}

uint64_t process_cluster(const struct process *p)
{
	(void)p;
	return 0;
}

uint64_t process_generation(const struct process *p)
{
	(void)p;
	return 1;
}

int process_send(struct process *p, const struct msg *m)
{
	(void)p;
	ck_assert_uint_lt(n_sent, 64);
	sent[n_sent++] = *m;
	return 0;
}

void process_drained(struct process *p, uint64_t left)
{
	(void)p;
	(void)left;
}

void cluster_endpoint(const struct cluster_settings *c, const char *user_agent, struct http_endpoint *ret)
{
	(void)c;
	(void)user_agent;
	*ret = (struct http_endpoint){ 0 };
}

void http_global_init(void)
{
}

struct http_client *http_client_new(struct event_base *base, const struct http_endpoint *e)
{
	(void)base;
	(void)e;
	return NULL;
}

void http_client_free(struct http_client **c)
{
	(void)c;
}

void http_client_set_endpoint(struct http_client *c, const struct http_endpoint *e)
{
	(void)c;
	(void)e;
}

void http_client_watch(struct http_client *c, http_seen_fn *fn, void *ctx)
{
	(void)c, (void)fn, (void)ctx;
}

struct meter *meter_new(struct event_base *base, uint64_t cluster,
			int (*send)(void *ctx, const struct msg *m), void *ctx)
{
	(void)base, (void)cluster, (void)send, (void)ctx;
	return NULL;
}

void meter_free(struct meter **m)
{
	(void)m;
}

void meter_flush(struct meter *m)
{
	(void)m;
}

void meter_timed_request(void *ctx, const struct http_seen *seen)
{
	(void)ctx, (void)seen;
}

struct http_request *http_client_start(struct http_client *c, const struct http_call *call)
{
	const char *name = strrchr(call->path, '/') + 1;

	(void)c;
	ck_assert_uint_lt(n_calls, 64);
	calls[n_calls].call = *call;
	calls[n_calls].pending = true;
	calls[n_calls].text = xasprintf("%s %.*s", call->method, (int)strcspn(name, "?"), name);
	return (struct http_request *)&calls[n_calls++];
}

void http_request_cancel(struct http_request **r)
{
	for (size_t i = 0; *r && i < n_calls; i++)
		if (*r == (struct http_request *)&calls[i])
			calls[i].pending = false;
	*r = NULL;
}

/* Every pod is there, evicted; its uid is its name with "uid-" before it. Nobody has marked the namespace. */
static void answer_all(void)
{
	for (size_t i = 0; i < n_calls; i++) {
		const struct http_call call = calls[i].call;
		const char *name = strchr(calls[i].text, ' ') + 1;
		struct http_result r = { .status = strcmp(call.method, "POST") == 0 ? 201 : 200,
					 .sent = true,
					 .content_type = "application/json",
					 .retry_after_ms = -1 };
		_cleanup_free_ char *body =
			xasprintf("{\"kind\":\"%s\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\","
				  "\"namespace\":\"shop\",\"uid\":\"uid-%s\",\"resourceVersion\":\"5\","
				  "\"creationTimestamp\":\"2026-09-20T14:13:20Z\"},\"spec\":{},"
				  "\"status\":{\"phase\":\"Failed\",\"reason\":\"Evicted\"}}",
				  strcmp(name, "shop") == 0 ? "Namespace" : "Pod", name, name);

		if (!calls[i].pending)
			continue;
		calls[i].pending = false;
		r.body = body;
		r.body_len = strlen(body);
		if (call.on_headers)
			call.on_headers(call.ctx, r.status, r.content_type, 0);
		call.on_done(call.ctx, &r);
	}
}

/* -- steps -- */

static void set_up(void)
{
	_cleanup_(settings_done) struct settings s;
	enum text why;

	clock_fake_set(INT64_C(1790000000000), BOOT);
	settings_init(&s);
	s.cluster.server = xstrdup("https://127.0.0.1:6443");
	s.policy.duty[DUTY_EVICTED].enable = true;
	str_list_add(&s.policy.duty[DUTY_EVICTED].namespaces, "*", 1);
	ck_assert_int_eq(spec->check_settings(&s, &why), 0);
	ck_assert_int_eq(spec->on_start(NULL, &s), 0);
}

static void tear_down(void)
{
	spec->on_done(NULL);
	while (n_calls > 0)
		free(calls[--n_calls].text);
}

static void hears(enum msg_type type, uint64_t id, unsigned pod)
{
	struct msg grant = { .type = MSG_GRANT,
			     .u.grant = { .id = id,
					  .duty = DUTY_EVICTED,
					  .action = ACTION_DELETE,
					  .valid_until = BOOT + 20000,
					  .ns = "shop",
					  .reason = "Evicted" } };
	struct msg m = { .type = type };

	(void)snprintf(grant.u.grant.name, sizeof(grant.u.grant.name), "web-%u", pod);
	(void)snprintf(grant.u.grant.uid, sizeof(grant.u.grant.uid), "uid-web-%u", pod);
	strcpy(grant.u.grant.action_key, grant.u.grant.uid);
	msg_copy_fields(&m, &grant);
	spec->on_msg(NULL, &m);
}

static size_t asked(const char *text)
{
	size_t n = 0;

	for (size_t i = 0; i < n_calls; i++)
		n += strcmp(calls[i].text, text) == 0;
	return n;
}

/* -- cases -- */

TEST(a_prefetch_is_taken_up_by_its_own_grant)
{
	hears(MSG_PREFETCH, 1, 1);
	hears(MSG_GRANT, 1, 1);
	for (int i = 0; i < 4; i++)
		answer_all();
	ck_assert_uint_eq(asked("GET web-1"), 1);
	ck_assert_uint_eq(asked("DELETE web-1"), 1);
	ck_assert_uint_eq(n_sent, 1);
	ck_assert_uint_eq(sent[0].u.result.id, 1);
	ck_assert_uint_eq(sent[0].u.result.outcome, OUTCOME_DONE);
}

/* What was read for another lease is no ground for this one's write. */
TEST(a_prefetch_is_not_taken_up_by_another_grant)
{
	hears(MSG_PREFETCH, 1, 1);
	hears(MSG_GRANT, 2, 2);
	for (int i = 0; i < 4; i++)
		answer_all();
	ck_assert_uint_eq(asked("GET web-2"), 1);
	ck_assert_uint_eq(asked("DELETE web-2"), 1);
	ck_assert_uint_eq(asked("DELETE web-1"), 0); /* it has no grant */
	ck_assert_uint_eq(n_sent, 1);
	ck_assert_uint_eq(sent[0].u.result.id, 2);
}

TEST(grants_beyond_its_room_are_declined_at_once)
{
	for (unsigned i = 1; i <= WORKER_LEASES_MAX + 1; i++)
		hears(MSG_GRANT, i, i);
	ck_assert_uint_eq(n_calls, WORKER_LEASES_MAX);
	ck_assert_uint_eq(n_sent, 1);
	ck_assert_uint_eq(sent[0].u.result.id, WORKER_LEASES_MAX + 1);
	ck_assert_uint_eq(sent[0].u.result.outcome, OUTCOME_FAILED);
	ck_assert_str_eq(sent[0].u.result.reason, reason_code(REASON_WORKER_BUSY));
}

/* A dry run reads and stops before the write; its answer is no RESULT. */
TEST(a_dry_run_writes_nothing)
{
	hears(MSG_CTL_DRY_RUN, 9, 3);
	for (int i = 0; i < 4; i++)
		answer_all();
	ck_assert_uint_eq(asked("GET web-3"), 1);
	ck_assert_uint_eq(asked("DELETE web-3"), 0);
	ck_assert_uint_eq(n_sent, 1);
	ck_assert_int_eq(sent[0].type, MSG_CTL_DRY_RUN_RESULT);
	ck_assert_uint_eq(sent[0].u.ctl_dry_run_result.outcome, OUTCOME_WOULD);
}

TEST_MAIN("worker/jobs")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
}
