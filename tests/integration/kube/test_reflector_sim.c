/* test_reflector_sim.c - random histories on apisim, with compaction, closed connections, refusals, cut and
 * garbled answers, against a dictionary kept by the reflector's words alone: in the end both are the same.
 * The seed is printed and may be given as SEED=n; HISTORIES=n runs more of them. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "http/global.h"
#include "tests/integration/kube/mirror.h"
#include "tests/suite.h"

static uint64_t seed, rounds = 60;

static uint64_t below(uint64_t n) /* splitmix64 */
{
	uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (z ^ (z >> 31)) % n;
}

/* -- what happens -- */

static void create(struct mirror *m)
{
	_cleanup_free_ char *path = xasprintf("/api/v1/namespaces/ns-%u/pods", (unsigned)below(3));
	_cleanup_free_ char *body =
		xasprintf("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p-%u\"},"
			  "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
			  (unsigned)below(30));

	(void)mirror_request(m, "POST", path, body, NULL);
}

static void change(struct mirror *m)
{
	_cleanup_free_ char *path = xasprintf("/api/v1/namespaces/ns-%u/pods/p-%u/status", (unsigned)below(3),
					      (unsigned)below(30));

	(void)mirror_request(m, "PATCH", path,
			     below(2) ? "{\"status\":{\"phase\":\"Failed\",\"reason\":\"Evicted\"}}"
				      : "{\"status\":{\"phase\":\"Running\",\"reason\":\"\"}}",
			     NULL);
}

static void delete (struct mirror *m)
{
	_cleanup_free_ char *path =
		xasprintf("/api/v1/namespaces/ns-%u/pods/p-%u", (unsigned)below(3), (unsigned)below(30));

	(void)mirror_request(m, "DELETE", path, "{\"gracePeriodSeconds\":0}", NULL);
}

static void recreate(struct mirror *m)
{
	delete (m);
	create(m);
}

/* Of the next list or watch, whatever comes first. */
static const char *const rules[] = {
	"{\"verb\":\"watch\",\"resource\":\"pods\",\"status\":500}",
	"{\"verb\":\"watch\",\"resource\":\"pods\",\"status\":429}",
	"{\"verb\":\"watch\",\"resource\":\"pods\",\"status\":410,\"reason\":\"Expired\"}",
	"{\"verb\":\"watch\",\"resource\":\"pods\",\"status\":401,\"reason\":\"Unauthorized\"}",
	"{\"verb\":\"watch\",\"resource\":\"pods\",\"garbage\":true}",
	"{\"verb\":\"watch\",\"resource\":\"pods\",\"cutAfterBytes\":700}",
	"{\"verb\":\"watch\",\"resource\":\"pods\",\"dropResponse\":true}",
	"{\"verb\":\"watch\",\"resource\":\"pods\",\"bodyText\":\"<p>\",\"contentType\":\"text/html\"}",
	"{\"verb\":\"list\",\"resource\":\"pods\",\"status\":503}",
	"{\"verb\":\"list\",\"resource\":\"pods\",\"status\":410,\"reason\":\"Expired\"}",
	"{\"verb\":\"list\",\"resource\":\"pods\",\"garbage\":true}",
	"{\"verb\":\"list\",\"resource\":\"pods\",\"cutAfterBytes\":900}",
};

static void disturb(struct mirror *m)
{
	static const char *const paths[] = { "/_sim/close-watches",
					     "/_sim/close-watches?error=410",
					     "/_sim/close-watches?error=500",
					     "/_sim/close-watches?error=429",
					     "/_sim/compact",
					     "/_sim/bookmarks?count=3",
					     "/_sim/pause-watches?ms=30" };

	if (below(2))
		mirror_sim(m, "/_sim/faults", rules[below(ARRAY_SIZE(rules))]);
	if (below(2))
		mirror_sim(m, paths[below(ARRAY_SIZE(paths))], NULL);
	if (below(3) == 0)
		mirror_sim(m, "/_sim/close-watches", NULL);
	if (below(6) == 0)
		(void)mirror_request(m, "POST", "/_sim/close-connections", NULL, NULL);
}

#define SETTLE_TURNS 6000

static void settle(struct mirror *m, unsigned round)
{
	char what[32];

	(void)snprintf(what, sizeof(what), "round %u", round);
	mirror_settle_within(m, what, SETTLE_TURNS);
}

static void one_round(struct mirror *m, unsigned round)
{
	static void (*const actions[])(struct mirror *) = { create, create, create,  change,
							    change, delete, recreate };

	for (uint64_t i = 0, n = 3 + below(12); i < n; i++) {
		actions[below(ARRAY_SIZE(actions))](m);
		if (below(4) == 0)
			disturb(m);
		if (below(4) == 0)
			mirror_turn(m, (long)below(15));
	}
	ck_assert_int_eq(mirror_request(m, "DELETE", "/_sim/faults", NULL, NULL), 200);
	settle(m, round);
}

static void histories(const char *const *flags, const struct reflector_config *config, uint64_t n)
{
	struct mirror m;
	struct reflector_stats stats;

	mirror_start(&m, flags, config);
	settle(&m, 0);
	for (unsigned i = 1; i <= n; i++)
		one_round(&m, i);
	reflector_stats(m.reflector, &stats);
	printf("%llu histories: %llu events, %u lists, %u given up, %u troubles, %u bad objects\n",
	       (unsigned long long)n, (unsigned long long)stats.events, m.lists, m.failed, m.troubles, m.bad);
	ck_assert_uint_gt(m.lists, n / 10); /* the disturbances disturbed */
	ck_assert_uint_gt(m.troubles, n / 10);
	mirror_stop(&m);
}

TEST(watchlist)
{
	static const char *const flags[] = { "--fill", "10", "--bookmark-period", "200", NULL };
	const struct reflector_config config = { .backoff_base_ms = 2 };

	histories(flags, &config, rounds);
}

TEST(pages)
{
	static const char *const flags[] = { "--fill", "10", "--no-watchlist", NULL };
	const struct reflector_config config = { .backoff_base_ms = 2, .page_size = 7 };

	histories(flags, &config, rounds);
}

TEST(short_history_of_the_server)
{
	static const char *const flags[] = { "--fill", "10", "--history", "5", NULL };
	const struct reflector_config config = { .backoff_base_ms = 2, .no_watchlist = true };

	histories(flags, &config, rounds);
}

/* Five thousand realistic pods: all of them, once. */
TEST(many)
{
	static const char *const flags[] = { "--fill", "5000", NULL };
	const struct reflector_config config = { 0 };
	struct mirror m;

	mirror_start(&m, flags, &config);
	for (int i = 0; i < 200 && !m.synced; i++)
		mirror_turn(&m, 50);
	ck_assert(m.synced);
	ck_assert_uint_eq(json_object_size(m.pods), 5000);
	ck_assert_uint_eq(m.bad + m.troubles + m.failed, 0);
	settle(&m, 0);
	mirror_stop(&m);
}

TEST_MAIN("integration/reflector")
{
	const char *given = getenv("SEED"), *more = getenv("HISTORIES");

	if (!given || str_to_u64(given, strlen(given), &seed) < 0)
		seed = (uint64_t)time(NULL);
	if (more && str_to_u64(more, strlen(more), &rounds) < 0)
		exit(64);
	printf("SEED=%llu\n", (unsigned long long)seed);
	tcase_set_timeout(t, 200 + (double)rounds);
	http_global_init();
}
