/* zone.c - see zone.h; the rule behind the table is in zone_rule.c, finding the file in zone_file.c. */
// SPDX-License-Identifier: Apache-2.0
#include "config/zone.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "config/zone_rule.h"

struct zone {
	size_t n; /* transitions */
	int64_t *at;
	int32_t *offset; /* from at[i] on */
	int32_t first;   /* before at[0] */
	bool has_rule;
	struct zone_rule rule; /* after the last */
};

#define HEADER 44u

/* One of the two blocks of a file. */
struct block {
	const uint8_t *p;
	size_t isut, isstd, leap, time, type, chars;
	size_t width; /* bytes of a time: 4 or 8 */
	size_t size;  /* with its header */
};

static int64_t big_endian(const uint8_t *p, size_t n)
{
	uint64_t v = (p[0] & 0x80) ? UINT64_MAX : 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | p[i];
	return (int64_t)v;
}

static size_t count_at(const uint8_t *p)
{
	return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
}

static int block_parse(const uint8_t *p, size_t n, size_t width, struct block *ret)
{
	struct block b = { .p = p, .width = width };

	if (n < HEADER || memcmp(p, "TZif", 4) != 0)
		return -EBADMSG;
	b.isut = count_at(p + 20);
	b.isstd = count_at(p + 24);
	b.leap = count_at(p + 28);
	b.time = count_at(p + 32);
	b.type = count_at(p + 36);
	b.chars = count_at(p + 40);
	if (b.isut > n || b.isstd > n || b.leap > n || b.time > n || b.type > 256 || b.chars > n)
		return -EBADMSG;
	b.size = HEADER + b.time * (width + 1) + b.type * 6 + b.chars + b.leap * (width + 4) + b.isstd +
		 b.isut;
	if (b.size > n)
		return -EBADMSG;
	*ret = b;
	return 0;
}

static int block_load(struct zone *z, const struct block *b)
{
	const uint8_t *times = b->p + HEADER, *index = times + b->time * b->width, *types = index + b->time;

	if (b->type == 0)
		return -EBADMSG;
	for (size_t i = 0; i < b->type; i++) {
		const int64_t offset = big_endian(types + i * 6, 4);

		if (offset < -93600 || offset > 93600) /* RFC 8536 3.2: about 25 to 26 hours */
			return -EBADMSG;
	}
	z->n = b->time;
	z->at = xcalloc(z->n, sizeof(*z->at));
	z->offset = xcalloc(z->n, sizeof(*z->offset));
	z->first = (int32_t)big_endian(types, 4);
	for (size_t i = 0; i < z->n; i++) {
		z->at[i] = big_endian(times + i * b->width, b->width);
		if (index[i] >= b->type || (i > 0 && z->at[i] <= z->at[i - 1]))
			return -EBADMSG;
		z->offset[i] = (int32_t)big_endian(types + index[i] * 6u, 4);
	}
	return 0;
}

/* "\n<rule>\n" behind the second block. */
static int footer_load(struct zone *z, const uint8_t *p, size_t n)
{
	const uint8_t *end = n > 1 ? memchr(p + 1, '\n', n - 1) : NULL;

	if (!end || p[0] != '\n')
		return -EBADMSG;
	if (end == p + 1)
		return 0;
	z->has_rule = true;
	return zone_rule_parse((const char *)p + 1, (size_t)(end - p - 1), &z->rule);
}

static int load(struct zone *z, const uint8_t *p, size_t n)
{
	struct block first, second;
	int r = block_parse(p, n, 4, &first);

	if (r < 0)
		return r;
	if (p[4] == '\0')
		return block_load(z, &first);
	r = block_parse(p + first.size, n - first.size, 8, &second);
	if (r == 0)
		r = block_load(z, &second);
	if (r < 0)
		return r;
	return footer_load(z, second.p + second.size, n - first.size - second.size);
}

int zone_parse(const void *p, size_t n, struct zone **ret)
{
	struct zone *z;
	int r;

	if (n > ZONE_SIZE_MAX)
		return -EBADMSG;
	z = xcalloc(1, sizeof(*z));
	r = load(z, p, n);
	if (r < 0)
		zone_free(&z);
	else
		*ret = z;
	return r;
}

void zone_free(struct zone **z)
{
	if (!*z)
		return;
	free((*z)->at);
	free((*z)->offset);
	free(*z);
	*z = NULL;
}

int32_t zone_offset(const struct zone *z, int64_t t, int64_t *ret_until)
{
	size_t low = 0, high = z ? z->n : 0; /* the first transition after t is in [low, high] */

	*ret_until = INT64_MAX;
	if (!z)
		return 0;
	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (z->at[mid] <= t)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == z->n && z->has_rule)
		return zone_rule_offset(&z->rule, t, ret_until);
	if (low < z->n)
		*ret_until = z->at[low];
	return low == 0 ? z->first : z->offset[low - 1];
}
