/* scaledown_watch.h - workloads that want no pods any more and still have some (R23): an ordered StatefulSet
 * that waits for a pod which never gets well, a controller that does not work. Layer: watcher.  Pure: boot
 * milliseconds.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CONTROLLER_SCALEDOWN_WATCH_H
#define WATCHER_CONTROLLER_SCALEDOWN_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define SCALEDOWN_MS                                                                                         \
	UINT64_C(600000) /* a controller deletes within seconds; its pods' grace comes on top                \
			  */

struct scaledown_watch;

struct scaledown_watch *scaledown_watch_new(void);
void scaledown_watch_free(struct scaledown_watch **s);

/* The workload was scaled to 0 now: its pods have all the time again. */
void scaledown_watch_scaled(struct scaledown_watch *s, struct str action_key, uint64_t now);
/* It already wants 0, and a pod of it was judged as if it did not. true once, when that has lasted longer
 * than SCALEDOWN_MS. */
bool scaledown_watch_noted(struct scaledown_watch *s, struct str action_key, uint64_t now);

#endif
