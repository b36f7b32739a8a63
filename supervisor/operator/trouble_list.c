/* trouble_list.c - see trouble_list.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/operator/trouble_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "model/guards.h"
#include "supervisor/actions/replicas.h"
#include "supervisor/actions/reporter_link.h"
#include "supervisor/actions/write_guard.h"
#include "text/facts_text.h"

#define AGAIN_MS   600000u /* while it lasts */
#define CHANGED_MS 60000u  /* no oftener for another detail */
/* A list of a large cluster takes seconds at every start, and that is no trouble. */
#define LIST_TIME_MS 60000u

struct trouble_entry {
	struct msg_trouble_row row; /* without conn and n, which are filled in as it is sent */
	uint64_t cluster, part;     /* cluster CLUSTERS_MAX: of none */
	uint64_t sent_ms;           /* boot time */
	bool here;                  /* added since trouble_list_begin() */
	bool begins, changed;       /* not sent yet; another detail than was sent */
};

/* -- reports -- */

static bool is_of(const struct trouble_entry *e, enum trouble kind, uint64_t cluster)
{
	return e->row.trouble == kind && e->cluster == cluster;
}

uint64_t trouble_list_count(const struct supervisor *s, enum trouble kind, uint64_t cluster)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_troubles; i++)
		n += is_of(&s->troubles[i], kind, cluster);
	return n;
}

static struct msg row_of(const struct supervisor *s, const struct trouble_entry *e, uint64_t conn)
{
	struct msg m = { .type = MSG_TROUBLE_ROW, .u.trouble_row = e->row };

	m.u.trouble_row.conn = conn;
	m.u.trouble_row.n = trouble_list_count(s, (enum trouble)e->row.trouble, e->cluster);
	return m;
}

void trouble_list_answer(const struct supervisor *s, uint64_t conn)
{
	for (size_t i = 0; i < s->n_troubles; i++) {
		const struct msg m = row_of(s, &s->troubles[i], conn);

		answers_send(&s->answers, conn, &m);
	}
}

/* For the reporter a row is all of a kind in a cluster: since the first of them, with the details of each. */
static void send_row(struct supervisor *s, const struct trouble_entry *e)
{
	struct msg m = row_of(s, e, 0);
	struct msg_trouble_row *row = &m.u.trouble_row;
	bool first = true;

	if (row->n > 1)
		facts_clear(&row->particulars);
	for (size_t i = 0; i < s->n_troubles; i++) {
		if (!is_of(&s->troubles[i], (enum trouble)e->row.trouble, e->cluster))
			continue;
		if (first)
			row->since = s->troubles[i].row.since;
		first = false;
		if (row->n > 1)
			facts_facts(&row->particulars, FACT_EACH, &s->troubles[i].row.particulars);
		else
			facts_set(&row->particulars, &s->troubles[i].row.particulars);
	}
	reporter_link_send(s, &m);
}

void trouble_list_send(struct supervisor *s)
{
	for (size_t i = 0; i < s->n_troubles; i++)
		send_row(s, &s->troubles[i]);
}

static void log_trouble(const struct trouble_entry *e, bool lasts)
{
	const struct trouble_desc *desc = trouble_desc((enum trouble)e->row.trouble);
	const enum log_level level = desc->severity == TROUBLE_IS_BLIND ? LOG_LEVEL_ERROR : LOG_LEVEL_WARN;
	_cleanup_free_ char *detail = facts_render(&e->row.particulars, NULL);
	char since[RFC3339_MAX];
	struct log_kv kv[5] = { kv_s("trouble", desc->name) };
	size_t n = 1;

	rfc3339_format(e->row.since, false, since);
	if (e->cluster < CLUSTERS_MAX)
		kv[n++] = kv_s("cluster", e->row.cluster_name);
	if (*detail)
		kv[n++] = kv_s("detail", detail);
	kv[n++] = kv_s("remedy", desc->text[LANGUAGE_EN].remedy);
	if (lasts)
		kv[n++] = kv_s("since", since);
	(void)log_write(level, 0, desc->text[LANGUAGE_EN].sentence, kv, n);
}

static void report_over(struct supervisor *s, const struct trouble_entry *e)
{
	struct log_quota *before = log_charge(&s->trouble_lines[e->cluster]);

	log_info("a trouble is over", kv_s("trouble", trouble_desc((enum trouble)e->row.trouble)->name),
		 kv_s("cluster", e->row.cluster_name));
	(void)log_charge(before);
	send_row(s, e);
}

/* As it begins, and again while it lasts: its detail may be another. */
static void report(struct supervisor *s, struct trouble_entry *e, uint64_t boot_ms)
{
	if (!e->begins && boot_ms < e->sent_ms + (e->changed ? CHANGED_MS : AGAIN_MS))
		return;
	struct log_quota *before = log_charge(&s->trouble_lines[e->cluster]);

	if (!e->begins || trouble_desc((enum trouble)e->row.trouble)->said)
		log_trouble(e, !e->begins);
	(void)log_charge(before);
	send_row(s, e);
	e->sent_ms = boot_ms;
	e->begins = e->changed = false;
}

/* -- the list -- */

void trouble_list_begin(struct supervisor *s)
{
	for (size_t i = 0; i < s->n_troubles; i++)
		s->troubles[i].here = false;
}

static struct trouble_entry *find_or_make(struct supervisor *s, enum trouble kind, uint64_t cluster,
					  uint64_t part)
{
	for (size_t i = 0; i < s->n_troubles; i++)
		if (s->troubles[i].row.trouble == kind && s->troubles[i].cluster == cluster &&
		    s->troubles[i].part == part)
			return &s->troubles[i];
	s->troubles = xreallocarray(s->troubles, s->n_troubles + 1, sizeof(*s->troubles));
	s->troubles[s->n_troubles] = (struct trouble_entry){
		.row.trouble = kind, .cluster = cluster, .part = part, .begins = true
	};
	return &s->troubles[s->n_troubles++];
}

void trouble_list_add(struct supervisor *s, enum trouble kind, uint64_t cluster, uint64_t part,
		      const struct facts *particulars)
{
	struct trouble_entry *e = find_or_make(s, kind, cluster, part);
	struct msg m = { .type = MSG_TROUBLE_ROW, .u.trouble_row = e->row };
	const bool elsewhere =
		cluster < CLUSTERS_MAX && trouble_desc(kind)->by_one && replicas_prefers_another(s, cluster);

	msg_text(&m, trouble_row.cluster_name, cluster < CLUSTERS_MAX ? settings(s)->names[cluster] : NULL);
	if (particulars)
		facts_set(&m.u.trouble_row.particulars, particulars);
	else
		facts_clear(&m.u.trouble_row.particulars);
	m.u.trouble_row.elsewhere = elsewhere;
	e->changed |= e->row.elsewhere != elsewhere ||
		      !facts_equal(&e->row.particulars, &m.u.trouble_row.particulars);
	e->here = true;
	e->row = m.u.trouble_row;
}

void trouble_list_end(struct supervisor *s, uint64_t boot_ms, int64_t wall_ms)
{
	for (size_t i = 0; i < s->n_troubles;) {
		const struct trouble_entry over = s->troubles[i];

		if (over.here) {
			i++;
			continue;
		}
		/* It leaves the list before it is reported. */
		memmove(&s->troubles[i], &s->troubles[i + 1], (s->n_troubles - i - 1) * sizeof(*s->troubles));
		s->n_troubles--;
		report_over(s, &over);
	}
	for (size_t i = 0; i < s->n_troubles; i++)
		if (s->troubles[i].begins)
			s->troubles[i].row.since = wall_ms;
	for (size_t i = 0; i < s->n_troubles; i++)
		report(s, &s->troubles[i], boot_ms);
}

const char *trouble_list_headline(const struct supervisor *s)
{
	const struct generation *g = settings(s);
	bool is_blind[CLUSTERS_MAX + 1] = { false };
	uint64_t blind = 0;

	for (size_t i = 0; i < s->n_troubles; i++)
		is_blind[s->troubles[i].cluster] |=
			trouble_desc((enum trouble)s->troubles[i].row.trouble)->severity == TROUBLE_IS_BLIND;
	for (uint64_t c = 0; generation_next(g, &c); c++)
		blind += is_blind[c];
	if (blind == g->n_wanted)
		return "blind";
	return s->n_troubles ? "degraded" : "running";
}

/* -- checks -- */

static void check_loads(struct supervisor *s, const struct generation *g)
{
	for (uint64_t c = 0; generation_next(g, &c); c++)
		if (!facts_empty(&g->problem[c]))
			trouble_list_add(s,
					 generation_has_cluster(g, c) ? TROUBLE_CREDENTIAL_KEPT
								      : TROUBLE_CLUSTER_WAITS,
					 c, 0, &g->problem[c]);
	if (!facts_empty(lifecycle_refusal(s->root)))
		trouble_list_add(s, TROUBLE_SETTINGS, CLUSTERS_MAX, 0, lifecycle_refusal(s->root));
}

/* Guards that say that something is wrong; the others do as they were told: a pause, a window, a standby. */
static bool is_wrong(enum guard g)
{
	return g == GUARD_CLOCK || reason_desc(guard_desc(g)->reason)->attention != ATTENTION_NO;
}

static bool half_is_blocked(const struct supervisor *s, const struct msg_watch_stats *w)
{
	uint64_t wrong = 0;

	for (enum guard g = 0; g < GUARD__MAX; g++)
		wrong |= is_wrong(g) ? w->guards & UINT64_C(1) << g : 0;
	return wrong && w->blocked >= lease_table_count_of(s->leases, w->cluster);
}

#define HTTP_UNAUTHORIZED 401

/* Nothing fails, it only takes its time. */
static bool waits(const struct supervisor *s, uint64_t cluster)
{
	const uint64_t since = s->list_started_ms[cluster];

	return since && clock_boot_ms() < since + LIST_TIME_MS;
}

/* Its trouble is that of the history, which is told. */
static bool waits_for_history(const struct supervisor *s, const struct msg_watch_stats *w)
{
	return s->no_history && !s->history_open && w->synced && !w->failing;
}

/* That its watcher does not come up is said by check_child(): what the last one said is of another time. */
static bool watcher_stays_away(const struct supervisor *s, uint64_t cluster)
{
	const struct children *all = s->children;

	for (size_t i = 0; i < children_count(all); i++) {
		const struct child *c = children_get(all, i);

		if (child_info(c)->role == ROLE_WATCHER && child_info(c)->cluster == cluster)
			return child_is_slow(c);
	}
	return false;
}

static void add_credential_refused(struct supervisor *s, uint64_t cluster, const struct facts *error)
{
	const char *kubeconfig = settings(s)->at[cluster].kubeconfig;
	struct facts f = facts_of(TEXT_OF_KUBECONFIG);

	facts_quoted(&f, FACT_KUBECONFIG, STR_C(kubeconfig));
	facts_facts(&f, FACT_BECAUSE, error);
	trouble_list_add(s, TROUBLE_CREDENTIAL_REFUSED, cluster, 0, &f);
}

static void check_watch(struct supervisor *s, uint64_t cluster)
{
	const struct msg_watch_stats *w = &s->watch_stats[cluster].u.watch_stats;
	const bool wrong = !facts_empty(&w->error);
	struct facts f = facts_of(TEXT_DUE_BUT_BLOCKED);

	if (watcher_stays_away(s, cluster))
		return;
	if (wrong && w->failing && w->http == HTTP_UNAUTHORIZED)
		add_credential_refused(s, cluster, &w->error);
	else if (wrong && !waits(s, cluster) && !waits_for_history(s, w))
		trouble_list_add(s, w->synced ? TROUBLE_WATCH : TROUBLE_CLUSTER_UNSEEN, cluster, 0,
				 &w->error);
	if (!half_is_blocked(s, w))
		return;
	facts_count(&f, FACT_BLOCKED, (int64_t)w->blocked);
	facts_facts(&f, FACT_BLOCKED_BY, &w->blocked_by);
	trouble_list_add(s, TROUBLE_BLOCKED, cluster, 0, &f);
}

static void check_dropped(struct supervisor *s, uint64_t cluster)
{
	const uint64_t dropped = reporter_queue_dropped(s->queue, cluster);
	struct facts f = facts_of(TEXT_DROPPED_SO_FAR);

	if (!dropped)
		return;
	facts_count(&f, FACT_DROPPED, (int64_t)dropped);
	trouble_list_add(s, TROUBLE_REPORTER_QUEUE, cluster, 0, &f);
}

/* That a cluster which cannot be seen has no Lease either is no trouble of the Lease. */
static bool is_of_another(const struct supervisor *s, enum trouble kind, uint64_t cluster)
{
	return kind == TROUBLE_LEASE && !s->watch_stats[cluster].u.watch_stats.synced;
}

/* What it says itself, and whether it runs at all. */
static void check_child(struct supervisor *s, const struct child *c)
{
	const struct child_info *at = child_info(c);
	struct facts f = facts_of(TEXT_OF_PROCESS);
	struct msg m;

	if (child_has_left(s, c))
		return;

	for (enum trouble kind = 0; kind < TROUBLE__MAX; kind++)
		if (child_trouble(c, kind) && !is_of_another(s, kind, at->cluster))
			trouble_list_add(s, kind, at->cluster, 0, child_trouble(c, kind));
	if (!child_is_slow(c))
		return;
	child_stats(c, &m);
	facts_name(&f, FACT_ROLE, STR_C(role_name(at->role)));
	facts_facts(&f, FACT_BECAUSE, &m.u.child_stats.error);
	trouble_list_add(s, TROUBLE_PROCESS, at->cluster, at->index, &f);
	if (at->role == ROLE_WATCHER)
		trouble_list_add(s, TROUBLE_CLUSTER_UNSEEN, at->cluster, 0, &f);
}

static void check_actions(struct supervisor *s, uint64_t cluster)
{
	for (enum duty d = 0; d < DUTY__MAX; d++) {
		const struct failure *f = failures_get(&s->failures, cluster, d, clock_boot_ms());

		if (!f)
			continue;
		struct facts about = facts_of(TEXT_OF_DUTY);

		facts_name(&about, FACT_DUTY, STR_C(duty_name(d)));
		facts_facts(&about, FACT_BECAUSE, &f->detail);
		trouble_list_add(s, f->forbidden ? TROUBLE_FORBIDDEN : TROUBLE_FAILING, cluster, d, &about);
	}
}

/* What comes and goes at a child's word, second after second, does not fill the log. */
static void log_left_out(struct supervisor *s)
{
	for (uint64_t c = 0; c <= CLUSTERS_MAX; c++) {
		const uint64_t left_out = log_quota_left_out(&s->trouble_lines[c]);

		if (left_out)
			(void)log_warn(0, "more troubles come and go than the log takes",
				       kv_s("cluster", c < CLUSTERS_MAX ? settings(s)->names[c] : ""),
				       kv_u("lines_left_out", left_out));
	}
}

void trouble_list_check(struct supervisor *s)
{
	const struct generation *g = settings(s);
	const struct children *all = s->children;

	if (!g)
		return;
	trouble_list_begin(s);
	check_loads(s, g);
	for (uint64_t c = 0; generation_next(g, &c); c++) {
		check_watch(s, c);
		check_actions(s, c);
		check_dropped(s, c);
	}
	check_dropped(s, CLUSTERS_MAX);
	for (size_t i = 0; i < children_count(all); i++)
		check_child(s, children_get(all, i));
	if (write_guard_blocks(s))
		trouble_list_add(s, TROUBLE_WRITE_LIMIT, CLUSTERS_MAX, 0, NULL);
	trouble_list_end(s, clock_boot_ms(), clock_wall_ms());
	log_left_out(s);
}
