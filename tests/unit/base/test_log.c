/* test_log.c - one event is one line of valid JSON, whatever the cluster puts into it. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "tests/suite.h"

static char captured[8192];

static void capture(const char *value, int err)
{
	const int memfd = memfd_create("log", MFD_CLOEXEC), saved = dup(STDERR_FILENO);

	(void)dup2(memfd, STDERR_FILENO);
	(void)log_warn(err, "message", kv_s("value", value), kv_u("u", UINT32_MAX), kv_i("i", -5));
	(void)dup2(saved, STDERR_FILENO);
	const ssize_t n = pread(memfd, captured, sizeof(captured) - 1, 0);

	captured[n > 0 ? n : 0] = '\0';
	(void)close(memfd);
	(void)close(saved);
}

START_TEST(always_one_valid_line)
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
END_TEST

START_TEST(long_values_are_cut)
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
END_TEST

START_TEST(what_does_not_fit_is_left_out_whole)
{
	char big[600];
	struct log_kv kv[8];
	const int memfd = memfd_create("log", MFD_CLOEXEC), saved = dup(STDERR_FILENO);

	memset(big, '\x01', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	for (size_t i = 0; i < 8; i++)
		kv[i] = kv_s("k", big);
	(void)setenv("OPC_LOG_FORMAT", "json", 1);
	log_init("test");
	(void)dup2(memfd, STDERR_FILENO);
	(void)log_write(LOG_LEVEL_ERROR, -EIO, "m", kv, 8);
	(void)dup2(saved, STDERR_FILENO);
	const ssize_t n = pread(memfd, captured, sizeof(captured) - 1, 0);

	captured[n > 0 ? n : 0] = '\0';
	json_t *j = json_loads(captured, 0, NULL);

	ck_assert_ptr_nonnull(j);
	json_decref(j);
	(void)close(memfd);
	(void)close(saved);
}
END_TEST

START_TEST(levels)
{
	log_set_level(LOG_LEVEL_ERROR);
	capture("x", 0);
	ck_assert_str_eq(captured, "");
	log_set_level(LOG_LEVEL_INFO);
}
END_TEST

TEST_MAIN("base/log")
{
	tcase_add_test(t, always_one_valid_line);
	tcase_add_test(t, long_values_are_cut);
	tcase_add_test(t, what_does_not_fit_is_left_out_whole);
	tcase_add_test(t, levels);
}
