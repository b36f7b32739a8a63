/* test_overrides.c - what a file says of windows and hours is checked for all pods and in each item of
 * overrides: told once, where it is written. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/suite.h"
#include "tests/unit/config/loaded.h"

static unsigned said(bool error, const char *what)
{
	unsigned n = 0;

	for (size_t i = 0; i < diags.n; i++)
		n += diags.v[i].error == error && strstr(diags.v[i].text, what) != NULL;
	return n;
}

#define FILE_OF(overrides)                                                                                   \
	"errImagePull:\n  enable: true\n  namespaces: [x]\n  hours: 24h\noverrides:\n" overrides             \
	"deleteEvictedPod:\n  enable: true\n  namespaces: [x]\n"

static const struct {
	const char *text, *error;
} mistakes[] = {
	{ "errImagePull: {enable: true, namespaces: [x], windows: ['0 9 31 2 * for 1h']}\n",
	  "f:1:57: errImagePull.windows: schedule \"0 9 31 2 * for 1h\" never fires" },
	{ "errImagePull: {enable: true, namespaces: [x], windows: ['CRON_TZ=Mars/Olympus 0 9 * * * for "
	  "1h']}\n"
	  "overrides: [{name: a, labels: [a=b]}]\n",
	  "errImagePull.windows: time zone \"Mars/Olympus\"" },
	{ FILE_OF("- {name: a, labels: [a=b], deleteEvictedPod: "
		  "{windows: ['CRON_TZ=Mars/Olympus 0 9 * * * for 1h']}}\n"),
	  "f:6:3: deleteEvictedPod.windows: time zone \"Mars/Olympus\"" },
};

TEST_LOOP(a_window_that_cannot_be_used_is_an_error, 0, ARRAY_SIZE(mistakes))
{
	ck_assert_int_lt(load(mistakes[_i].text), 0);
	ck_assert_msg(said(true, mistakes[_i].error) == 1, "%s", diags.v[0].text);
}

TEST(short_hours_of_an_override_are_told)
{
	ck_assert_int_eq(
		load(FILE_OF(
			"- {name: a, namespaces: [x], errImagePull: {hours: 1m}}\n"
			"- {name: b, namespaces: [y]}\n"
			"- {name: c, namespaces: [z], deleteTerminatingPod: {enable: true, hours: 30s}}\n")),
		0);
	ck_assert_uint_eq(said(false, "f:6:3: warning: errImagePull.hours: less than 10m"), 1);
	ck_assert_uint_eq(said(false, "f:8:3: warning: deleteTerminatingPod.hours: less than 1m"), 1);
	ck_assert_uint_eq(said(false, ".hours: less than"), 2);
}

TEST(hours_that_an_override_takes_from_the_file_are_told_there)
{
	ck_assert_int_eq(load("errImagePull: {enable: true, namespaces: [x], hours: 1m}\n"
			      "overrides: [{name: a, namespaces: [x]}]\n"),
			 0);
	ck_assert_uint_eq(said(false, "f:1:47: warning: errImagePull.hours: less than 10m"), 1);
	ck_assert_uint_eq(said(false, ".hours: less than"), 1);
}

TEST_MAIN("config/overrides")
{
	tcase_add_checked_fixture(t, loaded_setup, loaded_teardown);
}
