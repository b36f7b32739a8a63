/* decode_protobuf.c - core/v1 Pod, protobuf wire format -> struct pod_facts. Field numbers: kubernetes/api
 * core/v1/generated.proto and apimachinery pkg/apis/meta/v1/generated.proto (they never change).
 * Each message has one function that takes one field; walk() drives them. */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "kube/cursor.h"
#include "kube/decode.h"
#include "kube/facts.h"

typedef int field_fn(struct cursor *c, uint32_t tag, void *out);

static inline __attribute__((always_inline)) int walk(struct cursor c, field_fn *field, void *out)
{
	while (cursor_more(&c)) {
		uint32_t tag;

		if (cursor_tag(&c, &tag) < 0 || field(&c, tag, out) < 0)
			return -EBADMSG;
	}
	return 0;
}

static inline __attribute__((always_inline)) int walk_next(struct cursor *c, field_fn *field, void *out)
{
	struct cursor m;

	return cursor_message(c, &m) < 0 ? -EBADMSG : walk(m, field, out);
}

/* meta/v1 Time; nanos are ignored as the server does (time_proto.go). */
static inline int time_field(struct cursor *c, uint32_t tag, void *out)
{
	int64_t *ms = out;
	int64_t s;

	if (tag != TAG(1, WIRE_VARINT))
		return cursor_skip(c, tag);
	if (cursor_i64(c, &s) < 0)
		return -EBADMSG;
	*ms = facts_time(s);
	return 0;
}

struct map_entry {
	struct str key, value;
};

static inline int map_field(struct cursor *c, uint32_t tag, void *out)
{
	struct map_entry *e = out;

	switch (tag) {
	case TAG(1, WIRE_BYTES):
		return cursor_str(c, &e->key);
	case TAG(2, WIRE_BYTES):
		return cursor_str(c, &e->value);
	default:
		return cursor_skip(c, tag);
	}
}

struct owner_reader {
	struct owner_facts facts;
	bool controller;
};

static inline int owner_field(struct cursor *c, uint32_t tag, void *out)
{
	struct owner_reader *o = out;

	switch (tag) {
	case TAG(1, WIRE_BYTES):
		return cursor_str(c, &o->facts.kind);
	case TAG(3, WIRE_BYTES):
		return cursor_str(c, &o->facts.name);
	case TAG(4, WIRE_BYTES):
		return cursor_str(c, &o->facts.uid);
	case TAG(5, WIRE_BYTES):
		return cursor_str(c, &o->facts.api_version);
	case TAG(6, WIRE_VARINT):
		return cursor_bool(c, &o->controller);
	default:
		return cursor_skip(c, tag);
	}
}

/* The repeated members of ObjectMeta. */
static int meta_add(struct cursor *c, uint32_t tag, struct facts_builder *b)
{
	struct map_entry e = { 0 };
	struct owner_reader o = { 0 };
	struct str s;

	switch (tag) {
	case TAG(11, WIRE_BYTES):
		if (walk_next(c, map_field, &e) < 0)
			return -EBADMSG;
		facts_add_label(b, e.key, e.value);
		return 0;
	case TAG(12, WIRE_BYTES):
		if (walk_next(c, map_field, &e) < 0)
			return -EBADMSG;
		facts_add_annotation(b, e.key, e.value);
		return 0;
	case TAG(13, WIRE_BYTES):
		if (walk_next(c, owner_field, &o) < 0)
			return -EBADMSG;
		facts_add_owner(b, &o.facts, o.controller);
		return 0;
	default: /* 14, finalizers */
		if (cursor_str(c, &s) < 0)
			return -EBADMSG;
		facts_add_finalizer(b, s);
		return 0;
	}
}

static inline int meta_field(struct cursor *c, uint32_t tag, void *out)
{
	struct facts_builder *b = out;
	struct pod_facts *f = b->f;

	switch (tag) {
	case TAG(1, WIRE_BYTES):
		return cursor_str(c, &f->name);
	case TAG(3, WIRE_BYTES):
		return cursor_str(c, &f->ns);
	case TAG(5, WIRE_BYTES):
		return cursor_str(c, &f->uid);
	case TAG(6, WIRE_BYTES):
		return cursor_str(c, &f->rv);
	case TAG(8, WIRE_BYTES):
		return walk_next(c, time_field, &f->created);
	case TAG(9, WIRE_BYTES):
		return walk_next(c, time_field, &f->deletion);
	case TAG(10, WIRE_VARINT):
		return cursor_i64(c, &f->grace_s);
	case TAG(11, WIRE_BYTES):
	case TAG(12, WIRE_BYTES):
	case TAG(13, WIRE_BYTES):
	case TAG(14, WIRE_BYTES):
		return meta_add(c, tag, b);
	default: /* managedFields (17) is most of the bytes */
		return cursor_skip(c, tag);
	}
}

static int volume_source_field(struct cursor *c, uint32_t tag, void *out)
{
	bool *has_pvc = out;

	if (tag == TAG(10, WIRE_BYTES) || tag == TAG(29, WIRE_BYTES)) /* persistentVolumeClaim, ephemeral */
		*has_pvc = true;
	return cursor_skip(c, tag);
}

static int volume_field(struct cursor *c, uint32_t tag, void *out)
{
	return tag == TAG(2, WIRE_BYTES) ? walk_next(c, volume_source_field, out) : cursor_skip(c, tag);
}

static inline int spec_field(struct cursor *c, uint32_t tag, void *out)
{
	struct facts_builder *b = out;

	switch (tag) {
	case TAG(1, WIRE_BYTES):
		return walk_next(c, volume_field, &b->f->has_pvc);
	case TAG(10, WIRE_BYTES):
		return cursor_str(c, &b->f->node);
	case TAG(24, WIRE_BYTES):
		return cursor_str(c, &b->f->priority_class);
	default:
		return cursor_skip(c, tag);
	}
}

struct condition_reader {
	struct str type, status;
	int64_t since;
};

static inline int condition_field(struct cursor *c, uint32_t tag, void *out)
{
	struct condition_reader *o = out;

	switch (tag) {
	case TAG(1, WIRE_BYTES):
		return cursor_str(c, &o->type);
	case TAG(2, WIRE_BYTES):
		return cursor_str(c, &o->status);
	case TAG(4, WIRE_BYTES):
		return walk_next(c, time_field, &o->since);
	default:
		return cursor_skip(c, tag);
	}
}

static int waiting_field(struct cursor *c, uint32_t tag, void *out)
{
	struct container_facts *f = out;

	switch (tag) {
	case TAG(1, WIRE_BYTES):
		return cursor_str(c, &f->reason);
	case TAG(2, WIRE_BYTES):
		return cursor_str(c, &f->message);
	default:
		return cursor_skip(c, tag);
	}
}

static int running_field(struct cursor *c, uint32_t tag, void *out)
{
	struct container_facts *f = out;

	return tag == TAG(1, WIRE_BYTES) ? walk_next(c, time_field, &f->started_at) : cursor_skip(c, tag);
}

static int terminated_field(struct cursor *c, uint32_t tag, void *out)
{
	struct container_facts *f = out;

	switch (tag) {
	case TAG(1, WIRE_VARINT):
		return cursor_i32(c, &f->exit_code);
	case TAG(3, WIRE_BYTES):
		return cursor_str(c, &f->reason);
	case TAG(5, WIRE_BYTES):
		return walk_next(c, time_field, &f->started_at);
	case TAG(6, WIRE_BYTES):
		return walk_next(c, time_field, &f->finished_at);
	default:
		return cursor_skip(c, tag);
	}
}

/* The members of ContainerState that are there; p == NULL otherwise. */
struct state_reader {
	struct cursor waiting, running, terminated;
};

static inline int state_field(struct cursor *c, uint32_t tag, void *out)
{
	struct state_reader *s = out;

	switch (tag) {
	case TAG(1, WIRE_BYTES):
		return cursor_message(c, &s->waiting);
	case TAG(2, WIRE_BYTES):
		return cursor_message(c, &s->running);
	case TAG(3, WIRE_BYTES):
		return cursor_message(c, &s->terminated);
	default:
		return cursor_skip(c, tag);
	}
}

static int state_decode(struct cursor *c, struct container_facts *f)
{
	struct state_reader s = { 0 };

	if (walk_next(c, state_field, &s) < 0)
		return -EBADMSG;
	if (s.waiting.p) {
		f->state = CONTAINER_WAITING;
		return walk(s.waiting, waiting_field, f);
	}
	if (s.running.p) {
		f->state = CONTAINER_RUNNING;
		return walk(s.running, running_field, f);
	}
	if (s.terminated.p) {
		f->state = CONTAINER_TERMINATED;
		return walk(s.terminated, terminated_field, f);
	}
	return 0;
}

static int last_state_decode(struct cursor *c, struct container_facts *f)
{
	struct state_reader s = { 0 };
	struct container_facts last = { 0 };

	if (walk_next(c, state_field, &s) < 0)
		return -EBADMSG;
	if (!s.terminated.p)
		return 0;
	if (walk(s.terminated, terminated_field, &last) < 0)
		return -EBADMSG;
	f->last_reason = last.reason;
	f->last_exit_code = last.exit_code;
	f->last_finished_at = last.finished_at;
	return 0;
}

static inline int container_field(struct cursor *c, uint32_t tag, void *out)
{
	struct container_facts *f = out;

	switch (tag) {
	case TAG(1, WIRE_BYTES):
		return cursor_str(c, &f->name);
	case TAG(2, WIRE_BYTES):
		return state_decode(c, f);
	case TAG(3, WIRE_BYTES):
		return last_state_decode(c, f);
	case TAG(4, WIRE_VARINT):
		return cursor_bool(c, &f->ready);
	case TAG(5, WIRE_VARINT):
		return cursor_i32(c, &f->restarts);
	case TAG(9, WIRE_VARINT):
		return cursor_bool(c, &f->started);
	default:
		return cursor_skip(c, tag);
	}
}

static int container_decode(struct cursor *c, uint32_t tag, struct facts_builder *b, enum container_kind kind)
{
	struct container_facts *f = facts_add_container(b, kind);

	return f ? walk_next(c, container_field, f) : cursor_skip(c, tag);
}

static int condition_decode(struct cursor *c, struct facts_builder *b)
{
	struct condition_reader o = { 0 };

	if (walk_next(c, condition_field, &o) < 0)
		return -EBADMSG;
	facts_add_condition(b, o.type, o.status, o.since);
	return 0;
}

static inline int status_field(struct cursor *c, uint32_t tag, void *out)
{
	struct facts_builder *b = out;

	switch (tag) {
	case TAG(1, WIRE_BYTES):
		return cursor_str(c, &b->f->phase);
	case TAG(2, WIRE_BYTES):
		return condition_decode(c, b);
	case TAG(4, WIRE_BYTES):
		return cursor_str(c, &b->f->reason);
	case TAG(7, WIRE_BYTES):
		return walk_next(c, time_field, &b->f->start_time);
	case TAG(8, WIRE_BYTES):
		return container_decode(c, tag, b, CONTAINER_MAIN);
	case TAG(10, WIRE_BYTES):
		return container_decode(c, tag, b, CONTAINER_INIT);
	case TAG(13, WIRE_BYTES):
		return container_decode(c, tag, b, CONTAINER_EPHEMERAL);
	default:
		return cursor_skip(c, tag);
	}
}

static inline int pod_field(struct cursor *c, uint32_t tag, void *out)
{
	switch (tag) {
	case TAG(1, WIRE_BYTES):
		return walk_next(c, meta_field, out);
	case TAG(2, WIRE_BYTES):
		return walk_next(c, spec_field, out);
	case TAG(3, WIRE_BYTES):
		return walk_next(c, status_field, out);
	default:
		return cursor_skip(c, tag);
	}
}

int decode_pod_protobuf(const uint8_t *p, size_t n, struct pod_facts *ret)
{
	struct facts_builder b;

	facts_begin(&b, ret);
	if (walk(cursor_of(p, n), pod_field, &b) < 0)
		return -EBADMSG;
	facts_end(&b);
	return 0;
}

/* -- bookmarks ------------------------------------------------------------------------------------------ */

#define INITIAL_END_KEY "k8s.io/initial-events-end"

static int bookmark_meta_field(struct cursor *c, uint32_t tag, void *out)
{
	struct bookmark *b = out;
	struct map_entry e = { 0 };

	if (tag == TAG(6, WIRE_BYTES))
		return cursor_str(c, &b->rv);
	if (tag != TAG(12, WIRE_BYTES))
		return cursor_skip(c, tag);
	if (walk_next(c, map_field, &e) < 0)
		return -EBADMSG;
	if (str_is(e.key, INITIAL_END_KEY))
		b->initial_end = str_is(e.value, "true");
	return 0;
}

static int bookmark_field(struct cursor *c, uint32_t tag, void *out)
{
	return tag == TAG(1, WIRE_BYTES) ? walk_next(c, bookmark_meta_field, out) : cursor_skip(c, tag);
}

int decode_bookmark_protobuf(const uint8_t *p, size_t n, struct bookmark *ret)
{
	*ret = (struct bookmark){ 0 };
	return walk(cursor_of(p, n), bookmark_field, ret);
}
