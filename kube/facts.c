/* facts.c - see facts.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/facts.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"

#define MIRROR_KEY "kubernetes.io/config.mirror"

/* Who stamps the revision, the best last: StatefulSet and DaemonSet, Argo Rollout, Deployment. */
#define REPLICA_SET "pod-template-hash"
#define ROLLOUT     "rollouts-pod-template-hash"
#define CONTROLLER  "controller-revision-hash"
static const struct str revision_labels[] = { STR_LIT(CONTROLLER), STR_LIT(ROLLOUT), STR_LIT(REPLICA_SET) };

void facts_begin(struct pod_facts *f)
{
	memset(f, 0, offsetof(struct pod_facts, finalizers));
	f->n_containers = 0;
	f->grace_s = -1;
}

_Static_assert(sizeof(ANNOTATION_PREFIX) - 1 >= 19 && sizeof(ANNOTATION_ANNOUNCED) - 1 <= 31 &&
		       sizeof(MIRROR_KEY) - 1 <= 31,
	       "FACTS_ANNOTATIONS");

/* Most keys differ already in length: no call for them. */
static bool key_is(struct str key, const char *want, size_t n)
{
	return key.n == n && memcmp(key.p, want, n) == 0;
}
#define KEY_IS(key, lit) key_is(key, lit, sizeof(lit) - 1)

_Static_assert(FACTS_LABELS == (1u << (sizeof(REPLICA_SET) - 1) | 1u << (sizeof(ROLLOUT) - 1) |
				1u << (sizeof(CONTROLLER) - 1) | 1u << (sizeof(ANNOTATION_IGNORE) - 1)),
	       "FACTS_LABELS");

void facts_know_label(struct pod_facts *f, struct str key, struct str value)
{
	if (KEY_IS(key, ANNOTATION_IGNORE) && KEY_IS(value, "true"))
		f->skip = true;
	for (uint8_t i = f->revision_rank; i < ARRAY_SIZE(revision_labels); i++)
		if (key_is(key, revision_labels[i].p, revision_labels[i].n)) {
			f->revision = value;
			f->revision_rank = i + 1;
		}
}

void facts_add_annotation(struct pod_facts *f, struct str key, struct str value)
{
	if (annotations_add(&f->annotations, key, value))
		f->skip = f->skip || f->annotations.ignore;
	else if (KEY_IS(key, MIRROR_KEY))
		f->mirror = true;
}

void facts_add_owner(struct pod_facts *f, const struct owner_row *row)
{
	if (KEY_IS(row->kind, "Node"))
		f->mirror = true;
	if (row->controller && str_empty(f->owner.uid))
		f->owner = (struct owner_facts){ row->api_version, row->kind, row->name, row->uid };
}

void facts_add_finalizer(struct pod_facts *f, struct str name)
{
	if (f->n_finalizers < POD_FINALIZERS_MAX)
		f->finalizers[f->n_finalizers] = name;
	f->n_finalizers++;
}

void facts_add_condition(struct pod_facts *f, const struct condition_row *row)
{
	const bool is_true = KEY_IS(row->status, "True");

	if (!is_true) {
		if (KEY_IS(row->type, "Ready"))
			f->unready_since = row->since;
	} else if (KEY_IS(row->type, "Ready")) {
		f->ready = true;
	} else if (KEY_IS(row->type, "Initialized")) {
		f->initialized = true;
	} else if (KEY_IS(row->type, "PodScheduled")) {
		f->scheduled = true;
		f->scheduled_at = row->since;
	} else if (KEY_IS(row->type, "DisruptionTarget")) {
		f->disruption_at = row->since;
	}
}

struct container_facts *facts_add_container(struct pod_facts *f, enum container_kind kind)
{
	if (f->n_containers == POD_CONTAINERS_MAX) {
		f->containers_cut = true;
		return NULL;
	}
	struct container_facts *c = &f->containers[f->n_containers++];

	*c = (struct container_facts){ .kind = kind };
	return c;
}

void facts_end(struct pod_facts *f)
{
	if (!str_empty(f->node))
		f->scheduled = true;
}
