/* outlet.c - see outlet.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/guards/outlet.h"

int outlet_send_saved(const struct outlet *o, uint64_t cluster, enum guard g, struct str key, int64_t at,
		      int64_t until, uint64_t count, const struct facts *evidence)
{
	struct msg m = { .type = MSG_SAVED,
			 .u.saved = { .cluster = cluster, .at = at, .until = until, .count = count } };

	msg_text(&m, saved.kind, guard_desc(g)->saved);
	msg_set(&m, saved.key, key.p, key.n);
	if (evidence)
		facts_set(&m.u.saved.evidence, evidence);
	return outlet_send(o, &m);
}
