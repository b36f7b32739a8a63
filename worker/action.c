/* action.c - the machine that runs the steps; see action.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/action.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "config/windows.h"
#include "kube/path.h"
#include "kube/refusal.h"
#include "rules/select.h"
#include "worker/steps/step.h"

#define RETRY_MAX_MS 3600000

static const struct step_desc steps[] = {
#define STEP(ID, text, flag_set, projection, ask_fn, take_fn)                                                \
	[STEP_##ID] = { text, flag_set, projection, ask_fn, take_fn },
#include "worker/steps/steps.def"
#undef STEP
};

struct action *action_new(const struct action_env *env, const struct policy *policy,
			  const struct msg_grant *grant)
{
	struct action *e = xmalloc(sizeof(*e));

	/* What follows are the pod's containers and labels: half of an action, and each counted. */
	memset(e, 0, offsetof(struct action, pod.containers));
	e->env = *env;
	e->policy = policy;
	e->grant = *grant;
	e->result.type = MSG_RESULT;
	e->result.u.result.id = grant->id;
	e->result.u.result.replicas = -1;
	return e;
}

/* Forget what was read, before it is read again. */
static void action_reset(struct action *e)
{
	json_decref(e->pod_json);
	json_decref(e->scale_json);
	e->pod_json = e->scale_json = NULL;
	for (size_t i = 0; i < e->n_owners; i++)
		json_decref(e->owners[i].json);
	e->n_owners = 0;
	str_list_done(&e->attached);
	e->attached = (struct str_list){ 0 };
	e->volume = 0;
	e->claim_seen = false;
	free(e->page);
	e->page = NULL;
	free(e->event_text);
	free(e->selector);
	e->event_text = e->selector = NULL;
	e->suspends = false;
	memset(e->event_at, 0, sizeof(e->event_at));
	e->around = (struct pod_context){ 0 };
	e->newest[0] = '\0';
	e->newest_number = 0;
	e->newest_created = 0;
	e->result.u.result.evidence[0] = '\0';
	e->revision_serves = e->pod_seen = false;
}

void action_set_trial(struct action *e)
{
	e->trial = true;
}

void action_free(struct action **e)
{
	if (!*e)
		return;
	if ((*e)->request)
		(*e)->env.cancel((*e)->env.ctx, (*e)->request);
	action_reset(*e);
	free(*e);
	*e = NULL;
}

void action_set_policy(struct action *e, const struct policy *policy)
{
	e->policy = policy;
}

/* -- ends --------------------------------------------------------------------------------------------------
 */

enum step step_finish(struct action *e, enum outcome outcome, enum reason reason, const char *fmt, ...)
{
	struct msg *m = &e->result;
	const char *code = reason_code(reason);
	char detail[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(detail, sizeof(detail), fmt, ap);
	va_end(ap);
	m->u.result.outcome = outcome;
	msg_set(m, result.reason, code, strlen(code));
	msg_set(m, result.detail, detail, strlen(detail));
	return STEP_END;
}

void step_prove(struct action *e, const char *fmt, ...)
{
	struct msg *m = &e->result;
	char fact[300], proof[sizeof(m->u.result.evidence) + sizeof(fact) + 2];
	int n;
	va_list ap;

	if (e->in_doubt) /* the proof of the write stands */
		return;
	va_start(ap, fmt);
	(void)vsnprintf(fact, sizeof(fact), fmt, ap);
	va_end(ap);
	n = snprintf(proof, sizeof(proof), "%s%s%s", m->u.result.evidence,
		     m->u.result.evidence[0] ? "; " : "", fact);
	msg_set(m, result.evidence, proof, (size_t)n);
}

bool step_may_be_ours(const struct action *e)
{
	return (e->grant.verify_first || e->in_doubt) && !e->grant.observe;
}

enum step step_gone(struct action *e, enum reason reason, const char *detail)
{
	if (step_may_be_ours(e))
		return step_finish(e, OUTCOME_UNCONFIRMED, REASON_PROBABLY_DONE, "%s%s%s",
				   reason_code(reason), *detail ? ": " : "", detail);
	return step_finish(e, OUTCOME_GONE, reason, "%s", detail);
}

enum step step_refuse(struct action *e, const struct verdict *v)
{
	const int64_t wait = v->at_ms > 0 ? v->at_ms - step_now(e) : 0;

	if (v->reason == REASON_GRACE_ALREADY_ZERO || v->reason == REASON_BEING_DELETED)
		return step_gone(e, v->reason, v->evidence);
	if (v->kind == VERDICT_WAIT && wait > 0)
		e->result.u.result.retry_ms = wait < RETRY_MAX_MS ? (uint64_t)wait : RETRY_MAX_MS;
	return step_finish(e, OUTCOME_REFUSED, v->reason, "%s", v->evidence);
}

int64_t step_now(const struct action *e)
{
	return server_clock_now(e->env.clock, clock_wall_ms(), clock_boot_ms());
}

/* The host's and the server's time differ so much that nobody knows how long anything has lasted. */
static bool is_clock_uncertain(struct action *e)
{
	const int64_t ahead = server_clock_excess(e->env.clock, clock_wall_ms(), clock_boot_ms());

	if (ahead > 0)
		(void)step_finish(e, OUTCOME_REFUSED, REASON_CLOCK_UNCERTAIN,
				  "the API server is %lld s ahead of this host", (long long)(ahead / 1000));
	return ahead > 0;
}

bool step_judged(struct action *e, enum judge_stage stage)
{
	if (is_clock_uncertain(e))
		return false;
	e->around.stage = stage;
	judge_duty((enum duty)e->grant.duty, &e->pod, e->policy, &e->around, step_now(e), &e->verdict);
	if (e->verdict.kind != VERDICT_ACT)
		(void)step_refuse(e, &e->verdict);
	return e->verdict.kind == VERDICT_ACT;
}

enum step step_judge_live(struct action *e)
{
	return step_judged(e, STAGE_LIVE) ? step_act(e) : STEP_END;
}

enum step step_first(struct action *e)
{
	/* Whoever nominated it chose both: nothing is written that was judged by the rules of another duty.
	 */
	if (!duty_may((enum duty)e->grant.duty, (enum action_kind)e->grant.action))
		return step_finish(e, OUTCOME_REFUSED, REASON_INCOMPLETE_FACTS, "%s does not do that",
				   duty_name((enum duty)e->grant.duty));
	return e->grant.action == ACTION_RESTORE ? step_restore(e) : STEP_POD;
}

enum step step_again(struct action *e, enum outcome outcome, enum reason reason, const char *detail)
{
	if (++e->round >= ACTION_ROUNDS)
		return step_finish(e, outcome, reason, "%s", detail);
	action_reset(e);
	return step_first(e);
}

/* -- lists -------------------------------------------------------------------------------------------------
 */

bool step_next_page(struct action *e, const json_t *list)
{
	struct str token = READ_TEXT(list, "metadata", "continue");

	free(e->page);
	e->page = str_empty(token) ? NULL : xstrndup(token.p, token.n);
	return e->page != NULL;
}

char *step_list_query(const struct action *e, struct str selector)
{
	_cleanup_free_ char *text = xstrndup(selector.p, selector.n);
	_cleanup_free_ char *s = path_escape(text);
	_cleanup_free_ char *c = path_escape(e->page ? e->page : "");

	return xasprintf(PAGE "%s%s%s%s", *s ? "&labelSelector=" : "", s, *c ? "&continue=" : "", c);
}

/* -- trouble -----------------------------------------------------------------------------------------------
 */

static void set_retry(struct action *e, int64_t ms)
{
	if (ms > 0)
		e->result.u.result.retry_ms = ms < RETRY_MAX_MS ? (uint64_t)ms : RETRY_MAX_MS;
}

/* The write may have been carried out. Say so for the case that nothing more can be learnt, and look. */
static enum step look_again(struct action *e)
{
	static const struct {
		enum step written, look;
	} rows[] = { { STEP_DELETE, STEP_POD },
		     { STEP_PATCH, STEP_SCALE },
		     { STEP_SUSPEND, STEP_SUSPENDED } };

	if (e->grant.observe)
		return STEP_END;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].written == e->step) {
			e->in_doubt = true;
			return rows[i].look;
		}
	return STEP_END; /* an announcement: it shows on the object when it is judged the next time */
}

static enum step on_failure(struct action *e, const struct step_desc *d, const struct http_result *r)
{
	const enum reason reason = r->failure == HTTP_TOO_LARGE ? REASON_BAD_ANSWER : REASON_NETWORK_ERROR;

	(void)step_finish(e, OUTCOME_FAILED, reason, "%s: %s", d->what, r->error);
	return (d->flags & STEP_WRITES) && r->failure != HTTP_CONNECT && r->sent ? look_again(e) : STEP_END;
}

static enum step on_status(struct action *e, const struct step_desc *d, long status,
			   const struct http_result *r)
{
	struct refusal s;
	enum reason reason = REASON_SERVER_REJECTED;
	enum outcome outcome = OUTCOME_FAILED;
	char detail[400];

	refusal_parse(status, r->body, r->body_len, &s);
	(void)snprintf(detail, sizeof(detail), "%s: %ld %s", d->what, status, s.message);
	if (status == 409 && (d->flags & STEP_WRITES))
		return step_again(e, OUTCOME_CONFLICT, REASON_PRECONDITION_FAILED, detail);
	if (status == 410) /* a continue token that is too old */
		return step_again(e, OUTCOME_FAILED, REASON_SERVER_ERROR, detail);
	if (status == 401 || status == 403) {
		reason = status == 401 ? REASON_UNAUTHORIZED : REASON_FORBIDDEN;
		outcome = OUTCOME_FORBIDDEN;
	} else if (status == 429 || status >= 500) {
		reason = status == 429 ? REASON_THROTTLED : REASON_SERVER_ERROR;
		set_retry(e, r->retry_after_ms > 0 ? r->retry_after_ms : s.retry_after_s * 1000);
	}
	if (status == 401)
		e->env.credential(e->env.ctx);
	(void)step_finish(e, outcome, reason, "%s", detail);
	/* 503 is said before anything is done; the others may come from a server that gave up waiting. */
	return (d->flags & STEP_WRITES) && status >= 500 && status != 503 ? look_again(e) : STEP_END;
}

static bool is_taken(const struct step_desc *d, long status)
{
	return (status >= 200 && status <= 299) || (status == 404 && (d->flags & STEP_TAKES_404)) ||
	       (status == 403 && (d->flags & STEP_TAKES_403));
}

/* A success whose body is not what it should be: a write may have been carried out all the same. */
static enum step on_garbage(struct action *e, const struct step_desc *d, const char *why)
{
	(void)step_finish(e, OUTCOME_FAILED, REASON_BAD_ANSWER, "%s: %s", d->what, why);
	return d->flags & STEP_WRITES ? look_again(e) : STEP_END;
}

static void cleanup_json(json_t **j)
{
	json_decref(*j);
}

static enum step receive(struct action *e, const struct http_result *r)
{
	const struct step_desc *d = &steps[e->step];
	_cleanup_(cleanup_json) json_t *json = NULL;
	const bool ok = r->failure == HTTP_OK && r->status >= 200 && r->status <= 299;
	long status = r->status;
	json_error_t error;

	if (d->flags & STEP_WRITES)
		e->result.u.result.http =
			r->failure == HTTP_OK && status > 0 && status <= 999 ? (uint64_t)status : 0;
	if (ok) {
		json = json_project_loadb(r->body ? r->body : "", r->body_len, d->projection, &error);
		/* Refusals have been seen inside a 201. */
		if (read_failure(json))
			status = read_failure(json);
	}
	if (e->in_doubt && !(ok && json && status == r->status) && !(r->failure == HTTP_OK && status == 404))
		return STEP_END; /* nothing learnt: what was said of the write stands */
	if (r->failure != HTTP_OK)
		return on_failure(e, d, r);
	if (!is_taken(d, status))
		return on_status(e, d, status, r);
	if (ok && status == r->status && !json_is_object(json))
		return on_garbage(e, d, error.text);
	const struct answer a = { .status = status,
				  .json = ok && status == r->status ? json : NULL,
				  .body = r->body,
				  .body_len = r->body_len };

	return d->take(e, &a);
}

/* -- going on ----------------------------------------------------------------------------------------------
 */

static void on_headers(void *ctx, long status, const char *content_type, int64_t server_date_ms)
{
	struct action *e = ctx;

	(void)content_type;
	/* An error page may come from something else than the API server. */
	if (status >= 200 && status <= 299 && server_date_ms > 0)
		(void)server_clock_note(e->env.clock, server_date_ms, clock_boot_ms());
}

static void on_done(void *ctx, const struct http_result *r);

/* It waited since it was nominated, and its window may have closed meanwhile. A person who puts replicas
 * back, or asks what would be done, is not bound by windows. */
static bool is_outside(const struct action *e)
{
	const struct duty_policy *dp = &policy_of(e->policy, &e->pod)[e->grant.duty];
	int64_t at;

	return e->env.windows && !e->trial && e->grant.action != ACTION_RESTORE &&
	       !windows_are_open(e->env.windows, &dp->windows, step_now(e), &at);
}

/* May this step begin now? The same step, another one, or the end. Looking after a write in doubt always may.
 */
static enum step check_time(struct action *e, enum step step)
{
	const uint64_t now = clock_boot_ms();

	if (e->in_doubt)
		return step;
	if (now > e->grant.valid_until)
		return step_finish(e, OUTCOME_FAILED, REASON_GRANT_EXPIRED,
				   "before %s: the grant was valid until %llu ms ago", steps[step].what,
				   (unsigned long long)(now - e->grant.valid_until));
	if ((steps[step].flags & STEP_WRITES) && e->policy->mode == MODE_OBSERVE && !e->grant.observe &&
	    !e->trial)
		return step_finish(e, OUTCOME_FAILED, REASON_GRANT_EXPIRED, "granted before mode: observe");
	if ((steps[step].flags & STEP_WRITES) && is_outside(e))
		return step_finish(e, OUTCOME_REFUSED, REASON_OUTSIDE_WINDOW,
				   "the window closed before the write");
	if ((steps[step].flags & STEP_WRITES) && now - e->fresh_from > ACTION_FRESH_MS)
		return step_again(e, OUTCOME_FAILED, REASON_GRANT_EXPIRED,
				  "reading took too long, three times in a row");
	return step;
}

/* What is about to be sent, or would have been. */
static void note_request(struct action *e, const struct ask *ask)
{
	struct msg *m = &e->result;
	_cleanup_free_ char *text =
		xconcat(ask->method, " ", ask->path, ask->body ? " " : "", ask->body ? ask->body : "", NULL);

	msg_set(m, result.request, text, strlen(text));
}

static enum step end_trial(struct action *e, struct ask *ask)
{
	free(ask->path);
	free(ask->body);
	return step_finish(e, OUTCOME_WOULD, e->verdict.reason, "%s", e->verdict.evidence);
}

static enum step send(struct action *e, enum step step)
{
	const struct step_desc *d = &steps[step];
	struct ask ask = { .method = "GET" };
	struct http_call call = {
		.total_timeout_ms = ACTION_TIMEOUT_MS, .on_headers = on_headers, .on_done = on_done, .ctx = e
	};

	e->step = step;
	e->asked_at = clock_boot_ms();
	d->ask(e, &ask);
	if (!ask.path) {
		free(ask.body);
		return step_finish(e, OUTCOME_REFUSED, REASON_INCOMPLETE_FACTS,
				   "%s: a name is not fit for a path", d->what);
	}
	if (d->flags & STEP_WRITES)
		note_request(e, &ask);
	if ((d->flags & STEP_WRITES) && e->trial)
		return end_trial(e, &ask);
	call.method = ask.method;
	call.path = ask.path;
	call.content_type = ask.content_type;
	call.accept = ask.accept;
	call.body = ask.body;
	call.body_len = ask.body ? strlen(ask.body) : 0;
	e->request = e->env.start(e->env.ctx, &call);
	free(ask.path);
	free(ask.body);
	return STEP_SENT;
}

static bool needs_grant(const struct action *e, enum step step)
{
	return e->ahead && (step == STEP_END || (steps[step].flags & STEP_WRITES));
}

/* The last call may free the action. */
static void advance(struct action *e, enum step step)
{
	enum step checked;

	while (step != STEP_END && step != STEP_SENT && !needs_grant(e, step)) {
		checked = check_time(e, step);
		step = checked == step ? send(e, step) : checked;
	}
	if (step == STEP_SENT)
		return;
	if (e->ahead) {
		e->waits = true;
		e->next = step;
		return;
	}
	e->result.u.result.at = clock_wall_ms();
	e->env.done(e->env.ctx, &e->result);
}

static void on_done(void *ctx, const struct http_result *r)
{
	struct action *e = ctx;

	e->request = NULL;
	advance(e, receive(e, r));
}

void action_start(struct action *e)
{
	advance(e, step_first(e));
}

void action_start_ahead(struct action *e)
{
	e->ahead = true;
	e->grant.valid_until = UINT64_MAX;
	action_start(e);
}

/* A write asks for fresh reads by itself. An end is read and judged again when it was reached long ago, and
 * when an earlier holder died: what was found may be its effect. */
static enum step next_when_granted(struct action *e)
{
	const bool fresh = clock_boot_ms() - e->asked_at <= ACTION_FRESH_MS;

	if (e->next != STEP_END || (fresh && !e->grant.verify_first))
		return e->next;
	e->round = 0;
	e->result.u.result.retry_ms = 0;
	action_reset(e);
	return step_first(e);
}

void action_granted(struct action *e, const struct msg_grant *grant)
{
	e->ahead = false;
	e->grant = *grant;
	if (e->waits)
		advance(e, next_when_granted(e));
}
