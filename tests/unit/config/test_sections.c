/* test_sections.c - a section or a list whose name is mistaken hides nothing that is wrong in it: one look
 * tells of every mistake. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/suite.h"
#include "tests/unit/config/loaded.h"

#define ENABLED "enable: true, namespaces: [shop]"

static size_t lines_with(const char *part)
{
	size_t n = 0;

	for (size_t i = 0; i < diags.n; i++)
		n += diags.v[i].error && strstr(diags.v[i].text, part) != NULL;
	return n;
}

static const struct {
	const char *text, *name, *inside; /* inside NULL: no other error */
} rows[] = {
	{ "deletEvictedPod: {" ENABLED ", hours: 5x}", "did you mean deleteEvictedPod",
	  "deleteEvictedPod.hours" },
	{ "purge: {" ENABLED ", includeJobs: true, keepNewest: many}", "unknown key", "keepNewest" },
	{ "deleteEvictedPod:\n  enable: true\n  namespaces: [shop]\n  errImagePull: {hours: 5x}",
	  "deleteEvictedPod.errImagePull", "errImagePull.hours" },
	{ "deleteEvictedPod:\n  enable: true\n  namespaces: [shop]\n  errImagePul: {hours: 5x}",
	  "deleteEvictedPod.errImagePul", "errImagePull.hours" },
	{ "cluster:\n- {nam: a}", "did you mean clusters", "clusters[].nam" },
	{ "sink:\n- {typ: slack}", "did you mean sinks", "sinks[].typ" },
	{ "override:\n- {labels: [a=b], color: red}", "did you mean overrides", "color" },
	{ "overrides:\n- {labels: [a=b], errImagPull: {hours: 5x}}", "did you mean errImagePull",
	  "errImagePull.hours" },
	{ "overrides:\n- {labels: [a=b], pulls: {causes: [never]}}", "unknown key", "errImagePull.causes" },
	{ "purge: {colour: red}", "unknown key", NULL }, /* like no section */
	{ "purge: [a]", "unknown key", NULL },
	{ "purge: 1", "unknown key", NULL },
};

TEST_LOOP(a_mistaken_name_hides_nothing, 0, ARRAY_SIZE(rows))
{
	ck_assert_int_lt(load(rows[_i].text), 0);
	ck_assert_msg(lines_with(rows[_i].name) > 0, "%s: %s", rows[_i].text, diags.v[0].text);
	if (rows[_i].inside)
		ck_assert_msg(lines_with(rows[_i].inside) > 0, "%s: %s", rows[_i].text,
			      diags.v[diags.n - 1].text);
	else
		ck_assert_uint_eq(diags.errors, 1);
}

TEST(one_trouble_is_told_once)
{
	const struct place at = { .file = "f", .key = "k" };

	for (int i = 0; i < 3; i++)
		diags_warn(&diags, at, SINK_UNSIGNED, WORD(PHRASE_DIAG_SINK_DINGTALK));
	ck_assert_uint_eq(diags.n, 1);
	ck_assert_uint_eq(diags.dropped, 0);
}

TEST_MAIN("config/sections")
{
	tcase_add_checked_fixture(t, loaded_setup, loaded_teardown);
}
