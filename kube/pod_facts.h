/* pod_facts.h - what both pod decoders share: how labels, owners, conditions and containers become facts.
 * Nothing here knows an encoding. Layer: kube, internal to it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_POD_FACTS_H
#define KUBE_POD_FACTS_H

#include "model/fields.def"
#include "model/pod.h"

/* A message that is more than one fact, as it was read. */
#define FACTS_ROW_MEMBER(x, fact, number, key, kind) FACT_TYPE_##kind fact;
struct owner_row {
	FIELDS_owner(FACTS_ROW_MEMBER, 0)
};
struct condition_row {
	FIELDS_condition(FACTS_ROW_MEMBER, 0)
};
struct claim_row {
	FIELDS_claim(FACTS_ROW_MEMBER, 0)
};
struct health_row {
	FIELDS_health(FACTS_ROW_MEMBER, 0)
};
/* A container of the spec, whose rules are held against how `of` ended; NULL: only its name is read, and
 * whether it has rules. */
struct template_row {
	struct str name;
	struct container_facts *of;
	bool has_rules;
};
struct rule_row {
	struct str operator;
	int32_t exit_code; /* that it is held against */
	bool listed;       /* among its values */
};

/* Lengths of the keys and types that facts_know_label, facts_add_annotation and _condition know, one bit
 * each: what has another need not be read. Of annotations the last five bits of the first letter tell, too.
 */
#define MIRROR_KEY               "kubernetes.io/config.mirror"
#define FACTS_LABELS             (1u << 17 | 1u << 24 | 1u << 25 | 1u << 26)
#define FACTS_ANNOTATIONS        0xfff00000u /* 20 to 31 bytes */
#define FACTS_ANNOTATION_LETTERS (1u << ('o' & 31) | 1u << ('k' & 31))
#define FACTS_CONDITIONS         (1u << 5 | 1u << 11 | 1u << 12 | 1u << 16 | 1u << 23)

/* Empty facts; containers, finalizers and labels stay uninitialised until they are added. */
void facts_begin(struct pod_facts *f);
/* What a label says by itself; facts_add_label() is the one to call. */
void facts_know_label(struct pod_facts *f, struct str key, struct str value);
static inline void facts_add_label(struct pod_facts *f, struct str key, struct str value)
{
	if (f->n_labels < POD_LABELS_MAX)
		f->labels[f->n_labels++] = (struct label){ key, value };
	else
		f->labels_cut = true;
	if (key.n < 32 && FACTS_LABELS >> key.n & 1)
		facts_know_label(f, key, value);
}
void facts_add_annotation(struct pod_facts *f, struct str key, struct str value);
void facts_add_owner(struct pod_facts *f, const struct owner_row *row);
void facts_add_finalizer(struct pod_facts *f, struct str name);
void facts_add_condition(struct pod_facts *f, const struct condition_row *row);
/* A zeroed container to fill, or NULL (and containers_cut) when there are too many. */
struct container_facts *facts_add_container(struct pod_facts *f, enum container_kind kind);
/* Of a pod's claims one is kept: the first with the name of a ResourceClaim, else the first. */
void facts_add_claim(struct pod_facts *f, const struct claim_row *row);
void facts_add_health(struct container_facts *c, const struct health_row *row);
static inline void facts_add_code(struct rule_row *row, int32_t code)
{
	row->listed = row->listed || code == row->exit_code;
}
/* Is the pod being deleted, or has a container ended? Then the containers of the spec, which stands before
 * the status, are read once more and held against it. */
bool facts_need_templates(const struct pod_facts *f);
/* The i-th container, when rules of the spec's container of that name are to be held against its end. */
struct container_facts *facts_ruled(struct pod_facts *f, uint32_t i, struct str name);
/* A rule of row->of. */
/* The spec has a container of that name: without a status it is unreported. Call it when all statuses are
 * known. */
void facts_note_template(struct pod_facts *f, struct str name);
struct rule_row facts_rule(const struct template_row *row);
void facts_heed_rule(const struct template_row *row, const struct rule_row *rule);
/* Conclusions that need the whole pod. */
void facts_end(struct pod_facts *f);

/* The state of a container of which these members are there. */
static inline enum container_state facts_state(bool waiting, bool running, bool terminated)
{
	return waiting      ? CONTAINER_WAITING
	       : running    ? CONTAINER_RUNNING
	       : terminated ? CONTAINER_TERMINATED
			    : CONTAINER_NONE;
}

/* Kubernetes' seconds -> Unix ms; 0 (not set) outside the years RFC 3339 can write. */
static inline int64_t facts_time(int64_t seconds)
{
	const int64_t year_1 = INT64_C(-62135596800), year_9999 = INT64_C(253402300799);

	return seconds <= year_1 || seconds > year_9999 ? 0 : seconds * 1000;
}

#endif
