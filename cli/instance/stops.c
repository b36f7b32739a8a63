/* stops.c - see stops.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/instance/stops.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "cli/view/json.h"
#include "cli/view/output.h"
#include "model/troubles.h"
#include "text/facts_text.h"

static const bool stop_writes[TROUBLE__MAX] = {
	[TROUBLE_HISTORY] = true,
	[TROUBLE_LEASE] = true,
	[TROUBLE_WRITE_LIMIT] = true,
};

void stops_take(struct stops *s, const struct msg *m)
{
	if (m->type == MSG_TROUBLE_ROW && stop_writes[m->u.trouble_row.trouble] && s->n < ARRAY_SIZE(s->v))
		s->v[s->n++] = m->u.trouble_row;
}

const struct msg_trouble_row *stops_in(const struct stops *s, const char *cluster)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->v[i].cluster_name[0] || strcmp(s->v[i].cluster_name, cluster) == 0)
			return &s->v[i];
	return NULL;
}

void stops_print(const struct stops *s, const struct table_view *view)
{
	const enum language l = language_of_environment();

	for (size_t i = 0; i < s->n; i++) {
		const struct trouble_desc *d = trouble_desc((enum trouble)s->v[i].trouble);
		_cleanup_free_ char *in = s->v[i].cluster_name[0]
						  ? xasprintf(TEXT(STATUS_IN_CLUSTER), s->v[i].cluster_name)
						  : xstrdup("");
		_cleanup_free_ char *detail = facts_render_in(&s->v[i].particulars, l);

		table_text(stdout, view, TEXT(PLAN_STOPPED), in, d->text[l].sentence, *detail ? ": " : "",
			   detail, d->text[l].remedy);
	}
}

json_t *stops_json(const struct stops *s)
{
	return json_of_all(MSG_TROUBLE_ROW, s->v, s->n);
}
