/* ours.c - see cleaner.h. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "model/job_kinds.def"
#include "rules/cause.h"
#include "rules/correction.h"
#include "tests/day/cleaner.h"
#include "watcher/controller/controller.h"

#define KEPT_MAX         65536u
#define RUNS_MAX         100000u
#define RESTORE_CHECK_MS (5 * MINUTE)

struct ours {
	struct cleaner *c;
	struct policy policy;
	struct controller *controller;
	/* Nominations on their way to a worker, ends on their way back. */
	struct msg *nominated, *settled;
	size_t n_nominated, n_settled;
	/* What the reporter would remember: SINCE, SAVED and the acts. */
	struct msg *kept;
	size_t n_kept;
	uint8_t told_pod[PODS_MAX][REASON__MAX], told_workload[WORKLOADS][REASON__MAX];
	int64_t spoke_at, looked_at;
	struct pod_facts facts;
};

/* -- what the settings are -- */

static void set_list(struct str_list *l, const char *const *names)
{
	for (; *names; names++)
		str_list_add(l, *names, strlen(*names));
}

static void policy_set(struct policy *p, const struct thresholds *t)
{
	static const char *const star[] = { "*", NULL }, *const status[] = { "ErrImagePull",
									     "ImagePullBackOff", NULL };
	static const char *const causes[] = { "permanent", "auth", "misconfigured", NULL },
				 *const excluded[] = { "kube-system", NULL };
	static const char *const jobs[] = {
#define K(item) item,
		JOB_KIND_LIST(K)
#undef K
			NULL
	};
	static const char *const left_behind[] = { "NodeShutdown", NULL }, *const failed[] = { "Failed",
											       NULL };

	for (enum duty d = 0; d < DUTY__MAX; d++) {
		p->duty[d].enable = duty_acts(d);
		set_list(&p->duty[d].namespaces, star);
	}
	p->duty[DUTY_IMAGE_PULL].hours_ms = t->pull_ms;
	p->duty[DUTY_TERMINATING].hours_ms = t->terminating_ms;
	set_list(&p->duty[DUTY_IMAGE_PULL].status, status);
	set_list(&p->duty[DUTY_IMAGE_PULL].causes, causes);
	p->duty[DUTY_IMAGE_PULL].restore = RESTORE_WHEN_TEMPLATE_CHANGES;
	p->duty[DUTY_FINISHED].hours_ms = t->finished_ms;
	p->duty[DUTY_CRASH_LOOP].hours_ms = t->crash_loop_ms;
	p->duty[DUTY_CRASH_LOOP].counts = CRASH_COUNTS;
	set_list(&p->duty[DUTY_FINISHED].status, left_behind);
	set_list(&p->duty[DUTY_FINISHED].phases, failed);
	set_list(&p->default_exclude_namespaces, excluded);
	set_list(&p->job_kinds, jobs);
	p->breaker = (struct breaker_policy){ .workloads = 20,
					      .same_host = 10,
					      .same_node = 5,
					      .within_ms = 10 * MINUTE,
					      .release_ms = 15 * MINUTE };
}

/* -- what is said -- */

static void note_refusal(struct ours *o, const char *uid, const char *code)
{
	const struct world *w = o->c->world;
	const uint32_t pod = world_find(w, uid);
	const enum reason reason = reason_parse(code);

	if (pod == PODS_MAX || reason == REASON__MAX)
		return;
	const struct sim_pod *p = &w->pods[pod];
	const bool by_workload = p->life == LIFE_FAILING;
	uint8_t *told = by_workload ? &o->told_workload[p->workload][reason] : &o->told_pod[pod][reason];

	o->c->refused[p->situation][reason] += !*told;
	*told = 1;
}

static void keep(struct ours *o, const struct msg *m)
{
	if (o->n_kept == KEPT_MAX)
		abort();
	o->kept[o->n_kept++] = *m;
}

static void note_breaker(struct cleaner *c, const struct msg *m)
{
	if (m->type != MSG_SAVED || strcmp(m->u.saved.kind, "breaker") != 0 ||
	    c->n_breaker == ARRAY_SIZE(c->breaker))
		return;
	const struct msg_saved *last = c->n_breaker ? &c->breaker[c->n_breaker - 1].u.saved : NULL;

	if (last && (last->at == 0) == (m->u.saved.at == 0))
		return;
	c->breaker_at[c->n_breaker] = c->world->now;
	c->breaker[c->n_breaker++] = *m;
}

static int on_send(void *ctx, const struct msg *m)
{
	struct ours *o = ctx;

	if (m->type == MSG_NOMINATE) {
		o->nominated = xreallocarray(o->nominated, o->n_nominated + 1, sizeof(*m));
		o->nominated[o->n_nominated++] = *m;
	} else if (m->type == MSG_FAILING_SINCE || m->type == MSG_SAVED) {
		note_breaker(o->c, m);
		keep(o, m);
	} else if (m->type == MSG_REFUSAL) {
		note_refusal(o, m->u.refusal.uid, m->u.refusal.reason);
	}
	return 0;
}

/* -- a worker's half -- */

static bool is_refused(const struct sim_pod *p)
{
	return p->exists && p->life == LIFE_FAILING && p->message &&
	       cause_classify(STR_C(p->message)) == CAUSE_AUTH;
}

/* A namespace has one pull secret. */
static enum tri others_refused(const struct world *w, const struct sim_pod *p)
{
	const struct workload *ours = &w->workloads[p->workload];

	for (uint32_t i = 0; i < w->n_pods; i++) {
		const struct sim_pod *other = &w->pods[i];
		const struct workload *k = &w->workloads[other->workload];

		if (other->workload != p->workload && is_refused(other) && strcmp(k->ns, ours->ns) == 0 &&
		    strcmp(k->host, ours->host) == 0)
			return TRI_YES;
	}
	return TRI_NO;
}

static void look_live(const struct ours *o, const struct msg_nominate *n, const struct sim_pod *p,
		      struct pod_context *ret)
{
	const struct world *w = o->c->world;
	const struct sim_node *node = &w->nodes[p->node];

	*ret = (struct pod_context){ .stage = STAGE_LIVE,
				     .failing_since = n->since,
				     .others_pulled_at = n->others_pulled_at,
				     .others_refused = is_refused(p) ? others_refused(w, p) : TRI_NO,
				     .restarts_before = (int32_t)n->restarts_before,
				     .ready_ms = n->ready_ms,
				     .tally_known = TRI_YES,
				     .node_exists = node->exists ? TRI_YES : TRI_NO,
				     .node_ready = node->ready ? TRI_YES : TRI_NO,
				     .node_out_of_service = TRI_NO,
				     .volume_attached = TRI_NO,
				     .owner_scales = w->workloads[p->workload].kind ? TRI_NO : TRI_UNKNOWN };
	world_tally(w, p->workload, p->life, &ret->pods, &ret->failing, &ret->ready);
}

static void carry_out(struct ours *o, enum duty duty, uint32_t pod)
{
	struct world *w = o->c->world;
	const struct sim_pod *p = &w->pods[pod];
	const struct thresholds *t = o->c->thresholds;

	if (duty == DUTY_TERMINATING)
		o->c->early += w->now - p->deletion <= t->terminating_ms;
	else if (duty == DUTY_FINISHED)
		o->c->early += w->now - p->ended <= t->finished_ms;
	else if (duty == DUTY_IMAGE_PULL)
		o->c->early += w->now - w->workloads[p->workload].failing_at <= t->pull_ms;
	else if (duty == DUTY_CRASH_LOOP)
		o->c->early += w->now - w->workloads[p->workload].failing_at <= t->crash_loop_ms;
	if (duty_desc(duty)->key == KEY_WORKLOAD)
		world_scale_to_zero(w, p->workload);
	else
		world_delete(w, pod, duty == DUTY_TERMINATING);
}

static enum outcome work(struct ours *o, const struct msg_nominate *n, const char **ret_reason)
{
	struct world *w = o->c->world;
	const uint32_t pod = world_find(w, n->uid);
	const enum duty duty = (enum duty)n->duty;
	struct pod_context around;
	struct verdict v;

	*ret_reason = reason_code(REASON_POD_GONE);
	if (pod == PODS_MAX)
		return OUTCOME_GONE;
	world_facts(w, pod, &o->facts);
	look_live(o, n, &w->pods[pod], &around);
	judge_duty(duty, &o->facts, &o->policy, &around, w->now, &v);
	*ret_reason = reason_code(v.reason);
	if (v.kind != VERDICT_ACT) {
		note_refusal(o, n->uid, *ret_reason);
		return OUTCOME_REFUSED;
	}
	carry_out(o, duty, pod);
	return OUTCOME_DONE;
}

static void keep_act(struct ours *o, const struct msg_nominate *n)
{
	struct msg m = { .type = MSG_ACTION_ROW,
			 .u.action_row = { .duty = n->duty, .at = o->c->world->now } };

	msg_set(&m, action_row.ns, n->ns, strlen(n->ns));
	keep(o, &m);
}

static void work_all(struct ours *o)
{
	const size_t n = o->n_nominated;
	struct msg *todo = o->nominated;

	o->nominated = NULL;
	o->n_nominated = 0;
	for (size_t i = 0; i < n; i++) {
		struct msg m = { .type = MSG_NOMINATION_RESULT };
		const char *reason;

		msg_copy_fields(&m, &todo[i]);
		keep_act(o, &todo[i].u.nominate);
		m.u.nomination_result.outcome = work(o, &todo[i].u.nominate, &reason);
		msg_set(&m, nomination_result.reason, reason, strlen(reason));
		o->settled = xreallocarray(o->settled, o->n_settled + 1, sizeof(m));
		o->settled[o->n_settled++] = m;
	}
	free(todo);
}

/* -- life -- */

static void remember(struct ours *o, const struct msg *m)
{
	struct msg row;

	if (m->type == MSG_FAILING_SINCE) {
		row = (struct msg){ .type = MSG_FAILING_SINCE_ROW };
		msg_copy_fields(&row, m);
		if (row.u.failing_since_row.at)
			controller_on_msg(o->controller, &row);
	} else if (m->type == MSG_SAVED) {
		row = (struct msg){ .type = MSG_SAVED_ROW };
		msg_copy_fields(&row, m);
		if (row.u.saved_row.at)
			controller_on_msg(o->controller, &row);
	} else {
		controller_on_msg(o->controller, m);
	}
}

/* Of what was kept under one key only the last counts. */
static bool is_last(const struct ours *o, size_t i)
{
	const struct msg *a = &o->kept[i];

	for (size_t k = i + 1; k < o->n_kept; k++) {
		const struct msg *b = &o->kept[k];

		if (b->type != a->type)
			continue;
		if (a->type == MSG_FAILING_SINCE &&
		    strcmp(a->u.failing_since.owner, b->u.failing_since.owner) == 0 &&
		    strcmp(a->u.failing_since.revision, b->u.failing_since.revision) == 0)
			return false;
		if (a->type == MSG_SAVED && strcmp(a->u.saved.kind, b->u.saved.kind) == 0 &&
		    strcmp(a->u.saved.key, b->u.saved.key) == 0)
			return false;
	}
	return true;
}

static void start(struct ours *o)
{
	struct world *w = o->c->world;

	o->controller = controller_new(0, &o->policy, 0, &(struct outlet){ .send = on_send, .ctx = o });
	for (size_t i = 0; i < o->n_kept; i++)
		if (is_last(o, i))
			remember(o, &o->kept[i]);
	controller_on_msg(o->controller, &(struct msg){ .type = MSG_SAVED_END });
	controller_server_date(o->controller, w->now);
	controller_list(o->controller, STR_LIT(""));
	for (uint32_t i = 0; i < w->n_pods; i++)
		if (w->pods[i].exists)
			ours_event(o, i, false);
	controller_sync(o->controller, STR_LIT(""));
}

struct ours *ours_new(struct cleaner *c)
{
	struct ours *o = xcalloc(1, sizeof(*o));

	o->c = c;
	o->kept = xcalloc(KEPT_MAX, sizeof(*o->kept));
	policy_set(&o->policy, c->thresholds);
	start(o);
	return o;
}

void ours_free(struct ours **o)
{
	struct ours *old = *o;

	controller_free(&old->controller);
	for (int d = 0; d < DUTY__MAX; d++) {
		str_list_done(&old->policy.duty[d].namespaces);
		str_list_done(&old->policy.duty[d].status);
		str_list_done(&old->policy.duty[d].causes);
		str_list_done(&old->policy.duty[d].phases);
	}
	str_list_done(&old->policy.default_exclude_namespaces);
	str_list_done(&old->policy.job_kinds);
	free(old->nominated);
	free(old->settled);
	free(old->kept);
	free(old);
	*o = NULL;
}

void ours_event(struct ours *o, uint32_t pod, bool deleted)
{
	world_facts(o->c->world, pod, &o->facts);
	if (deleted)
		controller_delete(o->controller, &o->facts);
	else
		(void)controller_pod(o->controller, &o->facts);
}

/* Killed: what was on its way is lost, what was written down is not. */
void ours_restart(struct ours *o)
{
	controller_free(&o->controller);
	o->n_nominated = o->n_settled = 0;
	start(o);
}

/* What may come back once its template was corrected: the marks of a lost history bear numbers of this one.
 */
static void look_for_corrections(struct ours *o)
{
	struct world *w = o->c->world;

	for (int i = 0; i < WORKLOADS; i++) {
		const struct workload *k = &w->workloads[i];
		const struct correction_facts f = { .action = 7,
						    .replicas = k->before,
						    .marked = STR_LIT("7"),
						    .is_of_history = false,
						    .from = STR_LIT("5"),
						    .template = STR_LIT("a"),
						    .now = STR_LIT("b") };
		struct verdict v;

		if (k->situation != SIT_OLD_MARK || k->replicas > 0)
			continue;
		correction_judge(&o->policy.duty[DUTY_IMAGE_PULL], &f, &v);
		o->c->refused[SIT_OLD_MARK][v.reason] += k->writes == 0 && o->looked_at == 0;
		if (v.kind == VERDICT_ACT)
			world_put_back(w, i);
	}
	o->looked_at = w->now;
}

void ours_step(struct ours *o)
{
	const struct world *w = o->c->world;

	if (w->now >= o->spoke_at + MINUTE) { /* a bookmark a minute */
		o->spoke_at = w->now;
		controller_server_date(o->controller, w->now);
		controller_alive(o->controller);
	}
	for (size_t i = 0; i < o->n_settled; i++)
		controller_on_msg(o->controller, &o->settled[i]);
	o->n_settled = 0;
	work_all(o);
	if (w->now >= o->looked_at + RESTORE_CHECK_MS)
		look_for_corrections(o);
	for (unsigned i = 0; i < RUNS_MAX && controller_next(o->controller) <= clock_boot_ms(); i++)
		(void)controller_run(o->controller);
}
