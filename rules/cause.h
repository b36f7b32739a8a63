/* cause.h - why an image can not be pulled, from what the kubelet says of it (R3).  Layer: rules.  Pure.
 * Sources: kubernetes pkg/kubelet/images/{types,image_manager}.go (the reasons, and since 1.32 the text
 * `Back-off pulling image "X": ErrImagePull: CAUSE`), containerd remotes/docker errors, the distribution
 * specification's error codes, errno texts of Go's net package. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_CAUSE_H
#define RULES_CAUSE_H

#include "model/pod.h"
#include "model/policy.h"

/* Message of a waiting container or of a Failed Event -> cause; CAUSE_UNKNOWN when it says nothing. A message
 * with signs of several causes is transient before misconfigured before auth before permanent: what may heal
 * by itself comes first. What is quoted is a name and is not read; what stands after it is. */
enum pull_cause cause_classify(struct str message);
/* Of a failing container: its message; else what its reason alone tells (InvalidImageName); else c->cause. */
enum pull_cause cause_of(const struct container_facts *c);
/* Does it wait with a reason that means "the image is not here", of whatever cause? */
bool cause_concerns(const struct container_facts *c);
/* "Init:X" -> "X": kubectl's way of writing is accepted everywhere. */
struct str cause_bare_reason(struct str reason);
/* "permanent", "auth", "misconfigured", "transient", "unknown": the words of errImagePull.causes. */
const char *cause_name(enum pull_cause c);
/* May this cause lead to a write? Of a cause that is transient by its message, and of a host from which other
 * workloads pulled since `since` (others_at: last, 0 = never seen), it is not known what hinders it: then it
 * may where unknown ones may. */
bool cause_may_act(const struct duty_policy *dp, enum pull_cause c, int64_t since, int64_t others_at);

/* Registry host of an image, with its port: what is before the first "/" when that has a "." or ":" or is
 * "localhost", else "docker.io" (github.com/distribution/reference). Empty for an empty
 * image and for one that is only the runtime's id ("sha256:..."). Borrowed. */
struct str image_host(struct str image);

#endif
