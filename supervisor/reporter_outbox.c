/* reporter_outbox.c - see reporter_outbox.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/reporter_outbox.h"

#include <stdlib.h>

#include "base/xalloc.h"

#define OUTBOX_MAX 4096u /* what comes behind is dropped: stats, mostly, that come again */

struct reporter_outbox {
	const struct children *children;
	struct msg_packed *v[OUTBOX_MAX];
	size_t n;
};

struct reporter_outbox *reporter_outbox_new(const struct children *children)
{
	struct reporter_outbox *o = xcalloc(1, sizeof(*o));

	o->children = children;
	return o;
}

void reporter_outbox_free(struct reporter_outbox **o)
{
	for (size_t i = 0; i < (*o)->n; i++)
		free((*o)->v[i]);
	free(*o);
	*o = NULL;
}

void reporter_outbox_send(struct reporter_outbox *o, const struct msg *m)
{
	struct child *reporter = children_find(o->children, ROLE_REPORTER, CLUSTERS_MAX);

	if ((!reporter || child_send(reporter, m, -1) < 0) && o->n < OUTBOX_MAX)
		o->v[o->n++] = msg_pack(m);
}

void reporter_outbox_on_reporter_ready(struct reporter_outbox *o)
{
	const size_t n = o->n;
	struct msg m;

	o->n = 0; /* what it does not take comes back to a place that was read already */
	for (size_t i = 0; i < n; i++) {
		struct msg_packed *p = o->v[i];

		msg_unpack(p, &m);
		free(p);
		reporter_outbox_send(o, &m);
	}
}
