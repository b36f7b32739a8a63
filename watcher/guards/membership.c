/* membership.c - see membership.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/guards/membership.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "ipc/timer.h"
#include "kube/members.h"
#include "kube/path.h"
#include "watcher/guards/leadership.h"

#define GROUP      "coordination.k8s.io"
#define LIST_MS    2000u
#define REQUEST_MS 3000u
#define BODY_MAX   1048576u /* the Leases of REPLICAS_MAX replicas, and what else bears the label */

struct membership {
	struct event_base *base;
	struct http_client *client;
	struct http_request *request;
	struct timer *timer;
	struct membership_ops ops;
	void *ctx;
	char *identity, *ns, *name;
	uint64_t sent_at;
	struct members members;
	struct leadership *own;
	int number;            /* of `own`, 0 = it keeps none */
	struct facts of_list;  /* why the list is refused */
	struct facts of_lease; /* why the own Lease is */
};

/* -- the own Lease -- */

static void tell_trouble(struct membership *m)
{
	m->ops.trouble(m->ctx, facts_empty(&m->of_list) ? &m->of_lease : &m->of_list);
}

static void on_refused(void *ctx)
{
	struct membership *m = ctx;

	m->ops.refused(m->ctx);
}

static void on_lease_trouble(void *ctx, const struct facts *why)
{
	struct membership *m = ctx;

	facts_set(&m->of_lease, why);
	tell_trouble(m);
}

/* Another one holds it, or nobody: where the list says. */
static void keep_own(struct membership *m)
{
	static const struct leadership_ops ops = { NULL, on_refused, on_lease_trouble, NULL };
	const int number = members_number(&m->members, m->identity, clock_boot_ms());

	if (number == m->number)
		return;
	leadership_free(&m->own);
	m->number = number > 0 ? number : 0;
	if (!m->number)
		return;
	_cleanup_free_ char *lease = xasprintf(REPLICA_LEASE_FORMAT, m->name, number);

	m->own = leadership_new(m->base, m->client, LEADER_MEMBER, m->identity, m->ns, lease, &ops, m);
	leadership_start(m->own);
}

/* -- those of all -- */

struct seen {
	struct members *members;
	uint64_t now;
};

static void see(void *ctx, const struct lease_facts *facts)
{
	const struct seen *s = ctx;

	members_see(s->members, facts, s->now);
}

static void take_list(struct membership *m, const struct http_result *r)
{
	struct seen seen = { &m->members, clock_boot_ms() };
	char live[MEMBERS_TEXT];

	members_begin(&m->members);
	if (decode_lease_list(r->body, r->body_len, see, &seen) < 0)
		return;
	members_end(&m->members, m->sent_at);
	facts_clear(&m->of_list);
	tell_trouble(m);
	keep_own(m);
	members_format(&m->members, seen.now, live);
	m->ops.members(m->ctx, live, members_valid_until(&m->members));
}

static void take_refusal(struct membership *m, const struct http_result *r)
{
	if (r->status == 401)
		m->ops.refused(m->ctx);
	if (r->status != 403 && r->status != 404)
		return;
	leadership_refusal(r, &m->of_list);
	tell_trouble(m);
}

static void on_done(void *ctx, const struct http_result *r)
{
	struct membership *m = ctx;

	m->request = NULL;
	timer_set(m->timer, LIST_MS);
	if (r->failure == HTTP_OK && r->status == 200)
		take_list(m, r);
	else if (r->failure == HTTP_OK)
		take_refusal(m, r);
}

static void list(void *ctx)
{
	struct membership *m = ctx;
	_cleanup_free_ char *path = path_format(GROUP, "v1", m->ns, "leases", NULL, NULL,
						"labelSelector=" LEADER_LABEL "%3Dtrue");
	const struct http_call call = {
		.method = "GET",
		.path = path,
		.accept = "application/vnd.kubernetes.protobuf",
		.max_body = BODY_MAX,
		.total_timeout_ms = REQUEST_MS,
		.on_done = on_done,
		.ctx = m,
	};

	m->sent_at = clock_boot_ms();
	m->request = http_client_start(m->client, &call);
}

/* -- its life -- */

struct membership *membership_new(struct event_base *base, struct http_client *client, const char *identity,
				  const char *ns, const char *name, const struct membership_ops *ops,
				  void *ctx)
{
	struct membership *m = xcalloc(1, sizeof(*m));

	m->base = base;
	m->client = client;
	m->ops = *ops;
	m->ctx = ctx;
	m->identity = xstrdup(identity);
	m->ns = xstrdup(ns);
	m->name = xstrdup(name);
	m->timer = timer_new(base, list, m);
	members_init(&m->members, m->name);
	list(m);
	return m;
}

static void stop(struct membership *m)
{
	http_request_cancel(&m->request);
	timer_stop(m->timer);
}

void membership_release(struct membership *m, void (*released)(void *ctx), void *ctx)
{
	stop(m);
	if (m->own)
		leadership_release(m->own, released, ctx);
	else
		released(ctx);
}

void membership_free(struct membership **m)
{
	struct membership *old = *m;

	if (!old)
		return;
	stop(old);
	leadership_free(&old->own);
	timer_free(&old->timer);
	free(old->identity);
	free(old->ns);
	free(old->name);
	free(old);
	*m = NULL;
}
