/* fuzz_cron.c - the first byte chooses; then a schedule, a duration, a URL or a time zone file.
 * Properties: what fires lies after the start, fires again later, and stands at a whole second; a duration
 * printed reads back equal; an offset's end lies ahead. */
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "config/cron.h"
#include "base/duration.h"
#include "config/url.h"
#include "config/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int ok)
{
	if (!ok)
		abort();
}

static void try_cron(const char *text)
{
	const int64_t from = INT64_C(1767225600123);
	struct schedule_error why;
	struct cron c;

	if (cron_parse(text, &c, &why) < 0) {
		require(why.pos <= strlen(text) && why.why[0] != '\0');
		return;
	}
	const int64_t first = cron_next(&c, NULL, from), second = first ? cron_next(&c, NULL, first) : 0;

	require(first == 0 || (first > from && first % 1000 == 0));
	require(second == 0 || second > first);
}

static void try_duration(const char *text, size_t n)
{
	char printed[DURATION_MAX];
	int64_t ns, back;

	if (duration_parse(text, n, &ns, NULL) < 0)
		return;
	(void)duration_format(ns, printed);
	require(duration_parse(printed, strlen(printed), &back, NULL) == 0 && back == ns);
}

static void try_zone(const uint8_t *data, size_t size)
{
	struct zone *z = NULL;
	struct cron c;

	if (zone_parse(data, size, &z) < 0)
		return;
	for (int64_t t = -INT64_C(3000000000); t < INT64_C(9000000000); t += 333333333) {
		int64_t until;

		(void)zone_offset(z, t, &until);
		require(until > t);
	}
	require(cron_parse("0 30 2 * * *", &c, NULL) == 0);
	require(cron_next(&c, z, 0) >= 0);
	zone_free(&z);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	char *text = xstrndup((const char *)data + 1, size - 1);
	enum phrase why;
	struct url u;

	if (data[0] % 4 == 0)
		try_cron(text);
	else if (data[0] % 4 == 1)
		try_duration((const char *)data + 1, size - 1);
	else if (data[0] % 4 == 2)
		require(url_parse(text, &u, &why) < 0 || (u.host[0] != '\0' && u.port <= 65535));
	else
		try_zone(data + 1, size - 1);
	free(text);
	return 0;
}
