/* namespace_watch.h - the labels of namespaces, from the API server to the controller, where the
 * configuration asks for some. Layer: watcher.  Threads: none. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_NAMESPACE_WATCH_H
#define WATCHER_NAMESPACE_WATCH_H

#include "http/client.h"
#include "watcher/controller/controller.h"

struct namespace_watch;

struct namespace_watch_ops {
	/* There may be something to judge, or another trouble. */
	void (*changed)(void *ctx);
	void (*bad_object)(void *ctx, const char *text);
	/* The credential was refused. */
	void (*credential)(void *ctx);
};

/* Lists and watches at once; what was known before is forgotten. All but ops are borrowed and outlive it. */
struct namespace_watch *namespace_watch_new(struct event_base *base, struct http_client *client,
					    struct controller *controller,
					    const struct namespace_watch_ops *ops, void *ctx);
/* What is known is forgotten. */
void namespace_watch_free(struct namespace_watch **n);
/* Why the labels are not kept in step, for the operator; none when they are. */
const struct facts *namespace_watch_trouble(const struct namespace_watch *n);

#endif
