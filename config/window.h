/* window.h - when a duty may act: "0 9 * * 1-5 for 8h", with an optional "CRON_TZ=Area/City " in front.
 * Layer: config.  Pure: the time zone comes as bytes (config/zone.h). */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_WINDOW_H
#define CONFIG_WINDOW_H

#include "base/str.h"
#include "config/cron.h"

#define WINDOW_TEXT_MAX 200u
#define WINDOW_FOR_MAX  INT64_C(2678400000) /* 31 days */

struct window {
	struct cron cron; /* when it opens */
	int64_t for_ms;   /* how long it stays open, at least a minute */
};

/* 0, or -EINVAL. "@every" is refused: it has no fixed beginning. reterr may be NULL. */
int window_parse(const char *spec, struct window *ret, struct str_error *reterr);

/* Is it open at now_ms (Unix)? *ret_until is the moment of the next change: when it closes, or when it opens
 * next (0 = not within five years). Windows that overlap or touch by the same line count as one opening. */
bool window_open(const struct window *w, const struct zone *zone, int64_t now_ms, int64_t *ret_until);

/* Zones by name for a process without files: made by the loader of the zones that windows name, and of "" for
 * those that name none. Format: for each a byte (length of the name), the name, 4 bytes (size, little
 * endian), the TZif bytes. */
struct zones;

/* 0 with *ret (possibly empty), or -EBADMSG. Free with zones_free. */
int zones_parse(const void *p, size_t n, struct zones **ret);
void zones_free(struct zones **z);
/* NULL (which is UTC) when there is none of that name. */
const struct zone *zones_find(const struct zones *z, const char *name);
/* Append one to a malloc()ed block; size 0 stands for UTC. */
void zones_pack(void **block, size_t *block_n, const char *name, const void *tzif, size_t n);

#endif
