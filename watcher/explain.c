/* explain.c - see explain.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/explain.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"

static int send_end(const struct msg_ctl_explain *q, uint64_t code, const char *text, judging_send_fn *send,
		    void *ctx)
{
	struct msg m = { .type = MSG_CTL_END, .u.ctl_end = { .conn = q->conn, .code = code } };

	msg_set(&m, ctl_end.text, text, strlen(text));
	return send(ctx, &m);
}

void explain_ask(struct explain *e, const struct msg_ctl_explain *m, judging_send_fn *send, void *ctx)
{
	if (e->n == EXPLAIN_MAX) {
		(void)send_end(m, EXIT_CODE_TEMPORARY, "too many questions at once; ask again", send, ctx);
		return;
	}
	e->asked[e->n++] = *m;
}

static int send_row(const struct msg_ctl_explain *q, struct judging *j, uint32_t h, enum duty d,
		    judging_send_fn *send, void *ctx)
{
	struct msg m = { .type = MSG_CTL_EXPLAIN_ROW };
	struct pod_facts p;
	struct surroundings s;
	struct verdict v;
	uint32_t container;

	store_get(judging_store(j), h, &p);
	judging_surroundings(j, h, &p, &s);
	if (d == DUTY_RESTARTS)
		judge_restarts(&p, judging_policy(j), judging_now(j), &v, &container);
	else
		judge_duty(d, &p, judging_policy(j), &s, judging_now(j), &v);
	m.u.ctl_explain_row.conn = q->conn;
	m.u.ctl_explain_row.duty = d;
	m.u.ctl_explain_row.verdict = v.kind;
	m.u.ctl_explain_row.until = v.at_ms > 0 ? v.at_ms : 0;
	msg_set(&m, ctl_explain_row.reason, reason_code(v.reason), strlen(reason_code(v.reason)));
	msg_set(&m, ctl_explain_row.evidence, v.evidence, strlen(v.evidence));
	return send(ctx, &m);
}

static int answer_one(struct explain *e, struct judging *j, judging_send_fn *send, void *ctx)
{
	const struct msg_ctl_explain *q = &e->asked[0];
	uint32_t h = store_find(judging_store(j), STR_C(q->ns), STR_C(q->name));
	const char *why = gate_reason(judging_gate(j), clock_boot_ms());
	char text[512];
	int r = 0;

	if (!h) {
		(void)snprintf(text, sizeof(text), "pod %s/%s is not in the cache%s%s", q->ns, q->name,
			       *why ? "; " : "", why);
		return send_end(q, EXIT_CODE_FAILURE, text, send, ctx);
	}
	for (; r == 0 && e->row < DUTY__MAX; e->row += r == 0)
		r = send_row(q, j, h, (enum duty)e->row, send, ctx);
	return r < 0 ? r : send_end(q, EXIT_CODE_OK, "", send, ctx);
}

int explain_answer(struct explain *e, struct judging *j, judging_send_fn *send, void *ctx)
{
	while (e->n) {
		int r = answer_one(e, j, send, ctx);

		if (r < 0)
			return r;
		e->n--;
		e->row = 0;
		memmove(e->asked, e->asked + 1, e->n * sizeof(e->asked[0]));
	}
	return 0;
}
