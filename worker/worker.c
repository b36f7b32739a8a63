/* worker.c - the worker: takes grants from the supervisor, a few at a time, carries them out, says how each
 * ended. It alone holds a credential that may write, and opens no file. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/worker.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "config/window.h"
#include "http/global.h"
#include "ipc/timer.h"
#include "process/cluster_endpoint.h"
#include "process/meter.h"
#include "text/facts_text.h"
#include "worker/access.h"
#include "worker/action.h"
#include "worker/inspection.h"
#include "worker/marks.h"

struct worker;

struct job {
	struct worker *worker;
	struct action *action; /* NULL = free */
	uint64_t id;           /* of its lease */
	bool dry_run;          /* asked for by ... */
	uint64_t conn;         /* ... this connection of the supervisor */
	struct timer *pause;   /* of its action; made when one is asked for */
};

struct worker {
	struct process *process;
	struct settings now;
	struct http_client *client;
	struct owner_kinds *kinds;
	struct namespace_cache *namespaces;
	struct server_clock clock;
	struct windows *windows;
	struct events *events;
	struct access *access;
	struct marks *marks;
	struct inspections *inspections;
	struct meter *meter;
	struct job jobs[WORKER_LEASES_MAX];
	bool unmarked_told;   /* that what is scaled to 0 may not be marked */
	struct job *prefetch; /* the one that is not granted yet; NULL = none */
	bool draining;
};

static bool is_idle(const struct worker *w)
{
	for (size_t i = 0; i < WORKER_LEASES_MAX; i++)
		if (w->jobs[i].action && &w->jobs[i] != w->prefetch)
			return false;
	return true;
}

/* Nobody waits for its end. */
static void drop_prefetch(struct worker *w)
{
	if (w->prefetch)
		action_free(&w->prefetch->action);
	w->prefetch = NULL;
}

/* Where something can be begun now; NULL, and why not. What is prefetched makes room. */
static struct job *free_job(struct worker *w, enum reason *ret_why)
{
	struct job *prefetch = w->prefetch;

	*ret_why = w->draining ? REASON_SHUTTING_DOWN : REASON_WORKER_BUSY;
	for (size_t i = 0; !w->draining && i < WORKER_LEASES_MAX; i++)
		if (!w->jobs[i].action)
			return &w->jobs[i];
	drop_prefetch(w);
	return w->draining ? NULL : prefetch;
}

static void end_when_idle(struct worker *w)
{
	if (w->draining && is_idle(w))
		process_drained(w->process, 0);
}

/* The channel queues more than this worker can ever owe a supervisor that reads. */
static void post(struct worker *w, const struct msg *m)
{
	const int r = process_send(w->process, m);

	if (r == -EAGAIN)
		(void)log_error(r, "the supervisor does not read: a message is dropped");
	end_when_idle(w);
}

/* -- what actions live in -- */

/* The answer to a CTL_DRY_RUN says what a RESULT would have said. */
static void post_dry_run_result(struct worker *w, uint64_t conn, const struct msg *result)
{
	struct msg m = { .type = MSG_CTL_DRY_RUN_RESULT };

	msg_copy_fields(&m, result);
	m.u.ctl_dry_run_result.conn = conn;
	post(w, &m);
}

static void action_done(void *ctx, const struct msg *m)
{
	struct job *job = ctx;
	struct worker *w = job->worker;
	const struct msg copy = *m;
	const struct msg_result *r = &copy.u.result;
	_cleanup_free_ char *detail = facts_render(&r->detail, NULL);
	struct object_event event;

	/* The supervisor says the same when it is written down. */
	log_debug("action ended", kv_u("id", r->id), kv_u("dryRun", job->dry_run),
		  kv_s("outcome", outcome_name((enum outcome)r->outcome)), kv_s("reason", r->reason),
		  kv_s("target", r->target), kv_u("http", r->http), kv_s("detail", detail));
	const bool reports = action_event(job->action, &event);

	action_free(&job->action);
	if (job->dry_run)
		post_dry_run_result(w, job->conn, &copy);
	else
		post(w, &copy);
	if (reports)
		events_add(w->events, &event);
}

static void action_quote(void *ctx, const struct msg *m)
{
	post(((struct job *)ctx)->worker, m);
}

static void on_pause_end(void *ctx)
{
	const struct job *job = ctx;

	if (job->action)
		action_go_on(job->action);
}

static void action_wait(void *ctx, uint64_t ms)
{
	struct job *job = ctx;

	if (!job->pause)
		job->pause = timer_new(process_base(job->worker->process), on_pause_end, job);
	timer_set(job->pause, ms);
}

static void post_answer(void *ctx, const struct msg *m)
{
	post(ctx, m);
}

static void events_denied(void *ctx, const struct facts *why)
{
	process_say_trouble(((struct worker *)ctx)->process, TROUBLE_EVENTS, why);
}

static void action_credential(void *ctx)
{
	struct worker *w = ((struct job *)ctx)->worker;
	struct msg m = { .type = MSG_CREDENTIAL };

	m.u.credential.cluster = process_cluster(w->process);
	m.u.credential.generation = process_generation(w->process);
	post(w, &m);
}

static void action_unmarked(void *ctx, const char *why)
{
	struct worker *w = ((struct job *)ctx)->worker;

	if (!w->unmarked_told)
		log_warn(0,
			 "workloads scaled to 0 are not marked: ops-pod-cleaner-marker of deploy/rbac.yaml "
			 "is not bound",
			 kv_s("detail", why));
	w->unmarked_told = true;
}

static struct msg declined(uint64_t id, enum outcome outcome, enum reason reason)
{
	struct msg m = { .type = MSG_RESULT };

	m.u.result.id = id;
	m.u.result.outcome = outcome;
	m.u.result.replicas = -1;
	m.u.result.at = clock_wall_ms();
	msg_text(&m, result.reason, reason_code(reason));
	return m;
}

static struct action *make_action(struct job *job, const struct msg_grant *g)
{
	struct worker *w = job->worker;
	const struct action_env env = { .wait = action_wait,
					.quote = action_quote,
					.done = action_done,
					.credential = action_credential,
					.unmarked = action_unmarked,
					.ctx = job,
					.client = w->client,
					.kinds = w->kinds,
					.namespaces = w->namespaces,
					.clock = &w->clock,
					.windows = w->windows,
					.contact_keys = &w->now.owner_annotation };

	log_debug("action begins", kv_u("id", g->id), kv_s("duty", duty_name((enum duty)g->duty)),
		  kv_s("namespace", g->ns), kv_s("pod", g->name), kv_s("uid", g->uid));
	job->id = g->id;
	job->dry_run = false;
	timer_stop(job->pause); /* of an action that was given up */
	job->action = action_new(&env, &w->now.policy, g);
	return job->action;
}

static void on_prefetch(struct worker *w, const struct msg *m)
{
	struct msg grant = { .type = MSG_GRANT };
	enum reason why;

	drop_prefetch(w); /* its lease went elsewhere */
	w->prefetch = free_job(w, &why);
	if (!w->prefetch)
		return;
	msg_copy_fields(&grant, m);
	action_prefetch(make_action(w->prefetch, &grant.u.grant));
}

static void on_grant(struct worker *w, const struct msg_grant *g)
{
	struct job *job = w->prefetch;
	enum reason why;
	struct msg m;

	if (job && job->id == g->id) {
		w->prefetch = NULL;
		action_granted(job->action, g);
		return;
	}
	job = free_job(w, &why);
	if (job) {
		action_start(make_action(job, g));
		return;
	}
	m = declined(g->id, OUTCOME_FAILED, why);
	post(w, &m);
}

static void on_ctl_dry_run(struct worker *w, const struct msg *question)
{
	const struct msg_ctl_dry_run *q = &question->u.ctl_dry_run;
	enum reason why;
	struct job *job = free_job(w, &why);
	struct msg m = { .type = MSG_GRANT };

	if (!job) {
		m = declined(q->id, OUTCOME_REFUSED, why);
		post_dry_run_result(w, q->conn, &m);
		return;
	}
	msg_copy_fields(&m, question);
	m.u.grant.observe = w->now.policy.mode == MODE_OBSERVE;
	m.u.grant.valid_until = clock_boot_ms() + ACTION_DRY_RUN_MS;
	(void)make_action(job, &m.u.grant);
	job->dry_run = true;
	job->conn = q->conn;
	action_set_dry_run(job->action);
	action_start(job->action);
}

/* -- the process -- */

static int worker_check_settings(const struct settings *s, enum text *ret_why)
{
	if (s->cluster.server)
		return 0;
	*ret_why = TEXT_NO_CLUSTER_SET;
	return -EINVAL;
}

/* The contents of *s are the worker's from now on; *ret is where they say the API server is. */
static void use_settings(struct worker *w, struct settings *s, struct http_endpoint *ret)
{
	settings_done(&w->now);
	w->now = *s;
	settings_init(s);
	windows_set_zones(w->windows, w->now.window_zones, w->now.window_zones_size);
	cluster_endpoint(&w->now.cluster, "ops-pod-cleaner-worker", ret);
}

static void worker_on_commit(struct process *p, struct settings *s)
{
	struct worker *w = process_ctx(p);
	struct http_endpoint e;

	use_settings(w, s, &e);
	http_client_set_endpoint(w->client, &e);
	for (size_t i = 0; i < WORKER_LEASES_MAX; i++)
		if (w->jobs[i].action)
			action_set_policy(w->jobs[i].action, &w->now.policy);
}

static int send_measure(void *ctx, const struct msg *m)
{
	return process_send(ctx, m);
}

static int worker_on_start(struct process *p, struct settings *s)
{
	struct worker *w = xcalloc(1, sizeof(*w));
	struct http_endpoint e;

	process_set_ctx(p, w);
	w->process = p;
	for (size_t i = 0; i < WORKER_LEASES_MAX; i++)
		w->jobs[i].worker = w;
	w->kinds = owner_kinds_new();
	w->namespaces = namespace_cache_new();
	w->windows = windows_new();
	use_settings(w, s, &e);
	http_global_init();
	w->client = http_client_new(process_base(p), &e);
	w->events = events_new(w->client, events_denied, w);
	w->access = access_new(w->client, post_answer, w);
	w->marks = marks_new(w->client, post_answer, w);
	w->inspections = inspections_new(w->client, post_answer, w);
	w->meter = meter_new(process_base(p), process_cluster(p), send_measure, p);
	http_client_watch(w->client, meter_timed_request, w->meter);
	return 0;
}

static void worker_on_msg(struct process *p, const struct msg *m)
{
	struct worker *w = process_ctx(p);

	if (m->type == MSG_PREFETCH)
		on_prefetch(w, m);
	if (m->type == MSG_GRANT)
		on_grant(w, &m->u.grant);
	if (m->type == MSG_CTL_DRY_RUN)
		on_ctl_dry_run(w, m);
	if (m->type == MSG_CTL_ACCESS)
		access_ask(w->access, &m->u.ctl_access);
	if (m->type == MSG_CTL_MARKED)
		marks_ask(w->marks, &m->u.ctl_marked);
	if (m->type == MSG_INSPECT)
		inspections_ask(w->inspections, &m->u.inspect, &w->now.policy, w->now.owner_annotation);
}

/* What runs is carried to its end: the supervisor waits for the RESULT. */
static void worker_on_drain(struct process *p)
{
	struct worker *w = process_ctx(p);

	w->draining = true;
	meter_flush(w->meter);
	drop_prefetch(w);
	end_when_idle(w);
}

static void worker_on_done(struct process *p)
{
	struct worker *w = process_ctx(p);

	if (!w)
		return;
	for (size_t i = 0; i < WORKER_LEASES_MAX; i++) {
		action_free(&w->jobs[i].action);
		timer_free(&w->jobs[i].pause);
	}
	events_free(&w->events);
	access_free(&w->access);
	marks_free(&w->marks);
	inspections_free(&w->inspections);
	http_client_free(&w->client);
	meter_free(&w->meter);
	owner_kinds_free(&w->kinds);
	namespace_cache_free(&w->namespaces);
	windows_free(&w->windows);
	settings_done(&w->now);
	free(w);
}

const struct process_spec worker_spec = {
	.role = ROLE_WORKER,
	.check_settings = worker_check_settings,
	.on_commit = worker_on_commit,
	.on_start = worker_on_start,
	.on_msg = worker_on_msg,
	.on_drain = worker_on_drain,
	.on_done = worker_on_done,
};
