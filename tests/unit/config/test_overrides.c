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

static const struct {
	const char *text, *error;
} mistakes[] = {
	{ "errImagePull: {enable: true, namespaces: [x], windows: ['0 9 31 2 * for 1h']}\n",
	  "f:1:57: errImagePull.windows: schedule \"0 9 31 2 * for 1h\" never fires" },
};

TEST_LOOP(a_window_that_cannot_be_used_is_an_error, 0, ARRAY_SIZE(mistakes))
{
	ck_assert_int_lt(load(mistakes[_i].text), 0);
	ck_assert_msg(said(true, mistakes[_i].error) == 1, "%s", diags.v[0].text);
}

TEST_MAIN("config/overrides")
{
	tcase_add_checked_fixture(t, loaded_setup, loaded_teardown);
}
