/* rows.c - see rows.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/instance/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

void rows_take(void *ctx, const struct msg *m)
{
	struct rows *r = ctx;

	switch (m->type) {
#define M(ID, name, ...)                                                                                     \
	case MSG_##ID:                                                                                       \
		r->name.v = xreallocarray(r->name.v, r->name.n + 1, sizeof(m->u.name));                      \
		r->name.v[r->name.n++] = m->u.name;                                                          \
		break;
		MSG_LIST(M)
#undef M
	case MSG__MAX:
		break;
	}
}

static int compare_actions(const void *a, const void *b)
{
	const struct msg_ctl_history_row *x = a, *y = b;
	const int key = strcmp(x->action_key, y->action_key);

	return key ? key : (x->id < y->id) - (x->id > y->id);
}

void rows_sort_history(struct rows *r)
{
	if (r->ctl_history_row.n > 0)
		qsort(r->ctl_history_row.v, r->ctl_history_row.n, sizeof(*r->ctl_history_row.v),
		      compare_actions);
}

void rows_done(struct rows *r)
{
#define M(ID, name, ...) free(r->name.v);
	MSG_LIST(M)
#undef M
	*r = (struct rows){ 0 };
}
