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
#include "kube/decode.h"
#include "kube/reflector.h"
#include "tests/integration/kube/sim.h"

static const char *apisim;
static uint64_t seed, rounds = 60;

static uint64_t below(uint64_t n) /* splitmix64 */
{
	uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (z ^ (z >> 31)) % n;
}

/* -- the dictionary -------------------------------------------------------------------------------------- */

struct world {
	struct sim sim;
	struct reflector *reflector;
	json_t *pods; /* "ns/name" -> { uid, rv, list } */
	json_int_t list;
	bool listing, synced;
	unsigned lists, failed, troubles, bad;
};

static char *key_of(const struct pod_facts *f)
{
	return xasprintf("%.*s/%.*s", STR_ARG(f->ns), STR_ARG(f->name));
}

static void on_list(void *ctx, const char *ns)
{
	struct world *w = ctx;

	(void)ns;
	ck_assert(!w->listing);
	w->listing = true;
	w->list++;
	w->lists++;
}

static void on_pod(void *ctx, const struct pod_facts *f)
{
	struct world *w = ctx;
	_cleanup_free_ char *key = key_of(f);

	ck_assert(w->listing || w->synced);
	json_object_set_new(w->pods, key,
			    json_pack("{s:s%, s:s%, s:I}", "uid", f->uid.p, f->uid.n, "rv", f->rv.p, f->rv.n,
				      "list", w->list));
}

static void on_delete(void *ctx, const struct pod_facts *f)
{
	struct world *w = ctx;
	_cleanup_free_ char *key = key_of(f);
	const json_t *old = json_object_get(w->pods, key);

	if (old && str_is(f->uid, json_string_value(json_object_get(old, "uid"))))
		json_object_del(w->pods, key);
}

static void on_sync(void *ctx, const char *ns)
{
	struct world *w = ctx;
	const char *key;
	json_t *v;
	void *next;

	(void)ns;
	ck_assert(w->listing);
	w->listing = false;
	w->synced = true;
	json_object_foreach_safe(w->pods, next, key, v) if (json_integer_value(json_object_get(v, "list")) !=
							    w->list) json_object_del(w->pods, key);
}

static void on_list_failed(void *ctx, const char *ns)
{
	struct world *w = ctx;

	(void)ns;
	ck_assert(w->listing);
	w->listing = false;
	w->failed++;
}

static void on_alive(void *ctx, int64_t date)
{
	(void)ctx;
	(void)date;
}

static void on_trouble(void *ctx, long status, const char *text)
{
	struct world *w = ctx;

	(void)status;
	w->troubles += *text != '\0';
}

static void on_bad_object(void *ctx, const char *text)
{
	struct world *w = ctx;

	(void)text;
	w->bad++;
}

static const struct reflector_ops ops = { on_list,        on_pod,   on_delete,  on_sync,
					  on_list_failed, on_alive, on_trouble, on_bad_object };

/* -- comparing ------------------------------------------------------------------------------------------- */

static json_t *truth(struct world *w)
{
	static struct pod_facts f;
	json_t *list = NULL, *all = json_object();

	ck_assert_int_eq(sim_call(&w->sim, "GET", "/api/v1/pods", NULL, NULL, &list), 200);
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

static const char *difference(const json_t *want, const json_t *have)
{
	static char text[512];
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)want, key, v)
	{
		const json_t *h = json_object_get(have, key);

		(void)snprintf(text, sizeof(text), "%s: rv %s there, %s here", key,
			       json_string_value(json_object_get(v, "rv")),
			       h ? json_string_value(json_object_get(h, "rv")) : "nothing");
		if (!h || !json_equal(json_object_get(v, "uid"), json_object_get(h, "uid")) ||
		    !json_equal(json_object_get(v, "rv"), json_object_get(h, "rv")))
			return text;
	}
	json_object_foreach((json_t *)(uintptr_t)have, key, v) if (!json_object_get(want, key))
	{
		(void)snprintf(text, sizeof(text), "%s is still here", key);
		return text;
	}
	return NULL;
}

static void turn(struct world *w, long ms)
{
	event_base_loopexit(w->sim.base, &(struct timeval){ ms / 1000, ms % 1000 * 1000 });
	event_base_dispatch(w->sim.base);
}

static void settle(struct world *w, unsigned round)
{
	json_t *want = truth(w);
	const char *diff = "";

	for (int i = 0; i < 6000; i++) {
		diff = w->listing || !w->synced ? "not synced" : difference(want, w->pods);
		if (!diff)
			break;
		turn(w, 2);
	}
	ck_assert_msg(!diff, "round %u: %s (lists %u, failed %u, troubles %u)", round, diff, w->lists,
		      w->failed, w->troubles);
	json_decref(want);
}

/* -- what happens -----------------------------------------------------------------------------------------
 */

#define MERGE "application/merge-patch+json"

static void create(struct world *w)
{
	_cleanup_free_ char *path = xasprintf("/api/v1/namespaces/ns-%u/pods", (unsigned)below(3));
	_cleanup_free_ char *body =
		xasprintf("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p-%u\"},"
			  "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
			  (unsigned)below(30));

	(void)sim_call(&w->sim, "POST", path, "application/json", body, NULL);
}

static void change(struct world *w)
{
	_cleanup_free_ char *path = xasprintf("/api/v1/namespaces/ns-%u/pods/p-%u/status", (unsigned)below(3),
					      (unsigned)below(30));

	(void)sim_call(&w->sim, "PATCH", path, MERGE,
		       below(2) ? "{\"status\":{\"phase\":\"Failed\",\"reason\":\"Evicted\"}}"
				: "{\"status\":{\"phase\":\"Running\",\"reason\":\"\"}}",
		       NULL);
}

static void delete (struct world *w)
{
	_cleanup_free_ char *path =
		xasprintf("/api/v1/namespaces/ns-%u/pods/p-%u", (unsigned)below(3), (unsigned)below(30));

	(void)sim_call(&w->sim, "DELETE", path, "application/json", "{\"gracePeriodSeconds\":0}", NULL);
}

static void recreate(struct world *w)
{
	delete (w);
	create(w);
}

static void fault(struct world *w, const char *rule)
{
	ck_assert_int_eq(sim_call(&w->sim, "POST", "/_sim/faults", "application/json", rule, NULL), 200);
}

static void post(struct world *w, const char *path)
{
	ck_assert_int_eq(sim_call(&w->sim, "POST", path, NULL, NULL, NULL), 200);
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

static void disturb(struct world *w)
{
	static const char *const paths[] = { "/_sim/close-watches",
					     "/_sim/close-watches?error=410",
					     "/_sim/close-watches?error=500",
					     "/_sim/close-watches?error=429",
					     "/_sim/compact",
					     "/_sim/bookmarks?count=3",
					     "/_sim/pause-watches?ms=30" };

	if (below(2))
		fault(w, rules[below(ARRAY_SIZE(rules))]);
	if (below(2))
		post(w, paths[below(ARRAY_SIZE(paths))]);
	if (below(3) == 0)
		post(w, "/_sim/close-watches");
	if (below(6) == 0)
		(void)sim_call(&w->sim, "POST", "/_sim/close-connections", NULL, NULL, NULL);
}

static void one_round(struct world *w, unsigned round)
{
	static void (*const actions[])(struct world *) = { create, create, create,  change,
							   change, delete, recreate };

	for (uint64_t i = 0, n = 3 + below(12); i < n; i++) {
		actions[below(ARRAY_SIZE(actions))](w);
		if (below(4) == 0)
			disturb(w);
		if (below(4) == 0)
			turn(w, (long)below(15));
	}
	ck_assert_int_eq(sim_call(&w->sim, "DELETE", "/_sim/faults", NULL, NULL, NULL), 200);
	settle(w, round);
}

static void histories(const char *const *flags, const struct reflector_config *config, uint64_t n)
{
	struct world w = { .pods = json_object() };
	struct reflector_stats stats;

	sim_start(&w.sim, apisim, flags);
	w.reflector = reflector_new(w.sim.base, w.sim.client, config, &ops, &w);
	settle(&w, 0);
	for (unsigned i = 1; i <= n; i++)
		one_round(&w, i);
	reflector_stats(w.reflector, &stats);
	printf("%llu histories: %llu events, %u lists, %u given up, %u troubles, %u bad objects\n",
	       (unsigned long long)n, (unsigned long long)stats.events, w.lists, w.failed, w.troubles, w.bad);
	ck_assert_uint_gt(w.lists, n / 10); /* the disturbances disturbed */
	ck_assert_uint_gt(w.troubles, n / 10);
	reflector_free(&w.reflector);
	sim_stop(&w.sim);
	json_decref(w.pods);
}

START_TEST(watchlist)
{
	static const char *const flags[] = { "--fill", "10", "--bookmark-period", "200", NULL };
	const struct reflector_config config = { .backoff_base_ms = 2 };

	histories(flags, &config, rounds);
}
END_TEST

START_TEST(pages)
{
	static const char *const flags[] = { "--fill", "10", "--no-watchlist", NULL };
	const struct reflector_config config = { .backoff_base_ms = 2, .page_size = 7 };

	histories(flags, &config, rounds);
}
END_TEST

START_TEST(short_history_of_the_server)
{
	static const char *const flags[] = { "--fill", "10", "--history", "5", NULL };
	const struct reflector_config config = { .backoff_base_ms = 2, .no_watchlist = true };

	histories(flags, &config, rounds);
}
END_TEST

/* Five thousand realistic pods: all of them, once. */
START_TEST(many)
{
	static const char *const flags[] = { "--fill", "5000", NULL };
	const struct reflector_config config = { 0 };
	struct world w = { .pods = json_object() };

	sim_start(&w.sim, apisim, flags);
	w.reflector = reflector_new(w.sim.base, w.sim.client, &config, &ops, &w);
	for (int i = 0; i < 200 && !w.synced; i++)
		turn(&w, 50);
	ck_assert(w.synced);
	ck_assert_uint_eq(json_object_size(w.pods), 5000);
	ck_assert_uint_eq(w.bad + w.troubles + w.failed, 0);
	settle(&w, 0);
	reflector_free(&w.reflector);
	sim_stop(&w.sim);
	json_decref(w.pods);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *s = suite_create("integration/reflector");
	TCase *t = tcase_create("all");
	SRunner *r = srunner_create(s);
	const char *given = getenv("SEED"), *more = getenv("HISTORIES");

	if (argc != 2) {
		(void)fprintf(stderr, "usage: %s APISIM\n", argv[0]);
		return 64;
	}
	apisim = argv[1];
	if (!given || str_to_u64(given, strlen(given), &seed) < 0)
		seed = (uint64_t)time(NULL);
	if (more && str_to_u64(more, strlen(more), &rounds) < 0)
		return 64;
	printf("SEED=%llu\n", (unsigned long long)seed);
	http_global_init();
	tcase_add_test(t, watchlist);
	tcase_add_test(t, pages);
	tcase_add_test(t, short_history_of_the_server);
	tcase_add_test(t, many);
	tcase_set_timeout(t, 200 + (double)rounds);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_ENV);
	const int failed = srunner_ntests_failed(r);

	srunner_free(r);
	return failed ? 1 : 0;
}
