/* test_fnv.c - FNV-1a of 64 bits against the vectors that its authors publish (test_fnv.c of their reference
 * implementation). */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "base/cleanup.h"
#include "base/fnv.h"
#include "tests/suite.h"

static const struct {
	const char *bytes;
	size_t n;
	uint64_t hash;
} vectors[] = {
	{ "", 0, UINT64_C(0xcbf29ce484222325) },   { "a", 1, UINT64_C(0xaf63dc4c8601ec8c) },
	{ "fo", 2, UINT64_C(0x08985907b541d342) }, { "foobar", 6, UINT64_C(0x85944171f73967e8) },
	{ "ch", 3, UINT64_C(0xf5fadd190cf8edaa) }, { "chongo was here!\n", 17, UINT64_C(0x46810940eff5f915) },
};

TEST_LOOP(published_vectors, 0, ARRAY_SIZE(vectors))
{
	const char *p = vectors[_i].bytes;
	const size_t n = vectors[_i].n;

	ck_assert_uint_eq(fnv_bytes(FNV_START, p, n), vectors[_i].hash);
	for (size_t cut = 0; cut <= n; cut++)
		ck_assert_uint_eq(fnv_bytes(fnv_bytes(FNV_START, p, cut), p + cut, n - cut),
				  vectors[_i].hash);
	if (strlen(p) == n)
		ck_assert_uint_eq(fnv_text(FNV_START, p), vectors[_i].hash);
}

SUITE("base/fnv");
