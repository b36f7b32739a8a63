/* test_membership.c - a replica among those that share clusters: which Lease it keeps, and what it says of
 * the others. The algorithms are tested by kube/test_members.c and kube/test_leader.c. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "kube/leader.h"
#include "tests/suite.h"
#include "tests/unit/kube/wire.h"
#include "watcher/guards/membership.h"

#define BOOT 1000000
#define WALL INT64_C(1700000000000)

/* -- HTTP, played: one request for the list, one for the Lease -- */

struct http_request {
	bool open;
	int started;
	char method[8], path[200], body[600];
	void (*on_done)(void *ctx, const struct http_result *r);
	void *ctx;
};
static struct http_request of_list, of_lease;

struct http_request *http_client_start(struct http_client *c, const struct http_call *call)
{
	struct http_request *r = strstr(call->path, "labelSelector") ? &of_list : &of_lease;

	(void)c;
	ck_assert(!r->open);
	r->open = true;
	r->started++;
	(void)snprintf(r->method, sizeof(r->method), "%s", call->method);
	(void)snprintf(r->path, sizeof(r->path), "%s", call->path);
	(void)snprintf(r->body, sizeof(r->body), "%s", call->body ? call->body : "");
	r->on_done = call->on_done;
	r->ctx = call->ctx;
	return r;
}

void http_request_cancel(struct http_request **r)
{
	if (*r)
		(*r)->open = false;
	*r = NULL;
}

static void answer(struct http_request *r, long status, const struct wire *body)
{
	const struct http_result result = { .failure = status ? HTTP_OK : HTTP_TIMEOUT,
					    .status = status,
					    .body = body ? (const char *)body->p : "",
					    .body_len = body ? body->n : 0 };

	ck_assert(r->open);
	r->open = false;
	r->on_done(r->ctx, &result);
}

/* -- what is told -- */

static struct event_base *base;
static struct membership *m;
static char told[600];
static uint64_t told_until;
static int refused, troubles, released;
static bool in_trouble;

static void on_members(void *ctx, const char *live, uint64_t valid_until)
{
	(void)ctx;
	(void)snprintf(told, sizeof(told), "%s", live);
	told_until = valid_until;
}

static void on_refused(void *ctx)
{
	(void)ctx;
	refused++;
}

static void on_trouble(void *ctx, const struct facts *why)
{
	(void)ctx;
	troubles++;
	in_trouble = !facts_empty(why);
}

static void on_released(void *ctx)
{
	(void)ctx;
	released++;
}

static void setup(void)
{
	static const struct membership_ops ops = { on_members, on_refused, on_trouble };

	clock_fake_set(WALL, BOOT);
	base = event_base_new();
	m = membership_new(base, NULL, "me", "home", "ours", &ops, NULL);
}

static void teardown(void)
{
	membership_free(&m);
	event_base_free(base);
	clock_fake_clear();
}

static void add_lease(struct wire *list, const char *name, const char *holder, const char *rv)
{
	struct wire lease = { 0 }, meta = { 0 }, spec = { 0 };

	wire_field_str(&meta, 1, name);
	wire_field_str(&meta, 6, rv);
	wire_field_str(&spec, 1, holder);
	wire_field_varint(&spec, 2, 8);
	wire_field_message(&lease, 1, &meta);
	wire_field_message(&lease, 2, &spec);
	wire_field_message(list, 2, &lease);
}

/* The list shows so many Leases: those of `holders`, from number 1 on. */
static void lists(const char *const holders[], const char *rv)
{
	struct wire list = { 0 }, all = { 0 };
	char name[32];

	for (int i = 0; holders[i]; i++) {
		(void)snprintf(name, sizeof(name), "ours-replica-%d", i + 1);
		add_lease(&list, name, holders[i], rv);
	}
	wire_envelope(&all, "coordination.k8s.io/v1", "LeaseList", &list);
	answer(&of_list, 200, &all);
	wire_done(&all);
}

static int activate(const struct event_base *b, const struct event *e, void *ctx)
{
	(void)b, (void)ctx;
	event_active((struct event *)(uintptr_t)e, EV_TIMEOUT, 0);
	return 0;
}

static void pass(int64_t ms)
{
	clock_fake_advance(ms);
	(void)event_base_foreach_event(base, activate, NULL);
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
}

#define LISTS(...) lists((const char *const[]){ __VA_ARGS__ NULL }, "1")

TEST(it_keeps_the_first_lease_that_is_free)
{
	ck_assert_str_eq(of_list.path, "/apis/coordination.k8s.io/v1/namespaces/home/leases"
				       "?labelSelector=ops-pod-cleaner.io/replica%3Dtrue");
	ck_assert_int_eq(of_lease.started, 0);
	LISTS("other", );
	ck_assert_str_eq(told, "other\n");
	ck_assert_uint_eq(told_until, BOOT + LEADER_MEMBER_MS);
	ck_assert_str_eq(of_lease.path, "/apis/coordination.k8s.io/v1/namespaces/home/leases/ours-replica-2");
	answer(&of_lease, 404, NULL);
	ck_assert_str_eq(of_lease.method, "POST");
	ck_assert_ptr_nonnull(strstr(of_lease.body, "\"labels\":{\"ops-pod-cleaner.io/replica\":\"true\"}"));
	ck_assert_ptr_nonnull(strstr(of_lease.body, "\"holderIdentity\":\"me\""));
}

TEST(one_that_another_has_taken_is_left_to_it)
{
	LISTS();
	ck_assert_ptr_nonnull(strstr(of_lease.path, "/ours-replica-1"));
	answer(&of_lease, 404, NULL);
	answer(&of_lease, 409, NULL);
	pass(2000);
	LISTS("other", );
	ck_assert_ptr_nonnull(strstr(of_lease.path, "/ours-replica-2"));
	ck_assert_str_eq(told, "other\n");
}

TEST(without_the_right_to_list_there_is_trouble)
{
	answer(&of_list, 403, NULL);
	ck_assert(in_trouble);
	ck_assert_int_eq(of_lease.started, 0);
	pass(2000);
	LISTS();
	ck_assert(!in_trouble);
}

TEST(and_without_the_right_to_a_lease)
{
	LISTS();
	answer(&of_lease, 403, NULL);
	ck_assert(in_trouble);
	pass(2000);
	LISTS();
	ck_assert(in_trouble);
}

/* The cluster's own watch tells of that. */
TEST(a_server_that_is_away_is_no_trouble)
{
	for (size_t i = 0; i < 3; i++) {
		answer(&of_list, (long[]){ 0, 500, 429 }[i], NULL);
		pass(2000);
	}
	ck_assert_int_eq(troubles, 0);
	ck_assert_str_eq(told, "");
	answer(&of_list, 401, NULL);
	ck_assert_int_eq(refused, 1);
	ck_assert_int_eq(troubles, 0);
}

TEST(a_list_that_is_cut_says_nothing)
{
	struct wire all = { 0 }, list = { 0 };

	wire_field_str(&list, 2, "no lease");
	wire_envelope(&all, "coordination.k8s.io/v1", "LeaseList", &list);
	answer(&of_list, 200, &all);
	wire_done(&all);
	ck_assert_uint_eq(told_until, 0);
	pass(2000);
	ck_assert(of_list.open);
}

TEST(who_leaves_lists_no_more)
{
	LISTS();
	pass(2000);
	membership_release(m, on_released, NULL);
	ck_assert(!of_list.open);
	ck_assert_int_eq(released, 1); /* its Lease was not there yet */
}

TEST_MAIN("watcher/membership")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
