/* fuzz_zone.c - any bytes as a TZif file. Properties: an offset is less than a day and a quarter, holds until
 * a second that lies ahead, and is the same up to there; a schedule in that zone fires after the start. */
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "config/cron.h"
#include "config/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OFFSET_MAX (26 * 3600)

static void require(int ok)
{
	if (!ok)
		abort();
}

static void try_offset(const struct zone *z, int64_t t)
{
	int64_t until, later;
	const int32_t offset = zone_offset(z, t, &until);

	require(until > t);
	require(offset >= -OFFSET_MAX && offset <= OFFSET_MAX);
	if (until < INT64_MAX)
		require(zone_offset(z, until - 1, &later) == offset && later == until);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int64_t far[] = { INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1 };
	static const char *const specs[] = { "0 30 2 * * *", "0 0 0 31 12 *", "@every 1h" };
	const int64_t from = INT64_C(1767225600123);
	struct zone *z = NULL;

	if (zone_parse(data, size, &z) < 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(far); i++)
		try_offset(z, far[i]);
	for (int64_t t = -INT64_C(3000000000); t < INT64_C(9000000000); t += 333333333)
		try_offset(z, t);
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		struct cron c;

		require(cron_parse(specs[i], &c, NULL) == 0);
		const int64_t at = cron_next(&c, z, from);

		require(at == 0 || at > from);
	}
	zone_free(&z);
	return 0;
}
