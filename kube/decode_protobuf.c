/* decode_protobuf.c - core/v1 Pod, protobuf wire format -> struct pod_facts. Each message of model/fields.def
 * has one function that takes one field; cursor_walk() drives them. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/decode_protobuf.h"

#include <string.h>

#include "kube/cursor.h"
#include "kube/pod_facts.h"
#include "model/fields.def"

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

/* -- map entries -- */

static INLINE int pair_field(struct field f, void *out)
{
	struct label *pair = out;

	if (f.tag == TAG(1, WIRE_BYTES))
		pair->key = field_str(f);
	else if (f.tag == TAG(2, WIRE_BYTES))
		pair->value = field_str(f);
	return 0;
}

/* A pair as every writer writes it: key, then value, both short. */
static INLINE bool pair_is_plain(struct field f, struct label *ret)
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

/* Annotations and conditions begin with their key or type, and most are none that is asked for: its length
 * tells. What does not begin so is read. */
static INLINE bool may_matter(struct field f, uint32_t lengths)
{
	if (f.number < 2 || f.p[0] != TAG(1, WIRE_BYTES) || f.p[1] >= 0x80)
		return true;
	return f.p[1] < 32 && (lengths >> f.p[1] & 1);
}

/* -- one field of each message -- */

/* clang-format off */
/* What becomes of a field f of the message o, by its kind. */
#define TAKE_TEXT(o, n, fact)      case TAG(n, WIRE_BYTES): (o)->fact = field_str(f); break;
#define TAKE_BOOL(o, n, fact)      case TAG(n, WIRE_VARINT): (o)->fact = f.number != 0; break;
#define TAKE_INT32(o, n, fact)     case TAG(n, WIRE_VARINT): (o)->fact = (int32_t)(uint32_t)f.number; break;
#define TAKE_SECONDS(o, n, fact)   case TAG(n, WIRE_VARINT): (o)->fact = (int64_t)f.number; break;
#define TAKE_TIME(o, n, fact)      case TAG(n, WIRE_BYTES): return time_decode(f, &(o)->fact);
#define TAKE_PRESENT(o, n, fact)   case TAG(n, WIRE_BYTES): (o)->fact = true; break;
#define TAKE_ONEOF(o, n, fact)     case TAG(n, WIRE_BYTES): (o)->fact = field_message(f); break;
#define TAKE_PART(o, n, fact)      case TAG(n, WIRE_BYTES): return cursor_walk(field_message(f), fact##_field, o);
#define TAKE_MESSAGE(o, n, fact)   case TAG(n, WIRE_BYTES): return fact##_decode(f, o);
#define TAKE_EACH(o, n, fact)      TAKE_MESSAGE(o, n, fact)
#define TAKE_PAIR(o, n, fact)      TAKE_MESSAGE(o, n, fact)
#define TAKE_ITEM(o, n, fact)      case TAG(n, WIRE_BYTES): facts_add_##fact(o, field_str(f)); break;
#define TAKE_NUMBERS(o, n, fact)   case TAG(n, WIRE_VARINT): facts_add_##fact(o, (int32_t)(uint32_t)f.number); break; \
				   case TAG(n, WIRE_BYTES): return fact##s_decode(f, o);
#define TAKE_CONTAINER(o, n, fact) case TAG(n, WIRE_BYTES): return container_decode(f, o, CONTAINER_##fact);
/* clang-format on */
#define TAKE(o, fact, number, key, kind) TAKE_##kind(o, number, fact)

/* What is not asked for is stepped over: of ObjectMeta, managedFields is most of the bytes. */
#define READER(message, type)                                                                                \
	static INLINE int message##_field(struct field f, void *out)                                         \
	{                                                                                                    \
		type *o = out;                                                                               \
                                                                                                             \
		switch (f.tag) {                                                                             \
			FIELDS_##message(TAKE, o)                                                            \
		}                                                                                            \
		return 0;                                                                                    \
	}

static int label_decode(struct field f, struct pod_facts *pod)
{
	struct label pair = { 0 };

	if (!pair_is_plain(f, &pair) && cursor_walk(field_message(f), pair_field, &pair) < 0)
		return -EBADMSG;
	facts_add_label(pod, pair.key, pair.value);
	return 0;
}

static NOINLINE int annotation_read(struct cursor c, struct pod_facts *pod)
{
	struct label pair = { 0 };

	if (cursor_walk(c, pair_field, &pair) < 0)
		return -EBADMSG;
	facts_add_annotation(pod, pair.key, pair.value);
	return 0;
}

static INLINE int annotation_decode(struct field f, struct pod_facts *pod)
{
	return may_matter(f, FACTS_ANNOTATIONS) ? annotation_read(field_message(f), pod) : 0;
}

READER(owner, struct owner_row)

static int owner_decode(struct field f, struct pod_facts *pod)
{
	struct owner_row row = { 0 };

	if (cursor_walk(field_message(f), owner_field, &row) < 0)
		return -EBADMSG;
	facts_add_owner(pod, &row);
	return 0;
}

READER(meta, struct pod_facts)
READER(volume, struct pod_facts)

static INLINE int source_field(struct field f, void *pod)
{
	return f.tag == TAG(2, WIRE_BYTES) ? cursor_walk(field_message(f), volume_field, pod) : 0;
}

/* Name, then VolumeSource: as an entry, key, then value. */
static INLINE int volume_decode(struct field f, struct pod_facts *pod)
{
	struct label pair;

	if (!pair_is_plain(f, &pair))
		return cursor_walk(field_message(f), source_field, pod);
	return cursor_walk(cursor_of(pair.value.p, pair.value.n), volume_field, pod);
}

READER(claim, struct claim_row)
READER(claim_status, struct claim_row)

static NOINLINE int claim_decode(struct field f, struct pod_facts *pod)
{
	struct claim_row row = { 0 };

	if (cursor_walk(field_message(f), claim_field, &row) < 0)
		return -EBADMSG;
	facts_add_claim(pod, &row);
	return 0;
}

static NOINLINE int claim_status_decode(struct field f, struct pod_facts *pod)
{
	struct claim_row row = { 0 };

	if (cursor_walk(field_message(f), claim_status_field, &row) < 0)
		return -EBADMSG;
	facts_add_claim(pod, &row);
	return 0;
}

/* Packed, as no writer of Kubernetes does it and every reader takes it. */
static int codes_decode(struct field f, struct rule_row *rule)
{
	for (struct cursor_number n = { f.p, 0 }; n.p < f.next;) {
		n = cursor_number(n.p, f.next);
		if (!n.p)
			return -EBADMSG;
		facts_add_code(rule, (int32_t)(uint32_t)n.v);
	}
	return 0;
}

READER(exit_codes, struct rule_row)

static int exit_codes_decode(struct field f, struct rule_row *rule)
{
	return cursor_walk(field_message(f), exit_codes_field, rule);
}

READER(rule, struct rule_row)

static int rule_decode(struct field f, struct template_row *t)
{
	struct rule_row rule;

	t->has_rules = true;
	if (!t->of)
		return 0;
	rule = facts_rule(t);
	if (cursor_walk(field_message(f), rule_field, &rule) < 0)
		return -EBADMSG;
	facts_heed_rule(t, &rule);
	return 0;
}

READER(template, struct template_row)

static NOINLINE int template_read(struct field f, struct pod_facts *pod)
{
	struct template_row t = { 0 };

	if (cursor_walk(field_message(f), template_field, &t) < 0)
		return -EBADMSG;
	for (uint32_t i = 0; t.has_rules && i < pod->n_containers; i++) {
		struct template_row ruled = { .of = facts_ruled(pod, i, t.name) };

		if (ruled.of && cursor_walk(field_message(f), template_field, &ruled) < 0)
			return -EBADMSG;
	}
	facts_note_template(pod, t.name);
	return 0;
}

static INLINE int template_decode(struct field f, struct pod_facts *pod)
{
	return pod->n_containers ? template_read(f, pod) : 0;
}

READER(templates, struct pod_facts)
READER(spec, struct pod_facts)
READER(condition, struct condition_row)

static NOINLINE int condition_read(struct cursor c, struct pod_facts *pod)
{
	struct condition_row row = { 0 };

	if (cursor_walk(c, condition_field, &row) < 0)
		return -EBADMSG;
	facts_add_condition(pod, &row);
	return 0;
}

static INLINE int condition_decode(struct field f, struct pod_facts *pod)
{
	return may_matter(f, FACTS_CONDITIONS) ? condition_read(field_message(f), pod) : 0;
}

/* The members of ContainerState that are there; p == NULL otherwise. */
struct wire_states {
	struct cursor waiting, running, terminated;
};

READER(state, struct wire_states)
READER(waiting, struct container_facts)
READER(running, struct container_facts)
READER(terminated, struct container_facts)
READER(last, struct container_facts)

static int state_decode(struct field f, struct container_facts *c)
{
	struct wire_states s = { 0 };

	if (cursor_walk(field_message(f), state_field, &s) < 0)
		return -EBADMSG;
	c->state = facts_state(s.waiting.p, s.running.p, s.terminated.p);
	if (c->state == CONTAINER_WAITING)
		return cursor_walk(s.waiting, waiting_field, c);
	if (c->state == CONTAINER_RUNNING)
		return cursor_walk(s.running, running_field, c);
	return c->state == CONTAINER_TERMINATED ? cursor_walk(s.terminated, terminated_field, c) : 0;
}

static int last_state_decode(struct field f, struct container_facts *c)
{
	struct wire_states s = { 0 };

	if (cursor_walk(field_message(f), state_field, &s) < 0)
		return -EBADMSG;
	return cursor_walk(s.terminated, last_field, c);
}

READER(health, struct health_row)

static int health_decode(struct field f, struct container_facts *c)
{
	struct health_row row = { 0 };

	if (cursor_walk(field_message(f), health_field, &row) < 0)
		return -EBADMSG;
	facts_add_health(c, &row);
	return 0;
}

READER(allocated, struct container_facts)

static NOINLINE int allocated_decode(struct field f, struct container_facts *c)
{
	return cursor_walk(field_message(f), allocated_field, c);
}

READER(container, struct container_facts)

static int container_decode(struct field f, struct pod_facts *pod, enum container_kind kind)
{
	struct container_facts *c = facts_add_container(pod, kind);

	return c ? cursor_walk(field_message(f), container_field, c) : 0;
}

READER(status, struct pod_facts)
READER(pod, struct pod_facts)

static int again_field(struct field f, void *pod)
{
	return f.tag == TAG(2, WIRE_BYTES) ? cursor_walk(field_message(f), templates_field, pod) : 0;
}

int decode_pod_protobuf(const uint8_t *p, size_t n, struct pod_facts *ret)
{
	facts_begin(ret);
	if (cursor_walk(cursor_of(p, n), pod_field, ret) < 0 ||
	    (facts_any_ended(ret) && cursor_walk(cursor_of(p, n), again_field, ret) < 0))
		return -EBADMSG;
	facts_end(ret);
	return 0;
}

static INLINE int object_field(struct field f, void *out)
{
	return f.tag == TAG(1, WIRE_BYTES) ? cursor_walk(field_message(f), meta_field, out) : 0;
}

int decode_metadata_protobuf(const uint8_t *p, size_t n, struct pod_facts *ret)
{
	facts_begin(ret);
	if (cursor_walk(cursor_of(p, n), object_field, ret) < 0)
		return -EBADMSG;
	facts_end(ret);
	return 0;
}
