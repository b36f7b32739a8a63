/* test_health.c - answers of /livez and /readyz. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/web/health.h"
#include "tests/suite.h"
#include "tests/unit/reporter/support.h"

static const struct {
	const char *path, *query;
	bool history, watch;
	int status;
	const char *text;
} cases[] = {
	{ "/readyz", NULL, true, true, 200, "ok" },
	{ "/readyz", "verbose", true, true, 200, "[+]history ok\n[+]watch-prod ok\nreadyz check passed\n" },
	{ "/readyz", NULL, true, false, 500,
	  "[+]history ok\n[-]watch-prod failed: reason withheld\nreadyz check failed\n" },
	{ "/readyz", "exclude=watch-prod", true, false, 200, "ok" },
	{ "/readyz", "verbose&exclude=watch-prod", true, false, 200,
	  "[+]history ok\n[+]watch-prod excluded: ok\nreadyz check passed\n" },
	{ "/readyz", "exclude=watch", true, false, 500,
	  "[+]history ok\n[-]watch-prod failed: reason withheld\nreadyz check failed\n" },
	{ "/readyz/history", NULL, true, false, 200, "ok" },
	{ "/readyz/watch-prod", NULL, true, false, 500, "internal server error: reason withheld\n" },
	{ "/readyz/nothing", NULL, true, true, 404, "404 page not found\n" },
	{ "/readyz/", "&&=&", true, true, 200, "ok" },
};

TEST_LOOP(answers, 0, (int)(sizeof(cases) / sizeof(cases[0])))
{
	const struct health_check v[] = { { "history", cases[_i].history, false },
					  { "watch-prod", cases[_i].watch, false } };
	char *text = NULL;

	ck_assert_int_eq(health_answer(v, 2, "readyz", cases[_i].path, cases[_i].query, &text),
			 cases[_i].status);
	ck_assert_str_eq(text, cases[_i].text);
	free(text);
}

/* Of several clusters one that is served makes it ready; what else has to be well, still has. */
TEST_LOOP(one_cluster_suffices, 0, 8)
{
	const bool history = _i & 1, a = _i & 2, b = _i & 4;
	const struct health_check v[] = { { "watch-a", a, true },
					  { "history", history, false },
					  { "watch-b", b, true } };
	char *text = NULL;

	ck_assert_int_eq(health_answer(v, 3, "readyz", "/readyz", "verbose", &text),
			 history && (a || b) ? 200 : 500);
	ck_assert_int_eq(strstr(text, "[-]watch-b") != NULL, !b);
	free(text);
	ck_assert_int_eq(health_answer(v, 3, "readyz", "/readyz/watch-b", NULL, &text), b ? 200 : 500);
	free(text);
}

SUITE("reporter/health");
