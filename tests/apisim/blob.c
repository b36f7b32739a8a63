// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/blob.h"
#include "tests/apisim/text.h"
#include "tests/apisim/util.h"

#include <stdlib.h>
#include <string.h>

enum { COPY_BELOW = 2048 };

static const struct {
	const char *name, *message;
	unsigned field;
} parts[PARTS] = {
	[PART_SPEC] = { "spec", "PodSpec", 2 },
	[PART_STATUS] = { "status", "PodStatus", 3 },
};

struct blob *blob_new(size_t size)
{
	struct blob *b = util_alloc_raw(sizeof(*b) + size + PODPB_TAIL_SIZE);

	b->refs = 1;
	b->head = 0;
	b->size = size;
	memset(b->parts, 0, sizeof(b->parts));
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
	if (!b || --b->refs)
		return;
	for (size_t i = 0; i < PARTS; i++)
		json_decref(b->parts[i].tree);
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

/* Where the form of this very member stands, or NULL. */
static const struct part *shared(const struct blob *old, size_t i, const json_t *member)
{
	return old && member && old->parts[i].tree == member ? &old->parts[i] : NULL;
}

static size_t part_of(const char *name)
{
	size_t i = 0;

	while (i < PARTS && strcmp(parts[i].name, name) != 0)
		i++;
	return i;
}

static void keep_parts(struct blob *b, const struct part found[PARTS])
{
	for (size_t i = 0; i < PARTS; i++) {
		b->parts[i] = found[i];
		json_incref(b->parts[i].tree);
	}
}

static void put_member(struct text *t, size_t i, json_t *value, const struct blob *old,
		       struct part found[PARTS])
{
	const struct part *had = i < PARTS ? shared(old, i, value) : NULL;
	const size_t at = t->size;

	if (had)
		text_add(t, old->data + had->at, had->size);
	else
		text_json(t, value);
	if (i < PARTS)
		found[i] = (struct part){ value, at, t->size - at };
}

struct blob *blob_json(const json_t *tree, const struct kind *kind, const struct blob *old)
{
	/* Kept: a large allocation for each object would make malloc tidy up each time. */
	static struct text room;
	struct part found[PARTS] = { 0 };
	char api[96];
	struct blob *b;
	const char *key;
	json_t *value;

	room.size = 0;
	json_object_foreach ((json_t *)(uintptr_t)tree, key, value) {
		text_add(&room, room.size ? "," : "{", 1);
		text_quoted(&room, key, strlen(key));
		text_add(&room, ":", 1);
		put_member(&room, part_of(key), value, old, found);
	}
	text_add(&room, "}", 1);
	b = blob_new(room.size);
	memcpy(b->data, room.data, room.size);
	b->head = strlen("{\"kind\":\"\",\"apiVersion\":\"\",") + strlen(kind->kind) +
		  strlen(kinds_api_version(kind, api));
	keep_parts(b, found);
	return b;
}

/* Of a Pod; `at` of what was found is what stands behind it, for the bytes are made from the back. */
static void put_pod(struct pb_buf *buf, const json_t *tree, const struct blob *old, struct part found[PARTS])
{
	size_t mark;

	for (size_t i = PARTS; i-- > 0;) {
		json_t *value = json_object_get(tree, parts[i].name);
		const struct part *had = shared(old, i, value);

		mark = pb_size(buf);
		if (had) {
			pb_raw(buf, old->data + had->at, had->size);
		} else {
			podpb_message(buf, parts[i].message, value);
			pb_field_close(buf, parts[i].field, mark);
		}
		found[i] = (struct part){ value, mark, pb_size(buf) - mark };
	}
	mark = pb_size(buf);
	podpb_message(buf, "ObjectMeta", json_object_get(tree, "metadata"));
	pb_field_close(buf, 1, mark);
}

struct blob *blob_pb(const json_t *tree, const struct kind *kind, const struct blob *old)
{
	struct part found[PARTS] = { 0 };
	struct pb_buf buf;
	struct blob *b;
	size_t n;

	pb_init(&buf, 16384);
	if (kind == kinds_pods())
		put_pod(&buf, tree, old, found);
	else
		podpb_message(&buf, kind->kind, tree);
	n = pb_size(&buf);
	pb_field_close(&buf, 2, 0);
	b = blob_new(pb_size(&buf));
	b->head = b->size - n;
	memcpy(b->data, buf.data + buf.at, b->size);
	pb_done(&buf);
	for (size_t i = 0; i < PARTS; i++)
		found[i].at = b->size - found[i].at - found[i].size;
	keep_parts(b, found);
	return b;
}
