/* inspection.h - looks at one container for the rows of a report: how it ended last, its memory limit and
 * image, the topmost controller of its pod, since when that one's revision exists, and whom it concerns. It
 * reads the pod, then its owners one after the other, and writes nothing. Layer: worker. What may not be read
 * is left out. No discovery: an owner of a kind that model/kinds.def does not have is named, not read.
 *
 * A revision exists since its object was created: the ReplicaSet, or the ControllerRevision (apps/v1) that
 * the label controller-revision-hash of the pod names: the whole name for a StatefulSet
 * (pkg/controller/statefulset, setPodRevision), "<name>-<hash>" for a DaemonSet (pkg/controller/daemon,
 * snapshot). So one object is read, and of that the metadata alone: where kubectl rollout history lists them
 * all, with their templates, to say what each one was (polymorphichelpers/history.go). A roll-back takes the
 * object of then, with its creation.
 *
 * Whom it concerns stands in an annotation of the topmost owner that was read, else of those below it, else
 * of the pod: the first key of the setting tooManyRestart.ownerAnnotation that is there. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_INSPECTION_H
#define WORKER_INSPECTION_H

#include "http/client.h"
#include "ipc/msg.h"
#include "model/policy.h"

/* Open at once; one more is answered as not found. */
#define INSPECTIONS_MAX 8u
/* Begun in a minute; likewise. A report takes up to 100. */
#define INSPECTIONS_PER_MINUTE 300u

struct inspections;
/* client is borrowed. answer() gets an INSPECTED for each question. */
struct inspections *inspections_new(struct http_client *client,
				    void (*answer)(void *ctx, const struct msg *m), void *ctx);
/* Cancels what is under way, without answers. Accepts NULL. */
void inspections_free(struct inspections **l);
/* policy: only namespaces that a report shows are looked into, by their names. contact_keys: keys of
 * annotations, separated by commas, or NULL. */
void inspections_ask(struct inspections *l, const struct msg_inspect *question, const struct policy *policy,
		     const char *contact_keys);

#endif
