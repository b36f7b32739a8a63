/* own_group.h - is a group one of this process's?  Layer: base. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_OWN_GROUP_H
#define BASE_OWN_GROUP_H

#include <stdbool.h>
#include <sys/types.h>

/* The effective group or one of the supplementary ones, of which a pod's fsGroup is one. */
bool group_is_ours(gid_t gid);

#endif
