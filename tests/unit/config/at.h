/* at.h - a moment of a test as it is written: RFC 3339.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_UNIT_CONFIG_AT_H
#define TESTS_UNIT_CONFIG_AT_H

#include <check.h>
#include <string.h>

#include "base/rfc3339.h"

/* Unix ms. */
static inline int64_t at(const char *text)
{
	int64_t ms;

	ck_assert_int_eq(rfc3339_parse(text, strlen(text), &ms), 0);
	return ms;
}

#endif
