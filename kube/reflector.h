/* reflector.h - keeps a consumer in step with all pods of a cluster (or of some namespaces): list, then
 * watch, for ever. client-go's algorithm and constants (tools/cache/reflector.go, kube-wire notes in
 * docs/informer.md): WatchList where served, else pages; 410 -> relist; bookmarks; backoff 0.8 s x 2 to 30 s;
 * a watch timeout of 300-600 s; half-open detection. Layer: kube.  Decodes while bytes arrive: no list is
 * ever held whole. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_REFLECTOR_H
#define KUBE_REFLECTOR_H

#include "model/pod.h"
#include "http/client.h"

struct reflector;

struct reflector_ops {
	/* A list (or WatchList) begins to arrive: objects not named until on_sync are gone. */
	void (*on_list)(void *ctx, const char *ns);
	/* Object of the list, or ADDED/MODIFIED. Facts are valid during the call. */
	void (*on_pod)(void *ctx, const struct pod_facts *pod);
	void (*on_delete)(void *ctx, const struct pod_facts *pod);
	/* The list is complete (ns: the namespace listed, "" = all): sweep what it did not name. From now on
	 * events are live. */
	void (*on_sync)(void *ctx, const char *ns);
	/* A list was given up before its end: keep the old state, sweep nothing. */
	void (*on_list_failed)(void *ctx, const char *ns);
	/* Headers with a Date arrived, also those of a refusal: server_date_ms. Or bytes of a list or watch
	 * arrived, bookmarks included: server_date_ms is 0; ten times a second at most. */
	void (*on_alive)(void *ctx, int64_t server_date_ms);
	/* Trouble for people and status; status is the HTTP status or 0; empty text = healthy again. */
	void (*on_trouble)(void *ctx, long status, const char *text);
	/* An object could not be decoded and was skipped; name may be empty. */
	void (*on_bad_object)(void *ctx, const char *text);
};

struct reflector_config {
	char *const
		*namespaces; /* used when the cluster-wide list is forbidden (403), or when only_namespaces */
	size_t n_namespaces;
	bool only_namespaces;
	bool no_watchlist;  /* never ask for WatchList */
	uint32_t page_size; /* 0 = 500 */
	/* Tests wait less; 0 = the default. */
	uint32_t backoff_base_ms; /* 800 */
	uint32_t silent_ms;       /* 90000: a watch that should speak and does not is dead */
	uint32_t wide_retry_ms;   /* 300000: a forbidden cluster-wide list is tried again */
};

/* Starts at once. base and client are borrowed and outlive the reflector. From inside the ops neither
 * reflector_free may be called nor the client freed; http_client_set_endpoint may. When the cluster-wide list
 * is forbidden, each namespace of the configuration gets a stream of its own, and the cluster-wide list is
 * tried again every 5 minutes; when it is allowed again it takes over. */
struct reflector *reflector_new(struct event_base *base, struct http_client *client,
				const struct reflector_config *config, const struct reflector_ops *ops,
				void *ctx);
void reflector_free(struct reflector **r);

struct reflector_stats {
	uint64_t events, lists, relists_410, bytes, bad_objects;
	bool synced;
};
void reflector_stats(const struct reflector *r, struct reflector_stats *ret);

#endif
