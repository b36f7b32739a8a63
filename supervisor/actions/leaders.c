/* leaders.c - see leaders.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/leaders.h"

#include <stddef.h>

#define LEADER_MS 15000u /* the longest Lease: its holders renew it */

void leaders_put(struct leaders *l, const struct msg *m, uint64_t now_ms)
{
	struct msg *kept = &l->v[m->u.leader.cluster];

	*kept = *m;
	if (kept->u.leader.valid_until > now_ms + LEADER_MS)
		kept->u.leader.valid_until = now_ms + LEADER_MS;
}

const struct msg *leaders_get(const struct leaders *l, uint64_t cluster)
{
	return l->v[cluster].type == MSG_LEADER ? &l->v[cluster] : NULL;
}

uint64_t leaders_valid_until(const struct leaders *l, uint64_t cluster, uint64_t now_ms, uint64_t most)
{
	const struct msg *m = leaders_get(l, cluster);

	if (!m || !m->u.leader.leading || now_ms >= m->u.leader.valid_until)
		return 0;
	return m->u.leader.valid_until < now_ms + most ? m->u.leader.valid_until : now_ms + most;
}
