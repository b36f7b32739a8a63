/* supervisor.c - see supervisor.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/supervisor.h"

#include <stdlib.h>

void supervisor_send_reporter(struct supervisor *s, const struct msg *m)
{
	if (!children_send(lifecycle_children(s->root), ROLE_REPORTER, CLUSTERS_MAX, m) &&
	    s->n_outbox < OUTBOX_MAX)
		s->outbox[s->n_outbox++] = msg_pack(m);
}

void supervisor_on_reporter_ready(struct supervisor *s)
{
	const size_t n = s->n_outbox;
	struct msg m;

	s->n_outbox = 0; /* what it does not take comes back to a place that was read already */
	for (size_t i = 0; i < n; i++) {
		struct msg_packed *p = s->outbox[i];

		msg_unpack(p, &m);
		free(p);
		supervisor_send_reporter(s, &m);
	}
}
