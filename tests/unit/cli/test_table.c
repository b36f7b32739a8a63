/* test_table.c - columns line up for every script, and nothing from the cluster reaches the terminal raw. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/table.h"
#include "tests/suite.h"

static const char *const headers[] = { "NAME", "N", "WHY" };

static char *print(const struct table *t, bool color)
{
	char *buf = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&buf, &n);

	table_print(t, f, color);
	(void)fclose(f);
	return buf;
}

TEST(aligned_without_trailing_blanks)
{
	struct table *t = table_new(headers, 3);

	table_add(t, COLOR_NONE, "%s", "web-1");
	table_add(t, COLOR_GOOD, "%d", 12);
	table_add(t, COLOR_NONE, "%s", "ok");
	char *s = print(t, false);

	ck_assert_str_eq(s, "NAME   N   WHY\nweb-1  12  ok\n");
	free(s);
	table_free(&t);
}

TEST(wide_characters_count_two)
{
	struct table *t = table_new(headers, 3);

	ck_assert_uint_eq(table_width("重启"), 4);
	ck_assert_uint_eq(table_width("e\xcc\x81"), 1);
	ck_assert_uint_eq(table_width("\xff\xfe"), 2);
	table_add(t, COLOR_NONE, "%s", "重启");
	table_add(t, COLOR_NONE, "%d", 1);
	table_add(t, COLOR_NONE, "%s", "x");
	char *s = print(t, false);

	ck_assert_str_eq(s, "NAME  N  WHY\n重启  1  x\n");
	free(s);
	table_free(&t);
}

TEST(control_bytes_are_replaced)
{
	struct table *t = table_new(headers, 3);

	table_add(t, COLOR_NONE, "%s", "a\x1b[31mb\n");
	table_add(t, COLOR_NONE, "%s", "");
	table_add(t, COLOR_NONE, "%s", "");
	char *s = print(t, false);

	ck_assert_ptr_null(strchr(s, '\x1b'));
	ck_assert_ptr_nonnull(strstr(s, "a?[31mb?"));
	free(s);
	table_free(&t);
}

TEST(colours_do_not_move_columns)
{
	struct table *t = table_new(headers, 3);

	table_add(t, COLOR_BAD, "%s", "x");
	table_add(t, COLOR_NONE, "%s", "1");
	table_add(t, COLOR_NONE, "%s", "y");
	char *s = print(t, true);

	ck_assert_ptr_nonnull(strstr(s, "\x1b[31mx\x1b[0m     1  y\n"));
	free(s);
	table_free(&t);
}

TEST(spans)
{
	static const struct {
		int64_t ms;
		const char *text;
	} cases[] = { { -5, "0s" },        { 119999, "119s" },        { 120000, "2m" },
		      { 7199999, "119m" }, { 7200000, "2h0m" },       { 172799000, "47h59m" },
		      { 172800000, "2d" }, { 864000000000, "10000d" } };
	char buf[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_str_eq(table_span(cases[i].ms, buf), cases[i].text);
}

SUITE("cli/table");
