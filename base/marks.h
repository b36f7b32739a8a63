/* marks.h - the annotations by which people and this program speak to one another on an object
 * (ops-pod-cleaner.io/...).  Layer: base.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_MARKS_H
#define BASE_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/duty.h"
#include "base/str.h"

#define MARK_PREFIX    "ops-pod-cleaner.io/"
#define MARK_IGNORE    MARK_PREFIX "ignore"    /* "true": no duty */
#define MARK_SKIP      MARK_PREFIX "skip"      /* "errImagePull,deleteEvictedPod" or "all" */
#define MARK_EXTEND    MARK_PREFIX "extend"    /* "2h": so much longer than the announced grace */
#define MARK_ANNOUNCED MARK_PREFIX "announced" /* ours: "errImagePull=2026-11-21T10:22:48Z", with commas */

#define MARKS_SKIP_ALL ((1u << DUTY__MAX) - 1u)

/* Zero-initialised = nothing is written on the object. */
struct marks {
	bool ignore;
	uint8_t skip;                 /* bit 1 << duty */
	int64_t extend_ms;            /* >= 0 */
	int64_t announced[DUTY__MAX]; /* when the act was announced, Unix ms; 0 = it was not */
};

/* One annotation of the object. True when the key is one of ours. What can not be read is taken as the wish
 * to be left alone: an unknown word in skip, or an extension that is no duration, skips every duty. */
bool marks_add(struct marks *m, struct str key, struct str value);
/* Is there anything but `ignore`? */
bool marks_any(const struct marks *m);
/* The value of MARK_ANNOUNCED that keeps what m says of other duties and says that d is announced at `at_ms`.
 */
#define MARKS_ANNOUNCED_MAX 256
void marks_announced_format(const struct marks *m, enum duty d, int64_t at_ms,
			    char ret[static MARKS_ANNOUNCED_MAX]);

#endif
