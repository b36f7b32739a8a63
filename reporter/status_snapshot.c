/* status_snapshot.c - see status_snapshot.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/status_snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "build_id.h"
#include "config/settings.h"
#include "model/phrases.h"
#include "model/reasons.h"
#include "model/sink_types.h"
#include "model/troubles.h"
#include "reporter/report/schedule.h"
#include "reporter/history/recent.h"
#include "reporter/notify/outbox.h"

/* Rows of what is due that are looked at: more are not counted either. */
#define LIVE_DUE_MAX 300u

/* Troubles of one kind in one cluster: there are no more than rows of the table in each cluster. */
struct trouble_now {
	char *cluster, *detail;
	enum trouble trouble;
	int64_t since_ms;
};

/* The words of a watcher. */
struct cluster_now {
	char *name, *problem, *blocked_by;
};

struct status_snapshot {
	struct trouble_now *troubles;
	size_t n_troubles;
	struct cluster_now *clusters;
	size_t n_clusters;
};

struct status_snapshot *status_snapshot_new(void)
{
	return xcalloc(1, sizeof(struct status_snapshot));
}

static void trouble_done(struct trouble_now *t)
{
	free(t->cluster);
	free(t->detail);
}

static void cluster_done(struct cluster_now *c)
{
	free(c->name);
	free(c->problem);
	free(c->blocked_by);
}

void status_snapshot_free(struct status_snapshot **p)
{
	if (!*p)
		return;
	for (size_t i = 0; i < (*p)->n_troubles; i++)
		trouble_done(&(*p)->troubles[i]);
	for (size_t i = 0; i < (*p)->n_clusters; i++)
		cluster_done(&(*p)->clusters[i]);
	free((*p)->troubles);
	free((*p)->clusters);
	free(*p);
	*p = NULL;
}

/* -- what is said -- */

static struct cluster_now *cluster_of(const struct status_snapshot *p, const char *name)
{
	for (size_t i = 0; i < p->n_clusters; i++)
		if (strcmp(p->clusters[i].name, name) == 0)
			return &p->clusters[i];
	return NULL;
}

static void replace(char **dst, const char *s)
{
	if (*dst && strcmp(*dst, s) == 0)
		return;
	free(*dst);
	*dst = xstrdup(s);
}

void status_snapshot_watch(struct status_snapshot *p, const char *cluster, const struct msg_watch_stats *m)
{
	struct cluster_now *c = cluster_of(p, cluster);

	if (!c) {
		p->clusters = xreallocarray(p->clusters, p->n_clusters + 1, sizeof(*p->clusters));
		c = &p->clusters[p->n_clusters++];
		*c = (struct cluster_now){ .name = xstrdup(cluster) };
	}
	replace(&c->problem, m->error);
	replace(&c->blocked_by, m->blocked_by);
}

static size_t find_trouble(const struct status_snapshot *p, const struct msg_trouble_row *m)
{
	size_t i = 0;

	while (i < p->n_troubles && (p->troubles[i].trouble != (enum trouble)m->trouble ||
				     strcmp(p->troubles[i].cluster, m->cluster_name) != 0))
		i++;
	return i;
}

void status_snapshot_trouble(struct status_snapshot *p, const struct msg_trouble_row *m)
{
	const size_t i = find_trouble(p, m);

	if (i < p->n_troubles) {
		trouble_done(&p->troubles[i]);
		p->troubles[i] = p->troubles[--p->n_troubles];
	}
	if (m->n == 0)
		return;
	p->troubles = xreallocarray(p->troubles, p->n_troubles + 1, sizeof(*p->troubles));
	p->troubles[p->n_troubles++] = (struct trouble_now){ .cluster = xstrdup(m->cluster_name),
							     .detail = xstrdup(m->detail),
							     .trouble = (enum trouble)m->trouble,
							     .since_ms = m->since };
}

/* -- the page -- */

static void add_troubles(const struct status_snapshot *p, struct live *l)
{
	for (size_t i = 0; i < p->n_troubles; i++) {
		const struct trouble_now *t = &p->troubles[i];
		const struct trouble_desc *d = trouble_desc(t->trouble);

		l->troubles[l->n_troubles++] =
			(struct live_trouble){ .cluster = t->cluster,
					       .object = "",
					       .sentence = d->text[l->language].sentence,
					       .detail = t->detail,
					       .remedy = d->text[l->language].remedy,
					       .since_ms = t->since_ms,
					       .is_blind = d->severity == TROUBLE_IS_BLIND };
	}
}

static void add_attention(const struct recent_attention *v, size_t n, struct live *l)
{
	for (size_t i = 0; i < n; i++) {
		const struct reason_desc *d = reason_find(v[i].reason);
		const char *sentence = d->text[l->language].sentence;

		l->troubles[l->n_troubles++] =
			(struct live_trouble){ .cluster = v[i].cluster,
					       .object = v[i].object,
					       .sentence = *sentence ? sentence : v[i].reason,
					       .detail = v[i].detail,
					       .remedy = d->text[l->language].remedy,
					       .since_ms = v[i].since_ms };
	}
}

/* A metric as the number that it was: a watcher may have said any. */
static int64_t whole(double v)
{
	return v < 0 ? 0 : v < 0x1p62 ? (int64_t)v : INT64_C(1) << 62;
}

static void fill_clusters(const struct status_snapshot *p, const struct status_snapshot_sources *from,
			  struct live *l)
{
	const struct metrics *m = from->stats->metrics;
	const struct str_list *names = &from->settings->cluster_names;

	l->clusters = xcalloc(names->n + 1, sizeof(*l->clusters));
	for (size_t i = 0; i < names->n; i++) {
		const struct cluster_now *c = cluster_of(p, names->v[i]);
		const struct metric_labels *of = METRIC_LABELS(names->v[i]);

		l->clusters[l->n_clusters++] =
			(struct live_cluster){ .name = names->v[i],
					       .synced = metrics_get(m, METRIC_WATCH_SYNCED, of) > 0,
					       .leading = metrics_get(m, METRIC_LEADER, of) > 0,
					       .pods = (uint64_t)whole(metrics_get(m, METRIC_CACHE_PODS, of)),
					       .blocked = (uint64_t)whole(metrics_get(m, METRIC_BLOCKED, of)),
					       .problem = c ? c->problem : "",
					       .blocked_by = c ? c->blocked_by : "" };
	}
}

/* Labels: cluster, duty, verdict, reason. */
struct due_filler {
	const struct metrics *m;
	struct live *l;
};

static void add_due(void *ctx, const struct metric_labels *labels, double value)
{
	const struct due_filler *f = ctx;
	struct live *l = f->l;

	if (l->n_due == LIVE_DUE_MAX || value <= 0)
		return;
	l->due[l->n_due++] = (struct live_due){
		.cluster = labels->v[0],
		.duty = labels->v[1],
		.verdict = labels->v[2],
		.reason = labels->v[3],
		.n = (uint64_t)whole(value),
		.oldest_ms = whole(metrics_get(f->m, METRIC_DUE_OLDEST, labels) * 1000),
	};
}

/* By verdict (blocked, due, refused, waiting); then the most first. */
static int compare_due(const void *a, const void *b)
{
	const struct live_due *x = a, *y = b;
	const int by_verdict = strcmp(x->verdict, y->verdict);

	return by_verdict ? by_verdict : x->n < y->n ? 1 : x->n > y->n ? -1 : strcmp(x->cluster, y->cluster);
}

static void fill_due(const struct status_snapshot_sources *from, struct live *l)
{
	struct due_filler f = { from->stats->metrics, l };

	l->due = xcalloc(LIVE_DUE_MAX, sizeof(*l->due));
	metrics_each(f.m, METRIC_DUE, add_due, &f);
	qsort(l->due, l->n_due, sizeof(*l->due), compare_due);
}

static void fill_sinks(const struct status_snapshot_sources *from, struct live *l)
{
	const struct settings *s = from->settings;

	l->sinks = xcalloc(s->n_sinks + 1, sizeof(*l->sinks));
	for (size_t i = 0; i < s->n_sinks; i++) {
		struct outbox_stats stats;

		if (outbox_stats(from->db, s->sinks[i].name, &stats) < 0)
			continue;
		struct live_sink *sink = &l->sinks[l->n_sinks++];

		*sink = (struct live_sink){ .name = s->sinks[i].name,
					    .type = sink_type_desc((enum sink_type)s->sinks[i].type)->name,
					    .waiting = stats.waiting,
					    .oldest_ms = stats.oldest_at,
					    .delivered_ms = stats.delivered_at };
		(void)snprintf(sink->error, sizeof(sink->error), "%s", stats.error);
	}
}

/* What cannot be read is not shown: the trouble of the history says why. */
static void fill_history(const struct status_snapshot_sources *from, struct live *l)
{
	l->actions = xcalloc(LIVE_ACTIONS_MAX, sizeof(*l->actions));
	(void)recent_actions(from->db, LIVE_ACTIONS_MAX, l->actions, &l->n_actions);
	l->refusals = xcalloc(LIVE_ACTIONS_MAX, sizeof(*l->refusals));
	(void)recent_refusals(from->db, LIVE_ACTIONS_MAX, l->refusals, &l->n_refusals);
	l->pauses = xcalloc(LIVE_ROWS_MAX, sizeof(*l->pauses));
	(void)recent_pauses(from->db, LIVE_ROWS_MAX, l->pauses, &l->n_pauses);
	(void)db_number(db_stmt(from->db, DB_REPORT_DELIVERED), &l->report_delivered_ms);
}

static void live_done(struct live *l)
{
	free(l->troubles);
	free(l->clusters);
	free(l->sinks);
	free(l->actions);
	free(l->refusals);
	free(l->pauses);
	free(l->due);
}

void status_snapshot_serve(const struct status_snapshot *p, const struct status_snapshot_sources *from,
			   const struct web_request *request, struct listener_answer *ret)
{
	struct recent_attention attention[LIVE_ROWS_MAX];
	struct report_schedule options = { 0 };
	size_t n = 0;
	const char *why;
	struct live l = { .language = request_language(request),
			  .version = OPC_VERSION,
			  .now_ms = clock_wall_ms(),
			  .observe = from->settings->policy.mode == MODE_OBSERVE,
			  .live = stats_is_live(from->stats),
			  .ready = stats_is_ready(from->stats, from->history) };

	if (report_schedule_parse(from->settings, &options, &why) == 0 && options.enable)
		l.report_next_ms = cron_next(&options.cron, options.zone, l.now_ms);
	l.zone = options.zone;
	(void)recent_attention(from->db, LIVE_ROWS_MAX, attention, &n);
	l.troubles = xcalloc(p->n_troubles + n + 1, sizeof(*l.troubles));
	add_troubles(p, &l);
	add_attention(attention, n, &l);
	fill_clusters(p, from, &l);
	fill_due(from, &l);
	fill_sinks(from, &l);
	fill_history(from, &l);
	ret->share = LISTENER_LARGE;
	ret->status = 200;
	ret->content_type = "text/html; charset=utf-8";
	ret->headers = "Content-Security-Policy: " PAGE_POLICY
		       "\r\nReferrer-Policy: no-referrer\r\nVary: Accept-Language\r\n";
	ret->body = page_status(&l, &ret->size);
	live_done(&l);
	recent_attention_done(attention, n);
	report_schedule_done(&options);
}
