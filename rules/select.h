/* select.h - which settings are in force for one object: the most specific override that matches, else the
 * policy itself.  Labels and namespace > labels > namespace > none; of equals, the one written first.
 * An override holds as a whole; two of them are never mixed.  Layer: rules.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_SELECT_H
#define RULES_SELECT_H

#include "model/pod.h"
#include "model/policy.h"
#include "model/reasons.h"

/* The pod has more labels than were read: whether an override with labels matches is unknown. */
#define SELECT_LABELS_UNKNOWN (1u << OVERRIDES_MAX)

/* What the cache keeps instead of labels: bit i when override i names labels and the pod has all of them;
 * SELECT_LABELS_UNKNOWN as above. 0 without overrides. A pod from the cache gives back its labels_mask. */
uint32_t select_labels(const struct policy *policy, const struct pod_facts *p);

/* Do both policies ask the same labels in the same order? Else masks of one mean nothing to the other. */
bool select_labels_alike(const struct policy *a, const struct policy *b);

/* The override in force for a pod; NULL when it is the policy itself. */
const struct policy_override *select_override(const struct policy *policy, const struct pod_facts *p);
/* The settings of all duties in force for a pod: an array of DUTY__MAX. */
const struct duty_policy *policy_of(const struct policy *policy, const struct pod_facts *p);

/* Is it known of each override whether it is for the pod's namespace? */
bool select_overrides_known(const struct policy *policy, const struct pod_facts *p);

/* Does the list of the duty select the pod's namespace, whatever else forbids it? */
enum tri select_wanted(const struct policy *policy, enum duty d, const struct pod_facts *p);

/* Does the duty serve the pod's namespace? Its list selects (model/namespaces.h); excludeNamespaces beats it;
 * namespaces protected by default (and our own) yield to being named, not to a pattern. *ret is set when
 * false. */
bool select_namespace(const struct policy *policy, enum duty d, const struct pod_facts *p, enum reason *ret);
/* The second half of it: no exclusion forbids it, whether the duty selects the namespace or not. */
bool select_unprotected(const struct policy *policy, enum duty d, const struct pod_facts *p,
			enum reason *ret);

#endif
