/* plan_rows.c - see plan_rows.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/instance/plan_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "cli/instance/instance_status.h"
#include "cli/view/json.h"
#include "cli/view/output.h"
#include "model/duties.h"
#include "model/reasons.h"
#include "model/troubles.h"

#define HTTP_FORBIDDEN 403
/* A worker that takes longer than 30 s is killed, and says so. */
#define DRY_RUN_MS UINT64_C(120000)
#define ASK_MS     UINT64_C(60000)
/* Questions to workers under way at once: enough that no worker waits for this program. */
#define WINDOW 64u
/* How far back a refusal is still news, and how many are looked through. */
#define REFUSED_MS   INT64_C(86400000)
#define REFUSALS_MAX 10000u
#define HISTORY_MS   UINT64_C(30000)

/* -- rows, and what only others know of them -- */

void dry_run_rows_done(struct dry_run_rows *l)
{
	free(l->v);
	rows_done(&l->refusals);
	*l = (struct dry_run_rows){ 0 };
}

void dry_run_rows_add(struct dry_run_rows *l, const struct msg_ctl_plan_row *row)
{
	l->v = xreallocarray(l->v, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = (struct dry_run_row){ .row = *row };
}

/* Would be written now, if at all but for an operator's pause: a worker is asked. */
static bool is_due(const struct dry_run_row *r)
{
	return r->row.verdict == VERDICT_ACT ||
	       (r->row.verdict == VERDICT_WAIT && strcmp(r->row.reason, "Paused") == 0);
}

bool dry_run_was_declined(const struct dry_run_row *r)
{
	return r->dry_run.id && r->dry_run.outcome != OUTCOME_WOULD;
}

/* The first of that key, which is the newest, or NULL. */
static const struct msg_ctl_history_row *newest(const struct dry_run_rows *l, const char *key)
{
	const struct msg_ctl_history_row *v = l->refusals.ctl_history_row.v;
	const size_t n = l->refusals.ctl_history_row.n;
	size_t from = 0, to = n;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;

		if (strcmp(v[middle].action_key, key) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from < n && strcmp(v[from].action_key, key) == 0 ? &v[from] : NULL;
}

void dry_run_rows_find_refusals(struct dry_run_rows *l, struct ctl *c, const char *ns)
{
	struct msg ask = { .type = MSG_CTL_HISTORY,
			   .u.ctl_history = { .since = clock_wall_ago(REFUSED_MS),
					      .limit = REFUSALS_MAX,
					      .duty = DUTY_ALL,
					      .outcomes = UINT64_C(1) << OUTCOME_REFUSED |
							  UINT64_C(1) << OUTCOME_FORBIDDEN } };

	if (l->n == 0)
		return;
	if (ns)
		msg_set(&ask, ctl_history.ns, ns, strlen(ns));
	(void)ctl_request(c, &ask, HISTORY_MS, rows_take, &l->refusals);
	rows_sort_history(&l->refusals);
	for (size_t i = 0; i < l->n; i++)
		l->v[i].refused = newest(l, l->v[i].row.action_key);
}

static void progress(size_t done, size_t all)
{
	if (all > 1 && isatty(STDERR_FILENO))
		(void)fputc('\r', stderr), (void)fprintf(stderr, TEXT(LIVE_ASKING), done, all),
			(void)fputs(done == all ? "\n" : "", stderr);
}

static int take_answer(struct dry_run_rows *l, struct ctl *c, uint64_t timeout_ms)
{
	struct msg m;

	for (;;) {
		const int code = ctl_recv(c, timeout_ms, &m);

		if (code != EXIT_CODE_OK)
			return code;
		if (m.type == MSG_CTL_END && m.u.ctl_end.code != EXIT_CODE_OK) {
			output_complain_facts(&m.u.ctl_end.why);
			return (int)m.u.ctl_end.code;
		}
		if (m.type != MSG_CTL_DRY_RUN_RESULT || m.u.ctl_dry_run_result.id == 0 ||
		    m.u.ctl_dry_run_result.id > l->n)
			continue;
		l->v[m.u.ctl_dry_run_result.id - 1].dry_run = m.u.ctl_dry_run_result;
		return EXIT_CODE_OK;
	}
}

static int send_question(const struct dry_run_rows *l, struct ctl *c, size_t i)
{
	const struct msg row = { .type = MSG_CTL_PLAN_ROW, .u.ctl_plan_row = l->v[i].row };
	struct msg m = { .type = MSG_CTL_DRY_RUN };

	msg_copy_fields(&m, &row);
	m.u.ctl_dry_run.conn = 0;
	m.u.ctl_dry_run.id = i + 1;
	return ctl_send(c, &m);
}

int dry_run_rows_ask_workers(struct dry_run_rows *l, struct ctl *c, uint64_t timeout_ms)
{
	size_t all = 0, asked = 0, done = 0, next = 0;
	int code = EXIT_CODE_OK;

	for (size_t i = 0; i < l->n; i++)
		all += is_due(&l->v[i]);
	while (code == EXIT_CODE_OK && done < all) {
		if (asked == all || asked - done == WINDOW) {
			code = take_answer(l, c, timeout_ms);
			progress(++done, all);
			continue;
		}
		while (!is_due(&l->v[next]))
			next++;
		code = send_question(l, c, next++);
		asked++;
	}
	return code;
}

char *dry_run_refusal_text(const struct dry_run_row *r, const struct table_view *view)
{
	char when[RFC3339_MAX];

	if (!r || !r->refused)
		return xstrdup("");
	output_time(view, r->refused->result_at, when);
	return xasprintf(TEXT(LIVE_REFUSED), when, r->refused->reason);
}

void dry_run_set_json(json_t *to, const struct dry_run_row *r)
{
	json_object_set_new(to, "live",
			    r && r->dry_run.id ? json_of(MSG_CTL_DRY_RUN_RESULT, &r->dry_run) : json_null());
	json_object_set_new(to, "lastRefusal",
			    r && r->refused ? json_explain_reason(json_of(MSG_CTL_HISTORY_ROW, r->refused))
					    : json_null());
}

static void print_remedy(const char *reason, const struct table_view *view, bool printed[static REASON__MAX])
{
	const enum reason r = reason_parse(reason);

	if (r >= REASON__MAX || printed[r] || !output_remedy(reason, language_of_environment())[0])
		return;
	printed[r] = true;
	table_text(stdout, view, "%s%s%s", reason, TEXT(COLON),
		   output_remedy(reason, language_of_environment()));
}

void dry_run_rows_print_remedies(const struct dry_run_rows *l, const struct table_view *view)
{
	bool printed[REASON__MAX] = { false };

	for (size_t i = 0; i < l->n; i++) {
		if (dry_run_was_declined(&l->v[i]))
			print_remedy(l->v[i].dry_run.reason, view, printed);
		if (l->v[i].refused)
			print_remedy(l->v[i].refused->reason, view, printed);
	}
}

/* -- when a row would be done -- */

static enum plan_when dry_run_when(const struct msg_ctl_dry_run_result *t)
{
	static const enum plan_when table[OUTCOME__MAX] = {
		[OUTCOME_DONE] = PLAN_UNCLEAR,        [OUTCOME_GONE] = PLAN_GONE,
		[OUTCOME_REFUSED] = PLAN_REFUSED,     [OUTCOME_CONFLICT] = PLAN_UNCLEAR,
		[OUTCOME_FORBIDDEN] = PLAN_REFUSED,   [OUTCOME_FAILED] = PLAN_UNCLEAR,
		[OUTCOME_UNCONFIRMED] = PLAN_UNCLEAR, [OUTCOME_ANNOUNCED] = PLAN_LATER,
		[OUTCOME_WOULD] = PLAN_NOW,           [OUTCOME_MARKED] = PLAN_UNCLEAR,
	};

	return table[t->outcome];
}

enum plan_when plan_when(const struct dry_run_row *r)
{
	if (dry_run_was_declined(r))
		return dry_run_when(&r->dry_run);
	if (r->row.verdict == VERDICT_ACT && r->dry_run.id && r->stopped)
		return PLAN_BLOCKED;
	if (r->row.verdict == VERDICT_ACT)
		return r->dry_run.id ? PLAN_NOW : PLAN_UNCLEAR;
	const enum reason_class class = reason_find(r->row.reason)->class;

	if (r->row.verdict == VERDICT_REFUSE || class == CLASS_REFUSAL)
		return PLAN_REFUSED;
	return class == CLASS_BLOCKED ? PLAN_BLOCKED : PLAN_LATER;
}

/* Order for people: what is done first comes first. */
static int compare_rows(const void *a, const void *b)
{
	const struct dry_run_row *x = a, *y = b;
	const int w = (int)plan_when(x) - (int)plan_when(y);

	if (w != 0)
		return w;
	if (x->row.until != y->row.until)
		return x->row.until < y->row.until ? -1 : 1;
	if (x->row.cluster != y->row.cluster)
		return x->row.cluster < y->row.cluster ? -1 : 1;
	const int ns = strcmp(x->row.ns, y->row.ns);

	return ns ? ns : strcmp(x->row.name, y->row.name);
}

bool plan_any_due(const struct plan *p)
{
	for (size_t i = 0; i < p->rows.n; i++) {
		const enum plan_when w = plan_when(&p->rows.v[i]);

		if (w == PLAN_NOW || w == PLAN_BLOCKED)
			return true;
	}
	return false;
}

/* Said as soon as it is known: of a namespace that was asked for by its name. */
static void note_namespace(const struct plan *p, const struct msg_ctl_plan_seen *seen)
{
	if (p->ns && seen->pods == 0)
		output_complain(NULL,
				seen->other_pods == 0 ? TEXT(PLAN_NS_EMPTY)
				: seen->excluded      ? TEXT(PLAN_NS_EXCLUDED)
						      : TEXT(PLAN_NS_UNNAMED),
				p->clusters[seen->cluster].name, p->ns);
}

/* -- the clusters -- */

bool plan_is_stopped_by(enum trouble t)
{
	static const bool stop_writes[TROUBLE__MAX] = {
		[TROUBLE_HISTORY] = true,
		[TROUBLE_LEASE] = true,
		[TROUBLE_WRITE_LIMIT] = true,
	};

	return stop_writes[t];
}

static void add_stop(struct plan *p, const struct msg_trouble_row *t)
{
	if (plan_is_stopped_by((enum trouble)t->trouble) && p->n_stops < ARRAY_SIZE(p->stops))
		p->stops[p->n_stops++] = *t;
}

/* The first that holds in the cluster; NULL: none does. */
static const struct msg_trouble_row *stop_in(const struct plan *p, const struct plan_cluster *c)
{
	for (size_t i = 0; i < p->n_stops; i++)
		if (!p->stops[i].cluster_name[0] || strcmp(p->stops[i].cluster_name, c->name) == 0)
			return &p->stops[i];
	return NULL;
}

static int ask_status(struct ctl *c, struct plan *p)
{
	struct rows status = { 0 };
	const int code = instance_status_request(c, &p->o->clusters, &status);

	p->n_stops = 0;
	p->observe = supervisor_status(&status)->observe;
	p->duties = supervisor_status(&status)->duties;
	for (size_t i = 0; i < status.ctl_cluster.n; i++) {
		const struct cluster_status s = cluster_status_of(&status, i);
		struct plan_cluster *to = &p->clusters[s.at->cluster];

		memcpy(to->name, s.at->cluster_name, sizeof(to->name));
		to->leads = cluster_status_leads(&s);
		if (s.watch->synced && s.watch->failing)
			to->unread = s.watch->error;
		to->forbidden = s.watch->failing && s.watch->http == HTTP_FORBIDDEN;
		p->n_clusters = s.at->cluster + 1; /* in their order */
	}
	for (size_t i = 0; i < status.trouble_row.n; i++)
		add_stop(p, &status.trouble_row.v[i]);
	rows_done(&status);
	return code;
}

/* -- the watchers -- */

/* One answer more: a namespace more, or all. */
static void add_seen(struct plan_cluster *c, const struct msg_ctl_plan_seen *seen)
{
	c->has_seen = true;
	c->seen.pods += seen->pods;
	c->seen.namespaces += seen->namespaces;
	c->seen.other_pods += seen->other_pods;
	c->seen.other_namespaces += seen->other_namespaces;
	memcpy(c->seen.others, seen->others, sizeof(c->seen.others));
}

static void on_plan_row(void *ctx, const struct msg *m)
{
	struct plan *p = ctx;

	if (m->type == MSG_CTL_PLAN_SEEN && m->u.ctl_plan_seen.cluster < p->n_clusters) {
		note_namespace(p, &m->u.ctl_plan_seen);
		add_seen(&p->clusters[m->u.ctl_plan_seen.cluster], &m->u.ctl_plan_seen);
	}
	if (m->type == MSG_CTL_PLAN_ROW && m->u.ctl_plan_row.cluster < p->n_clusters)
		dry_run_rows_add(&p->rows, &m->u.ctl_plan_row);
}

/* The namespaces that were named, one after the other, or all. */
static int ask_watcher(struct ctl *c, const char *cluster, struct plan *p)
{
	const struct option_names *names = &p->o->namespaces;
	int code = EXIT_CODE_OK;

	for (size_t i = 0; code == EXIT_CODE_OK && i < (names->n ? names->n : 1); i++) {
		struct msg ask = { .type = MSG_CTL_PLAN, .u.ctl_plan = { .duty = p->o->duty } };

		p->ns = names->n ? names->v[i] : NULL;
		if (p->ns)
			msg_set(&ask, ctl_plan.ns, p->ns, strlen(p->ns));
		msg_set(&ask, ctl_plan.cluster_name, cluster, strlen(cluster));
		code = ctl_request(c, &ask, ASK_MS, on_plan_row, p);
	}
	return code;
}

/* One that does not answer says why on stderr, and keeps no other from being asked. The code of the first. */
static int ask_watchers(struct ctl *c, struct plan *p)
{
	int first = EXIT_CODE_OK;

	for (uint64_t i = 0; i < p->n_clusters; i++) {
		struct plan_cluster *at = &p->clusters[i];

		if (!*at->name || at->left_out)
			continue;
		const int code = ask_watcher(c, at->name, p);

		at->left_out = code != EXIT_CODE_OK;
		at->has_seen = at->has_seen && !at->left_out; /* how much comes before the refusal */
		p->answered += code == EXIT_CODE_OK;
		if (at->left_out && p->n_clusters > 1)
			output_complain(NULL, TEXT(PLAN_LEFT_OUT), at->name);
		first = first != EXIT_CODE_OK ? first : code;
	}
	return first;
}

/* -- the command -- */

static int ask_all(struct ctl *c, struct plan *p)
{
	const char *ns = p->o->namespaces.n == 1 ? p->o->namespaces.v[0] : "";
	int code = ask_status(c, p);

	if (code == EXIT_CODE_OK)
		code = ask_watchers(c, p);
	if (p->answered == 0)
		return code;
	/* Of what a watcher cannot read it may have heard after the first question and before its answer. */
	if (code == EXIT_CODE_OK)
		code = ask_status(c, p);
	dry_run_rows_find_refusals(&p->rows, c, ns);
	const int asked = dry_run_rows_ask_workers(&p->rows, c, DRY_RUN_MS);

	for (size_t i = 0; i < p->rows.n; i++)
		p->rows.v[i].stopped = stop_in(p, &p->clusters[p->rows.v[i].row.cluster]);
	p->answered = asked == EXIT_CODE_OK ? p->answered : 0;
	return code != EXIT_CODE_OK ? code : asked;
}

bool plan_leaves_out(const struct plan *p)
{
	for (uint64_t i = 0; i < p->n_clusters; i++)
		if (*p->clusters[i].name && p->clusters[i].left_out)
			return true;
	return false;
}

bool plan_is_forbidden(const struct plan *p)
{
	for (uint64_t i = 0; i < p->n_clusters; i++)
		if (p->clusters[i].has_seen && p->clusters[i].forbidden)
			return true;
	return false;
}

struct plan *plan_new(const struct options *o, const char *socket, const struct wait_lost *lost,
		      int *ret_code)
{
	struct plan *p = xcalloc(1, sizeof(*p));
	struct ctl *ctl = NULL;

	p->o = o;
	p->taken_ms = clock_wall_ms();
	for (size_t i = 0; lost && i < CLUSTERS_MAX; i++)
		p->clusters[i].left_out = lost->is[i];
	*ret_code = ctl_open(socket, &ctl);
	if (*ret_code == EXIT_CODE_OK)
		*ret_code = ask_all(ctl, p);
	ctl_close(&ctl);
	if (*ret_code == EXIT_CODE_OK && lost && plan_leaves_out(p))
		*ret_code = lost->code;
	if (p->rows.n > 0)
		qsort(p->rows.v, p->rows.n, sizeof(p->rows.v[0]), compare_rows);
	return p;
}

void plan_free(struct plan **p)
{
	dry_run_rows_done(&(*p)->rows);
	free(*p);
	*p = NULL;
}

/* -- of several replicas -- */

static uint64_t find_cluster(struct plan *p, const char *name)
{
	uint64_t i = 0;

	while (i < p->n_clusters && strcmp(p->clusters[i].name, name) != 0)
		i++;
	if (i == p->n_clusters && i < CLUSTERS_MAX)
		p->clusters[p->n_clusters++].left_out = true;
	return i;
}

static void drop_rows(struct plan *p, uint64_t cluster)
{
	size_t n = 0;

	for (size_t i = 0; i < p->rows.n; i++)
		if (p->rows.v[i].row.cluster != cluster)
			p->rows.v[n++] = p->rows.v[i];
	p->rows.n = n;
}

static void join_cluster(struct plan *p, uint64_t cluster, const struct plan *more, uint64_t of)
{
	drop_rows(p, cluster);
	p->clusters[cluster] = more->clusters[of];
	for (size_t i = 0; i < more->rows.n; i++)
		if (more->rows.v[i].row.cluster == of) {
			dry_run_rows_add(&p->rows, &more->rows.v[i].row);
			p->rows.v[p->rows.n - 1] = more->rows.v[i];
			p->rows.v[p->rows.n - 1].row.cluster = cluster;
		}
}

void plan_join(struct plan *p, const struct plan *more)
{
	for (uint64_t i = 0; i < more->n_clusters; i++) {
		const struct plan_cluster *c = &more->clusters[i];
		const uint64_t cluster = *c->name && !c->left_out ? find_cluster(p, c->name) : CLUSTERS_MAX;

		if (cluster < CLUSTERS_MAX &&
		    (p->clusters[cluster].left_out || (c->leads && !p->clusters[cluster].leads)))
			join_cluster(p, cluster, more, i);
	}
	for (size_t i = 0; i < more->n_stops; i++)
		add_stop(p, &more->stops[i]);
	p->answered += more->answered;
	p->duties |= more->duties;
	p->observe |= more->observe;
	if (p->rows.n > 0)
		qsort(p->rows.v, p->rows.n, sizeof(p->rows.v[0]), compare_rows);
}
