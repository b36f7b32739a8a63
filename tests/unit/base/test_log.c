/* test_log.c - one event is one line of valid JSON, whatever the cluster puts into it. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "tests/hostile.h"
#include "tests/suite.h"

static char captured[8192];

/* What fn writes to stderr. */
static void capture_of(void (*fn)(const void *ctx), const void *ctx)
{
	const int memfd = memfd_create("log", MFD_CLOEXEC), saved = dup(STDERR_FILENO);

	(void)dup2(memfd, STDERR_FILENO);
	fn(ctx);
	(void)dup2(saved, STDERR_FILENO);
	const ssize_t n = pread(memfd, captured, sizeof(captured) - 1, 0);

	captured[n > 0 ? n : 0] = '\0';
	(void)close(memfd);
	(void)close(saved);
}

struct warning {
	const char *value;
	int err;
};

static void write_warning(const void *ctx)
{
	const struct warning *w = ctx;

	(void)log_warn(w->err, "message", kv_s("value", w->value), kv_u("u", UINT32_MAX), kv_i("i", -5));
}

static void capture(const char *value, int err)
{
	capture_of(write_warning, &(struct warning){ value, err });
}

static void write_debug(const void *ctx)
{
	(void)ctx;
	log_debug("message");
}

static void write_pairs(const void *ctx)
{
	(void)log_write(LOG_LEVEL_ERROR, -EIO, "m", ctx, 8);
}

static void write_relayed(const void *line)
{
	log_relay("worker", 77, (char *)(uintptr_t)line);
}

/* As a child writes it, then as the supervisor does, which knows the child by another name than it gives
 * itself. */
static void relay(void (*fn)(const void *ctx), const void *ctx)
{
	static char line[sizeof(captured)];

	(void)setenv("OPC_LOG_FORMAT", LOG_FORMAT_OF_A_CHILD, 1);
	log_init("supervisor");
	capture_of(fn, ctx);
	ck_assert_ptr_eq(strchr(captured, '\n'), captured + strlen(captured) - 1);
	memcpy(line, captured, sizeof(line));
	*strchr(line, '\n') = '\0';
	(void)setenv("OPC_LOG_FORMAT", "json", 1);
	log_init("supervisor");
	log_set_level(LOG_LEVEL_ERROR); /* the child's own level has been asked */
	capture_of(write_relayed, line);
	log_set_level(LOG_LEVEL_INFO);
}

TEST_LOOP(hostile_text_is_not_shown, 0, 2)
{
	(void)setenv("OPC_LOG_FORMAT", _i == 0 ? "json" : "text", 1);
	log_init(HOSTILE);
	capture(HOSTILE, 0);
	ck_assert(hostile_is_gone(captured));
	ck_assert_ptr_eq(strchr(captured, '\n'), captured + strlen(captured) - 1);
}

TEST(always_one_valid_line)
{
	static const char *const values[] = { "plain",    "a\nb",         "\x1b[2J", "\"\\",
					      "\xff\xfe", "\xe2\x80\xae", "" };

	(void)setenv("OPC_LOG_FORMAT", "json", 1);
	log_init("test");
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		capture(values[i], i % 2 ? -ENOENT : 0);
		ck_assert_ptr_eq(strchr(captured, '\n'), captured + strlen(captured) - 1);
		json_t *j = json_loads(captured, 0, NULL);

		ck_assert_msg(j != NULL, "%s", captured);
		ck_assert_str_eq(json_string_value(json_object_get(j, "component")), "test");
		ck_assert_str_eq(json_string_value(json_object_get(j, "level")), "warn");
		ck_assert_int_eq(json_integer_value(json_object_get(j, "i")), -5);
		ck_assert((json_object_get(j, "error") != NULL) == (i % 2 == 1));
		json_decref(j);
	}
}

TEST(a_line_names_its_cluster)
{
	(void)setenv("OPC_LOG_FORMAT", "json", 1);
	log_init("test");
	log_set_cluster("shanghai");
	capture("x", 0);
	ck_assert_ptr_nonnull(strstr(captured, "\"msg\":\"message\",\"cluster\":\"shanghai\",\"value\""));
	log_set_cluster(NULL);
	capture("x", 0);
	ck_assert_ptr_null(strstr(captured, "cluster"));
}

TEST(long_values_are_cut)
{
	char *big = malloc(100001);

	memset(big, '\x01', 100000);
	big[100000] = '\0';
	(void)setenv("OPC_LOG_FORMAT", "text", 1);
	log_init("test");
	capture(big, 0);
	ck_assert_uint_lt(strlen(captured), 8192);
	ck_assert_int_eq(captured[strlen(captured) - 1], '\n');
	free(big);
}

TEST(what_does_not_fit_is_left_out_whole)
{
	char big[600];
	struct log_kv kv[8];

	memset(big, '\x01', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	for (size_t i = 0; i < 8; i++)
		kv[i] = kv_s("k", big);
	(void)setenv("OPC_LOG_FORMAT", "json", 1);
	log_init("test");
	capture_of(write_pairs, kv);
	json_t *j = json_loads(captured, 0, NULL);

	ck_assert_ptr_nonnull(j);
	json_decref(j);
}

/* Wherever a text is cut: neither a character, nor an escape, nor one of the two escapes of a character above
 * U+FFFF is halved, which jansson refuses. */
TEST_LOOP(a_cut_halves_nothing, 0, 3)
{
	static const char *const characters[] = { "\xf3\xa0\x80\x81", "\xe5\xad\x97", "\x01", "\xc2\x85" };

	(void)setenv("OPC_LOG_FORMAT", "json", 1);
	for (size_t i = 0; i < 4 * 12; i++) {
		char text[1200];
		size_t n = i / 4;

		memset(text, 'x', n);
		while (n + 4 < sizeof(text)) {
			memcpy(text + n, characters[i % 4], strlen(characters[i % 4]));
			n += strlen(characters[i % 4]);
		}
		text[n] = '\0';
		log_init(_i == 1 ? text : "test");
		if (_i == 2)
			relay(write_warning, &(struct warning){ text, 0 });
		else
			capture(text, 0);
		json_t *j = json_loads(captured, 0, NULL);

		ck_assert_msg(j != NULL, "%s", captured);
		const char *value = json_string_value(json_object_get(j, "value"));

		ck_assert_uint_gt(strlen(value), 500);
		ck_assert_msg(!strstr(value, "\xef\xbf\xbd"), "%s", captured);
		json_decref(j);
	}
}

TEST(levels)
{
	log_set_level(LOG_LEVEL_ERROR);
	capture("x", 0);
	ck_assert_str_eq(captured, "");
	log_set_level(LOG_LEVEL_INFO);
}

/* What a process begins to write is the choice of whoever starts it; nonsense changes nothing. */
TEST(level_from_the_environment)
{
	static const struct {
		const char *level;
		bool debug, warn;
	} cases[] = { { "debug", true, true },
		      { "error", false, false },
		      { "loud", false, false },
		      { "info", false, true } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)setenv("OPC_LOG_LEVEL", cases[i].level, 1);
		log_init("test");
		capture_of(write_debug, NULL);
		ck_assert_int_eq(captured[0] != '\0', cases[i].debug);
		capture("x", 0);
		ck_assert_int_eq(captured[0] != '\0', cases[i].warn);
	}
}

/* The configuration says it where the environment does not; a level that was asked for beats both until it is
 * over. */
TEST(level_from_the_configuration)
{
	(void)unsetenv("OPC_LOG_LEVEL");
	(void)setenv("OPC_LOG_FORMAT", "json", 1);
	log_init("test");
	log_configure(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
	capture("x", 0);
	ck_assert_str_eq(captured, "");
	log_override_level(LOG_LEVEL_DEBUG, clock_boot_ms() + 60000);
	capture_of(write_debug, NULL);
	ck_assert_int_eq(captured[0], '{'); /* the environment's format */
	log_override_level(LOG_LEVEL_DEBUG, clock_boot_ms());
	capture("x", 0);
	ck_assert_str_eq(captured, "");
	(void)unsetenv("OPC_LOG_FORMAT");
	(void)setenv("OPC_LOG_LEVEL", "warn", 1);
	log_init("test");
	log_configure(LOG_LEVEL_ERROR, LOG_FORMAT_TEXT);
	capture("x", 0);
	ck_assert_int_ne(captured[0], '\0');
	ck_assert_int_ne(captured[0], '{');
	(void)unsetenv("OPC_LOG_LEVEL");
	ck_assert_int_eq(log_parse_level("warn"), LOG_LEVEL_WARN);
	ck_assert_int_eq(log_parse_level("loud"), -1);
}

/* As systemd starts it: $JOURNAL_STREAM is what stderr is. */
static void write_to_the_journal(const void *ctx)
{
	const bool *is_ours = ctx;
	struct stat st;
	char stream[64];

	ck_assert_int_eq(fstat(STDERR_FILENO, &st), 0);
	(void)snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		       (unsigned long long)st.st_ino + (*is_ours ? 0 : 1));
	(void)setenv("JOURNAL_STREAM", stream, 1);
	(void)setenv("OPC_LOG_LEVEL", "debug", 1);
	log_init("test");
	log_debug("one");
	log_info("two");
	(void)log_warn(0, "three");
	(void)log_error(0, "four");
	(void)unsetenv("JOURNAL_STREAM");
	(void)unsetenv("OPC_LOG_LEVEL");
}

TEST(the_journal_gets_priorities)
{
	(void)setenv("OPC_LOG_FORMAT", "json", 1);
	capture_of(write_to_the_journal, &(bool){ true });
	ck_assert_int_eq(strncmp(captured, "<7>{", 4), 0);
	ck_assert_ptr_nonnull(strstr(captured, "\n<6>{"));
	ck_assert_ptr_nonnull(strstr(captured, "\n<4>{"));
	ck_assert_ptr_nonnull(strstr(captured, "\n<3>{"));
	capture_of(write_to_the_journal, &(bool){ false });
	ck_assert_ptr_null(strstr(captured, "<6>"));
	ck_assert_int_eq(captured[0], '{');
	log_init("test");
}

/* -- from a child to its supervisor -- */

TEST(a_child_says_all_but_who_it_is)
{
	static const char *const values[] = { "plain",    "a\nb\x1f\x1e\x1d=", "\"\\",
					      "\xff\xfe", "\x7f\x1du=5",       "" };

	log_set_cluster("shanghai");
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		char wanted[8192];

		(void)setenv("OPC_LOG_FORMAT", "json", 1);
		log_init("worker");
		capture(values[i], -ENOENT);
		*strrchr(captured, '}') = '\0';
		(void)snprintf(wanted, sizeof(wanted), "%s,\"pid\":77}\n", strstr(captured, "\"level\""));
		relay(write_warning, &(struct warning){ values[i], -ENOENT });
		ck_assert_str_eq(strstr(captured, "\"level\""), wanted);
	}
	log_set_cluster(NULL);
}

/* A process that was taken over writes what it likes. */
TEST_LOOP(a_child_speaks_for_itself_alone, 0, 2)
{
	static const char *const lines[] = {
		"\x1e"
		"3msg\x1f"
		"scomponent=supervisor\x1fupid=1\x1fslevel=info\x1fstime=now\x1fsmsg=x\x1fsok=1",
		"\x1e"
		"3m\x1d\x4a{\"component\":\"supervisor\"}",
		"\x1e"
		"3m\x1fsa\"b=c\x1f\x1fu=\x1fua=x\x1fia=--1\x1fs",
		"\x1e"
		"9x",
		"\x1e",
		"\x1e"
		"3",
		"{\"component\":\"supervisor\"}",
		"\x1e"
		"2\x1d",
		"<0>\x1b[2J",
		HOSTILE,
	};

	(void)setenv("OPC_LOG_FORMAT", _i == 0 ? "json" : "text", 1);
	log_init("supervisor");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char *line = strdup(lines[i]);

		capture_of(write_relayed, line);
		free(line);
		ck_assert(hostile_is_gone(captured));
		ck_assert_ptr_eq(strchr(captured, '\n'), captured + strlen(captured) - 1);
		if (_i == 1) {
			ck_assert_ptr_eq(strstr(captured, " worker: "),
					 strchr(strchr(captured, ' ') + 1, ' '));
			continue;
		}
		json_t *j = json_loads(captured, JSON_REJECT_DUPLICATES, NULL);

		ck_assert_msg(j != NULL, "%s", captured);
		ck_assert_str_eq(json_string_value(json_object_get(j, "component")), "worker");
		ck_assert_int_eq(json_integer_value(json_object_get(j, "pid")), 77);
		json_decref(j);
	}
}

/* One end of a pipe that takes nothing more, as of a child whose supervisor does not read. */
static void fill_and_empty(const void *ctx)
{
	char page[4096] = "";
	int ends[2];

	(void)ctx;
	const int saved = dup(STDERR_FILENO);

	ck_assert_int_eq(pipe(ends), 0);
	(void)dup2(ends[1], STDERR_FILENO);
	for (int i = 0; i < 1000; i++)
		(void)log_warn(0, "message", kv_i("number", i),
			       kv_s("value", "0123456789 0123456789 0123456789 0123456789"));
	while (read(ends[0], page, sizeof(page)) == (ssize_t)sizeof(page))
		;
	(void)dup2(saved, STDERR_FILENO);
	(void)log_warn(0, "again");
	(void)log_warn(0, "again");
}

/* Nobody waits for the log, and what it lacks is told in its place. */
TEST(lines_that_are_not_taken_are_counted)
{
	unsigned lines = 0;

	(void)setenv("OPC_LOG_FORMAT", "json", 1);
	log_init("test");
	capture_of(fill_and_empty, NULL);
	const char *count = strstr(captured, "\"lines\":");

	ck_assert_ptr_nonnull(count);
	ck_assert_int_eq(sscanf(count, "\"lines\":%u", &lines), 1);
	ck_assert_uint_gt(lines, 100);
	ck_assert_uint_lt(lines, 1000);
	ck_assert_ptr_null(strstr(count + 1, "\"lines\":"));
	ck_assert_ptr_nonnull(strstr(count, "again"));
}

SUITE("base/log");
