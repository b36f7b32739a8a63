/* test_generation.c - what the loader says of clusters that it cannot load. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/children/generation.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "tests/suite.h"
#include "tests/facts_en.h"

static struct generation *g;

static void begin(void)
{
	g = generation_new(1);
	generation_add(
		g, &(struct msg){ .type = MSG_LOAD_SUPERVISOR, .u.load_supervisor = { .clusters = 2 } }, -1);
}

static void end(void)
{
	generation_free(&g);
}

static void say_blob(enum role role, uint64_t cluster, uint64_t refresh_ms)
{
	const struct msg m = { .type = MSG_LOAD_BLOB,
			       .u.load_blob = {
				       .role = role, .cluster = cluster, .refresh_ms = refresh_ms } };

	generation_add(g, &m, memfd_create("settings", MFD_CLOEXEC));
}

static void say_line(bool error, uint64_t cluster, const char *text)
{
	struct msg m = { .type = MSG_LOAD_LINE, .u.load_line = { .error = error, .cluster = cluster } };

	m.u.load_line.line = quoting(text);
	generation_add(g, &m, -1);
}

static void say_cluster(uint64_t cluster, bool loaded)
{
	struct msg m = { .type = MSG_LOAD_CLUSTER,
			 .u.load_cluster = { .cluster = cluster, .workers = 1, .loaded = loaded } };

	msg_set(&m, load_cluster.cluster_name, cluster ? "b" : "a", 1);
	generation_add(g, &m, -1);
}

/* The first cluster, the reporter and the end. */
static void say_rest(void)
{
	say_cluster(0, true);
	say_blob(ROLE_WATCHER, 0, 50000);
	say_blob(ROLE_WORKER, 0, 50000);
	say_blob(ROLE_REPORTER, CLUSTERS_MAX, 30000);
	generation_add(g, &(struct msg){ .type = MSG_LOAD_END, .u.load_end.ok = true }, -1);
}

static unsigned open_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Whatever a loader sends, and how often: each place has one descriptor at most, and the end has none. */
TEST(descriptors_are_closed_or_have_a_place)
{
	const unsigned before = open_descriptors();
	const struct msg no_place[] = {
		{ .type = MSG_LOAD_SUPERVISOR, .u.load_supervisor = { .clusters = 2 } },
		{ .type = MSG_LOAD_FIXED },
		{ .type = MSG_LOAD_LINE },
		{ .type = MSG_LOAD_END },
		{ .type = MSG_HELLO },
	};

	for (int i = 0; i < 3; i++) {
		say_rest();
		say_blob(ROLE_WATCHER, 1, 0);
		ck_assert_uint_eq(open_descriptors(), before + 4);
	}
	for (size_t i = 0; i < ARRAY_SIZE(no_place); i++) {
		generation_add(g, &no_place[i], memfd_create("settings", MFD_CLOEXEC));
		ck_assert_uint_eq(open_descriptors(), before + 4);
	}
	say_cluster(1, false); /* what it had sent does not count */
	ck_assert_uint_eq(open_descriptors(), before + 3);
	generation_free(&g);
	ck_assert_uint_eq(open_descriptors(), before);
	g = generation_new(2);
}

TEST(a_cluster_without_settings_needs_a_reason)
{
	say_rest();
	say_line(false, 1, "only a warning");
	ck_assert(!generation_follow(g, NULL)); /* nothing was said of the second */
	say_line(true, 1, "file: first");
	say_line(true, 1, "file: second");
	say_cluster(1, false);
	ck_assert(generation_whole(g));
	ck_assert(generation_has_cluster(g, 0) && !generation_has_cluster(g, 1));
	ck_assert_str_eq(EN(g->problem[1]), "file: first");
	ck_assert(generation_has_trouble(g));
	ck_assert_uint_eq(g->refresh_ms, 30000);
}

/* Its load was killed behind its first settings: what it had sent does not count. What follows is kept. */
TEST(settings_of_a_load_that_broke_off_do_not_count)
{
	struct facts f;

	say_rest();
	say_cluster(1, true);
	say_blob(ROLE_WATCHER, 1, 0);
	say_blob(ROLE_WORKER, 1, 0);
	say_line(true, 1, "file: too slow");
	say_cluster(1, false);
	ck_assert(!generation_has_cluster(g, 1));
	generation_describe_trouble(g, &f);
	ck_assert_str_eq(EN(f), "cluster b waits: file: too slow");
	say_blob(ROLE_WATCHER, 1, 0);
	ck_assert(!generation_has_cluster(g, 1));
	say_blob(ROLE_WORKER, 1, 0);
	ck_assert(generation_has_cluster(g, 1) && generation_whole(g));
	generation_describe_trouble(g, &f);
	ck_assert_str_eq(EN(f), "cluster b stays on the credential that it has: file: too slow");
}

/* Whoever has no room is left out; each of the others is told whole. */
TEST(what_has_no_room_is_left_out)
{
	struct facts f;
	char line[600];

	memset(line, 'x', sizeof(line));
	line[599] = '\0';
	say_rest();
	say_line(true, 1, line);
	say_line(true, 0, line);
	say_cluster(1, false);
	generation_describe_trouble(g, &f);
	ck_assert_uint_lt(f.n, FACTS_MAX);
	ck_assert_ptr_nonnull(strstr(EN(f), line));
}

/* -- clusters that come and go -- */

static struct generation *after(const char *const names[], uint64_t n)
{
	struct generation *one = generation_new(2);

	generation_add(one,
		       &(struct msg){ .type = MSG_LOAD_SUPERVISOR, .u.load_supervisor = { .clusters = n } },
		       -1);
	for (uint64_t c = 0; c < n; c++) {
		struct msg m = { .type = MSG_LOAD_CLUSTER,
				 .u.load_cluster = { .cluster = c, .workers = c + 1 } };

		if (!names[c])
			continue;
		msg_set(&m, load_cluster.cluster_name, names[c], strlen(names[c]));
		generation_add(one, &m, -1);
	}
	return one;
}

static const struct {
	const char *then[4];
	uint64_t n;
	bool follows;
	uint64_t wanted;
} followers[] = {
	{ { "a", "b" }, 2, true, 2 },        { { "a", NULL }, 2, true, 1 },
	{ { NULL, "b" }, 2, true, 1 },       { { NULL, "b", "c" }, 3, true, 2 },
	{ { NULL, NULL, "c" }, 3, true, 1 }, { { NULL, NULL }, 2, false, 0 },
	{ { "b", "a" }, 2, false, 0 },       { { "a" }, 1, false, 0 },
	{ { "a", "c" }, 2, false, 0 },       { { "a", "b", NULL, "d" }, 4, false, 0 },
};

TEST(an_index_belongs_to_one_name)
{
	static const char *const first[] = { "a", "b" };
	struct generation *older = after(first, 2);

	ck_assert(generation_follow(older, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(followers); i++) {
		struct generation *next = after(followers[i].then, followers[i].n);
		uint64_t c = 0;

		ck_assert_msg(generation_follow(next, older) == followers[i].follows, "row %zu", i);
		if (followers[i].follows) {
			ck_assert_uint_eq(next->n_wanted, followers[i].wanted);
			ck_assert_str_eq(next->names[0], "a"); /* whether there is one or not */
			ck_assert_ptr_null(generation_fixed_difference(older, next));
			ck_assert(generation_next(next, &c) && next->wanted[c]);
			ck_assert_uint_eq(generation_find_cluster(next, "a"),
					  followers[i].then[0] ? 0 : next->all.clusters);
		}
		generation_free(&next);
	}
	generation_free(&older);
}

TEST_MAIN("supervisor/generation")
{
	tcase_add_checked_fixture(t, begin, end);
}
