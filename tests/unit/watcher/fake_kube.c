/* fake_kube.c - a reflector and a client that do nothing but remember: linked instead of kube/ and http/. */
// SPDX-License-Identifier: Apache-2.0
#include "fake_kube.h"

#include "base/xalloc.h"
#include "http/client.h"

#include <check.h>

struct fake_kube fake;

struct reflector {
	int unused;
};

struct http_client {
	int unused;
};

struct reflector *reflector_new(struct event_base *base, struct http_client *client,
				const struct reflector_config *config, const struct reflector_ops *ops,
				void *ctx)
{
	(void)base;
	(void)client;
	fake.started++;
	fake.running = true;
	fake.ops = *ops;
	fake.ctx = ctx;
	fake.config = *config;
	return xcalloc(1, sizeof(struct reflector));
}

void reflector_free(struct reflector **r)
{
	if (!*r)
		return;
	fake.running = false;
	free(*r);
	*r = NULL;
}

void reflector_stats(const struct reflector *r, struct reflector_stats *ret)
{
	(void)r;
	*ret = (struct reflector_stats){ .events = 7, .lists = 1 };
}

struct http_client *http_client_new(struct event_base *base, const struct http_endpoint *e)
{
	(void)base;
	(void)snprintf(fake.server, sizeof(fake.server), "%s", e->base_url);
	return xcalloc(1, sizeof(struct http_client));
}

void http_client_set_endpoint(struct http_client *c, const struct http_endpoint *e)
{
	(void)c;
	(void)snprintf(fake.server, sizeof(fake.server), "%s", e->base_url);
	(void)snprintf(fake.token, sizeof(fake.token), "%s", e->bearer_token ? e->bearer_token : "");
}

void http_client_free(struct http_client **c)
{
	free(*c);
	*c = NULL;
}

/* Only the leader election makes requests of its own, and it is off here. */
struct http_request *http_client_start(struct http_client *c, const struct http_call *call)
{
	(void)c, (void)call;
	ck_abort_msg("no request was expected");
	return NULL;
}

void http_request_cancel(struct http_request **r)
{
	ck_assert_ptr_null(*r);
}
