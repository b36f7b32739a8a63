/* reflector.h - keeps a consumer in step with all pods of a cluster (or of some namespaces), or with
 * its namespaces: list, then
 * watch, for ever. client-go's algorithm and constants (tools/cache/reflector.go, kube-wire notes in
 * docs/informer.md): WatchList where served, else pages; 410 -> relist; bookmarks; backoff 0.8 s x 2 to 30 s;
 * a watch timeout of 300-600 s; half-open detection. Layer: kube.  Decodes while bytes arrive: no list is
 * ever held whole. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_REFLECTOR_H
#define KUBE_REFLECTOR_H

#include <stddef.h>

#include "http/client.h"
#include "kube/reflector_ops.h"

struct reflector;

struct reflector_config {
	enum reflect_what what;
	char *const *namespaces; /* used when the list of all namespaces is forbidden (403), or when
				    only_namespaces */
	size_t n_namespaces;
	bool only_namespaces;
	bool no_watchlist;    /* never ask for WatchList */
	uint32_t page_size;   /* 0 = 500; a page that holds 20 times as many ends its list */
	uint64_t max_objects; /* a list that holds more ends; 0 = no limit */
	/* Tests wait less; 0 = the default. */
	uint32_t backoff_base_ms; /* 800 */
	uint32_t stalled_ms;      /* 90000: a watch that should speak and does not is dead */
	uint32_t all_retry_ms; /* 300000: at most, until a forbidden list of all namespaces is tried again */
};

/* Starts at once. base and client are borrowed and outlive the reflector. From inside the ops neither
 * reflector_free may be called nor the client freed; http_client_set_endpoint may. When the list of all
 * namespaces is forbidden, each namespace of the configuration gets a stream of its own, and the list of all
 * is tried again every 5 minutes; when it is allowed again it takes over. */
struct reflector *reflector_new(struct event_base *base, struct http_client *client,
				const struct reflector_config *config, const struct reflector_ops *ops,
				void *ctx);
void reflector_free(struct reflector **r);

void reflector_stats(const struct reflector *r, struct reflector_stats *ret);

#endif
