/* window.c - see window.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/xalloc.h"
#include "config/zone.h"

#define FOR       " for "
#define CHAIN_MAX 4096 /* openings that overlap and are followed to their common end */

/* The last " for ": a time zone or a schedule never holds one. */
static const char *find_for(const char *spec)
{
	const char *found = NULL, *p = spec;

	while ((p = strstr(p, FOR)))
		found = p++;
	return found;
}

int window_parse(const char *spec, struct window *ret, struct str_error *reterr)
{
	const char *mid = find_for(spec), *length;
	struct str_error why;
	_cleanup_free_ char *cron = NULL;
	int64_t ns;

	if (strlen(spec) > WINDOW_TEXT_MAX)
		return str_fail_at(reterr, WINDOW_TEXT_MAX, "the window is too long");
	if (!mid)
		return str_fail_at(reterr, strlen(spec),
				   "how long it stays open is missing; write for example 0 9 * * 1-5 for 8h");
	for (length = mid + strlen(FOR); *length == ' ';)
		length++;
	if (duration_parse(length, strlen(length), &ns, &why) < 0)
		return str_fail_at(reterr, (size_t)(length - spec), "%s", why.text);
	if (ns < INT64_C(60000000000) || ns / 1000000 > WINDOW_FOR_MAX)
		return str_fail_at(reterr, (size_t)(length - spec),
				   "a window is open for at least 1m and at most 744h");
	cron = xstrndup(spec, (size_t)(mid - spec));
	if (cron_parse(cron, &ret->cron, reterr) < 0)
		return -EINVAL;
	if (ret->cron.every_s)
		return str_fail_at(reterr, 0,
				   "@every has no fixed beginning; write a schedule such as 0 9 * * 1-5");
	ret->for_ms = ns / 1000000;
	return 0;
}

bool window_open(const struct window *w, const struct zone *zone, int64_t now_ms, int64_t *ret_until)
{
	int64_t opens = cron_next(&w->cron, zone, now_ms - w->for_ms), end;

	*ret_until = opens;
	if (opens == 0 || opens > now_ms)
		return false;
	end = opens + w->for_ms;
	for (int i = 0; i < CHAIN_MAX; i++) {
		opens = cron_next(&w->cron, zone, opens);
		if (opens == 0 || opens > end)
			break;
		end = opens + w->for_ms;
	}
	*ret_until = end;
	return true;
}

/* -- zones by name -- */

struct named {
	char name[CRON_ZONE_MAX];
	struct zone *zone; /* NULL = UTC */
};

struct zones {
	struct named *v;
	size_t n;
};

void zones_free(struct zones **z)
{
	if (!*z)
		return;
	for (size_t i = 0; i < (*z)->n; i++)
		zone_free(&(*z)->v[i].zone);
	free((*z)->v);
	free(*z);
	*z = NULL;
}

static uint32_t get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* One zone at p of n bytes: how many it takes, or -EBADMSG. */
static ssize_t parse_one(const uint8_t *p, size_t n, struct named *ret)
{
	size_t name = p[0], size;

	if (name >= sizeof(ret->name) || n < 1 + name + 4)
		return -EBADMSG;
	size = get_u32(p + 1 + name);
	if (size > ZONE_SIZE_MAX || size > n - 1 - name - 4)
		return -EBADMSG;
	*ret = (struct named){ 0 };
	memcpy(ret->name, p + 1, name);
	if (memchr(ret->name, '\0', name) || (size && zone_parse(p + 1 + name + 4, size, &ret->zone) < 0))
		return -EBADMSG;
	return (ssize_t)(1 + name + 4 + size);
}

int zones_parse(const void *p, size_t n, struct zones **ret)
{
	struct zones *z = xcalloc(1, sizeof(*z));

	for (size_t at = 0; at < n;) {
		z->v = xreallocarray(z->v, z->n + 1, sizeof(*z->v));
		ssize_t r = parse_one((const uint8_t *)p + at, n - at, &z->v[z->n]);

		if (r < 0) {
			zones_free(&z);
			return (int)r;
		}
		z->n++;
		at += (size_t)r;
	}
	*ret = z;
	return 0;
}

const struct zone *zones_find(const struct zones *z, const char *name)
{
	for (size_t i = 0; z && i < z->n; i++)
		if (strcmp(z->v[i].name, name) == 0)
			return z->v[i].zone;
	return NULL;
}

void zones_pack(void **block, size_t *block_n, const char *name, const void *tzif, size_t n)
{
	size_t len = strlen(name);
	uint8_t *p;

	p = xreallocarray(*block, *block_n + 1 + len + 4 + n, 1);
	*block = p;
	p += *block_n;
	*p++ = (uint8_t)len;
	memcpy(p, name, len);
	p += len;
	for (int i = 0; i < 4; i++)
		*p++ = (uint8_t)(n >> (8 * i));
	if (n)
		memcpy(p, tzif, n);
	*block_n += 1 + len + 4 + n;
}
