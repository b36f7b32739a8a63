/* instance_status.c - see instance_status.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/instance/instance_status.h"

#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/instance/ctl.h"
#include "cli/instance/leaders.h"
#include "cli/view/output.h"
#include "text/texts.h"

#define ASK_MS   10000u
#define SINKS_MS 2000u

static void note_tally(struct instance_status *s, const struct msg_ctl_tally_row *row)
{
	for (size_t i = 0; i < s->n_clusters; i++)
		if (strcmp(s->clusters[i].cluster_name, row->cluster_name) == 0)
			s->tallies[i] = *row;
}

static void on_row(void *ctx, const struct msg *m)
{
	struct instance_status *s = ctx;

	switch (m->type) {
	case MSG_CTL_SUPERVISOR:
		s->supervisor = m->u.ctl_supervisor;
		break;
	case MSG_CHILD_STATS:
		s->children = xreallocarray(s->children, s->n_children + 1, sizeof(*s->children));
		s->children[s->n_children++] = m->u.child_stats;
		break;
	case MSG_CTL_CLUSTER:
		s->clusters[m->u.ctl_cluster.cluster] = m->u.ctl_cluster;
		s->n_clusters = m->u.ctl_cluster.cluster + 1;
		break;
	case MSG_WATCH_STATS:
		if (m->u.watch_stats.cluster < CLUSTERS_MAX)
			s->watch[m->u.watch_stats.cluster] = m->u.watch_stats;
		break;
	case MSG_WORKER_STATS:
		s->workers[m->u.worker_stats.cluster] = m->u.worker_stats;
		break;
	case MSG_PAUSE:
		s->pauses = xreallocarray(s->pauses, s->n_pauses + 1, sizeof(*s->pauses));
		s->pauses[s->n_pauses++] = m->u.pause;
		break;
	case MSG_CTL_SINK_ROW:
		s->sinks = xreallocarray(s->sinks, s->n_sinks + 1, sizeof(*s->sinks));
		s->sinks[s->n_sinks++] = m->u.ctl_sink_row;
		break;
	case MSG_CTL_TALLY_ROW:
		note_tally(s, &m->u.ctl_tally_row);
		break;
	case MSG_TROUBLE_ROW:
		s->troubles = xreallocarray(s->troubles, s->n_troubles + 1, sizeof(*s->troubles));
		s->troubles[s->n_troubles++] = m->u.trouble_row;
		break;
	case MSG_LEADER:
		if (m->u.leader.cluster < CLUSTERS_MAX) {
			s->leaders[m->u.leader.cluster] = m->u.leader;
			s->elects[m->u.leader.cluster] = true;
		}
		break;
	default:
		break;
	}
}

/* Only those clusters stay, and what concerns them or all; numbers are given anew. */
static void keep_clusters(const struct options *o, struct instance_status *s)
{
	size_t clusters = 0, children = 0, troubles = 0, pauses = 0;

	for (size_t i = 0; i < s->n_clusters; i++) {
		if (!*s->clusters[i].cluster_name ||
		    !option_names_take(&o->clusters, s->clusters[i].cluster_name))
			continue;
		s->clusters[clusters] = s->clusters[i];
		s->watch[clusters] = s->watch[i];
		s->workers[clusters] = s->workers[i];
		s->tallies[clusters] = s->tallies[i];
		s->leaders[clusters] = s->leaders[i];
		s->elects[clusters++] = s->elects[i];
	}
	for (size_t i = 0; i < s->n_children; i++)
		if (!s->children[i].cluster_name[0] ||
		    option_names_take(&o->clusters, s->children[i].cluster_name))
			s->children[children++] = s->children[i];
	for (size_t i = 0; i < s->n_troubles; i++)
		if (!s->troubles[i].cluster_name[0] ||
		    option_names_take(&o->clusters, s->troubles[i].cluster_name))
			s->troubles[troubles++] = s->troubles[i];
	for (size_t i = 0; i < s->n_pauses; i++)
		if (!s->pauses[i].cluster_name[0] ||
		    option_names_take(&o->clusters, s->pauses[i].cluster_name))
			s->pauses[pauses++] = s->pauses[i];
	s->n_clusters = clusters;
	s->n_children = children;
	s->n_troubles = troubles;
	s->n_pauses = pauses;
}

/* Who answers may be down, which the answer so far says. */
static void ask_reporter(const char *socket, struct instance_status *s)
{
	const struct msg request = { .type = MSG_CTL_SINKS };

	for (size_t i = 0; i < s->n_children; i++)
		if (strcmp(s->children[i].role, role_name(ROLE_REPORTER)) == 0 &&
		    strcmp(s->children[i].state, "ready") == 0)
			(void)ctl_ask(socket, &request, SINKS_MS, on_row, s);
}

int instance_status_ask(const struct options *o, const char *socket, bool reporter,
			struct instance_status **ret)
{
	const struct msg request = { .type = MSG_CTL_STATUS };
	struct instance_status *s = *ret = xcalloc(1, sizeof(*s));
	const int code = ctl_ask(socket, &request, ASK_MS, on_row, s);

	if (code == EXIT_CODE_OK && reporter)
		ask_reporter(socket, s);
	keep_clusters(o, s);
	if (code != EXIT_CODE_OK || s->n_clusters > 0 || o->clusters.n == 0)
		return code;
	output_complain(NULL, "%s", text_in(TEXT_UNKNOWN_CLUSTER, language_of_environment()));
	return EXIT_CODE_USAGE;
}

void instance_status_free(struct instance_status **sp)
{
	struct instance_status *s = *sp;

	if (s) {
		free(s->sinks);
		free(s->children);
		free(s->troubles);
		free(s->pauses);
	}
	free(s);
	*sp = NULL;
}

bool instance_status_leads(const struct instance_status *s, size_t cluster)
{
	return !s->elects[cluster] || leaders_is_here(&s->leaders[cluster]);
}
