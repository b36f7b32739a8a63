// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/object.h"
#include "tests/apisim/fill.h"
#include "tests/apisim/podpb.h"
#include "tests/apisim/text.h"
#include "tests/apisim/util.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { COPY_BELOW = 2048 };

struct blob *blob_new(size_t size)
{
	struct blob *b = util_alloc_raw(sizeof(*b) + size + PODPB_TAIL_SIZE);

	b->refs = 1;
	b->head = 0;
	b->size = size;
	b->frame_size = 0;
	memcpy(b->data + size, PODPB_TAIL, PODPB_TAIL_SIZE);
	return b;
}

struct blob *blob_ref(struct blob *b)
{
	b->refs++;
	return b;
}

void blob_unref(struct blob *b)
{
	if (b && --b->refs == 0)
		free(b);
}

static void blob_release(const void *data, size_t len, void *arg)
{
	(void)data;
	(void)len;
	blob_unref(arg);
}

static void head_release(const void *data, size_t len, void *arg)
{
	(void)data;
	(void)len;
	free(arg);
}

void blob_add(struct evbuffer *out, struct blob *b, size_t from)
{
	size_t n = b->size - from;

	if (n < COPY_BELOW)
		evbuffer_add(out, b->data + from, n);
	else
		evbuffer_add_reference(out, b->data + from, n, blob_release, blob_ref(b));
}

_Static_assert(offsetof(struct blob, data) == offsetof(struct blob, frame) + PODPB_FRAME_MAX, "one piece");

/* In front of the item header. */
static void make_added_frame(struct blob *b, const char *kind)
{
	char head[PODPB_FRAME_MAX];
	const size_t n = podpb_frame(head, "ADDED", kind, b->size - b->head) - b->head;

	memcpy(b->frame + sizeof(b->frame) - n, head, n);
	b->frame_size = (uint8_t)n;
}

void blob_add_frame(struct evbuffer *out, struct blob *b, const char *type, const char *kind)
{
	const size_t n = b->size - b->head;
	char *head;

	if (strcmp(type, "ADDED") == 0) {
		if (!b->frame_size)
			make_added_frame(b, kind);
		evbuffer_add_reference(out, b->frame + sizeof(b->frame) - b->frame_size,
				       b->frame_size + b->size + PODPB_TAIL_SIZE, blob_release, blob_ref(b));
		return;
	}
	head = util_alloc_raw(PODPB_FRAME_MAX);
	evbuffer_add_reference(out, head, podpb_frame(head, type, kind, n), head_release, head);
	evbuffer_add_reference(out, b->data + b->head, n + PODPB_TAIL_SIZE, blob_release, blob_ref(b));
}

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

	json_object_foreach((json_t *)(uintptr_t)tree, key, value)
	{
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
	free(o->ns);
	free(o->key);
	free(o);
}

json_t *object_tree(const struct obj *o)
{
	return o->tree ? json_incref(o->tree) : fill_tree(o);
}

struct blob *object_dump_pb(const json_t *tree, const struct kind *kind)
{
	struct blob *b;
	struct pb_buf buf;
	size_t n;

	pb_init(&buf, 16384);
	podpb_message(&buf, kind->kind, tree);
	n = pb_size(&buf);
	pb_field_close(&buf, 2, 0);
	b = blob_new(pb_size(&buf));
	b->head = b->size - n;
	memcpy(b->data, buf.data + buf.at, b->size);
	pb_done(&buf);
	return b;
}

struct blob *object_pb(struct obj *o)
{
	if (!o->pb)
		o->pb = o->group ? fill_pb(o) : object_dump_pb(o->tree, o->kind);
	return o->pb;
}

struct blob *object_dump(const json_t *tree, const struct kind *kind)
{
	/* Kept: a large allocation for each object would make malloc tidy up each time. */
	static struct text room;
	char api[96];
	struct blob *b;

	room.size = 0;
	text_json(&room, tree);
	b = blob_new(room.size);
	memcpy(b->data, room.data, room.size);
	b->head = strlen("{\"kind\":\"\",\"apiVersion\":\"\",") + strlen(kind->kind) +
		  strlen(kinds_api_version(kind, api));
	return b;
}

struct blob *object_text(struct obj *o)
{
	if (o->group)
		return fill_json(o);
	if (!o->text)
		o->text = object_dump(o->tree, o->kind);
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
