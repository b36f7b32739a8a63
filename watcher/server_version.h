/* server_version.h - which version of Kubernetes the API server has, as it says itself. Nothing is decided by
 * it: `status` shows it. Layer: watcher.  Threads: none. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_SERVER_VERSION_H
#define WATCHER_SERVER_VERSION_H

#include "http/client.h"

struct server_version;

/* client is borrowed and outlives it. changed(ctx): the version is another one. */
struct server_version *server_version_new(struct http_client *client, void (*changed)(void *ctx), void *ctx);
/* Accepts NULL. */
void server_version_free(struct server_version **v);
/* The API server answers: ask it, once an hour, and where it may be another one (anew) at once. That it does
 * not say it, or may not, is no trouble: every cluster grants /version to all (system:public-info-viewer),
 * unless its administrator has taken that away. */
void server_version_ask(struct server_version *v, bool anew);
/* Know nothing, ask nothing. */
void server_version_forget(struct server_version *v);
/* "v1.34.1", as kubernetes_version_parse() takes it; "" while it is unknown. */
const char *server_version_text(const struct server_version *v);

#endif
