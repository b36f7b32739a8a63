/* namespace_watch.c - see namespace_watch.h. Bytes of this stream say nothing about the pods in the cache:
 * they do not keep it fresh. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/namespace_watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "kube/reflector.h"

struct namespace_watch {
	struct namespace_watch_ops ops;
	void *ctx;
	struct controller *controller;
	struct reflector *reflector;
	struct facts trouble;
};

static void on_list(void *ctx, const char *ns)
{
	struct namespace_watch *n = ctx;

	(void)ns;
	controller_list_namespaces(n->controller);
}

static void on_namespace(void *ctx, const struct pod_facts *ns)
{
	struct namespace_watch *n = ctx;

	controller_namespace(n->controller, ns);
	n->ops.changed(n->ctx);
}

static void on_delete(void *ctx, const struct pod_facts *ns)
{
	struct namespace_watch *n = ctx;

	controller_namespace_gone(n->controller, ns);
	n->ops.changed(n->ctx);
}

static void on_sync(void *ctx, const char *ns)
{
	struct namespace_watch *n = ctx;

	(void)ns;
	controller_sync_namespaces(n->controller);
	log_info("list of namespaces complete");
	n->ops.changed(n->ctx);
}

static void on_list_failed(void *ctx, const char *ns)
{
	(void)ctx;
	(void)ns;
}

static void on_alive(void *ctx, int64_t server_date_ms)
{
	struct namespace_watch *n = ctx;

	if (server_date_ms > 0)
		controller_server_date(n->controller, server_date_ms);
}

static void on_trouble(void *ctx, long status, const struct facts *why)
{
	struct namespace_watch *n = ctx;

	n->trouble = why ? *why : (struct facts){ 0 };
	if (why && status >= 400 &&
	    status <= 499) /* anything else hinders the pods' stream as well, and passes */
		controller_namespaces_failed(n->controller);
	if (why && status == 401)
		n->ops.credential(n->ctx);
	n->ops.changed(n->ctx);
}

static void on_bad_object(void *ctx, const char *text)
{
	struct namespace_watch *n = ctx;

	n->ops.bad_object(n->ctx, text);
}

struct namespace_watch *namespace_watch_new(struct event_base *base, struct http_client *client,
					    struct controller *controller,
					    const struct namespace_watch_ops *ops, void *ctx)
{
	static const struct reflector_ops reflector_ops = { on_list,    on_namespace,   on_delete,
							    on_sync,    on_list_failed, on_alive,
							    on_trouble, on_bad_object };
	const struct reflector_config config = { .what = REFLECT_NAMESPACES };
	struct namespace_watch *n = xcalloc(1, sizeof(*n));

	n->ops = *ops;
	n->ctx = ctx;
	n->controller = controller;
	controller_reset_namespaces(controller);
	n->reflector = reflector_new(base, client, &config, &reflector_ops, n);
	return n;
}

void namespace_watch_free(struct namespace_watch **n)
{
	if (!*n)
		return;
	reflector_free(&(*n)->reflector);
	controller_reset_namespaces((*n)->controller);
	free(*n);
	*n = NULL;
}

const struct facts *namespace_watch_trouble(const struct namespace_watch *n)
{
	return &n->trouble;
}
