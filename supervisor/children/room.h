/* room.h - is there room for all processes? Limits of the supervisor and of its control group, which are
 * looked at once, at the start: a tree that does not fit would lose children later, one by one, for no reason
 * that anybody sees.  Layer: process (supervisor), children. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_CHILDREN_ROOM_H
#define SUPERVISOR_CHILDREN_ROOM_H

#include "base/tree_size.h"

/* Log a warning with the remedy for each limit that is too low. */
void room_check(const struct tree_size *s);

#endif
