/* trouble_check.c - see trouble_check.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/trouble_check.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/rfc3339.h"
#include "model/guards.h"

/* A list of a large cluster takes seconds at every start, and that is no trouble. */
#define LIST_TIME_MS 60000u

/* -- what is wrong -- */

static void check_loads(struct supervisor *s, const struct generation *g)
{
	for (uint64_t c = 0; c < g->clusters; c++)
		if (g->problem[c][0])
			trouble_list_add(s->troubles,
					 generation_has_cluster(g, c) ? TROUBLE_CREDENTIAL_KEPT
								      : TROUBLE_CLUSTER_WAITS,
					 c, 0, g->problem[c]);
	if (lifecycle_refusal(s->root)[0])
		trouble_list_add(s->troubles, TROUBLE_SETTINGS, CLUSTERS_MAX, 0, lifecycle_refusal(s->root));
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
	return wrong && w->blocked >= dispatch_leases_in(s->dispatch, w->cluster);
}

/* Nothing fails, it only takes its time. */
static bool waits(const struct supervisor *s, uint64_t cluster)
{
	const uint64_t since = s->waits_since[cluster];

	return since && clock_boot_ms() < since + LIST_TIME_MS;
}

/* Its trouble is that of the history, which is told. */
static bool waits_for_history(const struct supervisor *s, const struct msg_watch_stats *w)
{
	return s->no_history && !dispatch_history_is_open(s->dispatch) && w->synced && !w->failing;
}

/* That its watcher does not come up is said by check_child(): what the last one said is of another time. */
static bool watcher_stays_away(const struct supervisor *s, uint64_t cluster)
{
	const struct children *all = lifecycle_children(s->root);

	for (size_t i = 0; i < children_count(all); i++) {
		const struct child *c = children_get(all, i);

		if (child_info(c)->role == ROLE_WATCHER && child_info(c)->cluster == cluster)
			return child_is_slow(c);
	}
	return false;
}

static void check_watch(struct supervisor *s, uint64_t cluster)
{
	const struct msg_watch_stats *w = &s->watch_stats[cluster].u.watch_stats;
	char detail[320];

	if (watcher_stays_away(s, cluster))
		return;
	if (w->error[0] && !waits(s, cluster) && !waits_for_history(s, w))
		trouble_list_add(s->troubles, w->synced ? TROUBLE_WATCH : TROUBLE_CLUSTER_UNSEEN, cluster, 0,
				 w->error);
	if (!half_is_blocked(s, w))
		return;
	(void)snprintf(detail, sizeof(detail), "%llu due, but blocked: %s", (unsigned long long)w->blocked,
		       w->blocked_by);
	trouble_list_add(s->troubles, TROUBLE_BLOCKED, cluster, 0, detail);
}

static void check_dropped(struct supervisor *s, uint64_t cluster)
{
	const uint64_t dropped = reporter_queue_dropped(s->reporter_queue, cluster);
	char detail[64];

	if (!dropped)
		return;
	(void)snprintf(detail, sizeof(detail), "%llu dropped so far", (unsigned long long)dropped);
	trouble_list_add(s->troubles, TROUBLE_REPORTER_QUEUE, cluster, 0, detail);
}

/* What it says itself, and whether it runs at all. */
static void check_child(struct supervisor *s, const struct child *c)
{
	const struct child_info *at = child_info(c);
	struct msg m;
	char detail[320];

	for (enum trouble kind = 0; kind < TROUBLE__MAX; kind++)
		if (child_trouble(c, kind)[0])
			trouble_list_add(s->troubles, kind, at->cluster, 0, child_trouble(c, kind));
	if (!child_is_slow(c))
		return;
	child_stats(c, &m);
	(void)snprintf(detail, sizeof(detail), "the %s: %s", role_name(at->role), m.u.child_stats.error);
	trouble_list_add(s->troubles, TROUBLE_PROCESS, at->cluster, at->index, detail);
	if (at->role == ROLE_WATCHER)
		trouble_list_add(s->troubles, TROUBLE_CLUSTER_UNSEEN, at->cluster, 0, detail);
}

static void check_actions(struct supervisor *s, uint64_t cluster)
{
	char detail[400];

	for (enum duty d = 0; d < DUTY__MAX; d++) {
		const struct failure *f = dispatch_failure(s->dispatch, cluster, d);

		if (!f)
			continue;
		(void)snprintf(detail, sizeof(detail), "%s: %s", duty_name(d), f->detail);
		trouble_list_add(s->troubles, f->forbidden ? TROUBLE_FORBIDDEN : TROUBLE_FAILING, cluster, d,
				 detail);
	}
}

/* What comes and goes at a child's word, second after second, does not fill the log. */
static void tell_left_out(struct supervisor *s)
{
	for (uint64_t c = 0; c <= CLUSTERS_MAX; c++) {
		const uint64_t left_out = log_quota_left_out(&s->trouble_lines[c]);

		if (left_out)
			(void)log_warn(0, "more troubles come and go than the log takes",
				       kv_s("cluster",
					    c < CLUSTERS_MAX ? lifecycle_generation(s->root)->names[c] : ""),
				       kv_u("lines_left_out", left_out));
	}
}

void trouble_check(struct supervisor *s)
{
	const struct generation *g = lifecycle_generation(s->root);
	const struct children *all = lifecycle_children(s->root);
	struct dispatch_stats d;

	if (!g)
		return;
	dispatch_stats(s->dispatch, &d);
	trouble_list_begin(s->troubles);
	check_loads(s, g);
	for (uint64_t c = 0; c < g->clusters; c++) {
		check_watch(s, c);
		check_actions(s, c);
		check_dropped(s, c);
	}
	check_dropped(s, CLUSTERS_MAX);
	for (size_t i = 0; i < children_count(all); i++)
		check_child(s, children_get(all, i));
	if (d.limited)
		trouble_list_add(s->troubles, TROUBLE_WRITE_LIMIT, CLUSTERS_MAX, 0, "");
	trouble_list_end(s->troubles, clock_boot_ms(), clock_wall_ms());
	tell_left_out(s);
}

/* -- who hears of it -- */

static const char *cluster_of(const struct supervisor *s, const struct standing_trouble *t)
{
	return t->cluster < CLUSTERS_MAX ? lifecycle_generation(s->root)->names[t->cluster] : "";
}

static struct msg row_of(const struct supervisor *s, const struct standing_trouble *t, uint64_t conn)
{
	struct msg m = { .type = MSG_TROUBLE_ROW,
			 .u.trouble_row = { .conn = conn,
					    .trouble = t->kind,
					    .n = trouble_list_of(s->troubles, t->kind, t->cluster),
					    .since = t->since } };

	msg_set(&m, trouble_row.cluster_name, cluster_of(s, t), strlen(cluster_of(s, t)));
	msg_set(&m, trouble_row.detail, t->detail, strlen(t->detail));
	return m;
}

void trouble_check_answer(const struct supervisor *s, uint64_t conn)
{
	for (size_t i = 0; i < trouble_list_count(s->troubles); i++) {
		const struct msg m = row_of(s, trouble_list_get(s->troubles, i), conn);

		answers_send(&s->answers, conn, &m);
	}
}

/* For the reporter a row is all of a kind in a cluster: since the first of them, with what each says. */
static void send_row(struct supervisor *s, const struct standing_trouble *t)
{
	struct msg m = row_of(s, t, 0);
	char details[sizeof(m.u.trouble_row.detail)];
	size_t n = 0, parts = 0;

	for (size_t i = 0; i < trouble_list_count(s->troubles) && n < sizeof(details); i++) {
		const struct standing_trouble *of = trouble_list_get(s->troubles, i);

		if (of->kind != t->kind || of->cluster != t->cluster)
			continue;
		if (parts == 0)
			m.u.trouble_row.since = of->since;
		n += (size_t)snprintf(details + n, sizeof(details) - n, "%s%s", parts++ ? "; " : "",
				      of->detail);
	}
	if (parts > 0)
		msg_set(&m, trouble_row.detail, details, strlen(details));
	supervisor_send_reporter(s, &m);
}

void trouble_check_send(struct supervisor *s)
{
	for (size_t i = 0; i < trouble_list_count(s->troubles); i++)
		send_row(s, trouble_list_get(s->troubles, i));
}

static void log_trouble(const struct supervisor *s, const struct standing_trouble *t, bool lasts)
{
	const struct trouble_desc *desc = trouble_desc(t->kind);
	const enum log_level level = desc->severity == TROUBLE_IS_BLIND ? LOG_LEVEL_ERROR : LOG_LEVEL_WARN;
	char since[RFC3339_MAX];
	struct log_kv kv[5] = { kv_s("trouble", desc->name) };
	size_t n = 1;

	rfc3339_format(t->since, false, since);
	if (t->cluster < CLUSTERS_MAX)
		kv[n++] = kv_s("cluster", cluster_of(s, t));
	if (t->detail[0])
		kv[n++] = kv_s("detail", t->detail);
	kv[n++] = kv_s("remedy", desc->text[LANGUAGE_EN].remedy);
	if (lasts)
		kv[n++] = kv_s("since", since);
	(void)log_write(level, 0, desc->text[LANGUAGE_EN].sentence, kv, n);
}

void trouble_check_tell(void *ctx, const struct standing_trouble *t, enum trouble_news news)
{
	const struct trouble_desc *desc = trouble_desc(t->kind);
	struct supervisor *s = ctx;
	struct log_quota *before =
		log_charge(&s->trouble_lines[t->cluster < CLUSTERS_MAX ? t->cluster : CLUSTERS_MAX]);

	if (news == TROUBLE_ENDS)
		log_info("a trouble is over", kv_s("trouble", desc->name), kv_s("cluster", cluster_of(s, t)));
	else if (news == TROUBLE_LASTS || desc->said)
		log_trouble(s, t, news == TROUBLE_LASTS);
	(void)log_charge(before);
	send_row(s, t); /* also of one that lasts: its detail may be another */
}

const char *trouble_check_headline(const struct supervisor *s)
{
	const uint64_t clusters = lifecycle_generation(s->root)->clusters;
	uint64_t blind = 0;

	for (uint64_t c = 0; c < clusters; c++)
		blind += trouble_list_blind(s->troubles, c);
	if (blind == clusters)
		return "blind";
	return trouble_list_count(s->troubles) ? "degraded" : "running";
}
