/* watch_event.h - one frame of a watch stream: meta/v1 WatchEvent around an enveloped object. Layer: kube. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_WATCH_EVENT_H
#define KUBE_WATCH_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "kube/cursor.h"

enum watch_type { WATCH_UNKNOWN, WATCH_ADDED, WATCH_MODIFIED, WATCH_DELETED, WATCH_BOOKMARK, WATCH_ERROR };

struct watch_event {
	enum watch_type type;
	struct envelope object; /* kind and raw message; borrows from the frame */
};

/* 0, or -EBADMSG: no WatchEvent, or its object has no envelope. */
int watch_event_decode(const uint8_t *p, size_t n, struct watch_event *ret);

#endif
