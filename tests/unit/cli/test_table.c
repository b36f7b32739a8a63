/* test_table.c - columns line up for every script, and nothing from the cluster reaches the terminal raw. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/view/table.h"
#include "tests/hostile.h"
#include "tests/suite.h"

static const struct table_column columns[] = { { "NAME", 0, 0 }, { "N", 1, 0 }, { "WHY", 2, COLUMN_BELOW } };
static const struct table_view in_a_pipe = { .width = 0 }, coloured = { .color = true };

static char *print(const struct table *t, const struct table_view *view)
{
	char *buf = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&buf, &n);

	table_print(t, f, view);
	(void)fclose(f);
	return buf;
}

TEST(hostile_text_is_not_shown)
{
	struct table *t = table_new(columns, 3);

	for (unsigned i = 0; i < 3; i++)
		table_add(t, COLOR_NONE, "%s", HOSTILE);
	char *s = print(t, &in_a_pipe), *line = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&line, &n);

	table_text(f, &in_a_pipe, "%s", HOSTILE);
	(void)fclose(f);
	ck_assert(hostile_is_gone(s));
	ck_assert(hostile_is_gone(line));
	free(line);
	free(s);
	table_free(&t);
}

TEST(aligned_without_trailing_blanks)
{
	struct table *t = table_new(columns, 3);

	table_add(t, COLOR_NONE, "%s", "web-1");
	table_add(t, COLOR_GOOD, "%d", 12);
	table_add(t, COLOR_NONE, "%s", "ok");
	char *s = print(t, &in_a_pipe);

	ck_assert_str_eq(s, "NAME   N   WHY\nweb-1  12  ok\n");
	free(s);
	table_free(&t);
}

TEST(wide_characters_count_two)
{
	struct table *t = table_new(columns, 3);

	ck_assert_uint_eq(table_width("重启"), 4);
	ck_assert_uint_eq(table_width("e\xcc\x81"), 1);
	ck_assert_uint_eq(table_width("\xff\xfe"), 2);
	table_add(t, COLOR_NONE, "%s", "重启");
	table_add(t, COLOR_NONE, "%d", 1);
	table_add(t, COLOR_NONE, "%s", "x");
	char *s = print(t, &in_a_pipe);

	ck_assert_str_eq(s, "NAME  N  WHY\n重启  1  x\n");
	free(s);
	table_free(&t);
}

/* Chinese has no blanks: a line ends between any two characters, but not before a mark that closes, nor
 * behind one that opens; a word in Latin letters stays whole. */
TEST(a_line_of_chinese_is_broken_anywhere_but_at_marks)
{
	static const struct table_view narrow = { .width = 20 };
	static const struct {
		const char *text, *shown;
	} cases[] = {
		{ "镜像仓库拒绝访问该镜像", "镜像仓库拒绝访问该镜\n    像\n" },
		{ "镜像仓库拒绝访问该镜。", "镜像仓库拒绝访问该\n    镜。\n" },
		{ "镜像仓库拒绝访问该（镜）像", "镜像仓库拒绝访问该\n    （镜）像\n" },
		{ "处理：检查 Deployment 的镜像", "处理：检查\n    Deployment 的镜\n    像\n" },
		{ "执行kubectl命令123456789", "执行kubectl命令\n    123456789\n" },
		{ "\xff\xfe", "??\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *s = NULL;
		size_t n = 0;
		FILE *f = open_memstream(&s, &n);

		table_text(f, &narrow, "%s", cases[i].text);
		(void)fclose(f);
		ck_assert_str_eq(s, cases[i].shown);
		free(s);
	}
}

TEST(control_bytes_are_replaced)
{
	struct table *t = table_new(columns, 3);

	table_add(t, COLOR_NONE, "%s", "a\x1b[31mb\n");
	table_add(t, COLOR_NONE, "%s", "");
	table_add(t, COLOR_NONE, "%s", "");
	char *s = print(t, &in_a_pipe);

	ck_assert_ptr_null(strchr(s, '\x1b'));
	ck_assert_ptr_nonnull(strstr(s, "a?[31mb?"));
	free(s);
	table_free(&t);
}

TEST(colours_do_not_move_columns)
{
	struct table *t = table_new(columns, 3);

	table_add(t, COLOR_BAD, "%s", "x");
	table_add(t, COLOR_NONE, "%s", "1");
	table_add(t, COLOR_NONE, "%s", "y");
	char *s = print(t, &coloured);

	ck_assert_ptr_nonnull(strstr(s, "\x1b[31mx\x1b[0m     1  y\n"));
	free(s);
	table_free(&t);
}

/* Also in a pipe: who counts columns counts none that is for others. */
TEST(a_column_of_which_nothing_is_said_is_left_out)
{
	static const struct table_column few[] = { { "ID", 0, 0 },
						   { "REPLICA", 0, COLUMN_FEW },
						   { "POD", 0, 0 } };
	struct table *t = table_new(few, 3);

	for (int row = 0; row < 3; row++) {
		const char *head = row < 2 ? "ID  POD\n" : "ID  REPLICA  POD\n";
		char *s = print(t, &in_a_pipe);

		ck_assert_int_eq(strncmp(s, head, strlen(head)), 0);
		free(s);
		table_add(t, COLOR_NONE, "1");
		table_add(t, COLOR_NONE, "%s", row == 1 ? "a-1" : "");
		table_add(t, COLOR_NONE, "web");
	}
	table_free(&t);
}

static const struct table_column actions[] = {
	{ "ID", 0, 0 },
	{ "CLUSTER", 3, COLUMN_NAMED },
	{ "POD", 0, 0 },
	{ "OUTCOME", 0, 0 },
	{ "REASON", 2, COLUMN_BELOW },
	{ "WHY", 1, COLUMN_BELOW },
	{ "MORE", 0, COLUMN_WIDE },
};

static const char *first_cluster = "default";

static struct table *two_actions(const char *second_cluster)
{
	static const char *const cells[2][6] = {
		{ "7", NULL, "shop/web-1", "done", "Evicted", "the kubelet evicted it" },
		{ "8", NULL, "shop/web-2", "refused", "NodeNotReady", "-" },
	};
	struct table *t = table_new(actions, 7);

	for (size_t row = 0; row < 2; row++) {
		for (size_t c = 0; c < 6; c++)
			table_add(t, COLOR_NONE, "%s",
				  cells[row][c] ? cells[row][c]
				  : row == 0    ? first_cluster
						: second_cluster);
		table_add(t, COLOR_NONE, "%s", "more");
	}
	return t;
}

static void ck_shown(const char *second_cluster, const struct table_view *view, const char *expected)
{
	struct table *t = two_actions(second_cluster);
	char *s = print(t, view);

	ck_assert_str_eq(s, expected);
	free(s);
	table_free(&t);
}

TEST(a_pipe_gets_every_column)
{
	ck_shown("default", &in_a_pipe,
		 "ID  CLUSTER  POD         OUTCOME  REASON        WHY\n"
		 "7   default  shop/web-1  done     Evicted       the kubelet evicted it\n"
		 "8   default  shop/web-2  refused  NodeNotReady  -\n");
}

TEST(one_cluster_has_no_column_on_a_terminal)
{
	ck_shown("default", &(const struct table_view){ .width = 200 },
		 "ID  POD         OUTCOME  REASON        WHY\n"
		 "7   shop/web-1  done     Evicted       the kubelet evicted it\n"
		 "8   shop/web-2  refused  NodeNotReady  -\n");
	ck_shown("other", &(const struct table_view){ .width = 70 },
		 "ID  CLUSTER  POD         OUTCOME  REASON        WHY\n"
		 "7   default  shop/web-1  done     Evicted       the kubelet evicted it\n"
		 "8   other    shop/web-2  refused  NodeNotReady  -\n");
}

/* That all rows happen to be of one says nothing: which of thirty? */
TEST(a_cluster_with_a_name_has_a_column)
{
	first_cluster = "other";
	ck_shown("other", &(const struct table_view){ .width = 200 },
		 "ID  CLUSTER  POD         OUTCOME  REASON        WHY\n"
		 "7   other    shop/web-1  done     Evicted       the kubelet evicted it\n"
		 "8   other    shop/web-2  refused  NodeNotReady  -\n");
	first_cluster = "default";
}

TEST(columns_give_way_in_their_order)
{
	ck_shown("other", &(const struct table_view){ .width = 69 },
		 "ID  CLUSTER  POD         OUTCOME  REASON\n"
		 "7   default  shop/web-1  done     Evicted\n"
		 "    the kubelet evicted it\n"
		 "8   other    shop/web-2  refused  NodeNotReady\n");
	ck_shown("other", &(const struct table_view){ .width = 40 },
		 "ID  CLUSTER  POD         OUTCOME\n"
		 "7   default  shop/web-1  done\n"
		 "    Evicted  the kubelet evicted it\n"
		 "8   other    shop/web-2  refused\n"
		 "    NodeNotReady\n");
	ck_shown("other", &(const struct table_view){ .width = 26 },
		 "ID  POD         OUTCOME\n"
		 "7   shop/web-1  done\n"
		 "    Evicted  the kubelet\n"
		 "    evicted it\n"
		 "8   shop/web-2  refused\n"
		 "    NodeNotReady\n");
}

/* Those that never do go last of all, the rightmost first, and say what they are; the first one stays. */
TEST(no_line_is_wider_than_the_terminal)
{
	ck_shown("other", &(const struct table_view){ .width = 20 },
		 "ID  POD\n"
		 "7   shop/web-1\n"
		 "    OUTCOME done\n"
		 "    Evicted  the\n"
		 "    kubelet evicted\n"
		 "    it\n"
		 "8   shop/web-2\n"
		 "    OUTCOME refused\n"
		 "    NodeNotReady\n");
	ck_shown("other", &(const struct table_view){ .width = 10 },
		 "ID\n"
		 "7\n"
		 "    POD\n"
		 "    shop/web-1\n"
		 "    OUTCOME\n"
		 "    done\n"
		 "    Evicted\n"
		 "    the\n"
		 "    kubelet\n"
		 "    evicted\n"
		 "    it\n"
		 "8\n"
		 "    POD\n"
		 "    shop/web-2\n"
		 "    OUTCOME\n"
		 "    refused\n"
		 "    NodeNotReady\n");
}

/* Without it a row could not be told from what stands below another. */
TEST(the_first_column_stays_however_narrow)
{
	static const struct table_column names[] = { { "POD", 1, 0 }, { "N", 0, 0 } };
	struct table *t = table_new(names, 2);

	table_add(t, COLOR_NONE, "%s", "shop/web-1");
	table_add(t, COLOR_NONE, "%s", "12");
	char *s = print(t, &(const struct table_view){ .width = 5 });

	ck_assert_str_eq(s, "POD\n"
			    "shop/web-1\n"
			    "    N\n"
			    "    12\n");
	free(s);
	table_free(&t);
}

TEST(a_text_goes_on_below_itself)
{
	static const struct table_column facts[] = { { "WHAT", 0, 0 }, { "VALUE", 0, COLUMN_FLOWS } };
	static const char text[] = "the kubelet evicted this pod; only its record is left";
	struct table *t = table_new(facts, 2);

	table_add(t, COLOR_NONE, "%s", "evidence");
	table_add(t, COLOR_NONE, "%s", text);
	char *s = print(t, &(const struct table_view){ .width = 40 });

	ck_assert_str_eq(s, "WHAT      VALUE\n"
			    "evidence  the kubelet evicted this pod;\n"
			    "          only its record is left\n");
	free(s);
	s = print(t, &(const struct table_view){ .width = 30 });
	ck_assert_str_eq(s, "WHAT\n"
			    "evidence\n"
			    "    the kubelet evicted this\n"
			    "    pod; only its record is\n"
			    "    left\n");
	free(s);
	s = print(t, &in_a_pipe);
	ck_assert_str_eq(
		s, "WHAT      VALUE\nevidence  the kubelet evicted this pod; only its record is left\n");
	free(s);
	table_free(&t);
}

TEST(wide_shows_everything_however_narrow)
{
	ck_shown("default", &(const struct table_view){ .width = 20, .wide = true },
		 "ID  CLUSTER  POD         OUTCOME  REASON        WHY                     MORE\n"
		 "7   default  shop/web-1  done     Evicted       the kubelet evicted it  more\n"
		 "8   default  shop/web-2  refused  NodeNotReady  -                       more\n");
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
