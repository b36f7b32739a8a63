/* saved_rows.h - what counts twice when it is heard twice, of what is saved for a watcher: kept until the
 * whole answer is here. Layer: watcher.  Owns: copies of the rows. Zeroed: none. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_SAVED_ROWS_H
#define WATCHER_GUARDS_SAVED_ROWS_H

#include "ipc/msg.h"

struct saved_rows {
	struct msg_packed **v;
	uint32_t n, cap;
};

/* True: m is SAVED_ROW or ACTION_ROW, and is kept. */
bool saved_rows_keep(struct saved_rows *r, const struct msg *m);
/* Each goes to fn, in their order; NULL: to nobody. Then there are none. */
void saved_rows_end(struct saved_rows *r, void (*fn)(void *ctx, const struct msg *m), void *ctx);

#endif
