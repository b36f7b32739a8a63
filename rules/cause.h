/* cause.h - why an image can not be pulled, from what the kubelet says of it (R3).  Layer: rules.  Pure.
 * What says what is the table rules/causes.def. Since Kubernetes 1.32 the kubelet's text holds the cause:
 * `Back-off pulling image "X": ErrImagePull: CAUSE`. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_CAUSE_H
#define RULES_CAUSE_H

#include "model/pod.h"
#include "model/policy.h"

/* Message of a waiting container or of a Failed Event -> cause; CAUSE_UNKNOWN when it says nothing that a row
 * knows. Of a message with signs of several causes the first row counts: what may heal by itself comes before
 * misconfigured, auth and permanent. What is quoted is a name and is not read; what stands after it is. */
enum pull_cause cause_classify(struct str message);
/* Of a failing container: its message; else what its reason alone tells (InvalidImageName); else c->cause. */
enum pull_cause cause_of(const struct container_facts *c);
/* Does it wait with a reason that means "the image is not here", of whatever cause? */
bool cause_concerns(const struct container_facts *c);
/* "Init:X" -> "X": kubectl's way of writing is accepted everywhere. */
struct str cause_bare_reason(struct str reason);
/* "permanent", "auth", "misconfigured", "transient", "node", "unknown". */
const char *cause_name(enum pull_cause c);
/* May it heal by itself: transient, of the node or not? */
bool cause_may_heal(enum pull_cause c);
/* May this cause lead to a write? errImagePull.causes lists those that may; one of the node counts as
 * transient there. Of a cause that may heal by itself, and of a host from which other workloads pulled since
 * `since` (others_at: last, 0 = never seen), something of the workload's own hinders it: then it may where
 * misconfigured ones may. */
bool cause_may_act(const struct duty_policy *dp, enum pull_cause c, int64_t since, int64_t others_at);

/* Registry host of an image, with its port: what is before the first "/" when that has a "." or ":" or is
 * "localhost", else "docker.io" (github.com/distribution/reference). Empty for an empty
 * image and for one that is only the runtime's id ("sha256:..."). Borrowed. */
struct str image_host(struct str image);
/* Without tag and digest: "r.example.com:5000/team/app:v1" -> "r.example.com:5000/team/app". Borrowed. */
struct str image_repository(struct str image);

#endif
