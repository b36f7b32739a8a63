/* reflector.c - see reflector.h: which streams there are. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/reflector.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "kube/stream.h"

#define SILENT_MS     90000 /* servers send a bookmark every minute or so, and answer sooner */
#define WIDE_RETRY_MS 300000

static void add_namespaces(struct reflector *r, bool in_trouble)
{
	for (size_t i = 0; i < r->namespaces.n; i++)
		stream_new(r, r->namespaces.v[i])->in_trouble = in_trouble;
}

static bool has_namespace_streams(const struct reflector *r)
{
	const struct stream *s;

	TAILQ_FOREACH (s, &r->streams, entry)
		if (s != r->wide)
			return true;
	return false;
}

bool reflector_wide_forbidden(struct reflector *r)
{
	if (has_namespace_streams(r))
		return false;
	add_namespaces(r, true);
	return true;
}

void reflector_wide_synced(struct reflector *r)
{
	if (has_namespace_streams(r))
		event_active(r->retire, EV_TIMEOUT, 0); /* not while one of them may be on the stack */
}

static void on_retire(evutil_socket_t fd, short what, void *ctx)
{
	struct reflector *r = ctx;
	struct stream *s, *next;

	(void)fd;
	(void)what;
	for (s = TAILQ_FIRST(&r->streams); s; s = next) {
		next = TAILQ_NEXT(s, entry);
		if (s != r->wide)
			stream_free(s);
	}
}

struct reflector *reflector_new(struct event_base *base, struct http_client *client,
				const struct reflector_config *config, const struct reflector_ops *ops,
				void *ctx)
{
	struct reflector *r = xcalloc(1, sizeof(*r));

	r->base = base;
	r->client = client;
	r->ops = *ops;
	r->ctx = ctx;
	r->core_config =
		(struct core_config){ config->no_watchlist, config->page_size, config->backoff_base_ms };
	r->silent_ms = config->silent_ms ? config->silent_ms : SILENT_MS;
	r->wide_retry_ms = config->wide_retry_ms ? config->wide_retry_ms : WIDE_RETRY_MS;
	r->retire = event_new(base, -1, 0, on_retire, r);
	TAILQ_INIT(&r->streams);
	for (size_t i = 0; i < config->n_namespaces; i++)
		str_list_add(&r->namespaces, config->namespaces[i], strlen(config->namespaces[i]));
	if (config->only_namespaces)
		add_namespaces(r, false);
	else
		r->wide = stream_new(r, "");
	return r;
}

void reflector_free(struct reflector **ref)
{
	struct reflector *r = *ref;
	struct stream *s;

	*ref = NULL;
	if (!r)
		return;
	while ((s = TAILQ_FIRST(&r->streams)))
		stream_free(s);
	event_free(r->retire);
	str_list_done(&r->namespaces);
	free(r);
}

void reflector_stats(const struct reflector *r, struct reflector_stats *ret)
{
	const bool wide = r->wide && !has_namespace_streams(r);
	const struct stream *s;

	*ret = r->stats;
	ret->synced = true;
	TAILQ_FOREACH (s, &r->streams, entry)
		if ((s == r->wide) == wide && !s->synced)
			ret->synced = false;
}
