// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/object.h"
#include "tests/apisim/fill.h"
#include "tests/apisim/util.h"

#include <stdlib.h>
#include <string.h>

json_t *object_at(const json_t *tree, const char *path)
{
	json_t *v = NULL;

	while (tree && *path) {
		const size_t n = strcspn(path, ".");

		tree = v = json_object_getn(tree, path, n);
		path += n + (path[n] == '.');
	}
	return v;
}

/* An object with the members of v that nobody else holds: v itself when only the caller, or a parent that is
 * the caller's alone, holds it. Takes the caller's reference. */
static json_t *make_own(json_t *v)
{
	json_t *copy;

	if (json_is_object(v) && v->refcount == 1)
		return v;
	copy = json_is_object(v) ? json_copy(v) : json_object();
	json_decref(v);
	return copy;
}

json_t *object_with(json_t *tree, const char *path, json_t *value)
{
	json_t *root = make_own(tree), *at = root;
	size_t n;

	while (path[n = strcspn(path, ".")] == '.') {
		json_t *child = json_object_getn(at, path, n);

		if (!child && !value)
			return root;
		if (!child || child->refcount > 1 || !json_is_object(child)) {
			child = make_own(json_incref(child));
			json_object_setn_new(at, path, n, child);
		}
		at = child;
		path += n + 1;
	}
	if (value)
		json_object_setn_new(at, path, n, value);
	else
		json_object_deln(at, path, n);
	return root;
}

char *object_key(const char *ns, const char *name)
{
	const size_t ns_size = strlen(ns), size = strlen(name) + 1;
	char *key = util_alloc_raw(ns_size + 1 + size), *end = key;

	if (ns_size) {
		memcpy(key, ns, ns_size);
		end = key + ns_size;
		*end++ = '/';
	}
	memcpy(end, name, size);
	return key;
}

static struct obj *object_make(const struct kind *kind, const char *ns, const char *name, uint64_t rv)
{
	struct obj *o = util_alloc(sizeof(*o));

	o->refs = 1;
	o->kind = kind;
	o->rv = rv;
	o->ns = util_strdup(ns);
	o->key = object_key(ns, name);
	o->name = o->key + strlen(ns) + (*ns != '\0');
	return o;
}

/* The order of members in the text of an object: these, then all others. */
static const char *const order[] = { "kind", "apiVersion", "metadata", "spec", "status" };
enum { ORDERED = sizeof(order) / sizeof(order[0]) };

static bool in_order(const json_t *tree)
{
	size_t rank, least = 0;
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)tree, key, value) {
		for (rank = 0; rank < ORDERED && strcmp(order[rank], key) != 0;)
			rank++;
		if (rank < least)
			return false;
		least = rank;
	}
	return true;
}

/* The tree (taken), or one with the same members in order. */
static json_t *put_in_order(json_t *tree)
{
	json_t *root;

	if (in_order(tree))
		return tree;
	root = json_object();
	for (size_t i = 0; i < ORDERED; i++)
		json_object_set(root, order[i], json_object_get(tree, order[i]));
	json_object_update_missing(root, tree);
	json_decref(tree);
	return root;
}

static json_t *with_text(json_t *tree, const char *path, const char *text)
{
	return util_streq(json_string_value(object_at(tree, path)), text)
		       ? tree
		       : object_with(tree, path, json_string(text));
}

struct obj *object_new(const struct kind *kind, json_t *tree, uint64_t rv)
{
	const char *ns = kind->namespaced ? util_str(json_object_get(tree, "metadata"), "namespace") : NULL;
	const char *name = util_str(json_object_get(tree, "metadata"), "name");
	struct obj *o = object_make(kind, ns ? ns : "", name ? name : "", rv);
	char text[96];

	tree = with_text(tree, "kind", kind->kind);
	tree = with_text(tree, "apiVersion", kinds_api_version(kind, text));
	tree = with_text(tree, "metadata.resourceVersion", util_number(rv, text));
	o->tree = put_in_order(tree);
	return o;
}

struct obj *object_new_filled(const struct kind *kind, const struct fill_group *group, const char *ns,
			      const char *name, uint32_t index, uint32_t round, uint64_t rv)
{
	struct obj *o = object_make(kind, ns, name, rv);

	o->group = group;
	o->index = index;
	o->round = round;
	return o;
}

struct obj *object_ref(struct obj *o)
{
	o->refs++;
	return o;
}

void object_unref(struct obj *o)
{
	if (!o || --o->refs)
		return;
	json_decref(o->tree);
	blob_unref(o->pb);
	blob_unref(o->text);
	blob_unref(o->old_pb);
	blob_unref(o->old_text);
	free(o->ns);
	free(o->key);
	free(o);
}

json_t *object_tree(const struct obj *o)
{
	return o->tree ? json_incref(o->tree) : fill_tree(o);
}

void object_follows(struct obj *o, const struct obj *old)
{
	struct blob *pb = old->pb ? old->pb : old->old_pb, *text = old->text ? old->text : old->old_text;

	if (o->group)
		return;
	o->old_pb = pb ? blob_ref(pb) : NULL;
	o->old_text = text ? blob_ref(text) : NULL;
}

static void forget(struct blob **b)
{
	blob_unref(*b);
	*b = NULL;
}

struct blob *object_pb(struct obj *o)
{
	if (!o->pb) {
		o->pb = o->group ? fill_pb(o) : blob_pb(o->tree, o->kind, o->old_pb);
		forget(&o->old_pb);
	}
	return o->pb;
}

struct blob *object_text(struct obj *o)
{
	if (o->group)
		return fill_json(o);
	if (!o->text) {
		o->text = blob_json(o->tree, o->kind, o->old_text);
		forget(&o->old_text);
	}
	return blob_ref(o->text);
}

const json_t *object_labels(const struct obj *o)
{
	return o->group ? fill_labels(o) : object_at(o->tree, "metadata.labels");
}

const char *object_field(const struct obj *o, const char *path, char out[256])
{
	const char *s;

	if (!strcmp(path, "metadata.name"))
		return o->name;
	if (!strcmp(path, "metadata.namespace"))
		return o->ns;
	if (o->group)
		return fill_field(o, path, out);
	s = json_string_value(object_at(o->tree, path));
	return util_copy(out, 256, s ? s : "");
}

const char *object_uid(const struct obj *o, char out[64])
{
	const char *s;

	if (o->group)
		return fill_uid(o, out);
	s = json_string_value(object_at(o->tree, "metadata.uid"));
	return util_copy(out, 64, s ? s : "");
}
