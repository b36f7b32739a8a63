/* own_group.c - see own_group.h. */
// SPDX-License-Identifier: Apache-2.0
#include "base/own_group.h"

#include <unistd.h>

#define GROUPS_MAX 64

bool group_is_ours(gid_t gid)
{
	gid_t groups[GROUPS_MAX];
	const int n = getgroups(GROUPS_MAX, groups);

	for (int i = 0; i < n; i++)
		if (groups[i] == gid)
			return true;
	return gid == getegid();
}
