/* explain_live.c - see explain_live.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/explain_live.h"

#include <stdio.h>
#include <string.h>

#include "cli/ctl.h"

struct question {
	const char *object;
	size_t ns; /* bytes of the namespace in it */
	struct explain_report *into;
};

/* A workload is answered pod by pod. */
static void on_row(void *ctx, const struct msg *m)
{
	const struct msg_ctl_explain_row *r = &m->u.ctl_explain_row;
	const struct question *q = ctx;
	char pod[320];

	if (m->type != MSG_CTL_EXPLAIN_ROW)
		return;
	(void)snprintf(pod, sizeof(pod), "%.*s/%s", (int)q->ns, q->object, r->pod);
	explain_report_add(q->into, r->pod[0] ? pod : q->object, r);
}

int explain_live(const struct options *o, const char *object, struct explain_report *into)
{
	struct msg request = { .type = MSG_CTL_EXPLAIN, .u.ctl_explain = { .rules = o->rules } };
	struct question q = { object, strcspn(object, "/"), into };

	msg_set(&request, ctl_explain.ns, object, q.ns);
	msg_set(&request, ctl_explain.name, object + q.ns + 1, strlen(object + q.ns + 1));
	if (o->cluster)
		msg_set(&request, ctl_explain.cluster_name, o->cluster, strlen(o->cluster));
	return ctl_ask(o->socket, &request, 10000, on_row, &q);
}
