/* questions.c - see questions.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/questions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "rules/select.h"
#include "watcher/cache/intern.h"
#include "watcher/controller/decision.h"

#define PODS_PER_STEP 512u
#define EXPLAIN_PODS  64u /* of a workload, shown in one answer */

enum kind { EXPLAIN, PLAN, DIGEST, KIND__MAX };

/* Of one kind, oldest first; and how far the answer to the oldest has come. */
struct series {
	struct msg asked[QUESTIONS_EXPLAIN_MAX];
	size_t n;
	uint32_t *pods; /* that the answer is about; NULL = not begun */
	uint32_t n_pods, next;
};

struct questions {
	const struct controller *controller;
	const struct cluster_state *cluster;
	const struct outlet *out;
	struct series open[KIND__MAX];
	/* of the oldest explanation: was a workload asked for, how many of its pods are not shown, how many
	 * rows of the next pod were sent */
	bool workload;
	uint32_t left_out;
	int row;
	/* of the oldest plan */
	struct budget *budget;
	struct intern *sent; /* keys of its rows */
	bool told_seen;
};

struct questions *questions_new(const struct controller *c, const struct outlet *out)
{
	struct questions *q = xcalloc(1, sizeof(*q));

	q->controller = c;
	q->cluster = controller_cluster(c);
	q->out = out;
	return q;
}

static void end_oldest(struct questions *q, enum kind k)
{
	struct series *s = &q->open[k];

	free(s->pods);
	s->pods = NULL;
	if (s->n)
		memmove(s->asked, s->asked + 1, --s->n * sizeof(s->asked[0]));
	if (k == PLAN) {
		budget_free(&q->budget);
		intern_free(&q->sent);
		q->told_seen = false;
	}
}

void questions_free(struct questions **q)
{
	if (!*q)
		return;
	for (enum kind k = 0; k < KIND__MAX; k++)
		end_oldest(*q, k);
	free(*q);
	*q = NULL;
}

/* The answer is complete; why: it failed, NULL: it did not. */
static int send_ctl_end(const struct questions *q, const struct msg *asked, uint64_t code,
			const struct facts *why)
{
	struct msg m = { .type = MSG_CTL_END };

	msg_copy_fields(&m, asked);
	m.u.ctl_end.code = code;
	if (why)
		facts_set(&m.u.ctl_end.why, why);
	return outlet_send(q->out, &m);
}

/* Name of the workload as far as the pod says: a ReplicaSet's without the revision that ends it, the pod's
 * own without a controller. For display only. */
static struct str workload_name(const struct pod_facts *p)
{
	struct str name = p->owner.name, end = p->revision;

	if (str_empty(name))
		return p->name;
	if (str_is(p->owner.kind, "ReplicaSet") && end.n && name.n > end.n + 1 &&
	    name.p[name.n - end.n - 1] == '-' && memcmp(name.p + name.n - end.n, end.p, end.n) == 0)
		name.n -= end.n + 1;
	return name;
}

/* -- what a plan holds -- */

static bool is_planned(const struct decision *d)
{
	return d->v.kind == VERDICT_ACT || d->v.kind == VERDICT_REFUSE || d->blocked ||
	       (d->v.kind == VERDICT_WAIT && d->v.at_ms > 0);
}

static void make_plan_row(const struct questions *q, uint64_t conn, const struct pod_facts *p,
			  const struct pod_context *s, const struct decision *d, struct msg *ret)
{
	struct msg object = { .type = MSG_NOMINATE };

	*ret = (struct msg){ .type = MSG_CTL_PLAN_ROW };
	decision_fill(q->cluster, p, s, d, &object);
	msg_copy_fields(ret, &object);
	ret->u.ctl_plan_row.conn = conn;
	ret->u.ctl_plan_row.verdict = d->v.kind;
	ret->u.ctl_plan_row.until = d->v.at_ms > 0 ? d->v.at_ms : 0;
}

/* -- explain -- */

/* In any case, also in the plural. */
static bool is_kind(const char *said, struct str kind)
{
	const size_t n = strlen(said);
	const bool is_plural = n == kind.n + 1 && (said[n - 1] == 's' || said[n - 1] == 'S');

	return kind.n && (n == kind.n || is_plural) && strncasecmp(said, kind.p, kind.n) == 0;
}

/* kind "": any. A ReplicaSet that ends in its revision is of a Deployment or a Rollout, as far as the pod
 * says. */
static bool is_workload(const struct pod_facts *p, struct str name, const char *kind)
{
	const struct str made_by = workload_name(p);

	if (str_eq(p->owner.name, name))
		return !*kind || is_kind(kind, p->owner.kind);
	return p->owner.uid.n && made_by.n < p->owner.name.n && str_eq(made_by, name) &&
	       (!*kind || is_kind(kind, STR_C("Deployment")) || is_kind(kind, STR_C("Rollout")));
}

/* The pod of that name, else all pods of the workload of that name and kind, as far as pods say. */
static uint32_t explain_pods(struct questions *q, const struct msg *asked, uint32_t **ret)
{
	struct store *store = q->cluster->store;
	struct str ns = STR_C(asked->u.ctl_explain.ns), name = STR_C(asked->u.ctl_explain.name);
	const char *kind = asked->u.ctl_explain.kind;
	uint32_t h = !*kind || is_kind(kind, STR_C("Pod")) ? store_find(store, ns, name) : 0, n = 0;
	struct pod_facts p;

	*ret = xcalloc(EXPLAIN_PODS, sizeof(**ret));
	q->left_out = 0;
	q->row = 0;
	q->workload = !h;
	if (h)
		(*ret)[n++] = h;
	for (h = 0; q->workload && (h = store_next(store, h));) {
		if (!str_eq(store_namespace(store, h), ns))
			continue;
		store_get(store, h, &p);
		if (!is_workload(&p, name, kind))
			continue;
		if (n < EXPLAIN_PODS)
			(*ret)[n++] = h;
		else
			q->left_out++;
	}
	return n;
}

/* One pass over the rows of a pod; those that were sent before are passed over. */
struct pass {
	struct questions *q;
	const struct msg *asked;
	const struct pod_facts *pod;
	int at, r;
};

static void send_row(struct pass *p, const struct msg *m)
{
	if (p->r < 0 || p->at++ < p->q->row)
		return;
	p->r = outlet_send(p->q->out, m);
	p->q->row += p->r == 0;
}

static void send_ctl_explain_row(struct pass *p, struct msg *m, enum reason reason,
				 const struct facts *evidence)
{
	m->u.ctl_explain_row.conn = p->asked->u.ctl_explain.conn;
	if (p->q->workload)
		msg_set(m, ctl_explain_row.pod, p->pod->name.p, p->pod->name.n);
	msg_text(m, ctl_explain_row.reason, reason_code(reason));
	facts_set(&m->u.ctl_explain_row.evidence, evidence);
	send_row(p, m);
}

static void verdict_row(struct pass *p, const struct verdict *v)
{
	struct msg m = { .type = MSG_CTL_EXPLAIN_ROW,
			 .u.ctl_explain_row = { .duty = v->duty,
						.verdict = v->kind,
						.until = v->at_ms > 0 ? v->at_ms : 0 } };

	send_ctl_explain_row(p, &m, v->reason, &v->evidence);
}

static void check_row(void *ctx, const struct check_report *check)
{
	struct msg m = { .type = MSG_CTL_EXPLAIN_ROW,
			 .u.ctl_explain_row = {
				 .duty = check->duty, .verdict = check->kind, .holds = check->holds } };

	msg_text(&m, ctl_explain_row.rule, check->rule);
	msg_text(&m, ctl_explain_row.question,
		 check->question < TEXT__MAX ? text_code(check->question) : NULL);
	send_ctl_explain_row(ctx, &m, check->reason, check->found);
}

static int explain_pod(struct questions *q, const struct msg *asked, uint32_t h)
{
	struct pod_context s;
	struct pod_facts pod;
	struct decision d;
	struct pass p = { .q = q, .asked = asked, .pod = &pod };
	struct msg m;

	if (!store_has(q->cluster->store, h))
		return 0;
	store_get(q->cluster->store, h, &pod);
	cluster_context(q->cluster, h, &pod, &s);
	for (enum duty duty = 0; p.r == 0 && duty < DUTY__MAX; duty++) {
		decision_of_duty(q->cluster, duty, &pod, &s, NULL, NULL, &d);
		verdict_row(&p, &d.v);
		if (duty_acts(duty) && is_planned(&d)) { /* a worker may be asked about it */
			make_plan_row(q, asked->u.ctl_explain.conn, &pod, &s, &d, &m);
			send_row(&p, &m);
		}
		if (asked->u.ctl_explain.rules)
			decision_of_duty(q->cluster, duty, &pod, &s, check_row, &p, &d);
	}
	if (p.r == 0)
		q->row = 0;
	return p.r;
}

static int explain_end(struct questions *q, const struct msg *asked)
{
	const enum text stale = cluster_stale(q->cluster);
	const struct msg_ctl_explain *e = &asked->u.ctl_explain;
	_cleanup_free_ char *object = xasprintf("%s%s%s/%s", e->kind, *e->kind ? "/" : "", e->ns, e->name);
	struct facts why = { 0 };

	if (q->open[EXPLAIN].n_pods == 0) {
		facts_finding(&why, TEXT_NOT_CACHED);
		facts_name(&why, FACT_OBJECT, STR_C(object));
		if (stale < TEXT__MAX)
			facts_finding(&why, stale);
	} else if (q->left_out) {
		facts_finding(&why, TEXT_PODS_LEFT_OUT);
		facts_count(&why, FACT_LEFT_OUT, q->left_out);
	}
	return send_ctl_end(q, asked, q->open[EXPLAIN].n_pods ? EXIT_CODE_OK : EXIT_CODE_FAILURE, &why);
}

/* -- plan -- */

/* What a row is sent once for: the action key with duty and verdict. */
static struct str key_of_row(const struct msg_ctl_plan_row *row, char buf[static 80])
{
	size_t n = strlen(row->action_key);

	memcpy(buf, row->action_key, n);
	buf[n] = (char)('0' + row->verdict);
	buf[n + 1] = (char)('0' + row->duty);
	return (struct str){ buf, n + 2 };
}

static int plan_pod(struct questions *q, const struct msg *asked, uint32_t h)
{
	const struct msg_ctl_plan *plan = &asked->u.ctl_plan;
	const struct cluster_state *c = q->cluster;
	struct msg m;
	struct pod_context s;
	struct pod_facts pod;
	struct decision d;
	struct str key;
	char buf[80];
	int r;

	if (!cluster_has(c, h) || (*plan->ns && !str_is(store_namespace(c->store, h), plan->ns)))
		return 0;
	if (!q->budget) {
		q->budget = admission_budget_clone(c->admission);
		q->sent = intern_new();
	}
	store_get(c->store, h, &pod);
	cluster_context(c, h, &pod, &s);
	decision_make(c, &pod, &s, q->budget, &d);
	if (!is_planned(&d) || (plan->duty >= 0 && (int64_t)d.v.duty != plan->duty))
		return 0;
	make_plan_row(q, plan->conn, &pod, &s, &d, &m);
	key = key_of_row(&m.u.ctl_plan_row, buf);
	if (intern_find(q->sent, key))
		return 0;
	r = outlet_send(q->out, &m);
	if (r < 0)
		return r;
	(void)intern_ref(q->sent, key);
	if (d.v.kind == VERDICT_ACT && d.due && !d.ask.finishes) { /* as if it were done now */
		const struct spend spend = admission_spend(c->admission, &d.ask);

		budget_load(q->budget, &spend, 1, (int64_t)clock_boot_ms());
	}
	return 0;
}

/* Does a duty that acts work in the pod's namespace? */
static bool is_worked_in(const struct policy *policy, const struct pod_facts *p, bool *ret_excluded)
{
	enum reason why;

	*ret_excluded = false;
	for (enum duty d = 0; d < DUTY__MAX; d++) {
		if (!duty_acts(d) || !policy_enables(policy, d))
			continue;
		if (select_namespace(policy, d, p, &why))
			return true;
		*ret_excluded |= why == REASON_NAMESPACE_EXCLUDED;
	}
	return false;
}

static void name_other(struct msg_ctl_plan_seen *seen, struct str ns, bool excluded)
{
	const size_t n = strlen(seen->others);

	seen->excluded |= seen->other_namespaces++ == 0 && excluded;
	if (n + ns.n + 3 < sizeof(seen->others))
		(void)snprintf(seen->others + n, sizeof(seen->others) - n, "%s%.*s", n ? ", " : "",
			       STR_ARG(ns));
}

/* How much of the cluster the plan was about. */
static void count_seen(const struct cluster_state *c, const char *ns, struct msg_ctl_plan_seen *seen)
{
	struct intern *worked = intern_new(), *others = intern_new();
	struct pod_facts p;
	bool excluded;

	for (uint32_t h = 0; (h = store_next(c->store, h));) {
		if (!cluster_has(c, h) || (*ns && !str_is(store_namespace(c->store, h), ns)))
			continue;
		store_get(c->store, h, &p);
		if (is_worked_in(c->policy, &p, &excluded)) {
			seen->pods++;
			seen->namespaces += !intern_find(worked, p.ns);
			(void)intern_ref(worked, p.ns);
			continue;
		}
		seen->other_pods++;
		if (!intern_find(others, p.ns))
			name_other(seen, p.ns, excluded);
		(void)intern_ref(others, p.ns);
	}
	intern_free(&worked);
	intern_free(&others);
}

static int send_seen(const struct questions *q, const struct msg *asked)
{
	struct msg m = { .type = MSG_CTL_PLAN_SEEN,
			 .u.ctl_plan_seen = { .conn = asked->u.ctl_plan.conn,
					      .cluster = q->cluster->number } };

	count_seen(q->cluster, asked->u.ctl_plan.ns, &m.u.ctl_plan_seen);
	return outlet_send(q->out, &m);
}

static int plan_end(struct questions *q, const struct msg *asked)
{
	const enum text stale = cluster_stale(q->cluster);
	const int r = q->told_seen ? 0 : send_seen(q, asked);

	if (r < 0)
		return r;
	q->told_seen = true; /* an outlet without room for the end is asked again */
	const struct facts why = stale < TEXT__MAX ? facts_of(stale) : (struct facts){ 0 };

	return send_ctl_end(q, asked, stale < TEXT__MAX ? EXIT_CODE_TEMPORARY : EXIT_CODE_OK, &why);
}

/* -- digest -- */

/* The state that is reported, as rules/restarts.c names it. */
static struct str state_of(const struct container_facts *c)
{
	if (c->state != CONTAINER_RUNNING && c->reason.n)
		return c->reason;
	return c->last_reason.n ? c->last_reason : STR_LIT("Error");
}

/* When it ended last, Unix ms; 0 = nothing tells. */
static int64_t ended_at(const struct container_facts *c)
{
	const bool ended = c->state == CONTAINER_TERMINATED && c->finished_at > 0;

	return ended ? c->finished_at : c->last_finished_at > 0 ? c->last_finished_at : 0;
}

static void fill_row(const struct pod_facts *p, const struct container_facts *c, struct msg *m)
{
	struct str workload = workload_name(p), state = state_of(c);
	struct str kind = p->owner.kind.n ? p->owner.kind : STR_LIT("Pod");
	struct str container = c->name.n ? c->name : STR_LIT("-");
	bool ended = c->state == CONTAINER_TERMINATED;
	struct str last = ended ? c->reason : c->last_reason;

	m->u.digest_row.restarts = (uint64_t)(c->restarts > 0 ? c->restarts : 0);
	m->u.digest_row.exit_code = ended ? c->exit_code : c->last_exit_code;
	m->u.digest_row.created = p->created > 0 ? p->created : 0;
	m->u.digest_row.ended_at = ended_at(c);
	msg_set(m, digest_row.uid, p->uid.p, p->uid.n);
	msg_set(m, digest_row.node, p->node.p, p->node.n);
	msg_set(m, digest_row.last_reason, last.p, last.n);
	msg_set(m, digest_row.ns, p->ns.p, p->ns.n);
	msg_set(m, digest_row.kind, kind.p, kind.n);
	msg_set(m, digest_row.workload, workload.p, workload.n);
	msg_set(m, digest_row.pod, p->name.p, p->name.n);
	msg_set(m, digest_row.container, container.p, container.n);
	msg_set(m, digest_row.reason, state.p, state.n);
}

/* What people do not want to hear of is not counted either. */
static bool is_silent(const struct verdict *v)
{
	return v->reason == REASON_NAMESPACE_EXCLUDED || v->reason == REASON_IGNORE_ANNOTATION ||
	       v->reason == REASON_SKIP_ANNOTATION;
}

static bool is_asked_for(const struct pod_facts *p, const struct container_facts *c,
			 const struct msg_digest_get *asked)
{
	return c->kind != CONTAINER_EPHEMERAL && c->restarts > 0 && !pod_asks_restart(p, c) &&
	       (asked->since == 0 || ended_at(c) >= asked->since);
}

/* Every container that restarted. When the outbox is full all of the pod is sent again. */
static int digest_all(struct questions *q, const struct msg_digest_get *asked, const struct pod_facts *p,
		      const struct verdict *v)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < p->n_containers && !is_silent(v); i++) {
		struct msg m = { .type = MSG_DIGEST_ROW,
				 .u.digest_row = { .cluster = q->cluster->number, .digest = asked->digest } };

		if (!is_asked_for(p, &p->containers[i], asked))
			continue;
		fill_row(p, &p->containers[i], &m);
		r = outlet_send(q->out, &m);
	}
	return r;
}

static int digest_pod(struct questions *q, const struct msg *asked, uint32_t h)
{
	const struct cluster_state *c = q->cluster;
	const struct pod_context context = { .stage = STAGE_CACHE };
	struct pod_facts p;
	struct verdict v;
	struct msg m = { .type = MSG_DIGEST_ROW,
			 .u.digest_row = { .cluster = c->number, .digest = asked->u.digest_get.digest } };

	if (!cluster_has(c, h))
		return 0;
	store_get(c->store, h, &p);
	judge_duty(DUTY_RESTARTS, &p, c->policy, &context, cluster_clocks(c).server, &v);
	if (asked->u.digest_get.all)
		return digest_all(q, &asked->u.digest_get, &p, &v);
	if (v.kind != VERDICT_ACT)
		return 0;
	fill_row(&p, &p.containers[v.container], &m);
	return outlet_send(q->out, &m);
}

static int digest_end(struct questions *q, const struct msg *asked)
{
	const struct series *s = &q->open[DIGEST];
	const bool whole = asked == &s->asked[0] && s->pods && s->next == s->n_pods;
	const struct msg m = { .type = MSG_DIGEST_END,
			       .u.digest_end = { .cluster = q->cluster->number,
						 .digest = asked->u.digest_get.digest,
						 .synced = whole && cluster_in_step(q->cluster) } };

	return outlet_send(q->out, &m);
}

/* A question takes the place of the one of its kind that is open: a report's, or one for all. */
static void replace_digest(struct questions *q, const struct msg_digest_get *by)
{
	struct series *s = &q->open[DIGEST];

	for (size_t i = 0; i < s->n; i++) {
		const struct msg_digest_get *open = &s->asked[i].u.digest_get;

		if (open->all != by->all)
			continue;
		if (open->digest != by->digest)
			(void)digest_end(q, &(struct msg){ .type = MSG_DIGEST_GET, .u.digest_get = *open });
		if (i == 0)
			end_oldest(q, DIGEST);
		else
			memmove(&s->asked[i], &s->asked[i + 1], (--s->n - i) * sizeof(s->asked[0]));
		return;
	}
}

/* -- every kind -- */

static const struct {
	enum msg_type type;
	size_t max; /* open at once */
	/* The pods that the answer is about, as controller_order() (NULL). */
	uint32_t (*pods)(struct questions *q, const struct msg *asked, uint32_t **ret);
	/* The rows of one pod; the end of the answer. 0, or what the outlet said. */
	int (*pod)(struct questions *q, const struct msg *asked, uint32_t h);
	int (*end)(struct questions *q, const struct msg *asked);
} kinds[KIND__MAX] = {
	[EXPLAIN] = { MSG_CTL_EXPLAIN, QUESTIONS_EXPLAIN_MAX, explain_pods, explain_pod, explain_end },
	[PLAN] = { MSG_CTL_PLAN, QUESTIONS_PLAN_MAX, NULL, plan_pod, plan_end },
	[DIGEST] = { MSG_DIGEST_GET, 2, NULL, digest_pod, digest_end },
};

static void ask(struct questions *q, enum kind k, const struct msg *m)
{
	const struct facts many = facts_of(TEXT_MANY_QUESTIONS);
	struct series *s = &q->open[k];

	if (k == DIGEST)
		replace_digest(q, &m->u.digest_get);
	if (s->n < kinds[k].max)
		s->asked[s->n++] = *m;
	else
		(void)send_ctl_end(q, m, EXIT_CODE_TEMPORARY, &many);
}

bool questions_on_msg(struct questions *q, const struct msg *m)
{
	for (enum kind k = 0; k < KIND__MAX; k++)
		if (kinds[k].type == m->type) {
			ask(q, k, m);
			return true;
		}
	return false;
}

bool questions_open(const struct questions *q)
{
	return q->open[EXPLAIN].n || q->open[PLAN].n || q->open[DIGEST].n;
}

static int answer(struct questions *q, enum kind k)
{
	struct series *s = &q->open[k];
	const struct msg *asked = &s->asked[0];
	int r = 0;

	if (!s->pods) {
		s->n_pods = kinds[k].pods ? kinds[k].pods(q, asked, &s->pods)
					  : controller_order(q->controller, &s->pods);
		s->next = 0;
	}
	for (uint32_t i = 0; i < PODS_PER_STEP && s->next < s->n_pods; i++, s->next++) {
		r = kinds[k].pod(q, asked, s->pods[s->next]);
		if (r < 0)
			return r;
	}
	if (s->next < s->n_pods)
		return 0;
	r = kinds[k].end(q, asked);
	if (r == 0)
		end_oldest(q, k);
	return r;
}

int questions_step(struct questions *q)
{
	int r = 0;

	for (enum kind k = 0; r == 0 && k < KIND__MAX; k++)
		if (q->open[k].n)
			r = answer(q, k);
	return r;
}
