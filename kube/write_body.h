/* write_body.h - the bodies of what a worker writes, each bound to the object by uid and resourceVersion.
 * Layer: kube.  Pure. The texts are JSON and owned by the caller. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_WRITE_BODY_H
#define KUBE_WRITE_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DeleteOptions with both as preconditions. grace_s < 0 = the pod's own. dry_run adds dryRun: ["All"]. */
char *write_body_delete(const char *uid, const char *rv, int64_t grace_s, bool dry_run);

/* merge-patch for /scale, bound by metadata.uid and resourceVersion (kubernetes
 * apps/deployment/storage.go). */
char *write_body_scale(const char *uid, const char *rv, int64_t replicas);

struct write_annotation {
	const char *key;
	char *value; /* NULL: it is taken away */
};
/* merge-patches of the object itself, bound alike: n > 0 annotations, and with them spec.replicas, or
 * spec.suspend of a Job or CronJob. */
char *write_body_annotations(const char *uid, const char *rv, const struct write_annotation *list, size_t n);
char *write_body_replicas(const char *uid, const char *rv, int64_t replicas,
			  const struct write_annotation *list, size_t n);
char *write_body_suspend(const char *uid, const char *rv, const struct write_annotation *list, size_t n);

#endif
