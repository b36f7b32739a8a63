/* leadership.c - see leadership.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/guards/leadership.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "ipc/timer.h"
#include "kube/path.h"
#include "kube/decode_objects.h"
#include "text/texts.h"

#define GROUP "coordination.k8s.io"
/* A renewal that takes longer is given up: two more fit before the Lease must be thought lost. */
#define REQUEST_MS 3000u
#define RELEASE_MS 1000u
#define BODY_MAX   65536u

struct leadership {
	struct http_client *client;
	struct http_request *request;
	struct timer *timer, *release_timer;
	struct leadership_ops ops;
	void *ctx;
	char *ns, *name;
	struct leader leader;
	char *memory; /* as last read from the Lease, NULL = nothing */
	bool reported, reported_leading, reported_yielding;
	uint64_t reported_until;
	char reported_holder[LEASE_TEXT]; /* of a presence: the other that was reported; of who yields: for
					     whom */
	struct facts trouble;
	void (*released)(void *ctx);
	void *released_ctx;
};

static void go_on(struct leadership *l);

/* Nobody looks for others any more. */
static bool is_withdrawn(const struct leadership *l)
{
	return l->leader.kind == LEADER_PRESENCE && l->released;
}

static void report_other(struct leadership *l)
{
	const char *other = leader_other(&l->leader, clock_boot_ms());

	if (strcmp(other, l->reported_holder) != 0 && l->ops.other(l->ctx, other) == 0)
		(void)snprintf(l->reported_holder, sizeof(l->reported_holder), "%s", other);
}

static void report_leading(struct leadership *l)
{
	const bool leading = leader_leads(&l->leader, clock_boot_ms()),
		   yielding = leading && l->leader.yielding;
	const uint64_t until = leading ? leader_valid_until(&l->leader) : 0;
	const char *holder = yielding ? l->leader.preferred : l->leader.seen.holder;

	if (l->reported && leading == l->reported_leading && yielding == l->reported_yielding &&
	    until == l->reported_until && strcmp(l->reported_holder, holder) == 0)
		return;
	l->reported = true;
	l->reported_leading = leading;
	l->reported_yielding = yielding;
	l->reported_until = until;
	(void)snprintf(l->reported_holder, sizeof(l->reported_holder), "%s", holder);
	if (l->ops.changed)
		l->ops.changed(l->ctx, leading, yielding, until, l->reported_holder);
}

static void report(struct leadership *l)
{
	if (is_withdrawn(l))
		return;
	(l->leader.kind == LEADER_PRESENCE ? report_other : report_leading)(l);
}

static void end_release(struct leadership *l)
{
	void (*released)(void *ctx) = l->released;

	if (!released)
		return;
	l->released = NULL;
	timer_stop(l->release_timer);
	released(l->released_ctx);
}

static void trouble(struct leadership *l, const struct facts *why)
{
	if (facts_equal(why, &l->trouble))
		return;
	facts_set(&l->trouble, why);
	l->ops.trouble(l->ctx, why);
}

/* Nothing is wrong by this answer: 409 is part of the protocol. */
static bool is_usable(const struct http_result *r)
{
	return r->failure == HTTP_OK && (r->status / 100 == 2 || r->status == 409);
}

/* There is no Lease: whether it can be used is said by the answer to its creation. */
static bool is_absent(const struct leadership *l, const struct http_result *r)
{
	return r->failure == HTTP_OK && r->status == 404 && l->leader.next != LEADER_CREATE;
}

/* It comes and goes, and only an election is a right to act. */
static bool is_passing(const struct leadership *l, const struct http_result *r)
{
	return l->leader.kind != LEADER_ELECTION &&
	       (r->failure != HTTP_OK || !leader_is_denied(l->leader.next, r->status));
}

void leadership_refusal(const struct http_result *r, struct facts *ret)
{
	struct status_facts status;

	facts_clear(ret);
	facts_finding(ret, TEXT_ANSWERED);
	facts_count(ret, FACT_HTTP_STATUS, r->status);
	if (decode_status_answer(r->body, r->body_len, &status) == 0)
		facts_quoted(ret, FACT_SERVER_MESSAGE, status.message);
}

static void report_trouble(struct leadership *l, const struct http_result *r)
{
	struct facts why = { 0 };

	if (r->failure == HTTP_OK && r->status == 401)
		l->ops.refused(l->ctx);
	if (is_usable(r)) {
		trouble(l, &why);
		return;
	}
	if (is_withdrawn(l) || is_absent(l, r) || is_passing(l, r))
		return;
	if (r->failure != HTTP_OK)
		why = r->why;
	else
		leadership_refusal(r, &why);
	trouble(l, &why);
}

static void take_memory(struct leadership *l, struct str memory)
{
	free(l->memory);
	l->memory = memory.n ? xstrndup(memory.p, memory.n) : NULL;
}

static void on_done(void *ctx, const struct http_result *r)
{
	struct leadership *l = ctx;
	struct lease_facts facts;
	const long status = r->failure == HTTP_OK ? r->status : 0;
	const bool good = status / 100 == 2 && decode_lease_answer(r->body, r->body_len, &facts) == 0;

	l->request = NULL;
	report_trouble(l, r);
	if (good && l->leader.next == LEADER_GET)
		take_memory(l, decode_lease_memory(r->body, r->body_len));
	leader_answer(&l->leader, status, good ? &facts : NULL, clock_boot_ms(), backoff_random());
	report(l);
	if (l->released && !l->leader.releasing)
		end_release(l);
	else
		go_on(l);
}

static void ask(struct leadership *l, enum leader_ask what)
{
	static const struct {
		const char *method, *query, *content_type;
	} how[] = {
		[LEADER_GET] = { "GET", NULL, NULL },
		[LEADER_CREATE] = { "POST", "fieldManager=ops-pod-cleaner", "application/json" },
		[LEADER_PATCH] = { "PATCH", "fieldManager=ops-pod-cleaner", "application/merge-patch+json" },
		[LEADER_CLAIM] = { "PATCH", "fieldManager=ops-pod-cleaner", "application/merge-patch+json" },
	};
	char *path = path_format(GROUP, "v1", l->ns, "leases", what == LEADER_CREATE ? NULL : l->name, NULL,
				 how[what].query);
	char *body = leader_body(&l->leader, l->ns, l->name, clock_boot_ms(), clock_wall_ms());
	const struct http_call call = {
		.method = how[what].method,
		.path = path,
		.accept = "application/vnd.kubernetes.protobuf",
		.content_type = how[what].content_type,
		.body = body,
		.body_len = body ? strlen(body) : 0,
		.max_body = BODY_MAX,
		.total_timeout_ms = REQUEST_MS,
		.on_done = on_done,
		.ctx = l,
	};

	l->request = http_client_start(l->client, &call);
	free(path);
	free(body);
}

static void go_on(struct leadership *l)
{
	uint64_t now = clock_boot_ms(), at = 0;
	enum leader_ask what;

	if (l->request)
		return;
	what = leader_step(&l->leader, now, &at);
	report(l);
	if (what == LEADER_WAIT)
		timer_set(l->timer, at > now ? at - now : 0);
	else
		ask(l, what);
}

static void on_timer(void *ctx)
{
	go_on(ctx);
}

static void on_release_timer(void *ctx)
{
	end_release(ctx);
}

void leadership_identity(uint64_t instance, char ret[static LEASE_TEXT])
{
	char host[128] = "";

	if (gethostname(host, sizeof(host) - 1) < 0 || !*host)
		(void)snprintf(host, sizeof(host), "unnamed");
	for (char *c = host; *c; c++) /* goes into JSON as it is */
		if (*c == '"' || *c == '\\' || (unsigned char)*c < 0x20)
			*c = '-';
	(void)snprintf(ret, LEASE_TEXT, "%s_%08" PRIx64 "_%d", host, instance, (int)getppid());
}

struct leadership *leadership_new(struct event_base *base, struct http_client *client, enum leader_kind kind,
				  const char *identity, const char *ns, const char *name,
				  const struct leadership_ops *ops, void *ctx)
{
	struct leadership *l = xcalloc(1, sizeof(*l));

	l->client = client;
	l->ops = *ops;
	l->ctx = ctx;
	l->ns = xstrdup(ns);
	l->name = xstrdup(name);
	l->timer = timer_new(base, on_timer, l);
	l->release_timer = timer_new(base, on_release_timer, l);
	leader_init(&l->leader, identity, kind);
	return l;
}

void leadership_start(struct leadership *l)
{
	go_on(l);
}

void leadership_prefer(struct leadership *l, const char *identity)
{
	leader_prefer(&l->leader, identity);
	go_on(l);
}

void leadership_remember(struct leadership *l, char *memory)
{
	leader_remember(&l->leader, memory, clock_boot_ms());
	go_on(l);
}

const char *leadership_memory(const struct leadership *l)
{
	return l->memory ? l->memory : "";
}

void leadership_forget(struct leadership *l)
{
	const struct leader before = l->leader;

	if (l->released)
		return;
	http_request_cancel(&l->request);
	leader_done(&l->leader);
	take_memory(l, (struct str){ 0 });
	leader_init(&l->leader, before.identity, before.kind);
	leader_prefer(&l->leader, before.preferred);
	report(l);
	go_on(l);
}

void leadership_let_go(struct leadership *l)
{
	leader_let_go(&l->leader, clock_boot_ms());
	go_on(l);
}

void leadership_release(struct leadership *l, void (*released)(void *ctx), void *ctx)
{
	const bool under_way = l->released;

	l->released = released;
	l->released_ctx = ctx;
	if (under_way)
		return;
	http_request_cancel(&l->request);
	if (!leader_release(&l->leader, clock_boot_ms())) {
		end_release(l);
		return;
	}
	report(l);
	timer_set(l->release_timer, RELEASE_MS);
	go_on(l);
}

void leadership_free(struct leadership **l)
{
	struct leadership *old = *l;

	if (!old)
		return;
	http_request_cancel(&old->request);
	timer_free(&old->timer);
	timer_free(&old->release_timer);
	leader_done(&old->leader);
	free(old->memory);
	free(old->ns);
	free(old->name);
	free(old);
	*l = NULL;
}
