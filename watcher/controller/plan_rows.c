/* plan_rows.c - see plan_rows.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/plan_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "watcher/controller/decision.h"
#include "watcher/cache/intern.h"

#define PODS_PER_STEP 512u

static void end_oldest(struct plan *p)
{
	free(p->pods);
	p->pods = NULL;
	p->n_pods = p->next = 0;
	budget_free(&p->budget);
	intern_free(&p->told);
}

void plan_done(struct plan *p)
{
	end_oldest(p);
	p->n = 0;
}

static int send_end(uint64_t conn, uint64_t code, const char *text, controller_send_fn *send, void *ctx)
{
	struct msg m = { .type = MSG_CTL_END, .u.ctl_end = { .conn = conn, .code = code } };

	msg_set(&m, ctl_end.text, text, strlen(text));
	return send(ctx, &m);
}

void plan_ask(struct plan *p, const struct msg_ctl_plan *m, controller_send_fn *send, void *ctx)
{
	if (p->n == PLAN_MAX) {
		(void)send_end(m->conn, EXIT_CODE_TEMPORARY, "too many questions at once; ask again", send,
			       ctx);
		return;
	}
	p->asked[p->n++] = *m;
}

static void begin(struct plan *p, struct controller *c)
{
	p->n_pods = controller_order(c, &p->pods);
	p->next = 0;
	p->budget = guards_budget_clone(controller_guards(c));
	p->told = intern_new();
}

static bool is_asked_for(const struct msg_ctl_plan *q, const struct decision *d)
{
	if (q->duty >= 0 && (int64_t)d->v.duty != q->duty)
		return false;
	return d->v.kind == VERDICT_ACT || d->v.kind == VERDICT_REFUSE || d->blocked ||
	       (d->v.kind == VERDICT_WAIT && d->v.at_ms > 0);
}

/* Was a row of this subject with this verdict sent? */
static bool was_told(struct plan *p, const struct msg *row, bool note)
{
	char key[80];
	size_t n = strlen(row->u.ctl_plan_row.action_key);

	memcpy(key, row->u.ctl_plan_row.action_key, n);
	key[n] = (char)('0' + row->u.ctl_plan_row.verdict);
	key[n + 1] = (char)('0' + row->u.ctl_plan_row.duty);
	struct str s = { key, n + 2 };

	if (note)
		(void)intern_ref(p->told, s);
	return intern_find(p->told, s) != 0;
}

/* One pod: 0, or what send said. */
static int look(struct plan *p, struct controller *c, uint32_t h, controller_send_fn *send, void *ctx)
{
	const struct msg_ctl_plan *q = &p->asked[0];
	struct store *store = controller_store(c);
	struct msg m = { .type = MSG_CTL_PLAN_ROW }, object = { .type = MSG_NOMINATE };
	struct pod_context s;
	struct pod_facts pod;
	struct decision d;
	struct clock_snapshot now;
	uint64_t at;
	int r;

	if (!store_has(store, h) ||
	    !sync_state_namespace(controller_sync_state(c), store_namespace(store, h), &at) ||
	    (*q->ns && !str_is(store_namespace(store, h), q->ns)))
		return 0;
	store_get(store, h, &pod);
	controller_context(c, h, &pod, &s);
	decision_make(c, &pod, &s, p->budget, &d);
	if (!is_asked_for(q, &d))
		return 0;
	decision_fill(c, &pod, &s, &d, &object);
	msg_copy_fields(&m, &object);
	m.u.ctl_plan_row.conn = q->conn;
	m.u.ctl_plan_row.verdict = d.v.kind;
	m.u.ctl_plan_row.until = d.v.at_ms > 0 ? d.v.at_ms : 0;
	if (was_told(p, &m, false))
		return 0;
	r = send(ctx, &m);
	if (r < 0)
		return r;
	(void)was_told(p, &m, true);
	controller_clocks(c, &now);
	if (d.v.kind == VERDICT_ACT && d.due)
		guards_charge(controller_guards(c), p->budget, &d.ask, &now);
	return 0;
}

static int end(const struct plan *p, const struct controller *c, controller_send_fn *send, void *ctx)
{
	const char *why = sync_state_reason(controller_sync_state(c), clock_boot_ms());

	return send_end(p->asked[0].conn, *why ? EXIT_CODE_TEMPORARY : EXIT_CODE_OK, why, send, ctx);
}

int plan_step(struct plan *p, struct controller *c, controller_send_fn *send, void *ctx)
{
	int r;

	if (p->n == 0)
		return 0;
	if (!p->pods)
		begin(p, c);
	for (uint32_t i = 0; i < PODS_PER_STEP && p->next < p->n_pods; i++) {
		r = look(p, c, p->pods[p->next], send, ctx);
		if (r < 0)
			return r;
		p->next++;
	}
	if (p->next < p->n_pods)
		return 0;
	r = end(p, c, send, ctx);
	if (r < 0)
		return r;
	end_oldest(p);
	p->n--;
	memmove(p->asked, p->asked + 1, p->n * sizeof(p->asked[0]));
	return 0;
}
