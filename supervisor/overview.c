/* overview.c - see overview.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/overview.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "build_id.h"
#include "supervisor/settled.h"
#include "supervisor/trouble_check.h"

/* -- log -- */

static void describe_duties(uint64_t duties, char *ret, size_t size)
{
	size_t n = 0;

	ret[0] = '\0';
	for (enum duty d = 0; d < DUTY__MAX && n < size; d++)
		if (duties >> d & 1)
			n += (size_t)snprintf(ret + n, size - n, "%s%s", n ? ", " : "", duty_name(d));
}

static void log_start(const struct generation *g)
{
	char duties[256];

	describe_duties(g->duties, duties, sizeof(duties));
	log_info("ops-pod-cleaner starts", kv_s("version", OPC_BUILD_ID), kv_s("config", g->config),
		 kv_s("mode", g->observe ? "observe" : "enforce"), kv_s("duties", duties),
		 kv_u("clusters", g->clusters));
#if defined(OPC_PROBES)
	(void)log_warn(0, "this is a test build: its processes obey attackers; install another one");
#endif
}

static void log_cluster(const struct msg_load_cluster *at)
{
	log_info("cluster", kv_s("cluster", at->cluster_name), kv_s("server", at->server),
		 kv_s("context", at->context), kv_s("user", at->user), kv_s("kubeconfig", at->kubeconfig),
		 kv_s("writer", at->writer), kv_s("namespaces", at->namespaces));
}

void overview_on_loaded(struct supervisor *s)
{
	const struct generation *g = lifecycle_generation(s->root);

	log_configure((enum log_level)g->log_level, (enum log_format)g->log_format);
	if (!s->announced)
		log_start(g);
	s->announced = true;
	for (uint64_t c = 0; c < g->clusters; c++) {
		const bool was = s->placed[c], is = g->at[c].loaded;

		s->placed[c] = is;
		if (is && !was)
			log_cluster(&g->at[c]);
	}
	overview_send_stats(s);
	trouble_check(s);
	lifecycle_tell_status(s->root);
}

/* -- stats -- */

/* False when there is nothing to say. */
static bool stats_of(const struct supervisor *s, uint64_t cluster, struct msg *ret)
{
	const struct generation *g = lifecycle_generation(s->root);
	const char *problem = g->problem[cluster];
	char text[GENERATION_PROBLEM_MAX + 64];

	*ret = s->watch_stats[cluster];
	if (!problem[0] || ret->u.watch_stats.error[0])
		return ret->type == MSG_WATCH_STATS;
	ret->type = MSG_WATCH_STATS;
	ret->u.watch_stats.cluster = cluster;
	(void)snprintf(text, sizeof(text), "%s%s",
		       generation_has_cluster(g, cluster) ? "the credential that it has stays in use: " : "",
		       problem);
	msg_set(ret, watch_stats.error, text, strlen(text));
	return true;
}

void overview_send_stats_of(struct supervisor *s, uint64_t cluster)
{
	struct msg m;

	if (stats_of(s, cluster, &m))
		supervisor_send_reporter(s, &m);
}

void overview_send_stats(struct supervisor *s)
{
	for (uint64_t c = 0; c < lifecycle_generation(s->root)->clusters; c++)
		overview_send_stats_of(s, c);
}

/* -- the answer -- */

static void answer_cluster(const struct supervisor *s, const struct generation *g, uint64_t cluster,
			   uint64_t conn)
{
	const struct msg at = { .type = MSG_LOAD_CLUSTER, .u.load_cluster = g->at[cluster] };
	const uint64_t next = lifecycle_next_load_ms(s->root), now = clock_boot_ms();
	struct msg m = { .type = MSG_CTL_CLUSTER };

	msg_copy_fields(&m, &at);
	m.u.ctl_cluster.conn = conn;
	m.u.ctl_cluster.waiting = !generation_has_cluster(g, cluster);
	settled_describe_cluster(s, cluster, &m.u.ctl_cluster);
	msg_set(&m, ctl_cluster.problem, g->problem[cluster], strlen(g->problem[cluster]));
	if (g->problem[cluster][0] && next > now)
		m.u.ctl_cluster.next = clock_wall_ms() + (int64_t)(next - now);
	answers_send(&s->answers, conn, &m);
}

static void answer_clusters(const struct supervisor *s, uint64_t conn)
{
	const struct generation *g = lifecycle_generation(s->root);
	struct msg m;

	for (uint64_t c = 0; c < g->clusters; c++) {
		answer_cluster(s, g, c, conn);
		if (stats_of(s, c, &m))
			answers_send(&s->answers, conn, &m);
	}
}

static void answer_supervisor(const struct supervisor *s, uint64_t conn)
{
	const struct generation *g = lifecycle_generation(s->root);
	const char *headline = trouble_check_headline(s);
	struct dispatch_stats d;

	dispatch_stats(s->dispatch, &d);
	struct msg m = { .type = MSG_CTL_SUPERVISOR,
			 .u.ctl_supervisor = { .conn = conn,
					       .started = s->started_at,
					       .leases = d.leases,
					       .actions = d.done,
					       .pending = d.leases - d.busy,
					       .duties = g->duties } };

	lifecycle_describe(s->root, &m);
	settled_describe(s, &m.u.ctl_supervisor);
	if (lifecycle_is_running(s->root))
		msg_set(&m, ctl_supervisor.phase, headline, strlen(headline));
	if (d.unasked)
		msg_set(&m, ctl_supervisor.note, DISPATCH_UNASKED, strlen(DISPATCH_UNASKED));
	msg_set(&m, ctl_supervisor.version, OPC_BUILD_ID, strlen(OPC_BUILD_ID));
	msg_set(&m, ctl_supervisor.config, g->config, strlen(g->config));
	answers_send(&s->answers, conn, &m);
}

void overview_answer(struct supervisor *s, uint64_t conn)
{
	const struct children *all = lifecycle_children(s->root);
	const struct msg *said;
	struct msg m;

	trouble_check(s);
	settled_check(s);
	answer_supervisor(s, conn);
	trouble_check_answer(s, conn);
	answer_clusters(s, conn);
	for (size_t i = 0; i < children_count(all); i++) {
		supervisor_child_stats(s, children_get(all, i), &m);
		answers_send(&s->answers, conn, &m);
	}
	pause_requests_send_status(s->pause_requests, conn);
	for (uint64_t c = 0; c < CLUSTERS_MAX; c++)
		if ((said = dispatch_leader(s->dispatch, c)))
			answers_send(&s->answers, conn, said);
	answers_end(&s->answers, conn, 0, "");
}
