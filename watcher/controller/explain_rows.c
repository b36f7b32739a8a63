/* explain_rows.c - see explain_rows.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/explain_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "watcher/controller/decision.h"
#include "watcher/controller/restart_rows.h"

static int send_end(const struct msg_ctl_explain *q, uint64_t code, const char *text,
		    controller_send_fn *send, void *ctx)
{
	struct msg m = { .type = MSG_CTL_END, .u.ctl_end = { .conn = q->conn, .code = code } };

	msg_set(&m, ctl_end.text, text, strlen(text));
	return send(ctx, &m);
}

void explain_ask(struct explain *e, const struct msg_ctl_explain *m, controller_send_fn *send, void *ctx)
{
	if (e->n == EXPLAIN_MAX) {
		(void)send_end(m, EXIT_CODE_TEMPORARY, "too many questions at once; ask again", send, ctx);
		return;
	}
	e->asked[e->n++] = *m;
}

/* -- which pods --------------------------------------------------------------------------------------------
 */

static bool is_workload(const struct pod_facts *p, struct str name)
{
	return str_eq(p->owner.name, name) || (p->owner.uid.n && str_eq(restart_rows_workload(p), name));
}

/* The pod of that name, else all pods of the workload of that name, as far as pods tell. */
static void find_pods(struct explain *e, struct controller *c)
{
	const struct msg_ctl_explain *q = &e->asked[0];
	struct store *store = controller_store(c);
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
		if (e->n_pods < EXPLAIN_PODS_MAX)
			e->pods[e->n_pods++] = h;
		else
			e->left_out++;
	}
}

/* -- rows --------------------------------------------------------------------------------------------------
 */

/* One pass over the rows of a pod; those that were sent before are passed over. */
struct pass {
	struct explain *e;
	const struct pod_facts *pod;
	controller_send_fn *send;
	void *ctx;
	int at, r;
};

static void row(struct pass *p, struct msg *m)
{
	struct explain *e = p->e;

	if (p->r < 0 || p->at++ < e->row)
		return;
	m->u.ctl_explain_row.conn = e->asked[0].conn;
	if (e->workload)
		msg_set(m, ctl_explain_row.pod, p->pod->name.p, p->pod->name.n);
	p->r = p->send(p->ctx, m);
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
	row(p, &m);
}

static void check_row(void *ctx, const struct check_report *told)
{
	struct pass *p = ctx;
	struct msg m = { .type = MSG_CTL_EXPLAIN_ROW };
	const char *reason = reason_code(told->verdict && told->holds == TRI_NO ? told->verdict->reason
										: REASON_NOTHING_TO_DO);
	char text[512];
	int n = snprintf(text, sizeof(text), "%s%s%s", told->name,
			 *told->name && told->fact && *told->fact ? ": " : "", told->fact ? told->fact : "");

	m.u.ctl_explain_row.duty = told->duty;
	m.u.ctl_explain_row.verdict =
		told->verdict && told->holds == TRI_NO ? told->verdict->kind : VERDICT_NONE;
	m.u.ctl_explain_row.holds = told->holds;
	msg_set(&m, ctl_explain_row.reason, reason, strlen(reason));
	msg_set(&m, ctl_explain_row.rule, told->rule, strlen(told->rule));
	msg_set(&m, ctl_explain_row.evidence, text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1);
	row(p, &m);
}

static int answer_pod(struct explain *e, struct controller *c, uint32_t h, controller_send_fn *send,
		      void *ctx)
{
	struct pod_context s;
	struct pod_facts pod;
	struct decision d;
	struct pass p = { .e = e, .pod = &pod, .send = send, .ctx = ctx };

	if (!store_has(controller_store(c), h))
		return 0;
	store_get(controller_store(c), h, &pod);
	controller_context(c, h, &pod, &s);
	for (enum duty duty = 0; p.r == 0 && duty < DUTY__MAX; duty++) {
		decision_of_duty(c, duty, &pod, &s, NULL, NULL, &d);
		verdict_row(&p, &d.v);
		if (e->asked[0].rules)
			decision_of_duty(c, duty, &pod, &s, check_row, &p, &d);
	}
	return p.r;
}

static int answer_one(struct explain *e, struct controller *c, controller_send_fn *send, void *ctx)
{
	const struct msg_ctl_explain *q = &e->asked[0];
	const char *why = sync_state_reason(controller_sync_state(c), clock_boot_ms());
	char text[512] = "";

	if (!e->begun)
		find_pods(e, c);
	if (e->n_pods == 0) {
		(void)snprintf(text, sizeof(text), "no pod or workload %s/%s is in the cache%s%s", q->ns,
			       q->name, *why ? "; " : "", why);
		return send_end(q, EXIT_CODE_FAILURE, text, send, ctx);
	}
	for (; e->pod < e->n_pods; e->pod++, e->row = 0) {
		int r = answer_pod(e, c, e->pods[e->pod], send, ctx);

		if (r < 0)
			return r;
	}
	if (e->left_out)
		(void)snprintf(text, sizeof(text), "%" PRIu32 " more pods of the workload are not shown",
			       e->left_out);
	return send_end(q, EXIT_CODE_OK, text, send, ctx);
}

int explain_answer(struct explain *e, struct controller *c, controller_send_fn *send, void *ctx)
{
	while (e->n) {
		int r = answer_one(e, c, send, ctx);

		if (r < 0)
			return r;
		e->n--;
		e->begun = false;
		memmove(e->asked, e->asked + 1, e->n * sizeof(e->asked[0]));
	}
	return 0;
}
