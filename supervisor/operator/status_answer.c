/* status_answer.c - see status_answer.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/operator/status_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "supervisor/actions/dispatch.h"
#include "supervisor/actions/replicas.h"
#include "supervisor/actions/worker_pool.h"
#include "supervisor/actions/reporter_link.h"
#include "base/exit.h"
#include "base/log.h"
#include "build_id.h"
#include "model/guards.h"
#include "supervisor/operator/pauses.h"
#include "supervisor/operator/trouble_list.h"
#include "text/facts_text.h"

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

	describe_duties(g->all.duties, duties, sizeof(duties));
	log_info("ops-pod-cleaner starts", kv_s("version", OPC_BUILD_ID), kv_s("config", g->all.config),
		 kv_s("mode", g->all.observe ? "observe" : "enforce"), kv_s("duties", duties),
		 kv_u("clusters", g->n_wanted));
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

/* One that is watched twice is counted in two budgets, and told twice. Behind a proxy that tells clusters
 * apart by the credential it may be right. */
static void warn_same_server(const struct generation *g, uint64_t cluster)
{
	for (uint64_t c = 0; generation_next(g, &c) && c < cluster; c++)
		if (g->at[c].server[0] && strcmp(g->at[c].server, g->at[cluster].server) == 0) {
			(void)log_warn(0, "two clusters have one API server: if they are one, remove one",
				       kv_s("cluster", g->names[cluster]), kv_s("other", g->names[c]),
				       kv_s("server", g->at[c].server));
			return;
		}
}

void status_log_identity(struct supervisor *s)
{
	const struct generation *g = settings(s);

	if (!s->logged_start)
		log_start(g);
	s->logged_start = true;
	for (uint64_t c = 0; c < g->all.clusters; c++) {
		if (g->at[c].loaded && !s->logged_identity[c]) {
			log_cluster(&g->at[c]);
			warn_same_server(g, c);
		}
		s->logged_identity[c] = g->at[c].loaded;
	}
}

/* -- stats -- */

/* False when there is nothing to say. */
static bool stats_of(const struct supervisor *s, uint64_t cluster, struct msg *ret)
{
	const struct generation *g = settings(s);
	const struct facts *problem = &g->problem[cluster];

	*ret = s->watch_stats[cluster];
	if (facts_empty(problem) || !facts_empty(&ret->u.watch_stats.error))
		return ret->type == MSG_WATCH_STATS;
	ret->type = MSG_WATCH_STATS;
	ret->u.watch_stats.cluster = cluster;
	if (!generation_has_cluster(g, cluster)) {
		facts_set(&ret->u.watch_stats.error, problem);
		ret->u.watch_stats.leading = !g->all.election; /* else nobody's report would miss it */
		return true;
	}
	ret->u.watch_stats.error = facts_of(TEXT_CREDENTIAL_STAYS);
	facts_facts(&ret->u.watch_stats.error, FACT_BECAUSE, problem);
	return true;
}

void status_send_watch_stats(struct supervisor *s, uint64_t cluster)
{
	struct msg m;

	if (stats_of(s, cluster, &m))
		reporter_link_send(s, &m);
}

static void child_stats_of(const struct supervisor *s, const struct child *c, struct msg *ret)
{
	child_stats(c, ret);
	ret->u.child_stats.leases = dispatch_leases_of(s, c);
}

void status_send_child_stats(struct supervisor *s, const struct child *c)
{
	struct msg m;

	if (child_has_left(s, c))
		return;
	child_stats_of(s, c, &m);
	reporter_link_send(s, &m);
}

void status_send_worker_stats(struct supervisor *s, uint64_t cluster)
{
	struct msg m;

	worker_pool_describe(s, cluster, &m);
	reporter_link_send(s, &m);
}

/* -- whether all is listed, judged and done -- */

/* NULL before the watcher's first word. */
static const struct msg_watch_stats *watch_stats_of(const struct supervisor *s, uint64_t cluster)
{
	const struct msg *m = &s->watch_stats[cluster];

	return m->type == MSG_WATCH_STATS ? &m->u.watch_stats : NULL;
}

/* Ready, or not needed. */
static bool is_at_rest(const struct child *c)
{
	const enum fsm_state state = child_info(c)->state;

	return child_is_ready(c) || state == FSM_RESTING || state == FSM_LEAVING;
}

static bool serves(const struct child *c, uint64_t cluster)
{
	return child_info(c)->cluster == cluster || child_info(c)->cluster == CLUSTERS_MAX;
}

/* Is the list of the cluster complete, all of it judged, and every process that serves it ready? */
static bool is_judged(const struct supervisor *s, uint64_t cluster)
{
	const struct children *all = s->children;
	const struct msg_watch_stats *w = watch_stats_of(s, cluster);

	if (!w || !w->synced || w->queue > 0)
		return false;
	/* Its saved state is still to come: it would answer that it cannot tell yet. */
	if (!w->failing && !facts_empty(&w->error) && !s->no_history)
		return false;
	for (size_t i = 0; i < children_count(all); i++) {
		const struct child *c = children_get(all, i);

		if (serves(c, cluster) && !is_at_rest(c))
			return false;
	}
	return true;
}

/* One that died too often may never come up: who waits for the cluster would wait for ever. */
static bool is_failing(const struct supervisor *s, uint64_t cluster)
{
	const struct msg_watch_stats *w = watch_stats_of(s, cluster);
	bool failing = !facts_empty(&settings(s)->problem[cluster]) || (w && w->failing);

	for (size_t i = 0; !failing && i < children_count(s->children); i++) {
		const struct child *c = children_get(s->children, i);

		failing = serves(c, cluster) && child_is_slow(c);
	}
	return failing;
}

void status_check_settled(struct supervisor *s)
{
	const struct generation *g = settings(s);
	const uint64_t now = clock_boot_ms();
	struct settled_state *t = &s->settled;
	bool judged = true;

	if (!g)
		return;
	uint64_t moves = s->done;

	for (uint64_t c = 0; generation_next(g, &c); c++) {
		const struct msg_watch_stats *w = watch_stats_of(s, c);

		moves += w ? w->nominated + w->dropped : 0;
		judged = judged && is_judged(s, c);
		if (!is_failing(s, c))
			t->failing_since[c] = 0;
		else if (!t->failing_since[c])
			t->failing_since[c] = now;
	}
	if (lease_table_count(s->leases) > 0 || moves != t->moves || !judged || !t->moved_ms)
		t->moved_ms = now;
	t->moves = moves;
	t->checked_ms = now;
}

static void describe_settled(const struct supervisor *s, uint64_t cluster, struct msg_ctl_cluster *ret)
{
	const uint64_t since = s->settled.failing_since[cluster];

	ret->judged = is_judged(s, cluster);
	ret->failing_ms = since ? s->settled.checked_ms - since + 1 : 0;
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
	describe_settled(s, cluster, &m.u.ctl_cluster);
	facts_set(&m.u.ctl_cluster.problem, &g->problem[cluster]);
	if (!facts_empty(&g->problem[cluster]) && next > now)
		m.u.ctl_cluster.next = clock_wall_ms() + (int64_t)(next - now);
	answers_send(&s->answers, conn, &m);
}

static void answer_clusters(const struct supervisor *s, uint64_t conn)
{
	const struct generation *g = settings(s);
	struct msg m;

	for (uint64_t c = 0; generation_next(g, &c); c++) {
		answer_cluster(s, g, c, conn);
		if (stats_of(s, c, &m))
			answers_send(&s->answers, conn, &m);
		worker_pool_describe(s, c, &m);
		m.u.worker_stats.conn = conn;
		answers_send(&s->answers, conn, &m);
	}
}

/* In mode observe: in some cluster the credential may not even ask the server by a dry run. */
static bool asks_by_dry_run_in_vain(const struct supervisor *s, const struct generation *g)
{
	bool any = false;

	for (uint64_t c = 0; g->all.observe && generation_next(g, &c); c++)
		any = any || s->end_log.clusters[c].dry_run_forbidden;
	return any;
}

static void answer_supervisor(const struct supervisor *s, uint64_t conn)
{
	const struct generation *g = settings(s);
	struct msg m = { .type = MSG_CTL_SUPERVISOR,
			 .u.ctl_supervisor = { .conn = conn,
					       .started = s->started_at,
					       .leases = lease_table_count(s->leases),
					       .actions = s->done,
					       .pending =
						       lease_table_count(s->leases) - dispatch_count_busy(s),
					       .duties = g->all.duties,
					       .quiet_ms = s->settled.checked_ms - s->settled.moved_ms } };

	lifecycle_describe(s->root, &m);
	if (lifecycle_is_running(s->root))
		msg_text(&m, ctl_supervisor.phase, trouble_list_headline(s));
	if (asks_by_dry_run_in_vain(s, g))
		facts_finding(&m.u.ctl_supervisor.note, TEXT_OWN_JUDGEMENT);
	msg_text(&m, ctl_supervisor.version, OPC_BUILD_ID);
	msg_text(&m, ctl_supervisor.config, g->all.config);
	answers_send(&s->answers, conn, &m);
}

/* A worker that waits for work, or for its cluster; a process of a cluster that has left. */
static bool is_not_wanted(const struct supervisor *s, const struct child *c)
{
	const enum fsm_state state = child_info(c)->state;

	return (child_info(c)->on_demand && (state == FSM_RESTING || state == FSM_DOWN)) ||
	       child_has_left(s, c);
}

void status_answer(struct supervisor *s, uint64_t conn)
{
	const struct children *all = s->children;
	const struct msg *leader;
	struct msg m;

	trouble_list_check(s);
	status_check_settled(s);
	answer_supervisor(s, conn);
	trouble_list_answer(s, conn);
	answer_clusters(s, conn);
	for (size_t i = 0; i < children_count(all); i++) {
		if (is_not_wanted(s, children_get(all, i)))
			continue;
		child_stats_of(s, children_get(all, i), &m);
		answers_send(&s->answers, conn, &m);
	}
	pauses_send_status(s, conn);
	for (uint64_t c = 0; generation_next(settings(s), &c); c++)
		if ((leader = replicas_leader(s, c)))
			answers_send(&s->answers, conn, leader);
	answers_end(&s->answers, conn, EXIT_CODE_OK, NULL);
}

void status_describe(const struct supervisor *s, char *ret, size_t size)
{
	const struct generation *g = settings(s);
	uint64_t pods = 0, synced = 0;

	for (uint64_t c = 0; generation_next(g, &c); c++) {
		pods += s->watch_stats[c].u.watch_stats.pods;
		synced += s->watch_stats[c].u.watch_stats.synced;
	}
	(void)snprintf(ret, size, "%s%llu/%llu clusters synced, %llu pods, %llu actions",
		       pauses_any(s) ? "paused: " : "", (unsigned long long)synced,
		       (unsigned long long)g->n_wanted, (unsigned long long)pods,
		       (unsigned long long)s->done);
}

/* -- the answer in the log -- */

#define FIELDS_MAX 48
#define NAMES_MAX  256

static const char *name_of_duty(unsigned i)
{
	return duty_name((enum duty)i);
}

static const char *name_of_guard(unsigned i)
{
	return guard_name((enum guard)i);
}

static const char *name_of_trouble(unsigned i)
{
	return trouble_desc((enum trouble)i)->name;
}

/* Numbers of the protocol that have names, by the name of their field. */
static const struct named {
	const char *field;
	const char *(*name)(unsigned i);
	unsigned max;
	bool set; /* of bits */
} names[] = {
	{ "duty", name_of_duty, DUTY__MAX, false },
	{ "duties", name_of_duty, DUTY__MAX, true },
	{ "guards", name_of_guard, GUARD__MAX, true },
	{ "trouble", name_of_trouble, TROUBLE__MAX, false },
};

static const struct named *find_named(const char *field)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i].field, field) == 0)
			return &names[i];
	return NULL;
}

/* DUTY_ALL is -1, and above every name. */
static struct log_kv named_kv(const struct named *n, uint64_t value, char text[static NAMES_MAX])
{
	size_t len = 0;

	text[0] = '\0';
	if (!n->set)
		return kv_s(n->field, value < n->max ? n->name((unsigned)value) : "all");
	for (unsigned i = 0; i < n->max && len < NAMES_MAX; i++)
		if (value >> i & 1)
			len += (size_t)snprintf(text + len, NAMES_MAX - len, "%s%s", len ? ", " : "",
						n->name(i));
	return kv_s(n->field, text);
}

/* text: of a set; *rendered: of facts, for the caller to free. */
static struct log_kv field_kv(const struct msg *m, const struct msg_field *f, char text[static NAMES_MAX],
			      char **rendered)
{
	const struct named *n = find_named(f->name);
	const char *at = (const char *)&m->u + f->off;

	if (n)
		return named_kv(n, *(const uint64_t *)(const void *)at, text);
	switch (f->kind) {
	case KIND_U64:
		return kv_u(f->name, *(const uint64_t *)(const void *)at);
	case KIND_I64:
		return kv_i(f->name, *(const int64_t *)(const void *)at);
	case KIND_BOOL:
		return kv_u(f->name, *(const bool *)(const void *)at);
	case KIND_FACTS:
		*rendered = facts_render((const void *)at, NULL);
		return kv_s(f->name, *rendered);
	default:
		return kv_s(f->name, at);
	}
}

/* A row of the answer, with every field of it. */
static bool log_row(struct asker *a, const struct msg *m)
{
	const struct msg_desc *d = msg_desc(m->type);
	struct log_kv kv[FIELDS_MAX] = { kv_s("row", d->name) };
	char text[NAMES_MAX]; /* a row has one set */
	char *rendered[FIELDS_MAX] = { NULL };
	size_t n = 1;

	(void)a;
	for (size_t i = 0; i < d->n && n < FIELDS_MAX; i++)
		if (strcmp(d->fields[i].name, "conn") != 0)
			kv[n] = field_kv(m, &d->fields[i], text, &rendered[n]), n++;
	if (m->type != MSG_CTL_END)
		(void)log_write(LOG_LEVEL_INFO, 0, "state", kv, n);
	for (size_t i = 0; i < n; i++)
		free(rendered[i]);
	return true;
}

void status_dump(struct supervisor *s)
{
	struct asker log = { .take = log_row };

	answers_add(&s->answers, &log);
	status_answer(s, log.conn);
	answers_remove(&s->answers, &log);
}
