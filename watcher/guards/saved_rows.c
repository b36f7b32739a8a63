/* saved_rows.c - see saved_rows.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/guards/saved_rows.h"

#include <stdlib.h>

#include "base/xalloc.h"

bool saved_rows_keep(struct saved_rows *r, const struct msg *m)
{
	if (m->type != MSG_SAVED_ROW && m->type != MSG_ACTION_ROW)
		return false;
	r->v = xgrow(r->v, &r->cap, r->n, sizeof(struct msg_packed *));
	r->v[r->n++] = msg_pack(m);
	return true;
}

void saved_rows_end(struct saved_rows *r, void (*fn)(void *ctx, const struct msg *m), void *ctx)
{
	struct msg m;

	for (uint32_t i = 0; i < r->n; i++) {
		msg_unpack(r->v[i], &m);
		free(r->v[i]);
		if (fn)
			fn(ctx, &m);
	}
	free(r->v);
	*r = (struct saved_rows){ 0 };
}
