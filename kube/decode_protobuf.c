/* decode_protobuf.c - core/v1 Pod, protobuf wire format -> struct pod_facts. Field numbers: kubernetes/api
 * core/v1/generated.proto and apimachinery pkg/apis/meta/v1/generated.proto (they never change).
 * Each message has one function that takes one field; cursor_walk() drives them. */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "kube/cursor.h"
#include "kube/decode.h"
#include "kube/facts.h"

#define INLINE   inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))

/* meta/v1 Time; nanos are ignored as the server does (time_proto.go). */
static INLINE int time_field(struct field f, void *out)
{
	int64_t *ms = out;

	if (f.tag == TAG(1, WIRE_VARINT))
		*ms = facts_time((int64_t)f.number);
	return 0;
}

/* A time as the server writes it: seconds of five bytes, which is 1978 to 3058, then no nanos or 0 of them.
 */
static INLINE bool time_is_plain(struct field f, int64_t *ret)
{
	const uint8_t *p = f.p;
	uint32_t w;

	if ((f.number != 6 && f.number != 8) || p[0] != TAG(1, WIRE_VARINT) || p[5] >= 0x80 ||
	    (f.number == 8 && (p[6] != TAG(2, WIRE_VARINT) || p[7] != 0)))
		return false;
	memcpy(&w, p + 1, sizeof(w));
	w = le32toh(w);
	if ((w & 0x80808080) != 0x80808080)
		return false;
	w = (w & 0x7f) | (w >> 1 & 0x3f80) | (w >> 2 & 0x1fc000) | (w >> 3 & 0xfe00000);
	*ret = facts_time((int64_t)((uint64_t)p[5] << 28 | w));
	return true;
}

static NOINLINE int odd_time_decode(struct field f, int64_t *ret)
{
	return cursor_walk(field_message(f), time_field, ret);
}

static INLINE int time_decode(struct field f, int64_t *ret)
{
	return time_is_plain(f, ret) ? 0 : odd_time_decode(f, ret);
}

struct map_entry {
	struct str key, value;
};

static INLINE int map_field(struct field f, void *out)
{
	struct map_entry *e = out;

	if (f.tag == TAG(1, WIRE_BYTES))
		e->key = field_str(f);
	else if (f.tag == TAG(2, WIRE_BYTES))
		e->value = field_str(f);
	return 0;
}

struct owner_reader {
	struct owner_facts facts;
	bool controller;
};

static INLINE int owner_field(struct field f, void *out)
{
	struct owner_reader *o = out;

	switch (f.tag) {
	case TAG(1, WIRE_BYTES):
		o->facts.kind = field_str(f);
		break;
	case TAG(3, WIRE_BYTES):
		o->facts.name = field_str(f);
		break;
	case TAG(4, WIRE_BYTES):
		o->facts.uid = field_str(f);
		break;
	case TAG(5, WIRE_BYTES):
		o->facts.api_version = field_str(f);
		break;
	case TAG(6, WIRE_VARINT):
		o->controller = f.number != 0;
		break;
	}
	return 0;
}

/* Annotations and conditions begin with their key or type, and most are none that is asked for: its length
 * tells. What does not begin so is read. */
static INLINE bool may_matter(struct field f, uint32_t lengths)
{
	if (f.number < 2 || f.p[0] != TAG(1, WIRE_BYTES) || f.p[1] >= 0x80)
		return true;
	return f.p[1] < 32 && (lengths >> f.p[1] & 1);
}

/* An entry as every writer writes it: key, then value, both short. */
static INLINE bool entry_is_plain(struct field f, struct map_entry *ret)
{
	const uint8_t *p = f.p;
	const size_t n = f.number, k = n < 4 ? 0 : p[1];

	if (n < 4 || n > 254 || p[0] != TAG(1, WIRE_BYTES) || k + 4 > n || p[k + 2] != TAG(2, WIRE_BYTES) ||
	    (size_t)p[k + 3] + k + 4 != n || ((p[1] | p[k + 3]) & 0x80))
		return false;
	ret->key = (struct str){ (const char *)p + 2, k };
	ret->value = (struct str){ (const char *)p + 4 + k, p[k + 3] };
	return true;
}

static int label_decode(struct field f, struct facts_builder *b)
{
	struct map_entry e = { 0 };

	if (!entry_is_plain(f, &e) && cursor_walk(field_message(f), map_field, &e) < 0)
		return -EBADMSG;
	facts_add_label(b, e.key, e.value);
	return 0;
}

static int annotation_decode(struct cursor c, struct facts_builder *b)
{
	struct map_entry e = { 0 };

	if (cursor_walk(c, map_field, &e) < 0)
		return -EBADMSG;
	facts_add_annotation(b, e.key, e.value);
	return 0;
}

static int owner_decode(struct cursor c, struct facts_builder *b)
{
	struct owner_reader o = { 0 };

	if (cursor_walk(c, owner_field, &o) < 0)
		return -EBADMSG;
	facts_add_owner(b, &o.facts, o.controller);
	return 0;
}

/* Of ObjectMeta, managedFields (17) is most of the bytes; nobody asks for it. */
static INLINE int meta_field(struct field f, void *out)
{
	struct facts_builder *b = out;
	struct pod_facts *pod = b->f;

	switch (f.tag) {
	case TAG(1, WIRE_BYTES):
		pod->name = field_str(f);
		break;
	case TAG(3, WIRE_BYTES):
		pod->ns = field_str(f);
		break;
	case TAG(5, WIRE_BYTES):
		pod->uid = field_str(f);
		break;
	case TAG(6, WIRE_BYTES):
		pod->rv = field_str(f);
		break;
	case TAG(8, WIRE_BYTES):
		return time_decode(f, &pod->created);
	case TAG(9, WIRE_BYTES):
		return time_decode(f, &pod->deletion);
	case TAG(10, WIRE_VARINT):
		pod->grace_s = (int64_t)f.number;
		break;
	case TAG(11, WIRE_BYTES):
		return label_decode(f, b);
	case TAG(12, WIRE_BYTES):
		return may_matter(f, FACTS_ANNOTATIONS) ? annotation_decode(field_message(f), b) : 0;
	case TAG(13, WIRE_BYTES):
		return owner_decode(field_message(f), b);
	case TAG(14, WIRE_BYTES):
		facts_add_finalizer(b, field_str(f));
		break;
	}
	return 0;
}

/* persistentVolumeClaim, ephemeral */
static INLINE int volume_source_field(struct field f, void *out)
{
	bool *has_pvc = out;

	*has_pvc |= f.tag == TAG(10, WIRE_BYTES) || f.tag == TAG(29, WIRE_BYTES);
	return 0;
}

static INLINE int volume_field(struct field f, void *out)
{
	return f.tag == TAG(2, WIRE_BYTES) ? cursor_walk(field_message(f), volume_source_field, out) : 0;
}

/* Name, then source: as an entry, key, then value. */
static INLINE int volume_decode(struct field f, bool *has_pvc)
{
	struct map_entry e;

	if (!entry_is_plain(f, &e))
		return cursor_walk(field_message(f), volume_field, has_pvc);
	return cursor_walk(cursor_of(e.value.p, e.value.n), volume_source_field, has_pvc);
}

static INLINE int spec_field(struct field f, void *out)
{
	struct facts_builder *b = out;

	switch (f.tag) {
	case TAG(1, WIRE_BYTES):
		return volume_decode(f, &b->f->has_pvc);
	case TAG(10, WIRE_BYTES):
		b->f->node = field_str(f);
		break;
	case TAG(24, WIRE_BYTES):
		b->f->priority_class = field_str(f);
		break;
	}
	return 0;
}

struct condition_reader {
	struct str type, status;
	int64_t since;
};

static INLINE int condition_field(struct field f, void *out)
{
	struct condition_reader *o = out;

	switch (f.tag) {
	case TAG(1, WIRE_BYTES):
		o->type = field_str(f);
		break;
	case TAG(2, WIRE_BYTES):
		o->status = field_str(f);
		break;
	case TAG(4, WIRE_BYTES):
		return time_decode(f, &o->since);
	}
	return 0;
}

static INLINE int waiting_field(struct field f, void *out)
{
	struct container_facts *c = out;

	if (f.tag == TAG(1, WIRE_BYTES))
		c->reason = field_str(f);
	else if (f.tag == TAG(2, WIRE_BYTES))
		c->message = field_str(f);
	return 0;
}

static INLINE int running_field(struct field f, void *out)
{
	struct container_facts *c = out;

	return f.tag == TAG(1, WIRE_BYTES) ? time_decode(f, &c->started_at) : 0;
}

static INLINE int terminated_field(struct field f, void *out)
{
	struct container_facts *c = out;

	switch (f.tag) {
	case TAG(1, WIRE_VARINT):
		c->exit_code = (int32_t)(uint32_t)f.number;
		break;
	case TAG(3, WIRE_BYTES):
		c->reason = field_str(f);
		break;
	case TAG(5, WIRE_BYTES):
		return time_decode(f, &c->started_at);
	case TAG(6, WIRE_BYTES):
		return time_decode(f, &c->finished_at);
	}
	return 0;
}

/* The members of ContainerState that are there; p == NULL otherwise. */
struct state_reader {
	struct cursor waiting, running, terminated;
};

static INLINE int state_field(struct field f, void *out)
{
	struct state_reader *s = out;

	switch (f.tag) {
	case TAG(1, WIRE_BYTES):
		s->waiting = field_message(f);
		break;
	case TAG(2, WIRE_BYTES):
		s->running = field_message(f);
		break;
	case TAG(3, WIRE_BYTES):
		s->terminated = field_message(f);
		break;
	}
	return 0;
}

static int state_decode(struct cursor c, struct container_facts *f)
{
	struct state_reader s = { 0 };

	if (cursor_walk(c, state_field, &s) < 0)
		return -EBADMSG;
	if (s.waiting.p) {
		f->state = CONTAINER_WAITING;
		return cursor_walk(s.waiting, waiting_field, f);
	}
	if (s.running.p) {
		f->state = CONTAINER_RUNNING;
		return cursor_walk(s.running, running_field, f);
	}
	if (s.terminated.p) {
		f->state = CONTAINER_TERMINATED;
		return cursor_walk(s.terminated, terminated_field, f);
	}
	return 0;
}

static int last_state_decode(struct cursor c, struct container_facts *f)
{
	struct state_reader s = { 0 };
	struct container_facts last;

	if (cursor_walk(c, state_field, &s) < 0)
		return -EBADMSG;
	if (!s.terminated.p)
		return 0;
	last = (struct container_facts){ 0 };
	if (cursor_walk(s.terminated, terminated_field, &last) < 0)
		return -EBADMSG;
	f->last_reason = last.reason;
	f->last_exit_code = last.exit_code;
	f->last_finished_at = last.finished_at;
	return 0;
}

static INLINE int container_field(struct field f, void *out)
{
	struct container_facts *c = out;

	switch (f.tag) {
	case TAG(1, WIRE_BYTES):
		c->name = field_str(f);
		break;
	case TAG(2, WIRE_BYTES):
		return state_decode(field_message(f), c);
	case TAG(3, WIRE_BYTES):
		return last_state_decode(field_message(f), c);
	case TAG(4, WIRE_VARINT):
		c->ready = f.number != 0;
		break;
	case TAG(5, WIRE_VARINT):
		c->restarts = (int32_t)(uint32_t)f.number;
		break;
	case TAG(6, WIRE_BYTES):
		c->image = field_str(f);
		break;
	case TAG(9, WIRE_VARINT):
		c->started = f.number != 0;
		break;
	}
	return 0;
}

static int container_decode(struct cursor c, struct facts_builder *b, enum container_kind kind)
{
	struct container_facts *f = facts_add_container(b, kind);

	return f ? cursor_walk(c, container_field, f) : 0;
}

static int condition_decode(struct cursor c, struct facts_builder *b)
{
	struct condition_reader o = { 0 };

	if (cursor_walk(c, condition_field, &o) < 0)
		return -EBADMSG;
	facts_add_condition(b, o.type, o.status, o.since);
	return 0;
}

static INLINE int status_field(struct field f, void *out)
{
	struct facts_builder *b = out;

	switch (f.tag) {
	case TAG(1, WIRE_BYTES):
		b->f->phase = field_str(f);
		break;
	case TAG(2, WIRE_BYTES):
		return may_matter(f, FACTS_CONDITIONS) ? condition_decode(field_message(f), b) : 0;
	case TAG(4, WIRE_BYTES):
		b->f->reason = field_str(f);
		break;
	case TAG(7, WIRE_BYTES):
		return time_decode(f, &b->f->start_time);
	case TAG(8, WIRE_BYTES):
		return container_decode(field_message(f), b, CONTAINER_MAIN);
	case TAG(10, WIRE_BYTES):
		return container_decode(field_message(f), b, CONTAINER_INIT);
	case TAG(13, WIRE_BYTES):
		return container_decode(field_message(f), b, CONTAINER_EPHEMERAL);
	}
	return 0;
}

static INLINE int pod_field(struct field f, void *out)
{
	switch (f.tag) {
	case TAG(1, WIRE_BYTES):
		return cursor_walk(field_message(f), meta_field, out);
	case TAG(2, WIRE_BYTES):
		return cursor_walk(field_message(f), spec_field, out);
	case TAG(3, WIRE_BYTES):
		return cursor_walk(field_message(f), status_field, out);
	}
	return 0;
}

int decode_pod_protobuf(const uint8_t *p, size_t n, struct pod_facts *ret)
{
	struct facts_builder b;

	facts_begin(&b, ret);
	if (cursor_walk(cursor_of(p, n), pod_field, &b) < 0)
		return -EBADMSG;
	facts_end(&b);
	return 0;
}

/* -- bookmarks ------------------------------------------------------------------------------------------ */

#define INITIAL_END_KEY "k8s.io/initial-events-end"

static INLINE int bookmark_meta_field(struct field f, void *out)
{
	struct bookmark *b = out;
	struct map_entry e = { 0 };

	if (f.tag == TAG(6, WIRE_BYTES))
		b->rv = field_str(f);
	if (f.tag != TAG(12, WIRE_BYTES))
		return 0;
	if (cursor_walk(field_message(f), map_field, &e) < 0)
		return -EBADMSG;
	if (str_is(e.key, INITIAL_END_KEY))
		b->initial_end = str_is(e.value, "true");
	return 0;
}

static INLINE int bookmark_field(struct field f, void *out)
{
	return f.tag == TAG(1, WIRE_BYTES) ? cursor_walk(field_message(f), bookmark_meta_field, out) : 0;
}

int decode_bookmark_protobuf(const uint8_t *p, size_t n, struct bookmark *ret)
{
	*ret = (struct bookmark){ 0 };
	return cursor_walk(cursor_of(p, n), bookmark_field, ret);
}
