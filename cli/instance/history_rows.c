/* history_rows.c - see history_rows.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/instance/history_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

void history_rows_done(struct history_rows *r)
{
	free(r->v);
	free(r->quotes);
	*r = (struct history_rows){ 0 };
}

void history_rows_take(void *ctx, const struct msg *m)
{
	struct history_rows *r = ctx;

	if (m->type == MSG_CTL_QUOTE_ROW) {
		r->quotes = xreallocarray(r->quotes, r->n_quotes + 1, sizeof(*r->quotes));
		r->quotes[r->n_quotes++] = m->u.ctl_quote_row;
	}
	if (m->type != MSG_CTL_HISTORY_ROW)
		return;
	r->v = xreallocarray(r->v, r->n + 1, sizeof(*r->v));
	r->v[r->n++] = m->u.ctl_history_row;
}

void history_rows_add(struct history_rows *r, const struct history_rows *more)
{
	r->v = xreallocarray(r->v, r->n + more->n + 1, sizeof(*r->v));
	for (size_t i = 0; i < more->n; i++)
		r->v[r->n++] = more->v[i];
}

static int compare(const void *a, const void *b)
{
	const struct msg_ctl_history_row *x = a, *y = b;
	const int key = strcmp(x->action_key, y->action_key);

	return key ? key : (x->id < y->id) - (x->id > y->id);
}

void history_rows_sort(struct history_rows *r)
{
	if (r->n > 0)
		qsort(r->v, r->n, sizeof(r->v[0]), compare);
}
