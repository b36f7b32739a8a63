// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/token.h"
#include "tests/apisim/util.h"
#include "tests/suite.h"

#include <stdlib.h>
#include <string.h>

TEST(test_there_and_back)
{
	static const char *const keys[] = {
		"", "a", "ns/name", "ns/na", "kube-system/coredns-5d78c9869d-abcde", "\xc3\xa9/x"
	};
	static const int64_t versions[] = { -1, 1, 42, INT64_MAX };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		for (size_t j = 0; j < sizeof(versions) / sizeof(versions[0]); j++) {
			char *token = token_encode(versions[j], keys[i]), *key = NULL;
			int64_t rv = 0;

			ck_assert_uint_eq(
				strspn(token,
				       "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
				strlen(token));
			ck_assert(token_decode(token, &rv, &key));
			ck_assert_int_eq(rv, versions[j]);
			ck_assert_str_eq(key, keys[i]);
			free(key);
			free(token);
		}
}

TEST(test_no_token)
{
	static const char *const bad[] = { "", "x", "!!", "e30", "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ", "\xff" };
	char *key;
	int64_t rv;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!token_decode(bad[i], &rv, &key), "%s", bad[i]);
}

TEST(test_times_and_uuids)
{
	int64_t t;
	char text[40];

	ck_assert(util_time_parse("2026-11-21T11:47:34Z", &t));
	ck_assert_int_eq(t, 1795261654);
	util_time_format(t, text);
	ck_assert_str_eq(text, "2026-11-21T11:47:34Z");
	ck_assert(util_time_parse("2026-11-21T13:17:34.123+01:30", &t));
	ck_assert_int_eq(t, 1795261654);
	ck_assert(!util_time_parse("2026-11-21 11:47:34", &t));
	ck_assert(!util_time_parse("2026-11-21T11:47:34", &t));
	ck_assert(!util_time_parse("2026-11-21T11:47:34ZZ", &t));
	util_uuid(text, 0xffffffffffffffffu, 0xffffffffffffffffu);
	ck_assert_str_eq(text, "ffffffff-ffff-4fff-bfff-ffffffffffff");
	util_uuid(text, 0, 0);
	ck_assert_str_eq(text, "00000000-0000-4000-8000-000000000000");
}

SUITE("apisim/token");
