/* pod_facts.c - see pod_facts.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/pod_facts.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"

#define REPLICA_SET "pod-template-hash"
#define ROLLOUT     "rollouts-pod-template-hash"
#define CONTROLLER  "controller-revision-hash"

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

/* Who stamps the revision, the best last: StatefulSet and DaemonSet, Argo Rollout, Deployment; 0: nobody. */
static uint8_t revision_rank(struct str key)
{
	return KEY_IS(key, REPLICA_SET) ? 3 : KEY_IS(key, ROLLOUT) ? 2 : KEY_IS(key, CONTROLLER) ? 1 : 0;
}

void facts_know_label(struct pod_facts *f, struct str key, struct str value)
{
	const uint8_t rank = revision_rank(key);

	if (KEY_IS(key, ANNOTATION_IGNORE) && KEY_IS(value, "true"))
		f->skip = true;
	if (rank > f->revision_rank) {
		f->revision = value;
		f->revision_rank = rank;
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
	} else if (KEY_IS(row->type, "AllContainersRestarting")) {
		f->restarting = true;
	}
}

void facts_add_claim(struct pod_facts *f, const struct claim_row *row)
{
	const struct str name = str_empty(row->object) ? row->name : row->object;
	const uint8_t rank = str_empty(row->object) ? 1 : 2;

	if (rank <= f->claim_rank)
		return;
	f->claim_rank = rank;
	f->claim = str_empty(name) ? STR_LIT("?") : name; /* it is held, whatever it is called */
}

void facts_add_health(struct container_facts *c, const struct health_row *row)
{
	if (str_is(row->health, "Unhealthy") && str_empty(c->device))
		c->device = str_empty(row->device) ? STR_LIT("?") : row->device;
}

/* -- restarts that are asked for -- */

static bool has_ended(const struct container_facts *c)
{
	return c->kind != CONTAINER_EPHEMERAL &&
	       (c->state == CONTAINER_TERMINATED || c->restarts > 0 || c->last_finished_at > 0);
}

bool facts_need_templates(const struct pod_facts *f)
{
	if (f->deletion > 0)
		return true;
	for (uint32_t i = 0; i < f->n_containers; i++)
		if (has_ended(&f->containers[i]))
			return true;
	return false;
}

struct container_facts *facts_ruled(struct pod_facts *f, uint32_t i, struct str name)
{
	struct container_facts *c = &f->containers[i];

	return has_ended(c) && str_eq(c->name, name) ? c : NULL;
}

void facts_note_template(struct pod_facts *f, struct str name)
{
	uint32_t i = 0;

	while (i < f->n_containers && !str_eq(f->containers[i].name, name))
		i++;
	f->unreported = f->unreported || i == f->n_containers;
}

struct rule_row facts_rule(const struct template_row *row)
{
	const struct container_facts *c = row->of;

	return (struct rule_row){ .exit_code = c->state == CONTAINER_TERMINATED ? c->exit_code
										: c->last_exit_code };
}

/* As kubernetes pkg/api/v1/pod FindMatchingContainerRestartRule, whose actions all ask for a restart. What is
 * not understood, a newer operator or an end that is not known, may ask for one: that is no crash. */
void facts_heed_rule(const struct template_row *row, const struct rule_row *rule)
{
	const struct container_facts *c = row->of;
	const bool known = c->state == CONTAINER_TERMINATED || c->last_finished_at > 0;
	const bool misses = str_is(rule->operator, "In")      ? !rule->listed
			    : str_is(rule->operator, "NotIn") ? rule->listed
							      : false;

	if (!known || !misses)
		row->of->asked = true;
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
