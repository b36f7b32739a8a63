/* test_name_index.c - every row is found by its name, and nothing else is. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>

#include "base/name_index.h"
#include "tests/suite.h"

enum { ROWS = 300 };

static char names[ROWS][8];

static struct str name_of(size_t row)
{
	return STR_C(names[row]);
}

TEST(each_row_is_found_by_its_name)
{
	uint16_t slots[2 * ROWS] = { 0 };
	struct name_index x = { name_of, ROWS, slots, 2 * ROWS };

	for (size_t i = 0; i < ROWS; i++)
		(void)snprintf(names[i], sizeof(names[i]), "n%zu", i);
	for (size_t i = 0; i < ROWS; i++)
		ck_assert_uint_eq(name_index_find(&x, name_of(i)), i);
}

TEST(another_name_is_found_nowhere)
{
	uint16_t slots[4] = { 0 };
	struct name_index x = { name_of, 2, slots, 4 };

	(void)snprintf(names[0], sizeof(names[0]), "one");
	(void)snprintf(names[1], sizeof(names[1]), "two");
	for (char c = 'a'; c <= 'z'; c++)
		ck_assert_uint_eq(name_index_find(&x, (struct str){ &c, 1 }), 2);
	ck_assert_uint_eq(name_index_find(&x, STR_LIT("tw")), 2);
	ck_assert_uint_eq(name_index_find(&x, STR_LIT("")), 2);
	ck_assert_uint_eq(name_index_find(&x, STR_LIT("two")), 1);
}

SUITE("base/name_index");
