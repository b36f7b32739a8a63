/* decode_json.c - a Pod as JSON -> struct pod_facts; written apart from the protobuf decoder so that one
 * mistake can not nominate and kill. Member names: Kubernetes API reference, core/v1 Pod. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/decode.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>

#include "base/rfc3339.h"
#include "kube/facts.h"

static struct str text(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_string(v) ? (struct str){ json_string_value(v), json_string_length(v) }
				 : (struct str){ 0 };
}

static bool truth(const json_t *o, const char *key)
{
	return json_is_true(json_object_get(o, key));
}

static int64_t integer(const json_t *o, const char *key, int64_t min, int64_t max, int64_t absent)
{
	const json_t *v = json_object_get(o, key);
	const int64_t i = json_is_integer(v) ? json_integer_value(v) : absent;

	return i < min || i > max ? absent : i;
}

static int32_t integer32(const json_t *o, const char *key)
{
	return (int32_t)integer(o, key, INT32_MIN, INT32_MAX, 0);
}

/* Seconds, as Kubernetes' Time keeps them. */
static int64_t moment(const json_t *o, const char *key)
{
	const struct str s = text(o, key);
	int64_t ms;

	if (str_empty(s) || rfc3339_parse(s.p, s.n, &ms) < 0)
		return 0;
	const int64_t below = ms % 1000;

	return facts_time((ms - (below < 0 ? below + 1000 : below)) / 1000);
}

typedef void pair_fn(struct facts_builder *b, struct str key, struct str value);

static void each_pair(const json_t *map, pair_fn *fn, struct facts_builder *b)
{
	json_t *m = (json_t *)(uintptr_t)map; /* jansson iterates over non-const objects only */

	for (void *i = json_object_iter(m); i; i = json_object_iter_next(m, i)) {
		const json_t *v = json_object_iter_value(i);

		if (json_is_string(v))
			fn(b, (struct str){ json_object_iter_key(i), json_object_iter_key_len(i) },
			   (struct str){ json_string_value(v), json_string_length(v) });
	}
}

static void decode_owners(const json_t *owners, struct facts_builder *b)
{
	for (size_t i = 0; i < json_array_size(owners); i++) {
		const json_t *o = json_array_get(owners, i);
		const struct owner_facts facts = { text(o, "apiVersion"), text(o, "kind"), text(o, "name"),
						   text(o, "uid") };

		facts_add_owner(b, &facts, truth(o, "controller"));
	}
}

static void decode_meta(const json_t *meta, struct facts_builder *b)
{
	const json_t *finalizers = json_object_get(meta, "finalizers");
	struct pod_facts *f = b->f;

	f->name = text(meta, "name");
	f->ns = text(meta, "namespace");
	f->uid = text(meta, "uid");
	f->rv = text(meta, "resourceVersion");
	f->created = moment(meta, "creationTimestamp");
	f->deletion = moment(meta, "deletionTimestamp");
	f->grace_s = integer(meta, "deletionGracePeriodSeconds", INT64_MIN, INT64_MAX, -1);
	each_pair(json_object_get(meta, "labels"), facts_add_label, b);
	each_pair(json_object_get(meta, "annotations"), facts_add_annotation, b);
	decode_owners(json_object_get(meta, "ownerReferences"), b);
	for (size_t i = 0; i < json_array_size(finalizers); i++) {
		const json_t *s = json_array_get(finalizers, i);

		if (json_is_string(s))
			facts_add_finalizer(b, (struct str){ json_string_value(s), json_string_length(s) });
	}
}

static void decode_spec(const json_t *spec, struct facts_builder *b)
{
	const json_t *volumes = json_object_get(spec, "volumes");

	b->f->node = text(spec, "nodeName");
	b->f->priority_class = text(spec, "priorityClassName");
	for (size_t i = 0; i < json_array_size(volumes); i++) {
		const json_t *v = json_array_get(volumes, i);

		if (json_is_object(json_object_get(v, "persistentVolumeClaim")) ||
		    json_is_object(json_object_get(v, "ephemeral")))
			b->f->has_pvc = true;
	}
}

static void decode_state(const json_t *state, struct container_facts *f)
{
	const json_t *waiting = json_object_get(state, "waiting");
	const json_t *running = json_object_get(state, "running");
	const json_t *terminated = json_object_get(state, "terminated");

	if (json_is_object(waiting)) {
		f->state = CONTAINER_WAITING;
		f->reason = text(waiting, "reason");
		f->message = text(waiting, "message");
	} else if (json_is_object(running)) {
		f->state = CONTAINER_RUNNING;
		f->started_at = moment(running, "startedAt");
	} else if (json_is_object(terminated)) {
		f->state = CONTAINER_TERMINATED;
		f->reason = text(terminated, "reason");
		f->exit_code = integer32(terminated, "exitCode");
		f->started_at = moment(terminated, "startedAt");
		f->finished_at = moment(terminated, "finishedAt");
	}
}

static void decode_containers(const json_t *list, enum container_kind kind, struct facts_builder *b)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *o = json_array_get(list, i);
		const json_t *last = json_object_get(json_object_get(o, "lastState"), "terminated");
		struct container_facts *f = facts_add_container(b, kind);

		if (!f)
			return;
		f->name = text(o, "name");
		f->image = text(o, "image");
		f->ready = truth(o, "ready");
		f->started = truth(o, "started");
		f->restarts = integer32(o, "restartCount");
		decode_state(json_object_get(o, "state"), f);
		f->last_reason = text(last, "reason");
		f->last_exit_code = integer32(last, "exitCode");
		f->last_finished_at = moment(last, "finishedAt");
	}
}

static void decode_status(const json_t *status, struct facts_builder *b)
{
	const json_t *conditions = json_object_get(status, "conditions");

	b->f->phase = text(status, "phase");
	b->f->reason = text(status, "reason");
	b->f->start_time = moment(status, "startTime");
	for (size_t i = 0; i < json_array_size(conditions); i++) {
		const json_t *c = json_array_get(conditions, i);

		facts_add_condition(b, text(c, "type"), text(c, "status"), moment(c, "lastTransitionTime"));
	}
	decode_containers(json_object_get(status, "containerStatuses"), CONTAINER_MAIN, b);
	decode_containers(json_object_get(status, "initContainerStatuses"), CONTAINER_INIT, b);
	decode_containers(json_object_get(status, "ephemeralContainerStatuses"), CONTAINER_EPHEMERAL, b);
}

int decode_pod_json(const struct json_t *pod, struct pod_facts *ret)
{
	struct facts_builder b;

	facts_begin(&b, ret);
	decode_meta(json_object_get(pod, "metadata"), &b);
	decode_spec(json_object_get(pod, "spec"), &b);
	decode_status(json_object_get(pod, "status"), &b);
	facts_end(&b);
	return str_empty(ret->name) || str_empty(ret->uid) ? -EBADMSG : 0;
}
