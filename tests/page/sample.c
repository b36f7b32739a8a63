/* sample.c - prints a page of made-up data: page_sample report|status en|zh, the same with hostile texts:
 * page_sample hostile-report|hostile-status N (the number of the page), and the largest ones: page_sample
 * large-report|large-status. Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/troubles.h"
#include "reporter/page/report.h"
#include "reporter/page/status_page.h"
#include "tests/facts_en.h"

#define NOW_MS  INT64_C(1795341300000) /* 2026-11-22 09:55 UTC */
#define HOUR_MS INT64_C(3600000)
/* What a list of 10,000 would bring, and more than any page shows. */
#define LARGE 10000u

/* -- numbers and texts that are always the same -- */

static uint64_t dice = 1;

static unsigned roll(unsigned below)
{
	dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(dice >> 33) % below;
}

/* Names and sentences that a cluster could hold to break a page: markup, quotes, directions, no UTF-8, and
 * any bytes. Valid until four more were asked for. */
static const char *hostile(void)
{
	static const char *const evil[] = {
		"<script>alert(1)</script>",
		"\"'><img src=x onerror=alert(1)>",
		"]]></style><style>*{display:none}",
		"<!-- &amp; &#0; &bogus;",
		("\xe2\x80\xae"
		 "fdp.exe\xe2\x81\xa6"),
		"\xff\xfe\xc0\xaf\xed\xa0\x80",
		"javascript:alert(1)",
		"",
	};
	static char text[4][512];
	static unsigned at;
	char *dst = text[at++ % 4];

	if (roll(3) > 0) {
		(void)snprintf(dst, sizeof(text[0]), "%s", evil[roll(ARRAY_SIZE(evil))]);
		return dst;
	}
	const size_t n = roll(sizeof(text[0]) - 1);

	for (size_t i = 0; i < n; i++)
		dst[i] = (char)(1 + roll(255));
	dst[n] = '\0';
	return dst;
}

/* -- reports -- */

/* A sentence as facts; valid until eight others were said. */
static const struct facts *said(const char *text)
{
	static struct facts kept[8];
	static unsigned next;
	struct facts *f = &kept[next++ % ARRAY_SIZE(kept)];

	*f = quoting(text);
	return f;
}

static void fill_line(struct series_line *l, unsigned from, unsigned per_day)
{
	for (unsigned i = from; i < SERIES_HOURS; i++)
		l->by_hour[i] = roll(24) < per_day ? 1 + roll(1 + per_day / 4) : 0;
}

static void sample_series(struct series *s)
{
	static const struct {
		const char *cluster, *name;
		unsigned from, per_day;
	} worst[] = {
		{ "prod", "shop/checkout", 190, 22 },
		{ "prod", "shop/cart-worker", 0, 9 },
		{ "prod", "payments/ledger", 300, 20 },
		{ "staging", "search/indexer", 120, 6 },
		{ "prod", "media/thumbnailer", 0, 4 },
		{ "staging", "ci/runner-of-a-team-with-a-long-name", 250, 7 },
	};
	static const char *const spaces[] = { "shop",    "payments",      "search",   "media",      "ci",
					      "billing", "auth",          "frontend", "reports",    "batch",
					      "mail",    "observability", "kafka",    "ml-training" };

	*s = (struct series){ .begin_ms = NOW_MS - 7 * 24 * HOUR_MS,
			      .end_ms = NOW_MS,
			      .utc_offset_s = 8 * 3600 };
	for (size_t i = 0; i < ARRAY_SIZE(worst); i++)
		fill_line(series_add_line(s, worst[i].cluster, worst[i].name), worst[i].from,
			  worst[i].per_day);
	for (size_t i = 0; i < SERIES_DAYS; i++) {
		s->actions[i][DUTY_EVICTED] = i == 9 ? 34 : roll(9);
		s->actions[i][DUTY_FINISHED] = roll(12);
		s->actions[i][DUTY_TERMINATING] = roll(3);
		s->actions[i][DUTY_IMAGE_PULL] = i > 8 ? roll(3) : 0;
		s->actions[i][DUTY_CRASH_LOOP] = roll(2);
	}
	struct series_held *h = series_add_held(s, "prod", "payments/ledger-7d9f8-x2lq", "HasFinalizers",
						said("finalizer example.com/backup stays since 3 h"));

	h->duty = DUTY_TERMINATING;
	h->since_ms = NOW_MS - 3 * HOUR_MS;
	h = series_add_held(s, "prod", "", "BudgetSpent", said("10 of 10 in this hour"));
	h->duty = DUTY_EVICTED;
	h->since_ms = NOW_MS - HOUR_MS / 2;
	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++) {
		struct series_tile *t = series_add_tile(s, i % 3 == 2 ? "staging" : "prod", spaces[i]);

		t->restarts = i < 5 ? 400 / (i * i + 1) : roll(4);
		t->actions = roll(3) == 0 ? roll(14) : 0;
		t->held = i == 1;
	}
}

static const struct {
	const char *section[LANGUAGE__MAX], *title[LANGUAGE__MAX], *line[LANGUAGE__MAX];
	const char *restarts, *total, *pods;
} report_rows[] = {
	{ { "New", "新出现" },
	  { "[prod] shop/checkout (Deployment): +412 (9.4/h), total 531",
	    "[prod] shop/checkout（Deployment）：+412（9.4 次/小时），累计 531" },
	  { "container app: OOMKilled, memory limit 512Mi; 3 pods on 3 nodes; image "
	    "registry.example.com/shop/checkout:2.31 since 2026-11-20 14:02",
	    "容器 app：OOMKilled，内存限制 512Mi；3 个 Pod，分布在 3 个节点；镜像 "
	    "registry.example.com/shop/checkout:2.31，自 2026-11-20 14:02 起" },
	  "412",
	  "531",
	  "3" },
	{ { "New", "新出现" },
	  { "[prod] payments/ledger (StatefulSet): +128 (5.1/h), total 128",
	    "[prod] payments/ledger（StatefulSet）：+128（5.1 次/小时），累计 128" },
	  { "container ledger: Error, exit code 137 (SIGKILL); node-07",
	    "容器 ledger：Error，退出码 137（SIGKILL）；node-07" },
	  "128",
	  "128",
	  "1" },
	{ { "Worse", "加剧" },
	  { "[prod] shop/cart-worker (Deployment): +61 (0.4/h), total 902",
	    "[prod] shop/cart-worker（Deployment）：+61（0.4 次/小时），累计 902" },
	  { "container worker: Error, exit code 1: \"connection refused: redis:6379\"",
	    "容器 worker：Error，退出码 1：\"connection refused: redis:6379\"" },
	  "61",
	  "902",
	  "12" },
	{ { "Still restarting", "仍在重启" },
	  { "[staging] search/indexer (Job): +44 (0.3/h), total 203",
	    "[staging] search/indexer（Job）：+44（0.3 次/小时），累计 203" },
	  { "container index: exit code 3", "容器 index：退出码 3" },
	  "44",
	  "203",
	  "1" },
	{ { "Recovered", "已恢复" },
	  { "[staging] ci/runner-of-a-team-with-a-long-name: was +36",
	    "[staging] ci/runner-of-a-team-with-a-long-name：此前 +36" },
	  { NULL, NULL },
	  NULL,
	  NULL,
	  NULL },
};

static void sample_document(struct document *d, enum language language)
{
	struct section *s = NULL;

	document_init(d, NEWS_REPORT, language, NOW_MS);
	d->tone = TONE_WARNING;
	document_set_title(d, language == LANGUAGE_ZH ? "Pod 重启报告" : "Pods that restart");
	document_add_line(d, language == LANGUAGE_ZH
				     ? "本期 4 个工作负载共重启 645 次；其中 2 个为新出现。"
				     : "4 workloads restarted 645 times in this window; 2 of them are new.");
	document_add_line(d, language == LANGUAGE_ZH ? "412 次中有 380 次为 OOMKilled，均始于同一次发布之后。"
						     : "380 of 412 were OOMKilled, all after one rollout.");
	for (size_t i = 0; i < ARRAY_SIZE(report_rows); i++) {
		const char *title = report_rows[i].section[language];

		if (!s || strcmp(s->title, title) != 0)
			s = document_add_section(d, title);
		struct entry *e = section_add_entry(s, report_rows[i].title[language]);

		e->is_over = !report_rows[i].restarts;
		if (e->is_over)
			continue;
		entry_add_line(e, report_rows[i].line[language]);
		entry_add_fact(e, "restarts", report_rows[i].restarts);
		entry_add_fact(e, "restartsTotal", report_rows[i].total);
		entry_add_fact(e, "count", report_rows[i].pods);
		if (i == 0)
			entry_set_command(e, "kubectl -n shop logs deploy/checkout --previous");
	}
	s->more = 12;
	document_set_footer(d, "ops-pod-cleaner");
}

static void hostile_report(struct document *d, struct series *s)
{
	document_init(d, NEWS_REPORT, LANGUAGE_EN, NOW_MS);
	document_set_title(d, hostile());
	document_add_line(d, hostile());
	document_set_footer(d, hostile());
	for (unsigned i = roll(4); i > 0; i--) {
		struct section *section = document_add_section(d, hostile());

		section->more = roll(3);
		for (unsigned k = roll(5); k > 0; k--) {
			struct entry *e = section_add_entry(section, hostile());

			entry_add_line(e, hostile());
			entry_set_command(e, hostile());
			if (roll(2))
				entry_add_fact(e, "restarts", hostile());
		}
	}
	*s = (struct series){ .begin_ms = roll(2), .end_ms = NOW_MS };
	for (unsigned i = roll(4); i > 0; i--) {
		fill_line(series_add_line(s, hostile(), hostile()), roll(SERIES_HOURS), roll(24));
		(void)series_add_held(s, hostile(), hostile(), hostile(), said(hostile()));
		series_add_tile(s, hostile(), hostile())->restarts = roll(9);
	}
}

static void large_report(struct document *d, struct series *s)
{
	char name[64];

	document_init(d, NEWS_REPORT, LANGUAGE_EN, NOW_MS);
	document_set_title(d, "large");
	*s = (struct series){ .end_ms = NOW_MS };
	for (unsigned i = 0; i < LARGE; i++) {
		(void)snprintf(name, sizeof(name), "ns-%u/workload-%u", i % 300, i);
		(void)series_add_held(s, "prod", name, "BudgetSpent", NULL);
		(void)series_add_tile(s, "prod", name);
		(void)series_add_line(s, "prod", name);
	}
}

static int print_report(void (*fill)(struct document *d, struct series *s))
{
	struct document d;
	struct series s;

	fill(&d, &s);
	_cleanup_free_ char *page = page_report(&d, &s);

	(void)fputs(page, stdout);
	document_done(&d);
	series_done(&s);
	return 0;
}

static enum language chosen;

static void fill_sample(struct document *d, struct series *s)
{
	sample_document(d, chosen);
	sample_series(s);
}

/* -- status pages -- */

static void set(char *dst, size_t size, const char *text)
{
	(void)snprintf(dst, size, "%s", text);
}
#define SET(member, text) set(member, sizeof(member), text)

static void sample_action(struct msg_ctl_history_row *r, unsigned i, const char *ns, const char *name,
			  enum action_kind action, enum outcome outcome, const char *reason,
			  const char *detail)
{
	*r = (struct msg_ctl_history_row){ .id = 400 - i,
					   .intent_at = NOW_MS - i * 7 * 60000,
					   .result_at = NOW_MS - i * 7 * 60000,
					   .action = action,
					   .outcome = outcome,
					   .replicas = 3 };
	SET(r->cluster_name, i % 3 ? "prod" : "staging");
	SET(r->ns, ns);
	SET(r->name, name);
	SET(r->reason, reason);
	r->detail = quoting(detail);
}

static void sample_actions(struct msg_ctl_history_row actions[static 5])
{
	sample_action(&actions[0], 0, "shop", "checkout-5c9d8f7b6-x2lq", ACTION_SCALE_DOWN, OUTCOME_DONE,
		      "CannotPullImage",
		      "no pod of revision 5c9d8f7b6 pulls registry.example.com/shop/checkout:2.32; "
		      "ErrImagePull for 24h");
	sample_action(&actions[1], 1, "media", "thumbnailer-77fd4-9kvbp", ACTION_DELETE, OUTCOME_DONE,
		      "Evicted", "phase Failed, reason Evicted");
	sample_action(&actions[2], 2, "payments", "ledger-0", ACTION_FORCE_DELETE, OUTCOME_REFUSED,
		      "HasFinalizers", "finalizer example.com/backup");
	sample_action(&actions[3], 3, "search", "indexer-28391-abcde", ACTION_DELETE, OUTCOME_FAILED,
		      "ServerError", "HTTP 500");
	sample_action(&actions[4], 4, "ci", "runner-of-a-team-with-a-long-name-6c9f7d7b5f-zq8xk",
		      ACTION_DELETE, OUTCOME_DONE, "Finished", "phase Succeeded");
}

static void sample_pause(struct msg_pause *p)
{
	SET(p->cluster_name, "prod");
	SET(p->by, "alice");
	p->why = quoting("incident 17: do not touch the shop");
}

static int print_status(enum language language)
{
	struct live_trouble troubles[] = {
		{ "staging", "", trouble_desc(TROUBLE_FORBIDDEN)->text[language].sentence,
		  trouble_desc(TROUBLE_FORBIDDEN)->text[language].remedy,
		  said("deployments.apps \"web\" is forbidden: User \"cleaner\" cannot patch resource "
		       "\"deployments/scale\""),
		  NOW_MS - 2 * HOUR_MS, false },
	};
	struct live_cluster clusters[] = {
		{ "prod", true, true, 4213, 3, NULL,
		  said("budget of deleteEvictedPod is spent: 10 of 10 in this hour") },
		{ "staging", false, true, 812, 0, said("list of pods: 503 Service Unavailable"), NULL },
	};
	struct live_due due[] = {
		{ "prod", "deleteEvictedPod", "blocked", "BudgetSpent", 3, NOW_MS - HOUR_MS / 2 },
		{ "prod", "errImagePull", "waiting", "CannotPullImage", 2, NOW_MS - 5 * HOUR_MS },
		{ "prod", "deleteTerminatingPod", "refused", "HasFinalizers", 1, NOW_MS - 3 * HOUR_MS },
	};
	struct live_sink sinks[] = {
		{ .name = "feishu", .type = "feishu", .delivered_ms = NOW_MS - HOUR_MS },
		{ "oncall", "alertmanager", 2, NOW_MS - HOUR_MS / 6, NOW_MS - 30 * HOUR_MS,
		  quoting("connection refused") },
	};
	struct msg_pause pause = { .duty = DUTY_CRASH_LOOP,
				   .at = NOW_MS - HOUR_MS,
				   .until = NOW_MS + HOUR_MS };
	struct msg_ctl_history_row actions[5], refusal;

	sample_pause(&pause);
	sample_actions(actions);
	refusal = actions[2];
	refusal.duty = DUTY_TERMINATING;
	const struct live l = { .language = language,
				.version = "1.0.0",
				.now_ms = NOW_MS,
				.live = true,
				.ready = true,
				.report_next_ms = NOW_MS + 71 * HOUR_MS,
				.report_delivered_ms = NOW_MS - 97 * HOUR_MS,
				.troubles = troubles,
				.n_troubles = ARRAY_SIZE(troubles),
				.pauses = &pause,
				.n_pauses = 1,
				.clusters = clusters,
				.n_clusters = ARRAY_SIZE(clusters),
				.due = due,
				.n_due = ARRAY_SIZE(due),
				.actions = actions,
				.n_actions = ARRAY_SIZE(actions),
				.refusals = &refusal,
				.n_refusals = 1,
				.sinks = sinks,
				.n_sinks = ARRAY_SIZE(sinks) };
	_cleanup_free_ char *page = page_status(&l, NULL);

	(void)fputs(page, stdout);
	return 0;
}

/* `n` rows in each table. */
static int print_rows(unsigned n)
{
	struct live_trouble *troubles = xcalloc(n, sizeof(*troubles));
	struct live_cluster *clusters = xcalloc(n, sizeof(*clusters));
	struct live_due *due = xcalloc(n, sizeof(*due));
	struct live_sink *sinks = xcalloc(n, sizeof(*sinks));
	struct msg_pause *pauses = xcalloc(n, sizeof(*pauses));
	struct msg_ctl_history_row *rows = xcalloc(n, sizeof(*rows));
	_cleanup_free_ char *version = xstrdup(hostile());

	for (unsigned i = 0; i < n; i++) {
		/* The texts live as long as four more: what is kept as a pointer is the same in all. */
		troubles[i] = (struct live_trouble){ version, version,          version, version,
						     NULL,    (int64_t)roll(9), roll(2) };
		clusters[i] = (struct live_cluster){ version, roll(2),       roll(2),      roll(99),
						     roll(9), said(version), said(version) };
		due[i] = (struct live_due){ version, version, version, version, roll(9), (int64_t)roll(9) };
		sinks[i] = (struct live_sink){ .name = version, .type = version };
		sinks[i].error = quoting(hostile());
		SET(pauses[i].by, hostile());
		pauses[i].why = quoting(hostile());
		SET(rows[i].name, hostile());
		SET(rows[i].reason, hostile());
		rows[i].detail = quoting(hostile());
	}
	const struct live l = { .version = version,
				.now_ms = NOW_MS,
				.troubles = troubles,
				.n_troubles = n,
				.pauses = pauses,
				.n_pauses = n,
				.clusters = clusters,
				.n_clusters = n,
				.due = due,
				.n_due = n,
				.actions = rows,
				.n_actions = n,
				.refusals = rows,
				.n_refusals = n,
				.sinks = sinks,
				.n_sinks = n };
	_cleanup_free_ char *page = page_status(&l, NULL);

	(void)fputs(page, stdout);
	free(troubles);
	free(clusters);
	free(due);
	free(sinks);
	free(pauses);
	free(rows);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *which = argc > 2 ? argv[2] : "en";

	chosen = strcmp(which, "zh") == 0 ? LANGUAGE_ZH : LANGUAGE_EN;
	dice = strtoull(which, NULL, 10) + 1;
	if (strcmp(what, "report") == 0)
		return print_report(fill_sample);
	if (strcmp(what, "status") == 0)
		return print_status(chosen);
	if (strcmp(what, "hostile-report") == 0)
		return print_report(hostile_report);
	if (strcmp(what, "hostile-status") == 0)
		return print_rows(roll(6));
	if (strcmp(what, "large-report") == 0)
		return print_report(large_report);
	if (strcmp(what, "large-status") == 0)
		return print_rows(LARGE);
	(void)fprintf(stderr, "page_sample: what is on top of its file\n");
	return 64;
}
