/* test_meter.c - what is counted is told together, and nothing of it twice. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <event2/event.h>

#include "process/meter.h"
#include "tests/suite.h"

static struct event_base *base;
static struct meter *m;
static struct msg told[300];
static size_t n_told;
static int room;

static int take(void *ctx, const struct msg *row)
{
	(void)ctx;
	if (room-- <= 0)
		return -EAGAIN;
	told[n_told++] = *row;
	return 0;
}

static void setup(void)
{
	base = event_base_new();
	m = meter_new(base, 5, take, NULL);
	n_told = 0;
	room = 1000;
}

static void teardown(void)
{
	meter_free(&m);
	event_base_free(base);
}

static void ask(enum api_verb verb, long status, uint64_t us)
{
	meter_timed_request(m, &(struct http_seen){ .verb = verb, .status = status, .us = us });
}

TEST(requests_are_added_up)
{
	ask(API_GET, 200, 900);
	ask(API_GET, 200, 1000);
	ask(API_PATCH, 409, 3000);
	ask(API_DELETE, 0, 4000000);
	ask(API_CREATE, 201, 5);
	ck_assert_uint_eq(n_told, 0);
	meter_flush(m);
	ck_assert_uint_eq(n_told, 7);
	ck_assert_int_eq(told[0].type, MSG_REQUESTS);
	ck_assert_uint_eq(told[0].u.requests.cluster, 5);
	ck_assert_uint_eq(told[0].u.requests.verb, API_GET);
	ck_assert_uint_eq(told[0].u.requests.code, 200);
	ck_assert_uint_eq(told[0].u.requests.n, 2);
	ck_assert_uint_eq(told[2].u.requests.code, 0);
	ck_assert_int_eq(told[4].type, MSG_TIMING);
	ck_assert_uint_eq(told[4].u.timing.timing, TIMING_READ);
	ck_assert_uint_eq(told[4].u.timing.bucket, 0);
	ck_assert_uint_eq(told[4].u.timing.n, 2);
	ck_assert_uint_eq(told[4].u.timing.sum_us, 1900);
	ck_assert_uint_eq(told[5].u.timing.timing, TIMING_WRITE);
	ck_assert_uint_eq(told[6].u.timing.sum_us, 4000000);
	meter_flush(m);
	ck_assert_uint_eq(n_told, 7);
}

/* Told by the timer; what finds no room is told later, once. */
TEST(what_found_no_room_is_told_later)
{
	ask(API_GET, 200, 900);
	ask(API_LIST, 200, 900);
	room = 1;
	meter_flush(m);
	ck_assert_uint_eq(n_told, 1);
	room = 1000;
	ck_assert_int_ge(event_base_dispatch(base), 0); /* ends: nothing is left to wait for */
	ck_assert_uint_eq(n_told, 3);
	ck_assert_uint_eq(told[1].u.requests.verb, API_LIST);
	ck_assert_uint_eq(told[2].u.timing.n, 2);
}

TEST(codes_are_bounded)
{
	for (long code = 100; code < 400; code++)
		ask(API_GET, code, 1);
	ask(API_GET, 123456, 1);
	meter_flush(m);
	ck_assert_uint_eq(n_told, METER_CODES_MAX + 1);
	uint64_t n = 0;

	for (size_t i = 0; i < METER_CODES_MAX; i++)
		n += told[i].u.requests.n;
	ck_assert_uint_eq(n, 301);
}

static const struct {
	const char *method, *path;
	enum api_verb verb;
} verbs[] = {
	{ "GET", "/api/v1/pods?limit=500", API_LIST },
	{ "GET", "/api/v1/pods?resourceVersion=5&watch=true", API_WATCH },
	{ "GET", "/api/v1/namespaces/a/pods?watch=true", API_WATCH },
	{ "GET", "/api/v1/namespaces/a/pods", API_LIST },
	{ "GET", "/api/v1/namespaces/a/pods/", API_LIST },
	{ "GET", "/api/v1/namespaces/a/pods/b", API_GET },
	{ "GET", "/api/v1/namespaces", API_LIST },
	{ "GET", "/api/v1/namespaces/a", API_GET },
	{ "GET", "/api/v1/namespaces?limit=1", API_LIST },
	{ "GET", "/apis/apps/v1/namespaces/a/deployments/b/scale", API_GET },
	{ "GET", "/apis/apps/v1/namespaces/a/replicasets?labelSelector=x%2Fy", API_LIST },
	{ "GET", "/apis/storage.k8s.io/v1/volumeattachments?limit=5", API_LIST },
	{ "GET", "/api/v1/nodes/n1", API_GET },
	{ "GET", "/version", API_GET },
	{ "GET", "/", API_GET },
	{ "PATCH", "/apis/apps/v1/namespaces/a/deployments/b/scale", API_PATCH },
	{ "DELETE", "/api/v1/namespaces/a/pods/b", API_DELETE },
	{ "POST", "/api/v1/namespaces/a/events", API_CREATE },
	{ "PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/l", API_UPDATE },
};

TEST_LOOP(a_verb_is_kubernetes_own, 0, (int)(sizeof(verbs) / sizeof(verbs[0])))
{
	ck_assert_msg(api_verb_of(verbs[_i].method, verbs[_i].path) == verbs[_i].verb, "%s %s is %s",
		      verbs[_i].method, verbs[_i].path,
		      api_verb_name(api_verb_of(verbs[_i].method, verbs[_i].path)));
}

TEST_MAIN("process/meter")
{
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
}
