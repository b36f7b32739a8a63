// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/util.h"
#include "tests/apisim/verbs.h"

#include <stdlib.h>
#include <string.h>

/* A label selector as text, as Scale.status.selector carries it; the result is the caller's. Accepts a
 * LabelSelector, a plain map (ReplicationController) and a string. */
static char *selector_text(const json_t *selector)
{
	json_t *labels = json_object_get(selector, "matchLabels"), *value;
	char *text = util_strdup(""), *more;
	const char *key;

	if (json_is_string(selector)) {
		free(text);
		return util_strdup(json_string_value(selector));
	}
	if (!labels)
		labels = (json_t *)(uintptr_t)selector;
	json_object_foreach (labels, key, value) {
		if (!json_is_string(value))
			continue;
		more = util_format("%s%s%s=%s", text, *text ? "," : "", key, json_string_value(value));
		free(text);
		text = more;
	}
	return text;
}

static json_t *scale_of(const struct kind *kind, const json_t *tree)
{
	static const char *const fields[] = { "name", "namespace", "uid", "resourceVersion",
					      "creationTimestamp" };
	json_int_t replicas = json_integer_value(object_at(tree, kind->replicas));
	char *selector = selector_text(object_at(tree, kind->selector));
	json_t *meta = json_object(), *spec = json_object(), *status = json_object();

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		json_object_set(meta, fields[i],
				json_object_get(json_object_get(tree, "metadata"), fields[i]));
	if (replicas)
		json_object_set_new(spec, "replicas", json_integer(replicas));
	json_object_set_new(status, "replicas",
			    json_integer(json_integer_value(object_at(tree, kind->status_replicas))));
	if (*selector)
		json_object_set_new(status, "selector", json_string(selector));
	free(selector);
	return json_pack("{s:s, s:s, s:o, s:o, s:o}", "kind", "Scale", "apiVersion", "autoscaling/v1",
			 "metadata", meta, "spec", spec, "status", status);
}

static json_t *bad_replicas(const struct kind *kind, const char *name, long long n)
{
	char why[96], field[72];

	if (!kind->crd) {
		snprintf(why, sizeof(why), "Invalid value: %lld: must be greater than or equal to 0", n);
		return status_invalid_document("autoscaling", "Scale", name, "spec.replicas",
					       "FieldValueInvalid", why);
	}
	snprintf(why, sizeof(why), "Invalid value: %lld: should be a non-negative integer", n);
	snprintf(field, sizeof(field), ".%s", kind->replicas);
	return status_invalid(kind, name, field, "FieldValueInvalid", why);
}

/* The status to refuse with, or NULL. */
static json_t *check(const struct call *c, const struct obj *old, const json_t *scale)
{
	const char *uid = util_str(json_object_get(scale, "metadata"), "uid");
	const char *rv = util_str(json_object_get(scale, "metadata"), "resourceVersion");
	json_t *replicas = object_at(scale, "spec.replicas");
	char why[300], have[64], now[24];

	if (replicas && (!json_is_integer(replicas) || json_integer_value(replicas) < 0))
		return bad_replicas(c->kind, old->name, (long long)json_integer_value(replicas));
	object_uid(old, have);
	if (!c->kind->crd && uid && *uid && strcmp(uid, have) != 0) {
		if (!strcmp(c->verb, "update"))
			return write_wrong_uid(c, old, uid);
		snprintf(why, sizeof(why),
			 "Precondition failed: UID in precondition: %.80s, UID in object meta: %s", uid,
			 have);
		return status_conflict(c->kind, "scale", old->name, why);
	}
	util_number(old->rv, now);
	if (rv && *rv && strcmp(rv, now) != 0)
		return status_conflict(c->kind, "", old->name, STATUS_OPTIMISTIC_LOCK);
	return NULL;
}

static void answer(struct call *c, const struct obj *o)
{
	json_t *tree = object_tree(o);

	call_answer_json(c, 200, scale_of(c->kind, tree));
	json_decref(tree);
}

static void change(struct call *c, struct obj *old, const json_t *scale)
{
	json_int_t replicas = json_integer_value(object_at(scale, "spec.replicas"));
	json_t *error = check(c, old, scale);
	struct obj *o;

	if (error) {
		call_note_before(c, old);
		call_answer_status(c, error);
		return;
	}
	o = write_update(c, old, object_with(object_tree(old), c->kind->replicas, json_integer(replicas)),
			 "");
	if (!o)
		return;
	answer(c, o);
	object_unref(o);
}

void verb_scale(struct call *c)
{
	struct obj *old = store_get(c->sim->store, c->kind, c->ns, c->name);
	json_t *tree, *scale, *wanted;

	if (!old) {
		call_answer_status(c, status_not_found(c->kind, "", c->name));
		return;
	}
	if (!strcmp(c->verb, "get")) {
		answer(c, old);
		return;
	}
	object_ref(old);
	tree = object_tree(old);
	scale = scale_of(c->kind, tree);
	wanted = write_wanted(c, scale);
	if (wanted)
		change(c, old, wanted);
	json_decref(wanted);
	json_decref(scale);
	json_decref(tree);
	object_unref(old);
}
