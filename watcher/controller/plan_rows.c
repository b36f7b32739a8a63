/* plan_rows.c - see plan_rows.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/plan_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "watcher/cache/intern.h"

#define PODS_PER_STEP 512u

static void end_oldest(struct plan_rows *p)
{
	free(p->pods);
	p->pods = NULL;
	p->n_pods = p->next = 0;
	budget_free(&p->budget);
	intern_free(&p->sent);
}

void plan_rows_done(struct plan_rows *p)
{
	end_oldest(p);
	p->n = 0;
}

void plan_rows_ask(struct plan_rows *p, const struct msg_ctl_plan *m, const struct outbox *out)
{
	if (p->n < PLAN_ROWS_MAX)
		p->asked[p->n++] = *m;
	else
		(void)outbox_send_ctl_end(out, m->conn, EXIT_CODE_TEMPORARY,
					  "too many questions at once; ask again");
}

static bool is_asked_for(const struct msg_ctl_plan *q, const struct decision *d)
{
	if (q->duty >= 0 && (int64_t)d->v.duty != q->duty)
		return false;
	return d->v.kind == VERDICT_ACT || d->v.kind == VERDICT_REFUSE || d->blocked ||
	       (d->v.kind == VERDICT_WAIT && d->v.at_ms > 0);
}

/* What a row is sent once for: the action key with duty and verdict. */
static struct str key_of_row(const struct msg_ctl_plan_row *row, char buf[static 80])
{
	size_t n = strlen(row->action_key);

	memcpy(buf, row->action_key, n);
	buf[n] = (char)('0' + row->verdict);
	buf[n + 1] = (char)('0' + row->duty);
	return (struct str){ buf, n + 2 };
}

/* As if it were done now. */
static void spend(const struct plan_rows *p, const struct cluster_state *c, const struct due *due)
{
	const struct spend s = admission_spend(c->admission, due);

	budget_load(p->budget, &s, 1, (int64_t)clock_boot_ms());
}

/* The row of one pod, when there is one: 0, or what the outbox said. */
static int send_ctl_plan_row(struct plan_rows *p, const struct cluster_state *c, uint32_t h,
			     const struct outbox *out)
{
	const struct msg_ctl_plan *q = &p->asked[0];
	struct msg m = { .type = MSG_CTL_PLAN_ROW }, object = { .type = MSG_NOMINATE };
	struct pod_context s;
	struct pod_facts pod;
	struct decision d;
	struct str key;
	char buf[80];
	int r;

	if (!cluster_has(c, h) || (*q->ns && !str_is(store_namespace(c->store, h), q->ns)))
		return 0;
	store_get(c->store, h, &pod);
	cluster_context(c, h, &pod, &s);
	decision_make(c, &pod, &s, p->budget, &d);
	if (!is_asked_for(q, &d))
		return 0;
	decision_fill(c, &pod, &s, &d, &object);
	msg_copy_fields(&m, &object);
	m.u.ctl_plan_row.conn = q->conn;
	m.u.ctl_plan_row.verdict = d.v.kind;
	m.u.ctl_plan_row.until = d.v.at_ms > 0 ? d.v.at_ms : 0;
	key = key_of_row(&m.u.ctl_plan_row, buf);
	if (intern_find(p->sent, key))
		return 0;
	r = outbox_send(out, &m);
	if (r < 0)
		return r;
	(void)intern_ref(p->sent, key);
	if (d.v.kind == VERDICT_ACT && d.due)
		spend(p, c, &d.ask);
	return 0;
}

int plan_rows_step(struct plan_rows *p, const struct controller *c, const struct outbox *out)
{
	const struct cluster_state *cluster = controller_cluster(c);
	const char *stale;
	int r = 0;

	if (p->n == 0)
		return 0;
	if (!p->pods) {
		p->n_pods = controller_order(c, &p->pods);
		p->budget = admission_budget_clone(cluster->admission);
		p->sent = intern_new();
	}
	for (uint32_t i = 0; i < PODS_PER_STEP && p->next < p->n_pods; i++, p->next++) {
		r = send_ctl_plan_row(p, cluster, p->pods[p->next], out);
		if (r < 0)
			return r;
	}
	if (p->next < p->n_pods)
		return 0;
	stale = cluster_stale(cluster);
	r = outbox_send_ctl_end(out, p->asked[0].conn, *stale ? EXIT_CODE_TEMPORARY : EXIT_CODE_OK, stale);
	if (r < 0)
		return r;
	end_oldest(p);
	p->n--;
	memmove(p->asked, p->asked + 1, p->n * sizeof(p->asked[0]));
	return 0;
}
