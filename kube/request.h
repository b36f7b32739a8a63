/* request.h - the single requests a worker makes: paths, bodies with preconditions, and what the answers
 * mean. Layer: kube.  Builders are pure; sending is http/client. Strings returned are owned by the caller. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_REQUEST_H
#define KUBE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* group "" = core/v1. ns NULL = cluster-scoped; name NULL = collection; subresource NULL = none; query NULL =
 * none. Each part is checked and percent-encoded: a name can never add a path segment or a parameter. NULL
 * when a part is empty or is "." or "..". */
char *request_path(const char *group, const char *version, const char *ns, const char *resource,
		   const char *name, const char *subresource, const char *query);

/* Percent-encodes everything but RFC 3986's unreserved characters: one path segment or one query value. */
char *request_escape(const char *s);

/* DeleteOptions, JSON. grace_s < 0 = the pod's own. dry_run adds dryRun: ["All"]. uid and rv always go into
 * preconditions. */
char *request_delete_body(const char *uid, const char *rv, int64_t grace_s, bool dry_run);

/* merge-patch for /scale: replicas 0, bound to metadata.uid and resourceVersion (kubernetes
 * apps/deployment/storage.go). */
char *request_scale_patch(const char *uid, const char *rv, int64_t replicas);

/* merge-patches of the object itself, bound to metadata.uid and resourceVersion alike: one annotation, and
 * spec.suspend of a Job or CronJob. */
char *request_annotation_patch(const char *uid, const char *rv, const char *key, const char *value);
char *request_suspend_patch(const char *uid, const char *rv);

/* What a Status body says; message is cut to size. Works on any body (text/plain 429 of API priority and
 * fairness). */
struct request_status {
	long code;
	char reason[64];
	char message[256];
	int64_t retry_after_s; /* details.retryAfterSeconds, -1 absent */
};
void request_status_parse(long http_status, const char *body, size_t n, struct request_status *ret);

#endif
