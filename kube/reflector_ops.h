/* reflector_ops.h - what a reflector tells its consumer.  Layer: kube. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_REFLECTOR_OPS_H
#define KUBE_REFLECTOR_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/facts.h"
#include "model/pod.h"

/* What is kept in step. Of namespaces only name, uid, resourceVersion and labels are told; pod and ns below
 * are then a namespace and "". */
enum reflect_what { REFLECT_PODS, REFLECT_NAMESPACES, REFLECT__MAX };

struct reflector_ops {
	/* A list (or WatchList) begins to arrive: objects not named until on_sync are gone. */
	void (*on_list)(void *ctx, const char *ns);
	/* Object of the list, or ADDED/MODIFIED. Facts are valid during the call. */
	void (*on_pod)(void *ctx, const struct pod_facts *pod);
	void (*on_delete)(void *ctx, const struct pod_facts *pod);
	/* The list is complete (ns: the namespace listed, "" = all): sweep what it did not name. From now on
	 * events are live. */
	void (*on_sync)(void *ctx, const char *ns);
	/* A list was given up before its end: keep the old state, sweep nothing. NULL: nothing is done then.
	 */
	void (*on_list_failed)(void *ctx, const char *ns);
	/* Headers with a Date arrived, also those of a refusal: server_date_ms. Or bytes of a list or watch
	 * arrived, bookmarks included: server_date_ms is 0; ten times a second at most. */
	void (*on_alive)(void *ctx, int64_t server_date_ms);
	/* Trouble for operators and status; status is the HTTP status or 0; why NULL = healthy again. */
	void (*on_trouble)(void *ctx, long status, const struct facts *why);
	/* An object could not be decoded and was skipped; name may be empty. */
	void (*on_bad_object)(void *ctx, const char *text);
	/* There is no room for this object, which comes next: it is not handed over, and the list or watch
	 * ends. NULL = there always is. */
	bool (*is_full)(void *ctx, const struct pod_facts *pod);
	/* The list of all namespaces is forbidden: only those of the configuration are watched, until
	 * on_sync() of all. NULL = whoever listens does not mind. */
	void (*on_narrowed)(void *ctx, const struct facts *why);
};

struct reflector_stats {
	uint64_t events, lists;
};

#endif
