/* window.h - when a duty may act: "0 9 * * 1-5 for 8h", with an optional "CRON_TZ=Area/City " in front.
 * Layer: config.  Threads: none.  Pure: times are Unix ms by the API server's clock, the time zone comes as
 * bytes (config/zone.h). */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_WINDOW_H
#define CONFIG_WINDOW_H

#include "base/str.h"
#include "config/cron.h"

struct window {
	struct cron cron; /* when it opens */
	int64_t for_ms;   /* how long it stays open, at least a minute */
};

/* 0, or -EINVAL. "@every" is refused: it has no fixed beginning. reterr may be NULL. */
int window_parse(const char *spec, struct window *ret, struct schedule_error *reterr);

/* The windows that a process meets, each parsed once, and an answer is kept for as long as it holds. */
struct windows;

struct windows *windows_new(void);
void windows_free(struct windows **w);
/* The zones that windows name, and that of "" for those that name none, as windows_pack_zone wrote them; n 0
 * = UTC for all. Bytes that are no such block are logged and every window is closed. */
void windows_set_zones(struct windows *w, const void *zones, size_t n);
/* May it act at `now`? An empty list is always open. Else *ret_at is when all windows are closed again, or
 * when the first one opens (0 = not within five years). Windows that overlap or touch by the same line count
 * as one opening; a text that is no window never opens. */
bool windows_are_open(struct windows *w, const struct str_list *texts, int64_t now, int64_t *ret_at);

/* Append a zone, for a process without files, to a malloc()ed block of msgpack: its name and the TZif bytes;
 * n 0 stands for UTC. */
void windows_pack_zone(void **block, size_t *block_n, const char *name, const void *tzif, size_t n);

#endif
