/* explain_rows.c - see explain_rows.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/explain_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/exit.h"
#include "watcher/controller/decision.h"
#include "watcher/controller/restart_rows.h"

void explain_rows_ask(struct explain_rows *e, const struct msg_ctl_explain *m, const struct outbox *out)
{
	if (e->n < EXPLAIN_ROWS_MAX)
		e->asked[e->n++] = *m;
	else
		(void)outbox_send_ctl_end(out, m->conn, EXIT_CODE_TEMPORARY,
					  "too many questions at once; ask again");
}

/* -- which pods -- */

static bool is_workload(const struct pod_facts *p, struct str name)
{
	return str_eq(p->owner.name, name) || (p->owner.uid.n && str_eq(restart_rows_workload(p), name));
}

/* The pod of that name, else all pods of the workload of that name, as far as pods say. */
static void find_pods(struct explain_rows *e, const struct cluster_state *c)
{
	const struct msg_ctl_explain *q = &e->asked[0];
	struct store *store = c->store;
	struct str ns = STR_C(q->ns), name = STR_C(q->name);
	uint32_t h = store_find(store, ns, name);
	struct pod_facts p;

	e->begun = true;
	e->pod = e->n_pods = e->left_out = 0;
	e->row = 0;
	e->workload = !h;
	if (h)
		e->pods[e->n_pods++] = h;
	for (h = 0; e->workload && (h = store_next(store, h));) {
		if (!str_eq(store_namespace(store, h), ns))
			continue;
		store_get(store, h, &p);
		if (!is_workload(&p, name))
			continue;
		if (e->n_pods < EXPLAIN_ROWS_PODS)
			e->pods[e->n_pods++] = h;
		else
			e->left_out++;
	}
}

/* -- rows -- */

/* One pass over the rows of a pod; those that were sent before are passed over. */
struct pass {
	struct explain_rows *e;
	const struct pod_facts *pod;
	const struct outbox *out;
	int at, r;
};

static void send_ctl_explain_row(struct pass *p, struct msg *m)
{
	struct explain_rows *e = p->e;

	if (p->r < 0 || p->at++ < e->row)
		return;
	m->u.ctl_explain_row.conn = e->asked[0].conn;
	if (e->workload)
		msg_set(m, ctl_explain_row.pod, p->pod->name.p, p->pod->name.n);
	p->r = outbox_send(p->out, m);
	e->row += p->r == 0;
}

static void verdict_row(struct pass *p, const struct verdict *v)
{
	struct msg m = { .type = MSG_CTL_EXPLAIN_ROW };

	m.u.ctl_explain_row.duty = v->duty;
	m.u.ctl_explain_row.verdict = v->kind;
	m.u.ctl_explain_row.until = v->at_ms > 0 ? v->at_ms : 0;
	msg_set(&m, ctl_explain_row.reason, reason_code(v->reason), strlen(reason_code(v->reason)));
	msg_set(&m, ctl_explain_row.evidence, v->evidence, strlen(v->evidence));
	send_ctl_explain_row(p, &m);
}

static void check_row(void *ctx, const struct check_report *check)
{
	const struct verdict *decided = check->verdict && check->holds == TRI_NO ? check->verdict : NULL;
	const char *reason = reason_code(decided ? decided->reason : REASON_NOTHING_TO_DO);
	const char *fact = check->fact ? check->fact : "";
	struct msg m = { .type = MSG_CTL_EXPLAIN_ROW };
	char text[512];
	int n = snprintf(text, sizeof(text), "%s%s%s", check->name, *check->name && *fact ? ": " : "", fact);

	m.u.ctl_explain_row.duty = check->duty;
	m.u.ctl_explain_row.verdict = decided ? decided->kind : VERDICT_NONE;
	m.u.ctl_explain_row.holds = check->holds;
	msg_set(&m, ctl_explain_row.reason, reason, strlen(reason));
	msg_set(&m, ctl_explain_row.rule, check->rule, strlen(check->rule));
	msg_set(&m, ctl_explain_row.evidence, text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1);
	send_ctl_explain_row(ctx, &m);
}

static int answer_pod(struct explain_rows *e, const struct cluster_state *c, uint32_t h,
		      const struct outbox *out)
{
	struct pod_context s;
	struct pod_facts pod;
	struct decision d;
	struct pass p = { .e = e, .pod = &pod, .out = out };

	if (!store_has(c->store, h))
		return 0;
	store_get(c->store, h, &pod);
	cluster_context(c, h, &pod, &s);
	for (enum duty duty = 0; p.r == 0 && duty < DUTY__MAX; duty++) {
		decision_of_duty(c, duty, &pod, &s, NULL, NULL, &d);
		verdict_row(&p, &d.v);
		if (e->asked[0].rules)
			decision_of_duty(c, duty, &pod, &s, check_row, &p, &d);
	}
	return p.r;
}

static int answer_one(struct explain_rows *e, const struct cluster_state *c, const struct outbox *out)
{
	const struct msg_ctl_explain *q = &e->asked[0];
	const char *why = cluster_stale(c);
	char text[512] = "";

	if (!e->begun)
		find_pods(e, c);
	if (e->n_pods == 0) {
		(void)snprintf(text, sizeof(text), "no pod or workload %s/%s is in the cache%s%s", q->ns,
			       q->name, *why ? "; " : "", why);
		return outbox_send_ctl_end(out, q->conn, EXIT_CODE_FAILURE, text);
	}
	for (; e->pod < e->n_pods; e->pod++, e->row = 0) {
		int r = answer_pod(e, c, e->pods[e->pod], out);

		if (r < 0)
			return r;
	}
	if (e->left_out)
		(void)snprintf(text, sizeof(text), "%" PRIu32 " more pods of the workload are not shown",
			       e->left_out);
	return outbox_send_ctl_end(out, q->conn, EXIT_CODE_OK, text);
}

int explain_rows_step(struct explain_rows *e, const struct cluster_state *c, const struct outbox *out)
{
	while (e->n) {
		int r = answer_one(e, c, out);

		if (r < 0)
			return r;
		e->n--;
		e->begun = false;
		memmove(e->asked, e->asked + 1, e->n * sizeof(e->asked[0]));
	}
	return 0;
}
