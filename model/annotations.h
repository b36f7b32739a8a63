/* annotations.h - the annotations by which people and this program speak to one another on an object
 * (ops-pod-cleaner.io/...).  Layer: base.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_ANNOTATIONS_H
#define MODEL_ANNOTATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rfc3339.h"
#include "base/str.h"
#include "model/duties.h"

#define ANNOTATION_PREFIX  "ops-pod-cleaner.io/"
#define ANNOTATION_IGNORE  ANNOTATION_PREFIX "ignore"  /* "true": no duty */
#define ANNOTATION_SKIP    ANNOTATION_PREFIX "skip"    /* "errImagePull,deleteEvictedPod" or "all" */
#define ANNOTATION_EXTEND  ANNOTATION_PREFIX "extend"  /* "2h": so much longer than the announced grace */
#define ANNOTATION_RESTORE ANNOTATION_PREFIX "restore" /* "now", on a workload that was scaled to 0 */
/* Ours, on a Lease: the replica that the cluster should go to asks its leader for it. */
#define ANNOTATION_CLAIM ANNOTATION_PREFIX "claimed-by"
/* What the next leader must know of the last hour. */
#define ANNOTATION_MEMORY ANNOTATION_PREFIX "last-hour"
#define ANNOTATION_ANNOUNCED                                                                                 \
	ANNOTATION_PREFIX "announced" /* ours: "errImagePull=2026-11-21T10:22:48Z", with commas */

/* The mark on a workload that this program has scaled to 0, or suspended: by whom, which action of
 * which history, when, why, from how many replicas, how to undo it, and a hash of its pod template then. */
enum mark_part {
	MARK_BY,
	MARK_ACTION,
	MARK_HISTORY,
	MARK_AT,
	MARK_WHY,
	MARK_FROM,
	MARK_UNDO,
	MARK_TEMPLATE,
	MARK__MAX
};
/* Its key: "ops-pod-cleaner.io/scaled-down-by". */
const char *annotations_mark_key(enum mark_part part);

#define ANNOTATIONS_SKIP_ALL ((1u << DUTY__MAX) - 1u)

/* Zero-initialised = nothing is written on the object. */
struct annotations {
	bool ignore;
	uint8_t skip;                 /* bit 1 << duty: packed as it is (watcher/cache/pack.c) */
	int64_t extend_ms;            /* >= 0 */
	int64_t announced[DUTY__MAX]; /* when the act was announced, Unix ms; 0 = it was not */
};
_Static_assert(ANNOTATIONS_SKIP_ALL <= UINT8_MAX, "struct annotations has a bit for every duty");

/* One annotation of the object. True when the key is one of ours. What can not be read is taken as the wish
 * to be left alone: an unknown word in skip, or an extension that is no duration, skips every duty. */
bool annotations_add(struct annotations *m, struct str key, struct str value);
/* Is there anything but `ignore`? */
bool annotations_any(const struct annotations *m);
/* The value of ANNOTATION_ANNOUNCED that keeps what m says of other duties and says that d is announced
 * at `at_ms`. There is room for every duty: its name, a time, and what divides them. */
#define ANNOTATIONS_ROOM_OF(X, ID, rules, id, name, ...) +sizeof(name) + RFC3339_MAX
enum { ANNOTATIONS_ANNOUNCED_MAX = 1 DUTY_LIST(ANNOTATIONS_ROOM_OF, ) };
void annotations_announced_format(const struct annotations *m, enum duty d, int64_t at_ms,
				  char ret[static ANNOTATIONS_ANNOUNCED_MAX]);

#endif
