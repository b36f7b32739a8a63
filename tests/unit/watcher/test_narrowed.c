/* test_narrowed.c - what is told where the list of all namespaces is forbidden. */
// SPDX-License-Identifier: Apache-2.0
#include <event2/event.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "fake_kube.h"
#include "harness.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "watcher/cluster_watch.h"

static struct event_base *base;
static struct cluster_watch *w;

static void open_watch(const char *namespaces)
{
	struct settings s;

	settings_init(&s);
	policy_done(&s.policy);
	policy_init(&s.policy);
	for (enum duty d = 0; d < DUTY__MAX; d++)
		s.policy.duty[d].enable = d == DUTY_EVICTED;
	list_set(&s.policy.duty[DUTY_EVICTED].namespaces, namespaces);
	free(s.cluster.server);
	s.cluster.server = xstrdup("https://10.0.0.1:6443");
	clock_fake_set(NOW, 1000000);
	memset(&fake, 0, sizeof(fake));
	n_sent = 0;
	room = 1 << 30;
	base = event_base_new();
	w = cluster_watch_new(base, 2, 7, &s, NULL);
	cluster_watch_start(w);
}

static void close_watch(void)
{
	cluster_watch_free(&w);
	event_base_free(base);
	clock_fake_clear();
}

static void list_namespace(const char *ns)
{
	fake.ops.on_list(fake.ctx, ns);
	fake.ops.on_sync(fake.ctx, ns);
	for (int i = 0; i < 200; i++)
		(void)event_base_loop(base, EVLOOP_NONBLOCK);
}

/* "*" and patterns are served in part only, for as long as that lasts; names are served. */
TEST_LOOP(it_is_trouble_where_a_duty_asks_for_more, 0, 2)
{
	const struct facts why = quoting("pods is forbidden");

	open_watch(_i ? "shop,team-*" : "shop,blog");
	fake.ops.on_narrowed(fake.ctx, &why);
	list_namespace("shop");
	ck_assert_int_eq(last(MSG_WATCH_STATS)->u.watch_stats.failing, _i);
	ck_assert_uint_eq(last(MSG_WATCH_STATS)->u.watch_stats.http, _i ? 403 : 0);
	list_namespace("");
	ck_assert(!last(MSG_WATCH_STATS)->u.watch_stats.failing);
	ck_assert_uint_eq(last(MSG_WATCH_STATS)->u.watch_stats.http, 0);
	close_watch();
}

TEST_MAIN("watcher/narrowed")
{
	tcase_set_timeout(t, 60);
}
