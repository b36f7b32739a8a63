/* reflector.c - see reflector.h: which streams there are. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/reflector.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "kube/stream.h"

#define STALLED_MS   90000 /* servers send a bookmark every minute or so, and answer sooner */
#define ALL_RETRY_MS 300000

struct reflector {
	struct stream_env env;
	struct str_list namespaces;
	struct stream *all;   /* of all namespaces; NULL when only_namespaces */
	struct stream **each; /* one a namespace, or NULL while the first is enough */
	struct stream_fallback fallback;
	struct event *retire; /* the streams of the namespaces are no longer needed */
};

static void add_namespaces(struct reflector *r, bool in_trouble)
{
	r->each = xcalloc(r->namespaces.n, sizeof(*r->each));
	for (size_t i = 0; i < r->namespaces.n; i++)
		r->each[i] = stream_new(&r->env, r->namespaces.v[i], NULL, in_trouble);
}

static void remove_namespaces(struct reflector *r)
{
	for (size_t i = 0; r->each && i < r->namespaces.n; i++)
		stream_free(&r->each[i]);
	free(r->each);
	r->each = NULL;
}

static bool fallback_begin(void *ctx)
{
	struct reflector *r = ctx;

	if (r->each)
		return false;
	add_namespaces(r, true);
	return true;
}

static void fallback_end(void *ctx)
{
	struct reflector *r = ctx;

	if (r->each)
		event_active(r->retire, EV_TIMEOUT, 0); /* not while one of them may be on the stack */
}

/* Trouble of the namespaces ends with their streams. */
static void on_retire(evutil_socket_t fd, short what, void *ctx)
{
	struct reflector *r = ctx;
	const bool in_trouble = r->env.in_trouble > 0;

	(void)fd;
	(void)what;
	remove_namespaces(r);
	if (in_trouble && r->env.in_trouble == 0)
		r->env.ops.on_trouble(r->env.ctx, 0, "");
}

struct reflector *reflector_new(struct event_base *base, struct http_client *client,
				const struct reflector_config *config, const struct reflector_ops *ops,
				void *ctx)
{
	struct reflector *r = xcalloc(1, sizeof(*r));

	r->env.base = base;
	r->env.client = client;
	r->env.ops = *ops;
	r->env.ctx = ctx;
	r->env.core =
		(struct core_config){ config->no_watchlist, config->page_size, config->backoff_base_ms };
	r->env.stalled_ms = config->stalled_ms ? config->stalled_ms : STALLED_MS;
	r->fallback = (struct stream_fallback){ fallback_begin, fallback_end, r,
						config->all_retry_ms ? config->all_retry_ms : ALL_RETRY_MS };
	r->retire = event_new(base, -1, 0, on_retire, r);
	for (size_t i = 0; i < config->n_namespaces; i++)
		str_list_add(&r->namespaces, config->namespaces[i], strlen(config->namespaces[i]));
	if (config->only_namespaces)
		add_namespaces(r, false);
	else
		r->all = stream_new(&r->env, "", r->namespaces.n ? &r->fallback : NULL, false);
	return r;
}

void reflector_free(struct reflector **ref)
{
	struct reflector *r = *ref;

	*ref = NULL;
	if (!r)
		return;
	stream_free(&r->all);
	remove_namespaces(r);
	event_free(r->retire);
	str_list_done(&r->namespaces);
	free(r);
}

void reflector_stats(const struct reflector *r, struct reflector_stats *ret)
{
	*ret = r->env.stats;
	ret->synced = r->each || stream_is_synced(r->all);
	for (size_t i = 0; r->each && i < r->namespaces.n; i++)
		ret->synced &= stream_is_synced(r->each[i]);
}
