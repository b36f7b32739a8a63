/* test_child_log.c - what a child has written is a line of the log, whole, bounded, and no more than the
 * limit. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/children/child_log.h"

#include <check.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "tests/suite.h"

static struct event_base *base;
static struct child_log *child;
static int theirs, written;

static void begin(void)
{
	int ends[2];

	(void)setenv("OPC_LOG_FORMAT", "text", 1);
	log_init("supervisor");
	base = event_base_new();
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	theirs = ends[1];
	child = child_log_new(base, ends[0], "worker", 77);
	written = memfd_create("log", MFD_CLOEXEC);
	ck_assert_int_ge(dup2(written, STDERR_FILENO), 0);
}

static void end(void)
{
	child_log_free(&child);
	event_base_free(base);
}

static void say(const char *text, size_t n)
{
	ck_assert_int_eq(write(theirs, text, n), (ssize_t)n);
}

static void turn(void)
{
	ck_assert_int_ge(event_base_loop(base, EVLOOP_NONBLOCK), 0);
}

/* How often the log has it. */
static unsigned count(const char *what)
{
	const off_t size = lseek(written, 0, SEEK_END);
	char *text = calloc(1, (size_t)size + 1);
	unsigned n = 0;

	ck_assert_int_eq(pread(written, text, (size_t)size, 0), size);
	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	free(text);
	return n;
}

TEST(a_line_is_written_when_it_is_whole)
{
	say("first\nsec", 9);
	turn();
	ck_assert_uint_eq(count(" worker: output that is no line of the log text=\"first\" pid=77\n"), 1);
	ck_assert_uint_eq(count("sec"), 0);
	say("ond\n\n", 5);
	turn();
	ck_assert_uint_eq(count("\"second\""), 1);
	ck_assert_uint_eq(count("\n"), 2);
}

TEST(a_byte_of_0_ends_no_line)
{
	say("a\0b\n", 4);
	turn();
	ck_assert_uint_eq(count("text=\"a\\u007fb\""), 1);
}

TEST(a_line_without_end_is_written_in_pieces)
{
	char page[4096];

	memset(page, 'x', sizeof(page));
	for (int i = 0; i < 8; i++) {
		say(page, sizeof(page));
		turn();
	}
	ck_assert_uint_ge(count("worker: "), 7);
	ck_assert_uint_eq(count("worker: "), count("\n"));
}

/* Whatever it has written, and however much. */
TEST(last_words_are_heard)
{
	char page[4096];

	memset(page, '\n', sizeof(page));
	while (write(theirs, page, sizeof(page)) > 0)
		;
	turn();
	say("first\n=== ERROR: AddressSanitizer", 33);
	(void)close(theirs);
	child_log_drain(child);
	ck_assert_uint_eq(count("\"first\""), 1);
	ck_assert_uint_eq(count("\"=== ERROR: AddressSanitizer\""), 1);
	child_log_drain(child);
	ck_assert_uint_eq(count("\n"), 2);
}

/* A process that writes without end costs the supervisor, and whoever keeps the log, no more than that. */
TEST(a_flood_is_not_read)
{
	char page[4096];
	size_t taken = 0;

	for (size_t i = 0; i < sizeof(page); i++)
		page[i] = i % 64 == 63 ? '\n' : 'x';
	for (int i = 0; i < 2000; i++) {
		const ssize_t n = write(theirs, page, sizeof(page));

		taken += n > 0 ? (size_t)n : 0;
		turn();
	}
	ck_assert_uint_gt(taken, 1u << 20);
	ck_assert_uint_lt(taken, 3u << 20);
	ck_assert_uint_eq(count("a child writes more log than is taken"), 1);
}

TEST_MAIN("supervisor/child_log")
{
	tcase_add_checked_fixture(t, begin, end);
}
