/* autoscaler.h - before a workload is scaled: would somebody else scale it up again, and has somebody done so
 * before (R21, R22)? What may not be read is said in the evidence and does not block the action: it would
 * show as reverted.  Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_STEPS_AUTOSCALER_H
#define WORKER_STEPS_AUTOSCALER_H

#include "worker/owner_kinds.h"
#include "worker/steps/step.h"

step_needed_fn needs_hpa, needs_keda;
step_ask_fn ask_hpa, ask_keda;
step_item_fn item_hpa, item_keda;
step_take_fn take_hpa, take_keda;

/* Who marks the topmost owner as theirs, and who set its replicas last: STEP_NEXT, or an end when somebody
 * reverted our scale-down not long enough ago. */
enum step_then autoscaler_judge_writers(struct action *a);

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
