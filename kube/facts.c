/* facts.c - see facts.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/facts.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"

#define MIRROR_KEY "kubernetes.io/config.mirror"

/* Who stamps the revision: Deployment, Argo Rollout, StatefulSet and DaemonSet. */
#define REPLICA_SET "pod-template-hash"
#define ROLLOUT     "rollouts-pod-template-hash"
#define CONTROLLER  "controller-revision-hash"
static const struct str revision_labels[] = { STR_LIT(REPLICA_SET), STR_LIT(ROLLOUT), STR_LIT(CONTROLLER) };

void facts_begin(struct facts_builder *b, struct pod_facts *f)
{
	memset(f, 0, offsetof(struct pod_facts, finalizers));
	f->n_containers = 0;
	f->grace_s = -1;
	*b = (struct facts_builder){ f, ARRAY_SIZE(revision_labels) };
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

void facts_know_label(struct facts_builder *b, struct str key, struct str value)
{
	struct pod_facts *f = b->f;

	if (KEY_IS(key, ANNOTATION_IGNORE) && KEY_IS(value, "true"))
		f->skip = true;
	for (unsigned i = 0; i < b->revision_rank; i++)
		if (key_is(key, revision_labels[i].p, revision_labels[i].n)) {
			f->revision = value;
			b->revision_rank = i;
		}
}

void facts_add_annotation(struct facts_builder *b, struct str key, struct str value)
{
	if (annotations_add(&b->f->annotations, key, value))
		b->f->skip = b->f->skip || b->f->annotations.ignore;
	else if (KEY_IS(key, MIRROR_KEY))
		b->f->mirror = true;
}

void facts_add_owner(struct facts_builder *b, const struct owner_facts *owner, bool controller)
{
	if (KEY_IS(owner->kind, "Node"))
		b->f->mirror = true;
	if (controller && str_empty(b->f->owner.uid))
		b->f->owner = *owner;
}

void facts_add_finalizer(struct facts_builder *b, struct str name)
{
	if (b->f->n_finalizers < POD_FINALIZERS_MAX)
		b->f->finalizers[b->f->n_finalizers] = name;
	b->f->n_finalizers++;
}

void facts_add_condition(struct facts_builder *b, struct str type, struct str status, int64_t since)
{
	struct pod_facts *f = b->f;

	if (!KEY_IS(status, "True"))
		return;
	if (KEY_IS(type, "Ready")) {
		f->ready = true;
		f->ready_since = since;
	} else if (KEY_IS(type, "Initialized")) {
		f->initialized = true;
	} else if (KEY_IS(type, "PodScheduled")) {
		f->scheduled = true;
		f->scheduled_at = since;
	} else if (KEY_IS(type, "DisruptionTarget")) {
		f->disruption_at = since;
	}
}

struct container_facts *facts_add_container(struct facts_builder *b, enum container_kind kind)
{
	struct pod_facts *f = b->f;

	if (f->n_containers == POD_CONTAINERS_MAX) {
		f->containers_cut = true;
		return NULL;
	}
	struct container_facts *c = &f->containers[f->n_containers++];

	*c = (struct container_facts){ .kind = kind };
	return c;
}

void facts_end(struct facts_builder *b)
{
	if (!str_empty(b->f->node))
		b->f->scheduled = true;
}
