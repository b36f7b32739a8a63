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
#include "config/zone_file.h"
#include "model/duties.h"
#include "model/troubles.h"
#include "reporter/page/report.h"
#include "reporter/page/status_page.h"
#include "reporter/report/compose.h"
#include "tests/facts_en.h"

#define NOW_MS  INT64_C(1795341300000) /* 2026-11-22 09:55 UTC */
#define HOUR_MS INT64_C(3600000)
/* What a list of 10,000 would bring, and more than any page shows. */
#define LARGE 10000u

static void set(char *dst, size_t size, const char *text)
{
	(void)snprintf(dst, size, "%s", text);
}
#define SET(member, text) set(member, sizeof(member), text)

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

static int by_restarts(const void *pa, const void *pb)
{
	const struct series_line *lines[] = { pa, pb };
	uint64_t sums[2] = { 0 };

	for (size_t i = 0; i < 2; i++)
		for (size_t hour = 0; hour < SERIES_HOURS; hour++)
			sums[i] += lines[i]->by_hour[hour];
	return (sums[0] < sums[1]) - (sums[0] > sums[1]);
}

static int by_weight(const void *pa, const void *pb)
{
	const struct series_tile *a = pa, *b = pb;
	const uint64_t wa = a->restarts + a->actions + a->held, wb = b->restarts + b->actions + b->held;

	return (wa < wb) - (wa > wb);
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

	*s = (struct series){ .end_ms = NOW_MS, .utc_offset_s = 8 * 3600 };
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
	struct series_held *h = series_add_held(s, "prod", "shop/files-6b8d9f7c4-h7c2v", "HasFinalizers",
						said("finalizer example.com/unmount stays since 3 h"));

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
	qsort(s->worst, s->n_worst, sizeof(*s->worst), by_restarts);
	qsort(s->tiles, s->n_tiles, sizeof(*s->tiles), by_weight);
}

/* -- the report that is drawn: made as the program makes it -- */

static const struct {
	uint64_t cluster, pods, restarts;
	const char *ns, *workload, *kind, *container, *reason;
	int64_t delta, exit_code;
	const char *memory, *image, *message; /* of a look; NULL = nobody looked */
} report_rows[] = {
	{ 0, 3, 531, "shop", "checkout", "Deployment", "app", "OOMKilled", 412, 137, "512Mi",
	  "registry.example.com/shop/checkout:2.31", "" },
	{ 0, 1, 128, "payments", "ledger", "StatefulSet", "ledger", "Error", 128, 137, "",
	  "registry.example.com/payments/ledger:7", "" },
	{ 0, 12, 902, "shop", "cart-worker", "Deployment", "worker", "Error", 61, 1, "",
	  "registry.example.com/shop/cart-worker:1.9", "connection refused: redis:6379" },
	{ 1, 1, 203, "search", "indexer", "Job", "index", "Error", 44, 3, NULL, NULL, NULL },
};
/* What has no room. */
#define SMALL_ROWS 12

static void add_rows(struct digest *d, size_t i)
{
	struct msg m = { .type = MSG_DIGEST_ROW };
	struct msg_digest_row *r = &m.u.digest_row;

	*r = (struct msg_digest_row){ .cluster = report_rows[i].cluster,
				      .exit_code = report_rows[i].exit_code,
				      .created = NOW_MS - 40 * 24 * HOUR_MS };
	SET(r->ns, report_rows[i].ns);
	SET(r->kind, report_rows[i].kind);
	SET(r->workload, report_rows[i].workload);
	SET(r->container, report_rows[i].container);
	SET(r->last_reason, report_rows[i].reason);
	for (unsigned pod = 0; pod < report_rows[i].pods; pod++) {
		const unsigned one = pod == 0;
		const uint64_t n = report_rows[i].pods, delta = (uint64_t)report_rows[i].delta;

		(void)snprintf(r->pod, sizeof(r->pod), "%s-%u", report_rows[i].workload, pod);
		(void)snprintf(r->node, sizeof(r->node), "node-%02u", 7 + pod % 5);
		r->restarts = report_rows[i].restarts / n + one * (report_rows[i].restarts % n);
		digest_add(d, r);
		d->pods[d->n_pods - 1].delta = (int64_t)(delta / n + one * (delta % n));
	}
}

static void add_small_rows(struct digest *d)
{
	struct msg_digest_row r = { .restarts = 1, .created = NOW_MS - 24 * HOUR_MS };

	SET(r.ns, "batch");
	SET(r.kind, "Job");
	for (unsigned i = 0; i < SMALL_ROWS; i++) {
		(void)snprintf(r.workload, sizeof(r.workload), "job-%u", i);
		SET(r.pod, r.workload);
		digest_add(d, &r);
		d->pods[d->n_pods - 1].delta = 1;
	}
}

static void look_at(struct report *r, struct msg_inspected looks[static ARRAY_SIZE(report_rows)])
{
	for (size_t i = 0; i < ARRAY_SIZE(report_rows); i++) {
		struct msg_inspected *k = &looks[i];

		if (!report_rows[i].image)
			continue;
		*k = (struct msg_inspected){ .found = true,
					     .exit_code = report_rows[i].exit_code,
					     .signal = report_rows[i].exit_code == 137 ? 9 : 0,
					     .rolled_at = NOW_MS - 43 * HOUR_MS };
		SET(k->memory, report_rows[i].memory);
		SET(k->image, report_rows[i].image);
		SET(k->message, report_rows[i].message);
		for (size_t row = 0; row < r->n; row++)
			if (strcmp(r->rows[row].workload->pods[0].row.workload, report_rows[i].workload) == 0)
				r->rows[row].inspection = k;
	}
}

static void compose_sample(const struct report_input *in, enum language language, struct document *d)
{
	const struct sink_settings sink = { .top = ARRAY_SIZE(report_rows),
					    .language = language,
					    .news = UINT64_C(1) << NEWS_ACTIONS };
	struct msg_inspected looks[ARRAY_SIZE(report_rows)];
	struct report r;

	report_build(in, &r);
	look_at(&r, looks);
	if (!report_compose(&r, in, &sink, 0, d))
		abort();
	report_done(&r);
}

static char *text(const char *s)
{
	return (char *)(uintptr_t)s; /* never written */
}

static void sample_document(struct document *d, enum language language)
{
	const struct reported past[] = {
		{ text("prod"), text("shop"), text("Deployment"), text("cart-worker"), 9, 24 * HOUR_MS },
		{ text("staging"), text("ci"), text("StatefulSet"), text("runner-of-a-team-with-a-long-name"),
		  36, 24 * HOUR_MS },
		{ text("staging"), text("search"), text("Job"), text("indexer"), 44, 24 * HOUR_MS },
	};
	struct routine_row routine = { text("prod"), text("shop"), DUTY_EVICTED, 34 };
	_cleanup_(str_list_done) struct str_list clusters = { 0 };
	_cleanup_(digest_done) struct digest digest = { 0 };
	struct zone *zone = NULL;
	void *bytes = NULL;
	size_t n;

	str_list_add(&clusters, "prod", strlen("prod"));
	str_list_add(&clusters, "staging", strlen("staging"));
	for (size_t i = 0; i < ARRAY_SIZE(report_rows); i++)
		add_rows(&digest, i);
	add_small_rows(&digest);
	digest_group(&digest);
	if (zone_load("Asia/Shanghai", &bytes, &n) < 0 || zone_parse(bytes, n, &zone) < 0)
		abort();
	compose_sample(&(struct report_input){ .digest = &digest,
					       .clusters = &clusters,
					       .answered = (const bool[]){ true, true },
					       .past = past,
					       .n_past = ARRAY_SIZE(past),
					       .from_ms = NOW_MS - 44 * HOUR_MS,
					       .at_ms = NOW_MS,
					       .zone = zone,
					       .title = "Pods that restart too often",
					       .routine = &(struct routine){ &routine, 1 } },
		       language, d);
	zone_free(&zone);
	free(bytes);
}

static void hostile_report(struct document *d, struct series *s)
{
	document_init(d, NEWS_REPORT, LANGUAGE_EN, NOW_MS);
	document_set(&d->title, hostile());
	document_add(&d->lines, hostile());
	document_set(&d->footer, hostile());
	for (unsigned i = roll(4); i > 0; i--) {
		struct section *section = document_add_section(d, hostile());

		section->more = roll(3);
		for (unsigned k = roll(5); k > 0; k--) {
			struct entry *e = section_add_entry(section, hostile());

			document_add(&e->lines, hostile());
			document_set(&e->command, hostile());
			if (roll(2))
				entry_add_fact(e, "restarts", hostile());
		}
	}
	*s = (struct series){ .end_ms = NOW_MS };
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
	document_set(&d->title, "large");
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
	sample_action(&actions[0], 0, "shop", "web-5f6d7c8b9-4jtrh", ACTION_SCALE_DOWN, OUTCOME_DONE,
		      "CannotPullImage",
		      "no pod of revision 5f6d7c8b9 pulls registry.example.com/shop/web:1.2.3; "
		      "ErrImagePull for 24h");
	sample_action(&actions[1], 1, "shop", "cart-7d9f8c6b5-lq5hn", ACTION_DELETE, OUTCOME_DONE, "Evicted",
		      "phase Failed, reason Evicted");
	sample_action(&actions[2], 2, "shop", "files-6b8d9f7c4-h7c2v", ACTION_FORCE_DELETE, OUTCOME_REFUSED,
		      "HasFinalizers", "finalizer example.com/unmount");
	actions[2].duty = DUTY_TERMINATING;
	sample_action(&actions[3], 3, "search", "indexer-28391-abcde", ACTION_DELETE, OUTCOME_FAILED,
		      "ServerError", "HTTP 500");
	sample_action(&actions[4], 4, "ci", "runner-of-a-team-with-a-long-name-6c9f7d7b5f-zq8xk",
		      ACTION_DELETE, OUTCOME_DONE, "Finished", "phase Succeeded");
}

static struct msg_pause sample_pause(void)
{
	struct msg_pause p = { .duty = DUTY_CRASH_LOOP, .at = NOW_MS - HOUR_MS, .until = NOW_MS + HOUR_MS };

	SET(p.cluster_name, "prod");
	SET(p.by, "alice");
	p.why = quoting("incident 17: do not touch the shop");
	return p;
}

static int print_page(struct status_page *p)
{
	_cleanup_free_ char *page = status_page_end(p, NULL);

	(void)fputs(page, stdout);
	return 0;
}

static void sample_cluster(struct status_page *p, const char *name, struct msg_ctl_tally_row tally,
			   const struct msg_watch_stats *watch, bool is_paused)
{
	SET(tally.cluster_name, name);
	status_page_add_cluster(p, &tally, watch, is_paused);
}

static void sample_clusters(struct status_page *p)
{
	const struct msg_watch_stats
		prod = { .synced = true,
			 .leading = true,
			 .pods = 4213,
			 .blocked = 3,
			 .blocked_by =
				 quoting("budget of deleteEvictedPod is spent: 10 of 10 in this hour") },
		staging = { .leading = true,
			    .pods = 812,
			    .error = quoting("list of pods: 503 Service Unavailable") };

	sample_cluster(p, "prod", (struct msg_ctl_tally_row){ .due = 12, .done = 147, .at_zero = 1 }, &prod,
		       true);
	sample_cluster(p, "staging", (struct msg_ctl_tally_row){ .done = 9 }, &staging, false);
}

static int print_status(enum language language)
{
	static const struct msg_due_row due[] = {
		{ .duty = DUTY_EVICTED,
		  .state = DUE_BLOCKED,
		  .reason = "BudgetSpent",
		  .n = 3,
		  .oldest = NOW_MS - HOUR_MS / 2 },
		{ .duty = DUTY_IMAGE_PULL,
		  .state = DUE_WAITING,
		  .reason = "CannotPullImage",
		  .n = 2,
		  .oldest = NOW_MS - 5 * HOUR_MS },
		{ .duty = DUTY_TERMINATING,
		  .state = DUE_REFUSED,
		  .reason = "HasFinalizers",
		  .n = 1,
		  .oldest = NOW_MS - 3 * HOUR_MS },
	};
	const struct trouble_desc *forbidden = trouble_desc(TROUBLE_FORBIDDEN);
	const struct msg_pause pause = sample_pause();
	const struct facts none = { 0 };
	struct msg_ctl_history_row actions[5];
	struct status_page p = { .language = language,
				 .version = "1.0.0",
				 .now_ms = NOW_MS,
				 .ready = true,
				 .report_next_ms = NOW_MS + 71 * HOUR_MS,
				 .has_windows = true,
				 .window_ms = NOW_MS + 10 * HOUR_MS,
				 .done_by_hour = { 0, 2, 5, 1, 0, 0, 0, 46, 60, 12, 3, 1,
						   0, 1, 0, 0, 2, 0, 7, 9,  4,  1,  0, 2 },
				 .report_delivered_ms = NOW_MS - 97 * HOUR_MS };

	status_page_add_trouble(
		&p,
		&(struct page_trouble){
			"staging", "", forbidden->text[language].sentence, forbidden->text[language].remedy,
			said("deployments.apps \"web\" is forbidden: User \"cleaner\" cannot patch resource "
			     "\"deployments/scale\""),
			NOW_MS - 2 * HOUR_MS, false });
	status_page_add_pause(&p, &pause);
	sample_clusters(&p);
	for (size_t i = 0; i < ARRAY_SIZE(due); i++)
		status_page_add_due(&p, "prod", &due[i]);
	sample_actions(actions);
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		status_page_add_action(&p, &actions[i], i == 1 ? 37 : 1);
	status_page_add_refusal(&p, &actions[2]);
	SET(actions[0].target, "deployments.apps/shop/web");
	status_page_add_at_zero(&p, &actions[0]);
	status_page_add_sink(&p, "feishu", "feishu", 0, NOW_MS - HOUR_MS, &none);
	status_page_add_sink(&p, "oncall", "alertmanager", 2, NOW_MS - 30 * HOUR_MS,
			     said("connection refused"));
	return print_page(&p);
}

static void add_hostile_history(struct status_page *p)
{
	struct msg_ctl_history_row row = { .detail = quoting(hostile()) };

	SET(row.name, hostile());
	SET(row.reason, hostile());
	status_page_add_action(p, &row, 1);
	status_page_add_at_zero(p, &row);
	status_page_add_refusal(p, &row);
}

/* `n` rows in each table. */
static int print_rows(unsigned n)
{
	_cleanup_free_ char *version = xstrdup(hostile());
	struct status_page p = { .version = version, .now_ms = NOW_MS };

	for (unsigned i = 0; i < n; i++) {
		struct msg_due_row due = { .duty = roll(DUTY__MAX),
					   .state = roll(DUE_STATE__MAX),
					   .n = roll(9),
					   .oldest = roll(9) };
		struct msg_pause pause = { .why = quoting(hostile()) };
		const struct msg_watch_stats watch = { .synced = roll(2),
						       .leading = roll(2),
						       .pods = roll(99),
						       .blocked = roll(9),
						       .error = quoting(hostile()),
						       .blocked_by = quoting(hostile()) };

		status_page_add_trouble(&p, &(struct page_trouble){ hostile(), hostile(), hostile(),
								    hostile(), NULL, roll(9), roll(2) });
		SET(pause.by, hostile());
		status_page_add_pause(&p, &pause);
		sample_cluster(
			&p, hostile(),
			(struct msg_ctl_tally_row){ .due = roll(9), .done = roll(9), .at_zero = roll(9) },
			&watch, roll(2));
		SET(due.reason, hostile());
		status_page_add_due(&p, hostile(), &due);
		add_hostile_history(&p);
		status_page_add_sink(&p, hostile(), hostile(), roll(9), roll(9), said(hostile()));
	}
	return print_page(&p);
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
