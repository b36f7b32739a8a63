/* windows.h - is a duty inside one of its windows? Windows are parsed once, and an answer is kept for as long
 * as it holds. Layer: config.  Threads: none.  Pure: times are Unix ms by the API server's clock. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_WINDOWS_H
#define CONFIG_WINDOWS_H

#include "config/window.h"

struct windows;

struct windows *windows_new(void);
void windows_free(struct windows **w);
/* TZif bytes by zone name (config/window.h); n 0 = UTC for all. Bytes that are not such a block are logged
 * and every window is closed. */
void windows_set_zones(struct windows *w, const void *zones, size_t n);

/* May it act at `now`? An empty list is always open. Else *ret_at is when all windows are closed again, or
 * when the first one opens (0 = never). A text that is no window never opens. */
bool windows_are_open(struct windows *w, const struct str_list *texts, int64_t now, int64_t *ret_at);

#endif
