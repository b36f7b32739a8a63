/* test_siphash.c - SipHash-2-4-128 against what OpenSSL's SIPHASH answers for the key 00 01 ... 0f. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "base/cleanup.h"
#include "base/siphash.h"
#include "tests/suite.h"

static const struct {
	size_t n; /* of the bytes 00 01 02 ... */
	const char *hash;
} vectors[] = {
	{ 0, "a3817f04ba25a8e66df67214c7550293" },  { 1, "da87c1d86b99af44347659119b22fc45" },
	{ 2, "8177228da4a45dc7fca38bdef60affe4" },  { 7, "a1f1ebbed8dbc153c0b84aa61ff08239" },
	{ 8, "3b62a9ba6258f5610f83e264f31497b4" },  { 15, "5493e99933b0a8117e08ec0f97cfc3d9" },
	{ 63, "5150d1772f50834a503e069a973fbd7c" },
};

TEST_LOOP(vectors_of_another_implementation, 0, ARRAY_SIZE(vectors))
{
	uint8_t key[SIPHASH_KEY_SIZE], text[64];
	char hash[SIPHASH_TEXT_MAX];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)i;
	for (size_t i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)i;
	siphash_text(key, text, vectors[_i].n, hash);
	ck_assert_str_eq(hash, vectors[_i].hash);
}

SUITE("base/siphash");
