/* action.c - the machine that walks down the steps; see action.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/action.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "config/window.h"
#include "text/texts.h"
#include "worker/access.h"
#include "worker/action_end.h"

#define DOUBT_RETRY_MS 5000 /* until a pod is judged again whose deletion may have been carried out */

struct action *action_new(const struct action_env *env, const struct policy *policy,
			  const struct msg_grant *grant)
{
	struct action *a = xmalloc(sizeof(*a));

	/* What follows are the pod's containers and labels: half of an action, and each counted. */
	memset(a, 0, offsetof(struct action, pod.containers));
	a->env = *env;
	a->policy = policy;
	a->grant = *grant;
	a->write = STEP_NONE;
	a->result.type = MSG_RESULT;
	a->result.u.result.id = grant->id;
	a->result.u.result.replicas = -1;
	return a;
}

void action_set_dry_run(struct action *a)
{
	a->dry_run = true;
}

void action_free(struct action **a)
{
	if (!*a)
		return;
	http_request_cancel(&(*a)->request);
	action_forget(*a);
	free((*a)->written);
	free((*a)->log);
	free(*a);
	*a = NULL;
}

void action_set_policy(struct action *a, const struct policy *policy)
{
	a->policy = policy;
	a->found.outdated = true;
}

/* -- the table of steps -- */

enum {
	WRITES = STEP_WRITES,
	MAY_FAIL = STEP_MAY_FAIL,
	AFTERWARDS = STEP_AFTERWARDS,
	OTHER_WAY = STEP_OTHER_WAY,
	OF_KIND = STEP_OF_KIND,
	TEXT = STEP_TEXT,
	POD = 1u << ACTION_DELETE,
	FORCE = 1u << ACTION_FORCE_DELETE,
	SCALE = 1u << ACTION_SCALE_DOWN | 1u << ACTION_FRESH_ATTEMPT,
	RESTORE = 1u << ACTION_RESTORE,
	SUSPEND = 1u << ACTION__MAX,
	ORDINAL = 1u << (ACTION__MAX + 1),
};

static const struct step_row {
	struct step_desc desc;
	unsigned kinds;
	enum step more, doubt;
} rows[] = {
#define STEP(ID, at, kinds, more, doubt, flags, ...)                                                         \
	{ { TEXT_AT_##at, flags, __VA_ARGS__ }, kinds, STEP_##more, STEP_##doubt },
#include "worker/steps/steps.def"
#undef STEP
};

const struct step_desc *step_desc(enum step step)
{
	return &rows[step].desc;
}

static bool is_due(const struct action *a, enum step step)
{
	static const unsigned ways[] = { [SCALE_SUSPENDS] = SUSPEND, [SCALE_DELETES] = ORDINAL };
	const struct step_row *row = &rows[step];
	const unsigned kind = a->found.way ? ways[a->found.way] : 1u << a->grant.action;

	if (!(row->kinds & kind))
		return false;
	if (row->desc.flags & STEP_WRITES)
		return a->write == step;
	return row->desc.needed(a);
}

static enum step first_due(const struct action *a, enum step from)
{
	while (from < STEP__MAX && !is_due(a, from))
		from++;
	return from;
}

/* The step by which the action goes on; STEP_NONE: there is none, it has ended. */
static enum step step_following(const struct action *a, enum step_then then)
{
	const struct step_row *row = &rows[a->step];

	switch (then) {
	case STEP_NEXT:
		return first_due(a, a->step + 1);
	case STEP_MORE:
		return row->more == a->step ? a->step : first_due(a, row->more);
	case STEP_FIRST:
		return first_due(a, 0);
	case STEP_SAME:
		return a->step;
	case STEP_DOUBT:
		return row->doubt;
	default:
		return STEP_NONE;
	}
}

/* -- trouble -- */

/* A write may have been carried out. The result is filled in for the case that nothing more can be learnt;
 * look. */
static enum step_then doubt(struct action *a)
{
	if (a->grant.observe || step_following(a, STEP_DOUBT) == STEP_NONE)
		return STEP_END; /* an announcement: it shows on the object when it is judged the next time */
	a->in_doubt = true;
	return STEP_DOUBT;
}

static enum step_then on_failure(struct action *a, const struct step_desc *d, const struct http_result *r)
{
	const enum reason reason = r->failure == HTTP_TOO_LARGE ? REASON_BAD_ANSWER : REASON_NETWORK_ERROR;

	struct facts detail = action_at(a, TEXT_UNANSWERED);

	facts_add(&detail, &r->why);
	(void)action_end(a, OUTCOME_FAILED, reason, &detail);
	return (d->flags & STEP_WRITES) && r->failure != HTTP_CONNECT && r->sent ? doubt(a) : STEP_END;
}

/* In mode observe the credential need not be able to write: where it may not even ask, our own judgement
 * stands. What an admission plugin forbids would have been forbidden to the write as well. */
static bool may_not_ask(const struct action *a, const struct step_desc *d, long status,
			const struct refusal *s)
{
	return a->grant.observe && (d->flags & STEP_WRITES) && status == 403 && s->by_rights;
}

/* The server has looked at the write and does not want it: it was not carried out. */
static bool is_refused(long status)
{
	return status == 400 || status == 403 || status == 422;
}

static enum step_then would_without_asking(struct action *a, const struct facts *refusal)
{
	struct facts all = a->verdict.evidence;

	facts_finding(&all, TEXT_NOT_ASKED);
	facts_add(&all, refusal);
	return action_end(a, OUTCOME_WOULD, a->verdict.reason, &all);
}

static enum step_then on_status(struct action *a, const struct step_desc *d, long status,
				const struct http_result *r)
{
	struct refusal s;
	enum reason reason = REASON_SERVER_REJECTED;
	enum outcome outcome = OUTCOME_FAILED;
	struct facts detail = action_at(a, TEXT_REFUSED);

	read_refusal(r->body, r->body_len, &s);
	if ((d->flags & STEP_OTHER_WAY) && is_refused(status) && (s.by_rights || !a->bare))
		return d->take(a, &(struct step_reply){ .status = status,
							.by_rights = s.by_rights,
							.body = r->body,
							.body_len = r->body_len });
	facts_count(&detail, FACT_HTTP_STATUS, status);
	facts_quoted(&detail, FACT_SERVER_MESSAGE, STR_C(s.message));
	if (status == 409 && (d->flags & STEP_WRITES))
		return action_again(a, OUTCOME_CONFLICT, REASON_PRECONDITION_FAILED, &detail);
	if (status == 410) /* a continue token that is too old */
		return action_again(a, OUTCOME_FAILED, REASON_SERVER_ERROR, &detail);
	if (may_not_ask(a, d, status, &s))
		return would_without_asking(a, &detail);
	if (status == 401 || status == 403) {
		reason = status == 401 ? REASON_UNAUTHORIZED : REASON_FORBIDDEN;
		outcome = OUTCOME_FORBIDDEN;
	} else if (status == 429 || status >= 500) {
		reason = status == 429 ? REASON_THROTTLED : REASON_SERVER_ERROR;
		action_set_retry(a, r->retry_after_ms > 0 ? r->retry_after_ms : s.retry_after_s * 1000);
	}
	if (status == 401)
		a->env.credential(a->env.ctx);
	(void)action_end(a, outcome, reason, &detail);
	/* 503 is said before anything is done; the others may come from a server that gave up waiting. */
	return (d->flags & STEP_WRITES) && status >= 500 && status != 503 ? doubt(a) : STEP_END;
}

/* A write may have been carried out all the same. */
static enum step_then end_bad_answer(struct action *a, const struct step_desc *d, const struct facts *detail)
{
	(void)action_end(a, OUTCOME_FAILED, REASON_BAD_ANSWER, detail);
	return d->flags & STEP_WRITES ? doubt(a) : STEP_END;
}

/* A success whose body is not what it should be. */
static enum step_then on_garbage(struct action *a, const struct step_desc *d, const char *why)
{
	struct facts detail = action_at(a, TEXT_ANSWER_UNREAD);

	facts_quoted(&detail, FACT_PARSER, STR_C(why));
	return end_bad_answer(a, d, &detail);
}

/* 404, and nothing shows that the API server has said it: an ingress without a backend answers so, and a
 * proxy.
 */
static enum step_then on_foreign(struct action *a, const struct step_desc *d, const struct http_result *r)
{
	struct facts detail = action_at(a, TEXT_FOREIGN_ABSENCE);
	struct refusal s;

	read_refusal(r->body, r->body_len, &s);
	facts_quoted(&detail, FACT_SERVER_MESSAGE, STR_C(s.message));
	return end_bad_answer(a, d, &detail);
}

/* -- answers -- */

static bool is_success(long status)
{
	return status >= 200 && status <= 299;
}

/* 404, where nothing else is meant by it: the pod, or what is scaled. */
static enum step_then on_absent(struct action *a, const struct step_desc *d)
{
	const bool writes = d->flags & STEP_WRITES;
	const bool is_pod = a->step == STEP_POD || (writes && action_writes_pod(a));
	struct facts when = { 0 };

	if (writes)
		facts_finding(&when, TEXT_GONE_AT_WRITE);
	return action_gone(a, is_pod ? REASON_POD_GONE : REASON_WORKLOAD_GONE, &when);
}

static enum step_then take_list(struct action *a, const struct step_desc *d, struct step_reply *reply)
{
	const json_t *items = json_object_get(reply->json, "items"), *item;
	size_t i;

	if (!json_is_array(items))
		reply->json = NULL;
	json_array_foreach (items, i, item) {
		const enum step_then then = d->item(a, item);

		if (then != STEP_NEXT)
			return then;
	}
	return object_next_page(a, reply->json) ? STEP_MORE : d->take(a, reply);
}

/* Whatever it is, the step takes it. */
static enum step_then receive_any(struct action *a, const struct step_desc *d, const struct http_result *r)
{
	const bool arrived = r->failure == HTTP_OK;
	struct step_reply reply = { .status = arrived ? r->status : 0, .body = "" };
	json_auto_t *json = NULL;

	if (arrived && r->body) {
		reply.body = r->body;
		reply.body_len = r->body_len;
	}
	if (is_success(reply.status) && !(d->flags & STEP_TEXT))
		json = json_project_loadb(reply.body, reply.body_len, d->projection, &(json_error_t){ 0 });
	if (read_failure(json))
		reply.status = read_failure(json);
	reply.json = json_is_object(json) && is_success(reply.status) ? json : NULL;
	return d->take(a, &reply);
}

/* Neither the write nor the look after it was answered: it may have been carried out. Of a pod, the history
 * follows that until the watch shows it, and it is judged again soon. A scale is taken up again as failed:
 * the next worker sees by the mark whether it was. */
static enum step_then nothing_learnt(struct action *a)
{
	struct msg_result *r = &a->result.u.result;

	if (action_writes_pod(a) && r->outcome == OUTCOME_FAILED) {
		r->outcome = OUTCOME_UNCONFIRMED;
		if (!r->retry_ms)
			action_set_retry(a, DOUBT_RETRY_MS);
	}
	return STEP_END;
}

/* Without the right nothing is asked that would be refused, and our own judgement stands. What is not said
 * stands in nobody's way: the server answers the write itself. */
static enum step_then receive_review(struct action *a, const struct step_desc *d, const struct http_result *r)
{
	struct facts why = action_at(a, TEXT_NO_RIGHT);

	a->review = REVIEW_DONE;
	if (!access_is_denied(r, &why))
		return STEP_SAME;
	a->review = REVIEW_NONE;
	if (d->flags & STEP_OTHER_WAY)
		return d->take(a, &(struct step_reply){ .status = 403, .by_rights = true, .body = "" });
	a->result.u.result.http = 403;
	return would_without_asking(a, &why);
}

/* Of a 404: that there is no such object, or, where none is asked for, no such resource. */
static bool is_said_by_server(const struct step_desc *d, const struct http_result *r)
{
	const bool of_kind = d->item || d->flags & STEP_OF_KIND;

	return of_kind ? read_is_unserved(r->body, r->body_len) : read_is_absent(r->body, r->body_len);
}

static enum step_then receive(struct action *a, const struct http_result *r)
{
	const struct step_desc *d = step_desc(a->step);
	json_auto_t *json = NULL;
	const bool arrived = r->failure == HTTP_OK, may_fail = d->flags & STEP_MAY_FAIL;
	long status = arrived ? r->status : 0;
	json_error_t error;

	if (a->review == REVIEW_ASKED)
		return receive_review(a, d, r);
	if (d->flags & (STEP_AFTERWARDS | STEP_TEXT))
		return receive_any(a, d, r);
	if (d->flags & STEP_WRITES)
		a->result.u.result.http = status > 0 && status <= 999 ? (uint64_t)status : 0;
	if (is_success(status)) {
		json = json_project_loadb(r->body ? r->body : "", r->body_len, d->projection, &error);
		/* Refusals have been seen inside a 201. */
		if (read_failure(json))
			status = read_failure(json);
	}
	const bool foreign = status == 404 && !is_said_by_server(d, r);

	if (a->in_doubt && !(json && is_success(status)) && (status != 404 || foreign))
		return nothing_learnt(a);
	if (!arrived)
		return on_failure(a, d, r);
	if (foreign)
		return on_foreign(a, d, r);
	if (!is_success(status) && !(may_fail && (status == 403 || status == 404)))
		return status == 404 && !d->item ? on_absent(a, d) : on_status(a, d, status, r);
	if (is_success(status) && !json_is_object(json))
		return on_garbage(a, d, error.text);
	struct step_reply reply = { .status = status,
				    .json = is_success(status) ? json : NULL,
				    .body = r->body,
				    .body_len = r->body_len };

	return d->item ? take_list(a, d, &reply) : d->take(a, &reply);
}

/* -- going on -- */

/* It waited since it was nominated, and its window may have closed meanwhile. An operator who puts replicas
 * back, or asks what would be done, is not bound by windows; a look whether replicas may come back is. */
static bool is_outside(const struct action *a)
{
	int64_t at;

	const bool asked = a->grant.action == ACTION_RESTORE ? a->grant.by_operator : a->dry_run;

	return a->env.windows && !asked &&
	       !windows_are_open(a->env.windows, &action_policy(a)->windows, action_now(a), &at);
}

static enum step_then end_late(struct action *a, const struct step_desc *d, uint64_t now)
{
	struct facts detail = facts_of(TEXT_GRANT_LATE);

	facts_text(&detail, FACT_STEP, d->at);
	facts_duration(&detail, FACT_EXPIRED_FOR, (int64_t)(now - a->grant.valid_until));
	return action_end(a, OUTCOME_FAILED, REASON_GRANT_EXPIRED, &detail);
}

/* May this step begin now? STEP_NEXT when it may. Looking after a write of our own that is in doubt always
 * may; what only adds to a result that is complete may while the grant holds. */
static enum step_then check_time(struct action *a, const struct step_desc *d)
{
	const uint64_t now = clock_boot_ms();

	if ((a->in_doubt && a->write != STEP_NONE) || !d->ask)
		return STEP_NEXT;
	if (a->in_doubt || d->flags & STEP_AFTERWARDS)
		return now > a->grant.valid_until ? STEP_END : STEP_NEXT;
	if (now > a->grant.valid_until)
		return end_late(a, d, now);
	if (!(d->flags & STEP_WRITES))
		return STEP_NEXT;
	if (a->policy->mode == MODE_OBSERVE && !a->grant.observe && !a->dry_run)
		return action_end_text(a, OUTCOME_FAILED, REASON_GRANT_EXPIRED, TEXT_GRANT_OBSERVE);
	if (is_outside(a))
		return action_end_text(a, OUTCOME_REFUSED, REASON_OUTSIDE_WINDOW, TEXT_WINDOW_CLOSED);
	if (now - a->fresh_from <= ACTION_FRESH_MS && !a->found.outdated)
		return STEP_NEXT;
	const struct facts slow = facts_of(TEXT_READS_SLOW);

	return action_again(a, OUTCOME_FAILED, REASON_GRANT_EXPIRED, &slow);
}

static void on_headers(void *ctx, long status, const char *content_type, int64_t server_date_ms)
{
	struct action *a = ctx;

	(void)content_type;
	/* An error page may come from something else than the API server. */
	if (is_success(status) && server_date_ms > 0)
		(void)server_clock_note(a->env.clock, server_date_ms, clock_boot_ms());
}

static void on_done(void *ctx, const struct http_result *r);

static void start_request(struct action *a, const struct step_request *request)
{
	const struct http_call call = { .method = request->method,
					.path = request->path,
					.content_type = request->content_type,
					.accept = request->accept,
					.body = request->body,
					.body_len = request->body ? strlen(request->body) : 0,
					.total_timeout_ms = ACTION_TIMEOUT_MS,
					.on_headers = on_headers,
					.on_done = on_done,
					.ctx = a };

	a->request = http_client_start(a->env.client, &call);
}

/* What is about to be written, or would have been. */
static void note_request(struct action *a, const struct step_request *r)
{
	_cleanup_free_ char *text =
		xconcat(r->method, " ", r->path, r->body ? " " : "", r->body ? r->body : "", NULL);

	msg_text(&a->result, result.request, text);
}

/* A credential that may only read is enough to observe: is this write one that it may ask for? True: that is
 * asked first. */
static bool start_review(struct action *a, const struct step_desc *d, const struct step_request *write)
{
	const bool due = a->grant.observe && (d->flags & STEP_WRITES) && a->review != REVIEW_DONE;
	struct step_request review = { .method = "POST", .content_type = "application/json" };

	review.body = due ? access_review_of(write->method, write->path) : NULL;
	a->review = review.body ? REVIEW_ASKED : REVIEW_NONE;
	if (!review.body)
		return false;
	review.path = xstrdup(ACCESS_PATH);
	start_request(a, &review);
	free(review.path);
	free(review.body);
	return true;
}

static enum step_then ask(struct action *a, const struct step_desc *d)
{
	struct step_request request = { .method = "GET" };
	enum step_then then = STEP_SENT;

	a->asked_at = clock_boot_ms();
	d->ask(a, &request);
	if (request.known)
		return d->take(a, NULL);
	if (request.path && (d->flags & STEP_WRITES))
		note_request(a, &request);
	if (!request.path && (d->flags & STEP_AFTERWARDS))
		then = STEP_END;
	else if (!request.path)
		then = action_end_at(a, OUTCOME_REFUSED, REASON_INCOMPLETE_FACTS, TEXT_NO_PATH);
	else if ((d->flags & STEP_WRITES) && a->dry_run)
		then = action_end_as_judged(a, OUTCOME_WOULD);
	else if (!start_review(a, d, &request))
		start_request(a, &request);
	free(request.path);
	free(request.body);
	return then;
}

static bool needs_grant(const struct action *a, enum step step)
{
	return a->prefetched && (step == STEP_NONE || (step_desc(step)->flags & STEP_WRITES));
}

/* Goes on until a request is under way, the grant is needed, or it ends. The last call may free the action.
 */
static void go_on(struct action *a, enum step_then then)
{
	while (then != STEP_SENT) {
		const enum step step = step_following(a, then);

		if (needs_grant(a, step)) {
			a->waits = true;
			a->then = then;
			return;
		}
		if (step == STEP_NONE) {
			a->result.u.result.at = clock_wall_ms();
			action_post_quotes(a);
			a->env.done(a->env.ctx, &a->result);
			return;
		}
		then = check_time(a, step_desc(step));
		if (then != STEP_NEXT)
			continue;
		a->step = step;
		then = step_desc(step)->ask ? ask(a, step_desc(step)) : step_desc(step)->take(a, NULL);
	}
}

static void on_done(void *ctx, const struct http_result *r)
{
	struct action *a = ctx;

	a->request = NULL;
	go_on(a, receive(a, r));
}

/* Whoever nominated it chose both: nothing is written that was judged by the rules of another duty. */
static enum step_then begin(struct action *a)
{
	if (duty_may((enum duty)a->grant.duty, (enum action_kind)a->grant.action))
		return STEP_FIRST;
	struct facts why = facts_of(TEXT_NOT_ITS_ACTION);

	facts_name(&why, FACT_DUTY, STR_C(duty_name((enum duty)a->grant.duty)));
	return action_end(a, OUTCOME_REFUSED, REASON_INCOMPLETE_FACTS, &why);
}

void action_start(struct action *a)
{
	go_on(a, begin(a));
}

void action_go_on(struct action *a)
{
	go_on(a, STEP_FIRST);
}

void action_prefetch(struct action *a)
{
	a->prefetched = true;
	a->grant.valid_until = UINT64_MAX;
	action_start(a);
}

/* A write asks for fresh reads by itself. An end is read and judged again when it was reached long ago, and
 * when an earlier holder died: what was found may be its effect. */
static enum step_then then_when_granted(struct action *a)
{
	const bool fresh = clock_boot_ms() - a->asked_at <= ACTION_FRESH_MS;

	if (a->then != STEP_END || (fresh && !a->grant.verify_first))
		return a->then;
	a->round = 0;
	a->result.u.result.retry_ms = 0;
	action_forget(a);
	return begin(a);
}

void action_granted(struct action *a, const struct msg_grant *grant)
{
	a->prefetched = false;
	a->grant = *grant;
	if (a->waits)
		go_on(a, then_when_granted(a));
}
