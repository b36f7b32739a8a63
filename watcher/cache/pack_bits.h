/* pack_bits.h - the layout of a packed pod: flags (4 bytes), namespace, group when owned, name, then the rest
 * in the order of put_rest().  Layer: watcher, for pack.c and pack_write.c only. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CACHE_PACK_BITS_H
#define WATCHER_CACHE_PACK_BITS_H

#include "base/str.h"

enum {
	P_READY = 1u << 0,
	P_INITIALIZED = 1u << 1,
	P_SCHEDULED = 1u << 2,
	P_MIRROR = 1u << 3,
	P_HAS_PVC = 1u << 4,
	P_SKIP = 1u << 5,
	P_CUT = 1u << 6,
	P_OWNED = 1u << 7,
	P_PREFIX = 1u << 8, /* the name begins with the owner's */
	P_UID_TEXT = 1u << 9,
	P_RV_TEXT = 1u << 10,
	P_REVISION = 1u << 11, /* a revision without an owner */
	P_NODE = 1u << 12,
	P_REASON = 1u << 13,
	P_PRIORITY = 1u << 14,
	P_CREATED = 1u << 15,
	P_DELETION = 1u << 16,
	P_GRACE = 1u << 17,
	P_START = 1u << 18,
	P_UNREADY_SINCE = 1u << 19,
	P_SCHEDULED_AT = 1u << 20,
	P_DISRUPTION = 1u << 21,
	P_FINALIZERS = 1u << 22,
	P_CONTAINERS = 1u << 23,
	P_PHASE_SHIFT = 24, /* 3 bits: index in phases[], 7 = text follows */
	P_MARKS = 1u << 27,
	P_LABELS = 1u << 28, /* which overrides its labels match */
};

/* First byte of a container: kind, state (two bits each) and these. */
enum { C_READY = 16, C_STARTED = 32, C_MORE = 128 };
/* Second byte, when C_MORE. */
enum {
	M_REASON = 1,
	M_RESTARTS = 2,
	M_EXIT = 4,
	M_FINISHED = 8,
	M_LAST_REASON = 16,
	M_LAST_EXIT = 32,
	M_LAST_FINISHED = 64,
	M_PULL = 128, /* cause and registry host of a failed pull */
};

#define PHASE_OTHER     7u
#define PHASE_OF(flags) ((flags) >> P_PHASE_SHIFT & 7u)
static const struct str phases[] = { { "", 0 },          { "Running", 7 }, { "Pending", 7 },
				     { "Succeeded", 9 }, { "Failed", 6 },  { "Unknown", 7 } };

#endif
