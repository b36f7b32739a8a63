/* test_file_watch.c - which changes count, and when they have come to rest. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/children/file_watch.h"

#include <check.h>
#include <event2/event.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/suite.h"

static char dir[SUITE_PATH_MAX];
static struct event_base *base;
static struct file_watch *watch;

static void begin(void)
{
	const int fd = inotify_init1(IN_CLOEXEC);

	suite_folder(dir);
	base = event_base_new();
	watch = file_watch_new(fd);
	ck_assert_ptr_nonnull(watch);
	file_watch_add(watch, (uint64_t)inotify_add_watch(fd, dir, IN_CLOSE_WRITE), "config.yml");
}

static void end(void)
{
	file_watch_free(&watch);
	event_base_free(base);
}

static void change(const char *name)
{
	free(suite_file(dir, name, "x"));
	ck_assert_int_ge(event_base_loop(base, EVLOOP_NONBLOCK), 0);
}

TEST(only_what_was_named_counts)
{
	file_watch_start(watch, base);
	change("another");
	ck_assert_ptr_null(file_watch_due(watch, clock_boot_ms() + 60000));
	change("config.yml");
	ck_assert_str_eq(file_watch_due(watch, clock_boot_ms() + 60000), "config.yml");
	file_watch_forget(watch);
	ck_assert_ptr_null(file_watch_due(watch, clock_boot_ms() + 60000));
}

/* Between the loader's reading and its end, too. */
TEST(what_happened_before_the_start_counts)
{
	change("config.yml");
	file_watch_start(watch, base);
	ck_assert_int_ge(event_base_loop(base, EVLOOP_NONBLOCK), 0);
	ck_assert_ptr_nonnull(file_watch_due(watch, clock_boot_ms() + 60000));
}

TEST(it_rests_a_second_first)
{
	file_watch_start(watch, base);
	const uint64_t before = clock_boot_ms();

	change("config.yml");
	const uint64_t after = clock_boot_ms();

	ck_assert_ptr_null(file_watch_due(watch, before + 999));
	ck_assert_ptr_nonnull(file_watch_due(watch, after + 1000));
}

/* A full folder of events is one change, and the loop takes them all. */
TEST(many_changes_are_one)
{
	file_watch_start(watch, base);
	for (int i = 0; i < 1000; i++)
		free(suite_file(dir, i % 2 ? "another" : "config.yml", "x"));
	ck_assert_int_ge(event_base_loop(base, EVLOOP_NONBLOCK), 0);
	ck_assert_str_eq(file_watch_due(watch, clock_boot_ms() + 60000), "config.yml");
}

/* A loader that was taken over hands over something that would block the supervisor for ever. */
TEST(nothing_but_inotify_is_read)
{
	int fds[2];
	struct file_watch *none = NULL;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	ck_assert_ptr_null(file_watch_new(fds[0]));
	ck_assert_int_eq(fcntl(fds[0], F_GETFD), -1);
	(void)close(fds[1]);
	file_watch_free(&none);
	ck_assert_ptr_null(file_watch_due(NULL, 1));
	file_watch_forget(NULL);
}

TEST_MAIN("supervisor/file_watch")
{
	tcase_add_checked_fixture(t, begin, end);
}
