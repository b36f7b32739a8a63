/* Watches: each follows the event history by a cursor, so that a slow client costs no memory. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_WATCH_H
#define APISIM_WATCH_H

#include "tests/apisim/call.h"

struct watches *watches_new(struct sim *sim);
void watches_free(struct watches *w);

/* There is a new change. Watches of other kinds hear of it too: their cursors move on. */
void watches_wake(struct watches *w);

/* Ends all watches; error (borrowed, may be NULL): a Status they are told first. */
void watches_close(struct watches *w, json_t *error);

/* Nothing is sent for so long; what happens meanwhile comes afterwards. */
void watches_pause(struct watches *w, unsigned ms);

/* Sends that many bookmarks at once to every watch that takes any; behind: with a version so much older than
 * what the watch was told already. */
void watches_bookmark(struct watches *w, unsigned count, uint64_t behind);

/* Tells every watch its last `count` events a second time, as far as they are kept. */
void watches_repeat(struct watches *w, uint64_t count);

/* Sends every watch one frame with a filler of that many bytes, as an object no server would send. */
void watches_giant(struct watches *w, size_t bytes);

size_t watches_count(const struct watches *w);

#endif
