/* outlet.h - where the watcher's messages leave.  Layer: watcher.  Threads: none. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_GUARDS_OUTLET_H
#define WATCHER_GUARDS_OUTLET_H

#include "ipc/msg.h"
#include "model/guards.h"

struct outlet {
	/* 0, or -EAGAIN: the caller keeps it and tries again when there is room. */
	int (*send)(void *ctx, const struct msg *m);
	void *ctx;
	/* Something took so long; NULL = nobody wants to know. */
	void (*timed)(void *ctx, enum timing t, uint64_t us);
};

static inline int outlet_send(const struct outlet *o, const struct msg *m)
{
	return o->send(o->ctx, m);
}

/* SAVED: what a next watcher has to know of this guard. at 0 = forget it; evidence NULL = none. */
int outlet_send_saved(const struct outlet *o, uint64_t cluster, enum guard g, struct str key, int64_t at,
		      int64_t until, uint64_t count, const struct facts *evidence);

#endif
