// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/defaults.h"
#include "tests/apisim/patch.h"
#include "tests/apisim/util.h"
#include "tests/apisim/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The object with one more step, or, for a dry run, as it would be. Takes the tree; the result is counted. */
static struct obj *put(struct call *c, json_t *tree, uint64_t dry_rv)
{
	return c->dry_run ? object_new(c->kind, tree, dry_rv)
			  : object_ref(store_put(c->sim->store, c->kind, tree));
}

/* An RFC 1123 subdomain, as the names of nearly all kinds are. */
static bool good_name(const char *s)
{
	size_t n = strlen(s);

	return n > 0 && n <= 253 && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-.") == n &&
	       !strchr("-.", s[0]) && !strchr("-.", s[n - 1]);
}

static json_t *check_name(const struct call *c, const char *name)
{
	json_t *s;
	char *why;

	if (good_name(name))
		return NULL;
	why = util_format("Invalid value: \"%s\": a lowercase RFC 1123 subdomain must consist of lower case "
			  "alphanumeric "
			  "characters, '-' or '.', and must start and end with an alphanumeric character "
			  "(e.g. 'example.com', "
			  "regex used for validation is "
			  "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
			  name);
	s = status_invalid(c->kind, name, "metadata.name", "FieldValueInvalid", why);
	free(why);
	return s;
}

/* The status to refuse with, or NULL. */
static json_t *check_create(struct call *c, const json_t *meta)
{
	const char *name = util_str(meta, "name"), *ns = util_str(meta, "namespace"),
		   *base = util_str(meta, "generateName");
	const char *rv = util_str(meta, "resourceVersion");

	if (!json_is_object(meta))
		return status_bad_request(
			"the object provided is unrecognized (must be of type %s): no metadata",
			c->kind->kind);
	if ((!name || !*name) && (!base || !*base))
		return status_invalid(c->kind, "", "metadata.name", "FieldValueRequired",
				      "Required value: name or generateName is required");
	if (c->kind->namespaced && ns && *ns && strcmp(ns, c->ns) != 0)
		return status_bad_request("the namespace of the provided object does not match the namespace "
					  "sent on the request");
	if (rv && *rv)
		return status_new(500, NULL, "resourceVersion should not be set on objects to be created");
	return name && *name ? check_name(c, name) : NULL;
}

void verb_create(struct call *c)
{
	json_t *meta = json_object_get(c->body, "metadata"), *error = check_create(c, meta), *tree;
	const char *name;
	struct obj *o;

	if (error) {
		call_answer_status(c, error);
		return;
	}
	tree = managed_note(c, defaults_create(c->kind, json_incref(c->body), c->ns), NULL);
	name = util_str(json_object_get(tree, "metadata"), "name");
	c->name = c->new_name = util_strdup(name);
	if (store_get(c->sim->store, c->kind, c->ns, name)) {
		call_answer_status(c, status_already_exists(c->kind, name));
		json_decref(tree);
		return;
	}
	o = put(c, tree, 0);
	call_note_after(c, o);
	call_answer_object(c, 201, o);
	object_unref(o);
}

static bool type_is(const struct call *c, const char *type)
{
	size_t n = strcspn(c->content_type, "; ");

	return n == strlen(type) && !strncasecmp(c->content_type, type, n);
}

static json_t *patched(struct call *c, json_t *now)
{
	json_t *out = NULL;
	char why[160];
	int rc;

	if (type_is(c, "application/merge-patch+json"))
		return patch_merge(now, c->body, false);
	if (type_is(c, "application/strategic-merge-patch+json") && !c->kind->crd)
		return patch_merge(now, c->body, true);
	if (!type_is(c, "application/json-patch+json")) {
		call_answer_status(
			c, status_new(415, "UnsupportedMediaType",
				      "the body of the request was in an unknown format - accepted media "
				      "types include: "
				      "application/json-patch+json, application/merge-patch+json%s, "
				      "application/apply-patch+yaml",
				      c->kind->crd ? "" : ", application/strategic-merge-patch+json"));
		return NULL;
	}
	rc = patch_json(now, c->body, why, &out);
	if (rc == -EINVAL)
		call_answer_status(c, status_bad_request("error decoding patch: %s", why));
	else if (rc < 0)
		call_answer_status(
			c, status_new(422, "Invalid",
				      "the server rejected our request due to an error in our request"));
	return out;
}

json_t *write_wanted(struct call *c, json_t *now)
{
	bool patch = !strcmp(c->verb, "patch");
	json_t *out = patch ? patched(c, now) : json_incref(c->body);
	const char *name = util_str(json_object_get(out, "metadata"), "name");

	if (!out)
		return NULL;
	if (!json_is_object(json_object_get(out, "metadata")))
		call_answer_status(
			c, status_bad_request("the object provided is unrecognized: it has no metadata"));
	else if (!patch && name && strcmp(name, c->name) != 0)
		call_answer_status(
			c, status_bad_request(
				   "the name of the object (%s) does not match the name on the URL (%s)",
				   name, c->name));
	else
		return out;
	json_decref(out);
	return NULL;
}

/* What only the server writes: taken over from the old object, whatever was sent. */
static json_t *keep_system_fields(json_t *tree, const json_t *old)
{
	static const char *const fields[] = {
		"uid",  "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation",
		"name", "namespace",         "selfLink"
	};
	const json_t *old_meta = json_object_get(old, "metadata");
	json_t *copy = json_copy(tree), *meta = json_copy(json_object_get(tree, "metadata"));

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		json_t *v = json_object_get(old_meta, fields[i]);

		if (v)
			json_object_set(meta, fields[i], v);
		else
			json_object_del(meta, fields[i]);
	}
	json_object_set_new(copy, "metadata", meta);
	json_decref(tree);
	return copy;
}

/* The whole new object from what was sent to the object or to its subresource. */
static json_t *compose(const struct kind *kind, json_t *tree, json_t *old, const char *sub)
{
	json_t *out;

	if (!strcmp(sub, "status")) {
		json_t *status = json_object_get(tree, "status");

		out = object_with(json_incref(old), "status", status ? json_incref(status) : NULL);
		json_decref(tree);
		return out;
	}
	out = keep_system_fields(tree, old);
	if (kind->status) {
		json_t *status = json_object_get(old, "status");

		out = object_with(out, "status", status ? json_incref(status) : NULL);
	}
	if (json_object_get(old, "spec") &&
	    !json_equal(json_object_get(out, "spec"), json_object_get(old, "spec"))) {
		json_int_t generation = json_integer_value(object_at(old, "metadata.generation"));

		out = object_with(out, "metadata.generation", json_integer(generation + 1));
	}
	return out;
}

json_t *write_wrong_uid(const struct call *c, const struct obj *old, const char *uid)
{
	char have[64], why[600];

	snprintf(why, sizeof(why),
		 "StorageError: invalid object, Code: 4, Key: /registry/%s/%s, ResourceVersion: 0, "
		 "AdditionalErrorMsg: "
		 "Precondition failed: UID in precondition: %.60s, UID in object meta: %s",
		 c->kind->plural, old->key, uid, object_uid(old, have));
	return status_conflict(c->kind, "", old->name, why);
}

static json_t *immutable_uid(const struct call *c, const char *name, const char *uid)
{
	char why[160];

	snprintf(why, sizeof(why), "Invalid value: \"%.100s\": field is immutable", uid);
	return status_invalid(c->kind, name, "metadata.uid", "FieldValueInvalid", why);
}

/* The status to refuse with, or NULL. */
static json_t *check_update(struct call *c, const struct obj *old, const json_t *wanted)
{
	const char *rv = util_str(json_object_get(wanted, "metadata"), "resourceVersion");
	const char *uid = util_str(json_object_get(wanted, "metadata"), "uid");
	char have[64], now[24];

	util_number(old->rv, now);
	object_uid(old, have);
	if (uid && *uid && strcmp(uid, have) != 0) {
		if (!strcmp(c->verb, "patch"))
			return immutable_uid(c, old->name, uid);
		return write_wrong_uid(c, old, uid);
	}
	if (rv && *rv && strcmp(rv, now) != 0)
		return status_conflict(c->kind, "", old->name, STATUS_OPTIMISTIC_LOCK);
	return NULL;
}

static bool last_finalizer_gone(const json_t *tree, const json_t *old)
{
	return object_at(old, "metadata.deletionTimestamp") &&
	       !json_array_size(object_at(tree, "metadata.finalizers")) &&
	       !json_integer_value(object_at(old, "metadata.deletionGracePeriodSeconds"));
}

struct obj *write_update(struct call *c, struct obj *old, json_t *tree, const char *sub)
{
	json_t *error = check_update(c, old, tree), *before;
	struct obj *o;
	char rv[24];

	call_note_before(c, old);
	if (error) {
		call_answer_status(c, error);
		json_decref(tree);
		return NULL;
	}
	before = object_tree(old);
	util_number(old->rv, rv);
	tree = object_with(compose(c->kind, tree, before, sub), "metadata.resourceVersion", json_string(rv));
	tree = managed_note(c, tree, before);
	if (json_equal(tree, before)) {
		o = object_ref(old);
		json_decref(tree);
	} else if (!*sub && last_finalizer_gone(tree, before)) {
		o = object_new(c->kind, tree, old->rv);
		if (!c->dry_run)
			c->rv_after = store_delete(c->sim->store, old)->rv;
	} else {
		o = put(c, tree, old->rv);
	}
	json_decref(before);
	call_note_after(c, o);
	return o;
}

void verb_update(struct call *c)
{
	struct obj *old = store_get(c->sim->store, c->kind, c->ns, c->name), *o;
	json_t *now, *wanted;

	if (!old) {
		call_answer_status(c, status_not_found(c->kind, "", c->name));
		return;
	}
	object_ref(old);
	now = object_tree(old);
	wanted = write_wanted(c, now);
	json_decref(now);
	o = wanted ? write_update(c, old, wanted, c->sub) : NULL;
	object_unref(old);
	if (!o)
		return;
	call_answer_object(c, 200, o);
	object_unref(o);
}
