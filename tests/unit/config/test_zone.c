/* test_zone.c - time zones: rules behind the table, bytes that are no zone, names that are none. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/zone_file.h"
#include "tests/suite.h"
#include "tests/unit/config/chinese.h"
#include "tests/unit/config/at.h"

static int64_t seconds_at(const char *text)
{
	return at(text) / 1000;
}

static const struct {
	const char *rule, *when;
	int32_t offset;
	const char *until; /* NULL = never */
} rules[] = {
	{ "UTC0", "2045-01-01T00:00:00Z", 0, NULL },
	{ "<+0545>-5:45", "2045-01-01T00:00:00Z", 20700, NULL },
	{ "CET-1CEST,M3.5.0,M10.5.0/3", "2045-03-26T00:59:59Z", 3600, "2045-03-26T01:00:00Z" },
	{ "CET-1CEST,M3.5.0,M10.5.0/3", "2045-03-26T01:00:00Z", 7200, "2045-10-29T01:00:00Z" },
	{ "CET-1CEST,M3.5.0,M10.5.0/3", "2045-10-29T01:00:00Z", 3600, "2046-03-25T01:00:00Z" },
	{ "EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00Z", -14400, "2026-11-01T06:00:00Z" },
	/* southern: summer runs over the new year */
	{ "AEST-10AEDT,M10.1.0,M4.1.0/3", "2045-01-01T00:00:00Z", 39600, "2045-04-01T16:00:00Z" },
	{ "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2045-06-01T00:00:00Z", 37800, "2045-09-30T15:30:00Z" },
	/* negative and large times (RFC 8536 3.3.1): America/Godthab, Asia/Jerusalem */
	{ "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2045-03-26T00:59:59Z", -7200, "2045-03-26T01:00:00Z" },
	{ "IST-2IDT,M3.4.4/26,M10.5.0", "2045-03-23T23:59:59Z", 7200, "2045-03-24T00:00:00Z" },
	/* summer all year */
	{ "XXX3EDT4,0/0,J365/23", "2045-07-01T00:00:00Z", -14400, NULL },
	{ "EST5EDT,J60,J300", "2044-02-29T12:00:00Z", -18000, "2044-03-01T07:00:00Z" },
	{ "EST5EDT,59,299", "2044-02-28T12:00:00Z", -18000, "2044-02-29T07:00:00Z" },
};

/* A file that has a rule and no table. */
static int parse_rule(const char *rule, struct zone **ret)
{
	static const char header[44] = { 'T', 'Z', 'i', 'f', '2', [39] = 1 }, type[6];
	char file[200];
	size_t n = 0;

	for (int block = 0; block < 2; block++) {
		memcpy(file + n, header, sizeof(header));
		memcpy(file + n + sizeof(header), type, sizeof(type));
		n += sizeof(header) + sizeof(type);
	}
	n += (size_t)snprintf(file + n, sizeof(file) - n, "\n%s\n", rule);
	return zone_parse(file, n, ret);
}

TEST_LOOP(applies_the_rule, 0, ARRAY_SIZE(rules))
{
	struct zone *z = NULL;
	int64_t until;

	ck_assert_int_eq(parse_rule(rules[_i].rule, &z), 0);
	ck_assert_int_eq(zone_offset(z, seconds_at(rules[_i].when), &until), rules[_i].offset);
	if (rules[_i].until)
		ck_assert_int_eq(until, seconds_at(rules[_i].until));
	zone_free(&z);
}

static const char *const bad_rules[] = {
	" ",
	"X",
	"EST",
	"EST5EDT",
	"EST5EDT,M3.2.0",
	"EST5EDT,M13.2.0,M11.1.0",
	"<+03-3",
	"EST25",
	"EST5EDT,M3.2.0,M11.1.0x",
	"EST5EDT,M3.6.0,M11.1.0",
	"EST5EDT,J0,J3",
	"EST5EDT,366,1",
};

TEST_LOOP(refuses_a_bad_rule, 0, ARRAY_SIZE(bad_rules))
{
	struct zone *z = NULL;

	ck_assert_int_eq(parse_rule(bad_rules[_i], &z), -EBADMSG);
}

/* Every zone file cut at every length, and with every byte changed, is taken or refused, never read past its
 * end (the sanitizers watch: the copy is exactly n bytes long). */
TEST(survives_damaged_bytes)
{
	void *p = NULL;
	size_t n = 0;

	ck_assert_int_eq(zone_load("America/New_York", &p, &n), 0);
	ck_assert_ptr_nonnull(p);
	for (size_t cut = 0; cut < n; cut++) {
		uint8_t *copy = xmemdup(p, cut);
		struct zone *z = NULL;

		ck_assert_int_eq(zone_parse(copy, cut, &z), -EBADMSG);
		ck_assert_ptr_null(z);
		free(copy);
	}
	for (size_t i = 0; i < n; i++) {
		uint8_t *copy = xmemdup(p, n);
		struct zone *z = NULL;
		int64_t until;

		copy[i] ^= 0xff;
		if (zone_parse(copy, n, &z) == 0)
			for (int64_t t = -4000000000; t < 8000000000; t += 1000000000)
				(void)zone_offset(z, t, &until);
		zone_free(&z);
		free(copy);
	}
	free(p);
}

TEST(reads_table_and_rule_of_a_file)
{
	static const struct {
		const char *when;
		int32_t offset;
	} cases[] = {
		{ "1850-01-01T00:00:00Z", -17762 }, { "1918-03-31T06:59:59Z", -18000 },
		{ "1918-03-31T07:00:00Z", -14400 }, { "2026-07-01T00:00:00Z", -14400 },
		{ "2026-12-01T00:00:00Z", -18000 }, { "2199-07-01T00:00:00Z", -14400 },
	};
	struct zone *z = NULL;
	int64_t until;
	void *p = NULL;
	size_t n;

	ck_assert_int_eq(zone_load("America/New_York", &p, &n), 0);
	ck_assert_int_eq(zone_parse(p, n, &z), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_int_eq(zone_offset(z, seconds_at(cases[i].when), &until), cases[i].offset);
	ck_assert_int_eq(zone_offset(NULL, 0, &until), 0);
	ck_assert_int_eq(until, INT64_MAX);
	zone_free(&z);
	free(p);
}

static const struct {
	const char *name;
	int r;
} names[] = {
	{ "UTC", 0 },
	{ "", 0 },
	{ "Asia/Shanghai", 0 },
	{ "Etc/GMT+8", 0 },
	{ "Mars/Olympus", -ENOENT },
	{ "../etc/passwd", -EINVAL },
	{ "/etc/localtime", -EINVAL },
	{ "Asia/../UTC", -EINVAL },
	{ "a b", -EINVAL },
	{ "Asia", -EBADMSG },
	/* a directory */ { "tzdata.zi", -EBADMSG },
	{ "UTC/x", -ENOENT },
};

TEST_LOOP(loads_by_name, 0, ARRAY_SIZE(names))
{
	char why[SENTENCE_MAX];
	void *p = NULL;
	size_t n = 1;

	ck_assert_msg(zone_load(names[_i].name, &p, &n) == names[_i].r, "%s", names[_i].name);
	ck_assert_str_ne(zone_error(why, names[_i].r ? names[_i].r : -EIO), "");
	free(p);
}

TEST(tells_a_missing_database)
{
	char why[SENTENCE_MAX];
	void *p = NULL;
	size_t n;

	ck_assert_int_eq(setenv("TZDIR", "/nonexistent", 1), 0);
	ck_assert_int_eq(zone_load("Asia/Shanghai", &p, &n), -ENOPKG);
	ck_assert_int_eq(zone_load("UTC", &p, &n), 0);
	ck_assert_ptr_null(p);
	ck_assert_ptr_nonnull(strstr(words(zone_error(why, -ENOPKG), LANGUAGE_EN), "tzdata"));
}

TEST(local_follows_tz)
{
	void *p = NULL, *q = NULL;
	size_t n, m;

	ck_assert_int_eq(setenv("TZ", ":Asia/Tokyo", 1), 0);
	ck_assert_int_eq(zone_load("Local", &p, &n), 0);
	ck_assert_int_eq(zone_load("Asia/Tokyo", &q, &m), 0);
	ck_assert_uint_eq(n, m);
	ck_assert_int_eq(memcmp(p, q, n), 0);
	free(p);
	free(q);
}

TEST_MAIN("config/zone")
{
	tcase_set_timeout(t, 60);
}
