/* What people write on objects, well and badly. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/annotations.h"
#include "tests/suite.h"

#define BIT(d) (1u << (d))

static struct annotations of(const char *key, const char *value)
{
	struct annotations m = { 0 };

	(void)annotations_add(&m, STR_C(key), STR_C(value));
	return m;
}

TEST(whose_key_it_is)
{
	struct annotations m = { 0 };

	ck_assert(annotations_add(&m, STR_LIT(ANNOTATION_IGNORE), STR_LIT("x")));
	ck_assert(!annotations_add(&m, STR_LIT("ops-pod-cleaner.io/"), STR_LIT("x")));
	ck_assert(!annotations_add(&m, STR_LIT("ops-pod-cleaner.io/skipped"), STR_LIT("all")));
	ck_assert(!annotations_add(&m, STR_LIT("example.com/skip"), STR_LIT("all")));
	ck_assert(!annotations_add(&m, (struct str){ NULL, 0 }, STR_LIT("all")));
	ck_assert(!m.ignore && !annotations_any(&m));
}

TEST(ignore_is_true_and_nothing_else)
{
	ck_assert(of(ANNOTATION_IGNORE, "true").ignore);
	ck_assert(!of(ANNOTATION_IGNORE, "false").ignore);
	ck_assert(!of(ANNOTATION_IGNORE, "").ignore);
}

TEST(skip_names_duties)
{
	static const struct {
		const char *value;
		unsigned skip;
	} rows[] = {
		{ "errImagePull", BIT(DUTY_IMAGE_PULL) },
		{ "errImagePull,deleteEvictedPod", BIT(DUTY_IMAGE_PULL) | BIT(DUTY_EVICTED) },
		{ " deleteTerminatingPod , tooManyRestart ", BIT(DUTY_TERMINATING) | BIT(DUTY_RESTARTS) },
		{ "all", ANNOTATIONS_SKIP_ALL },
		/* what is not understood is the wish to be left alone */
		{ "errImagePul", ANNOTATIONS_SKIP_ALL },
		{ "", ANNOTATIONS_SKIP_ALL },
		{ "errImagePull,", BIT(DUTY_IMAGE_PULL) },
		{ ",errImagePull", ANNOTATIONS_SKIP_ALL },
		{ "\xff", ANNOTATIONS_SKIP_ALL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_msg(of(ANNOTATION_SKIP, rows[i].value).skip == rows[i].skip, "%s: %u",
			      rows[i].value, of(ANNOTATION_SKIP, rows[i].value).skip);
}

/* An empty value may have been decoded to no address at all: it says nothing that could be read. */
TEST(nothing_is_the_wish_to_be_left_alone)
{
	static const char *const keys[] = { ANNOTATION_SKIP, ANNOTATION_EXTEND };
	struct annotations announced = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		struct annotations m = { 0 };

		ck_assert(annotations_add(&m, STR_C(keys[i]), (struct str){ 0 }));
		ck_assert_uint_eq(m.skip, ANNOTATIONS_SKIP_ALL);
	}
	ck_assert(annotations_add(&announced, STR_LIT(ANNOTATION_ANNOUNCED), (struct str){ 0 }));
	ck_assert(!annotations_any(&announced));
}

TEST(extend_is_a_duration)
{
	ck_assert_int_eq(of(ANNOTATION_EXTEND, "2h").extend_ms, 7200000);
	ck_assert_int_eq(of(ANNOTATION_EXTEND, " 90m ").extend_ms, 5400000);
	ck_assert_int_eq(of(ANNOTATION_EXTEND, "0").extend_ms, 0);
	ck_assert_int_eq(of(ANNOTATION_EXTEND, "2h").skip, 0);
	ck_assert_int_eq(of(ANNOTATION_EXTEND, "2 hours").skip, ANNOTATIONS_SKIP_ALL);
	ck_assert_int_eq(of(ANNOTATION_EXTEND, "-2h").skip, ANNOTATIONS_SKIP_ALL);
	ck_assert_int_eq(of(ANNOTATION_EXTEND, "").skip, ANNOTATIONS_SKIP_ALL);
	ck_assert_int_eq(of(ANNOTATION_EXTEND, "9999999999h").skip, ANNOTATIONS_SKIP_ALL);
}

TEST(announced_is_read_as_it_is_written)
{
	struct annotations m = { .announced = { [DUTY_EVICTED] = 1790000000000 } };
	char text[ANNOTATIONS_ANNOUNCED_MAX];
	struct annotations back;

	annotations_announced_format(&m, DUTY_IMAGE_PULL, 1790000001000, text);
	ck_assert_str_eq(text, "deleteEvictedPod=2026-09-21T14:13:20Z,errImagePull=2026-09-21T14:13:21Z");
	back = of(ANNOTATION_ANNOUNCED, text);
	ck_assert_int_eq(back.announced[DUTY_EVICTED], 1790000000000);
	ck_assert_int_eq(back.announced[DUTY_IMAGE_PULL], 1790000001000);
	ck_assert_int_eq(back.announced[DUTY_TERMINATING], 0);
	annotations_announced_format(&back, DUTY_EVICTED, 1790000002000, text);
	ck_assert_str_eq(text, "deleteEvictedPod=2026-09-21T14:13:22Z,errImagePull=2026-09-21T14:13:21Z");
	for (size_t d = 0; d < DUTY__MAX; d++)
		m.announced[d] = INT64_C(253402300799000);
	annotations_announced_format(&m, DUTY_EVICTED, m.announced[0], text);
	ck_assert_uint_lt(strlen(text), sizeof(text) - 1);
}

TEST(announced_badly_is_not_announced)
{
	static const char *const values[] = { "",
					      "errImagePull",
					      "errImagePull=",
					      "errImagePull=soon",
					      "=2026-09-21T14:13:20Z",
					      "other=2026-09-21T14:13:20Z",
					      "errImagePull=1969-01-01T00:00:00Z",
					      "errImagePull=2026-09-21T14:13:20Zx" };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const struct annotations m = of(ANNOTATION_ANNOUNCED, values[i]);

		ck_assert_msg(!annotations_any(&m), "%s", values[i]);
	}
}

SUITE("model/annotations");
