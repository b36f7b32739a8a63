/* autoscaler.h - who else sets the replicas of a workload: autoscalers that name it, and GitOps tools that
 * mark it (R21, R22).  Layer: worker.  Pure; strings borrow from the tree. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_AUTOSCALER_H
#define WORKER_AUTOSCALER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "worker/owner_kinds.h"

/* Does spec.scaleTargetRef of an autoscaler name this object? Without apiVersion and kind it is a Deployment
 * (KEDA's default). */
bool autoscaler_targets(const json_t *scaler, const struct kind_info *kind, struct str name);

/* spec.minReplicas of a HorizontalPodAutoscaler, 1 when it is absent. From 0 replicas it scales up only when
 * this is 0; else 0 switches it off (ScalingDisabled; kubernetes pkg/controller/podautoscaler/horizontal.go).
 */
int64_t autoscaler_hpa_min(const json_t *hpa);

/* Is a ScaledObject paused so that it leaves 0 alone? Annotations autoscaling.keda.sh/paused: "true" and
 * autoscaling.keda.sh/paused-replicas: "0" (keda.sh/docs/concepts/scaling-deployments). */
bool autoscaler_keda_paused(const json_t *scaled_object);

/* The mark of a GitOps tool on a workload: its key, or NULL. */
const char *autoscaler_gitops_mark(const json_t *workload);

#endif
