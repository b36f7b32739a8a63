/* managed_fields.h - who wrote which number of replicas: metadata.managedFields of a workload (apimachinery
 * meta/v1 ManagedFieldsEntry; an update moves the field to who changed it, kubernetes.io/docs
 * server-side-apply). Layer: worker.  Pure; strings borrow from the tree. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_MANAGED_FIELDS_H
#define WORKER_MANAGED_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "text/texts.h"

/* The name under which this program writes. */
#define MANAGED_US "ops-pod-cleaner"

struct managed_fields_writer {
	struct str manager, operation, subresource; /* subresource is empty for the object itself */
	int64_t at;                                 /* Unix ms, 0 when the entry does not say */
};

/* Who set the replicas last. They are spec.replicas, and also whatever field of spec somebody wrote through
 * /scale: a custom kind names it as it likes. Of several at the same second it is not us. False when nobody
 * is named. */
bool managed_fields_replicas(const json_t *o, struct managed_fields_writer *ret);
/* Is a 0 the last that was written, through /scale? It leaves no owner: ScaleSpec.replicas is left out when
 * it is 0 (k8s.io/api autoscaling/v1), so the field leaves the set of whoever had it; a 0 that is written in
 * any other way has an owner. Seen on kube-apiserver. False also when no fields are kept at all. */
bool managed_fields_zero_by_scale(const json_t *o);
/* Is it this program, which patches and never applies? */
bool managed_fields_is_us(const struct managed_fields_writer *w);
/* Add "replicas last set by: kubectl-edit (Update, 2026-11-21T10:22:48Z)". */
void managed_fields_facts(const struct managed_fields_writer *w, struct facts *f);

#endif
