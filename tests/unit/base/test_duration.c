/* test_duration.c - durations against what Go's time package answers (its own results, Go 1.26). */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "tests/suite.h"

/* clang-format off */
static const struct {
	const char *text;
	bool ok;
	int64_t ns;
	const char *printed;
} cases[] = {
	{ "0", true, INT64_C(0), "0s" },
	{ "5s", true, INT64_C(5000000000), "5s" },
	{ "30s", true, INT64_C(30000000000), "30s" },
	{ "1478s", true, INT64_C(1478000000000), "24m38s" },
	{ "-5s", true, INT64_C(-5000000000), "-5s" },
	{ "+5s", true, INT64_C(5000000000), "5s" },
	{ "-0", true, INT64_C(0), "0s" },
	{ "+0", true, INT64_C(0), "0s" },
	{ "5.0s", true, INT64_C(5000000000), "5s" },
	{ "5.6s", true, INT64_C(5600000000), "5.6s" },
	{ "9223372036854775808ns9223372036854775808ns", false, 0, NULL }, /* Go takes it for 0s */
	{ "-9223372036854775808ns9223372036854775808ns", false, 0, NULL },
	{ "5.", false, 0, NULL },
	{ "5.s", true, INT64_C(5000000000), "5s" },
	{ ".5s", true, INT64_C(500000000), "500ms" },
	{ "1.0s", true, INT64_C(1000000000), "1s" },
	{ "1.00s", true, INT64_C(1000000000), "1s" },
	{ "1.004s", true, INT64_C(1004000000), "1.004s" },
	{ "1.0040s", true, INT64_C(1004000000), "1.004s" },
	{ "100.00100s", true, INT64_C(100001000000), "1m40.001s" },
	{ "10ns", true, INT64_C(10), "10ns" },
	{ "11us", true, INT64_C(11000), "11µs" },
	{ "12µs", true, INT64_C(12000), "12µs" },
	{ "12μs", true, INT64_C(12000), "12µs" },
	{ "13ms", true, INT64_C(13000000), "13ms" },
	{ "14s", true, INT64_C(14000000000), "14s" },
	{ "15m", true, INT64_C(900000000000), "15m0s" },
	{ "16h", true, INT64_C(57600000000000), "16h0m0s" },
	{ "3h30m", true, INT64_C(12600000000000), "3h30m0s" },
	{ "10.5s4m", true, INT64_C(250500000000), "4m10.5s" },
	{ "-2m3.4s", true, INT64_C(-123400000000), "-2m3.4s" },
	{ "1h2m3s4ms5us6ns", true, INT64_C(3723004005006), "1h2m3.004005006s" },
	{ "39h9m14.425s", true, INT64_C(140954425000000), "39h9m14.425s" },
	{ "52763797000ns", true, INT64_C(52763797000), "52.763797s" },
	{ "0.3333333333333333333h", true, INT64_C(1200000000000), "20m0s" },
	{ "9007199254740993ns", true, INT64_C(9007199254740993), "2501h59m59.254740993s" },
	{ "9223372036854775807ns", true, INT64_C(9223372036854775807), "2562047h47m16.854775807s" },
	{ "9223372036854775.807us", true, INT64_C(9223372036854775807), "2562047h47m16.854775807s" },
	{ "9223372036s854ms775us807ns", true, INT64_C(9223372036854775807), "2562047h47m16.854775807s" },
	{ "-9223372036854775808ns", true, INT64_MIN, "-2562047h47m16.854775808s" },
	{ "-9223372036854775.808us", true, INT64_MIN, "-2562047h47m16.854775808s" },
	{ "-2562047h47m16.854775808s", true, INT64_MIN, "-2562047h47m16.854775808s" },
	{ "0.100000000000000000000h", true, INT64_C(360000000000), "6m0s" },
	{ "0.830103483285477580700h", true, INT64_C(2988372539827), "49m48.372539827s" },
	{ "", false, 0, NULL },
	{ ".", false, 0, NULL },
	{ "-", false, 0, NULL },
	{ ".s", false, 0, NULL },
	{ "+.s", false, 0, NULL },
	{ "-.s", false, 0, NULL },
	{ "3", false, 0, NULL },
	{ "1d", true, INT64_C(86400000000000), "24h0m0s" }, /* Go has no days */
	{ "3d4h", true, INT64_C(273600000000000), "76h0m0s" },
	{ "0.5d", true, INT64_C(43200000000000), "12h0m0s" },
	{ "106752d", false, 0, NULL },
	{ "2w", false, 0, NULL },
	{ "1s2", false, 0, NULL },
	{ "1h 30m", false, 0, NULL },
	{ " 1s", false, 0, NULL },
	{ "1e3s", false, 0, NULL },
	{ "0x1s", false, 0, NULL },
	{ "9223372036854775810ns", false, 0, NULL },
	{ "9223372036854775808ns", false, 0, NULL },
	{ "9223372036854775.808us", false, 0, NULL },
	{ "9223372036854ms775us808ns", false, 0, NULL },
	{ "3000000h", false, 0, NULL },
	{ "9223372036854775808ns9223372036854775808ns", false, 0, NULL }, /* Go takes it for 0 */
	{ "-9223372036854775808ns9223372036854775808ns", false, 0, NULL },
	{ "9223372036854775807ns1ns", false, 0, NULL },
	{ "1h1h", true, INT64_C(7200000000000), "2h0m0s" },
	{ "1m1h", true, INT64_C(3660000000000), "1h1m0s" },
	{ "1S", false, 0, NULL },
	{ "1µ", false, 0, NULL },
	{ "99999999999999999999s", false, 0, NULL },
	{ "0.0000000000000000000000001s", true, INT64_C(0), "0s" },
	{ "1.99999999999999999999999s", true, INT64_C(2000000000), "2s" },
	{ "1ms1", false, 0, NULL },
	{ "00012m", true, INT64_C(720000000000), "12m0s" },
	{ "1.h", true, INT64_C(3600000000000), "1h0m0s" },
	{ "--1s", false, 0, NULL },
	{ "1h-1m", false, 0, NULL },
	{ "∞s", false, 0, NULL },
};
/* clang-format on */

TEST_LOOP(parses_and_prints_as_go_does, 0, ARRAY_SIZE(cases))
{
	struct duration_error why = { 0 };
	char printed[DURATION_MAX];
	int64_t ns = 42;
	const int r = duration_parse(cases[_i].text, strlen(cases[_i].text), &ns, &why);

	ck_assert_msg((r == 0) == cases[_i].ok, "\"%s\": %d", cases[_i].text, r);
	if (!cases[_i].ok) {
		ck_assert(r == -EINVAL || r == -ERANGE);
		ck_assert_int_eq(why.kind == DURATION_RANGE, r == -ERANGE);
		ck_assert_int_eq(ns, 42);
		return;
	}
	ck_assert_msg(ns == cases[_i].ns, "\"%s\": %lld", cases[_i].text, (long long)ns);
	ck_assert_uint_eq(duration_format(ns, printed), strlen(printed));
	ck_assert_str_eq(printed, cases[_i].printed);
}

static const struct {
	const char *text;
	int kind;
	uint64_t hours;
	const char *from;
} hints[] = {
	{ "1day", DURATION_UNIT, 24, "1day" },
	{ "2w", DURATION_UNIT, 336, "2w" },
	{ "3days", DURATION_UNIT, 72, "3days" },
	{ "1h5", DURATION_NO_UNIT, 0, "5" },
	{ "5x", DURATION_UNIT, 0, "5x" },
	{ "", DURATION_NONE, 0, "" },
	{ "99999999w", DURATION_UNIT, 168, "99999999w" },
};

TEST_LOOP(says_what_to_write, 0, ARRAY_SIZE(hints))
{
	struct duration_error why = { 0 };
	int64_t ns;

	ck_assert_int_eq(duration_parse(hints[_i].text, strlen(hints[_i].text), &ns, &why), -EINVAL);
	ck_assert_int_eq(why.kind, hints[_i].kind);
	ck_assert_uint_eq(why.hours, hints[_i].hours);
	ck_assert_str_eq(why.text, hints[_i].from);
}

/* Empty values are decoded to no address at all. */
TEST(nothing_is_no_duration)
{
	struct duration_error why = { 0 };
	int64_t ns;

	ck_assert_int_eq(duration_parse(NULL, 0, &ns, &why), -EINVAL);
	ck_assert_int_eq(why.kind, DURATION_NONE);
	ck_assert_str_eq(why.text, "");
}

TEST(prints_what_it_reads)
{
	uint64_t x = 88172645463325252u;

	for (int i = 0; i < 20000; i++) {
		char printed[DURATION_MAX];
		int64_t ns, back;

		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		ns = (int64_t)(x >> (x % 60));
		(void)duration_format(ns, printed);
		ck_assert_int_eq(duration_parse(printed, strlen(printed), &back, NULL), 0);
		/* A fraction of an hour is never printed, so nothing is lost but float rounding of ns. */
		ck_assert_int_eq(back, ns);
	}
}

SUITE("base/duration");
