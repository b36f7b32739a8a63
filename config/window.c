/* window.c - see window.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/window.h"

#include <errno.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/log.h"
#include "base/unpack.h"
#include "base/xalloc.h"
#include "config/zone.h"

#define FOR       " for "
#define TEXT_MAX  200u
#define FOR_MAX   INT64_C(2678400000) /* 31 days */
#define CHAIN_MAX 4096                /* openings that overlap and are followed to their common end */

/* The last " for ": a time zone or a schedule never holds one. */
static const char *find_for(const char *spec)
{
	const char *found = NULL, *p = spec;

	while ((p = strstr(p, FOR)))
		found = p++;
	return found;
}

int window_parse(const char *spec, struct window *ret, struct schedule_error *reterr)
{
	struct schedule_error unread, *e = reterr ? reterr : &unread;
	const char *mid = find_for(spec), *length;
	struct duration_error why;
	_cleanup_free_ char *cron = NULL;
	int64_t ns;

	e->pos = strlen(spec) > TEXT_MAX ? TEXT_MAX : strlen(spec);
	if (strlen(spec) > TEXT_MAX)
		return sentence_make(e->why, WINDOW_LONG, TEXT_MAX);
	if (!mid)
		return sentence_make(e->why, WINDOW_FOR);
	for (length = mid + strlen(FOR); *length == ' ';)
		length++;
	e->pos = (size_t)(length - spec);
	if (duration_parse(length, strlen(length), &ns, &why) < 0)
		return sentence_of_duration(e->why, &why);
	if (ns < INT64_C(60000000000) || ns / 1000000 > FOR_MAX)
		return sentence_make(e->why, WINDOW_RANGE);
	cron = xstrndup(spec, (size_t)(mid - spec));
	if (cron_parse(cron, &ret->cron, e) < 0)
		return -EINVAL;
	ret->cron.once = true;
	e->pos = 0;
	if (ret->cron.every_s)
		return sentence_make(e->why, WINDOW_EVERY);
	ret->for_ms = ns / 1000000;
	return 0;
}

/* *ret_until is the moment of the next change: when it closes, or when it opens next (0 = never). */
static bool is_open(const struct window *w, const struct zone *zone, int64_t now_ms, int64_t *ret_until)
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

/* -- the windows that a process has met, and the zones they name -- */

struct named {
	char name[CRON_ZONE_MAX];
	struct zone *zone; /* NULL = UTC */
};

struct known {
	char *text;
	struct window window;
	bool valid, open;
	int64_t from, until; /* the answer holds from..until; until 0 = for ever */
};

struct windows {
	struct known *v;
	struct named *zones;
	size_t n, n_zones;
	bool broken;
};

struct windows *windows_new(void)
{
	return xcalloc(1, sizeof(struct windows));
}

static void forget(struct windows *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i].text);
	for (size_t i = 0; i < w->n_zones; i++)
		zone_free(&w->zones[i].zone);
	free(w->v);
	free(w->zones);
	*w = (struct windows){ 0 };
}

void windows_free(struct windows **w)
{
	if (*w)
		forget(*w);
	free(*w);
	*w = NULL;
}

static bool take_zone(struct unpacker *u, struct named *ret)
{
	struct str name, bytes;

	*ret = (struct named){ 0 };
	if (!unpack_text(u, &name) || name.n >= sizeof(ret->name) || memchr(name.p, '\0', name.n) ||
	    !unpack_bytes(u, &bytes))
		return false;
	memcpy(ret->name, name.p, name.n);
	return bytes.n == 0 || zone_parse(bytes.p, bytes.n, &ret->zone) == 0;
}

void windows_set_zones(struct windows *w, const void *zones, size_t n)
{
	struct unpacker u = { zones, n ? (const uint8_t *)zones + n : zones }; /* zones may be NULL */

	forget(w);
	while (u.p < u.end && !w->broken) {
		w->zones = xreallocarray(w->zones, w->n_zones + 1, sizeof(*w->zones));
		w->broken = !take_zone(&u, &w->zones[w->n_zones]);
		w->n_zones += !w->broken;
	}
	if (w->broken)
		(void)log_error(0, "the time zones of the windows cannot be read: all windows are closed");
}

void windows_pack_zone(void **block, size_t *block_n, const char *name, const void *tzif, size_t n)
{
	msgpack_sbuffer b = { .size = *block_n, .data = *block, .alloc = *block_n };
	msgpack_packer pk;

	msgpack_packer_init(&pk, &b, msgpack_sbuffer_write);
	msgpack_pack_str(&pk, strlen(name));
	msgpack_pack_str_body(&pk, name, strlen(name));
	msgpack_pack_bin(&pk, n);
	if (n > 0) /* there may be no bytes else */
		msgpack_pack_bin_body(&pk, tzif, n);
	*block = b.data;
	*block_n = b.size;
}

static struct known *find(struct windows *w, const char *text)
{
	for (size_t i = 0; i < w->n; i++)
		if (strcmp(w->v[i].text, text) == 0)
			return &w->v[i];
	w->v = xreallocarray(w->v, w->n + 1, sizeof(*w->v));
	struct known *k = &w->v[w->n++];

	*k = (struct known){ .text = xstrdup(text), .from = INT64_MAX };
	k->valid = window_parse(text, &k->window, NULL) == 0;
	return k;
}

static const struct zone *find_zone(const struct windows *w, const char *name)
{
	for (size_t i = 0; i < w->n_zones; i++)
		if (strcmp(w->zones[i].name, name) == 0)
			return w->zones[i].zone;
	return NULL;
}

static void look(const struct windows *w, struct known *k, int64_t now)
{
	if (now >= k->from && (now < k->until || k->until == 0))
		return;
	k->open = is_open(&k->window, find_zone(w, k->window.cron.zone), now, &k->until);
	k->from = now;
}

bool windows_are_open(struct windows *w, const struct str_list *texts, int64_t now, int64_t *ret_at)
{
	int64_t closes = 0, opens = 0;
	bool open = texts->n == 0;

	for (size_t i = 0; i < texts->n; i++) {
		struct known *k = find(w, texts->v[i]);

		if (!k->valid || w->broken)
			continue;
		look(w, k, now);
		open = open || k->open;
		if (k->open && k->until > closes)
			closes = k->until;
		else if (!k->open && k->until > 0 && (opens == 0 || k->until < opens))
			opens = k->until;
	}
	*ret_at = open ? closes : opens;
	return open;
}
