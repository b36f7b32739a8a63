/* facts.h - what both pod decoders share: how names, labels and conditions become facts. Nothing here knows
 * an encoding. Layer: kube, internal to it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_FACTS_H
#define KUBE_FACTS_H

#include "base/pod.h"

/* State of one decode beyond the facts themselves. */
struct facts_builder {
	struct pod_facts *f;
	unsigned revision_rank; /* which label `revision` came from; lower wins */
};

/* Lengths of the keys and types that facts_add_annotation and _condition know, one bit each: what has another
 * need not be read. */
#define FACTS_ANNOTATIONS 0xfff00000u /* 20 to 31 bytes */
#define FACTS_CONDITIONS  (1u << 5 | 1u << 11 | 1u << 12 | 1u << 16)

/* Empty facts; containers and finalizers stay uninitialised until they are added. */
void facts_begin(struct facts_builder *b, struct pod_facts *f);
void facts_add_label(struct facts_builder *b, struct str key, struct str value);
void facts_add_annotation(struct facts_builder *b, struct str key, struct str value);
void facts_add_owner(struct facts_builder *b, const struct owner_facts *owner, bool controller);
void facts_add_finalizer(struct facts_builder *b, struct str name);
void facts_add_condition(struct facts_builder *b, struct str type, struct str status, int64_t since);
/* A zeroed container to fill, or NULL (and containers_cut) when there are too many. */
struct container_facts *facts_add_container(struct facts_builder *b, enum container_kind kind);
/* Conclusions that need the whole pod. */
void facts_end(struct facts_builder *b);

/* Kubernetes' seconds -> Unix ms; 0 (not set) outside the years RFC 3339 can write. */
int64_t facts_time(int64_t seconds);

#endif
