/* packed.h - a message that is kept: as few bytes as it takes, a few hundred instead of the thousands of a
 * struct msg. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_PACKED_H
#define SUPERVISOR_ACTIONS_PACKED_H

#include "ipc/msg.h"

struct packed;

/* m as it would be sent; its fields are in their ranges. free() it. */
struct packed *packed_new(const struct msg *m);
void packed_get(const struct packed *p, struct msg *ret);
/* Bytes that it takes; NULL takes none. */
size_t packed_size(const struct packed *p);

#endif
