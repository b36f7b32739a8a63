/* decode_protobuf.c - core/v1 Pod, protobuf wire format -> struct pod_facts. Each message of model/fields.def
 * has one function that reads it. */
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
	w = (w & 0x7f007f) | (w >> 1 & 0x3f803f80);
	w = (w & 0x3fff) | (w >> 2 & 0xfffc000);
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
	const size_t n = f.number;

	if (n < 4 || n > 131) /* with more, one of them has a length of two bytes */
		return false;
	const size_t k = p[1];

	if (p[0] != TAG(1, WIRE_BYTES) || k + 4 > n || p[k + 2] != TAG(2, WIRE_BYTES) ||
	    p[k + 3] + k + 4 != n)
		return false;
	ret->key = (struct str){ (const char *)p + 2, k };
	ret->value = (struct str){ (const char *)p + 4 + k, p[k + 3] };
	return true;
}

/* Annotations and conditions begin with their key or type, and most are none that is asked for: its length
 * and its first letter tell. What does not begin so is read. */
static INLINE bool may_matter(struct field f, uint32_t lengths, uint32_t letters)
{
	if (f.number < 3 || f.p[0] != TAG(1, WIRE_BYTES) || f.p[1] >= 0x80)
		return true;
	return f.p[1] < 32 && lengths >> f.p[1] & 1 && letters >> (f.p[2] & 31) & 1;
}

/* -- one field of each message -- */

/* clang-format off */
/* What becomes of a field f at c of the message o, by its kind. */
#define BYTES(n)  case TAG(n, WIRE_BYTES): if (!cursor_pass_bytes(&c, f)) return -EBADMSG;
#define NUMBER(n) case TAG(n, WIRE_VARINT): c.p = f.p;
#define MUST(r)   if ((r) < 0) return -EBADMSG; break;
#define TAKE_TEXT(o, n, fact)      BYTES(n) (o)->fact = field_str(f); break;
#define TAKE_BOOL(o, n, fact)      NUMBER(n) (o)->fact = f.number != 0; break;
#define TAKE_INT32(o, n, fact)     NUMBER(n) (o)->fact = (int32_t)(uint32_t)f.number; break;
#define TAKE_SECONDS(o, n, fact)   NUMBER(n) (o)->fact = (int64_t)f.number; break;
#define TAKE_TIME(o, n, fact)      BYTES(n) MUST(time_decode(f, &(o)->fact))
#define TAKE_PRESENT(o, n, fact)   BYTES(n) (o)->fact = true; break;
#define TAKE_ONEOF(o, n, fact)     BYTES(n) (o)->fact = field_message(f); break;
#define TAKE_PART(o, n, fact)      BYTES(n) MUST(fact##_walk(field_message(f), o))
#define TAKE_MESSAGE(o, n, fact)   BYTES(n) MUST(fact##_decode(f, o))
#define TAKE_EACH(o, n, fact)      TAKE_MESSAGE(o, n, fact)
#define TAKE_PAIR(o, n, fact)      TAKE_MESSAGE(o, n, fact)
#define TAKE_ITEM(o, n, fact)      BYTES(n) facts_add_##fact(o, field_str(f)); break;
#define TAKE_NUMBERS(o, n, fact)   NUMBER(n) facts_add_##fact(o, (int32_t)(uint32_t)f.number); break; \
				   BYTES(n) MUST(fact##s_decode(f, o))
#define TAKE_CONTAINER(o, n, fact) BYTES(n) MUST(container_decode(f, o, CONTAINER_##fact))
/* clang-format on */
#define TAKE(o, fact, number, key, kind) TAKE_##kind(o, number, fact)

/* Every field of a message in turn, as cursor_walk() does it, but with the switch inside: the tags that are
 * asked for say themselves how long a field is. What is not asked for is stepped over: of ObjectMeta,
 * managedFields is most of the bytes. */
#define READER(message, type)                                                                                \
	static INLINE int message##_walk(struct cursor c, type *o)                                           \
	{                                                                                                    \
		const uint8_t *const last = c.p == c.end ? c.p : c.end - 1; /* no field has one byte */      \
                                                                                                             \
		while (c.p < last) {                                                                         \
			const struct field f = cursor_head(c);                                               \
                                                                                                             \
			switch (f.tag) {                                                                     \
			default:                                                                             \
				if (!cursor_pass(&c, f))                                                     \
					return -EBADMSG;                                                     \
				break;                                                                       \
				FIELDS_##message(TAKE, o)                                                    \
			}                                                                                    \
		}                                                                                            \
		return c.p == c.end ? 0 : -EBADMSG;                                                          \
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
	return may_matter(f, FACTS_ANNOTATIONS, FACTS_ANNOTATION_LETTERS)
		       ? annotation_read(field_message(f), pod)
		       : 0;
}

READER(owner, struct owner_row)

static int owner_decode(struct field f, struct pod_facts *pod)
{
	struct owner_row row = { 0 };

	if (owner_walk(field_message(f), &row) < 0)
		return -EBADMSG;
	facts_add_owner(pod, &row);
	return 0;
}

READER(meta, struct pod_facts)
READER(volume, struct pod_facts)

/* Name, then VolumeSource: as an entry, key, then value. */
#define FIELDS_source(F, X) F(X, volume, 2, , PART)
READER(source, struct pod_facts)

static INLINE int volume_decode(struct field f, struct pod_facts *pod)
{
	struct label pair;

	if (!pair_is_plain(f, &pair))
		return source_walk(field_message(f), pod);
	return volume_walk(cursor_of(pair.value.p, pair.value.n), pod);
}

READER(claim, struct claim_row)
READER(claim_status, struct claim_row)

static NOINLINE int claim_decode(struct field f, struct pod_facts *pod)
{
	struct claim_row row = { 0 };

	if (claim_walk(field_message(f), &row) < 0)
		return -EBADMSG;
	facts_add_claim(pod, &row);
	return 0;
}

static NOINLINE int claim_status_decode(struct field f, struct pod_facts *pod)
{
	struct claim_row row = { 0 };

	if (claim_status_walk(field_message(f), &row) < 0)
		return -EBADMSG;
	facts_add_claim(pod, &row);
	return 0;
}

/* Packed, as no writer of Kubernetes does it and every reader takes it. */
static int codes_decode(struct field f, struct rule_row *rule)
{
	const struct cursor c = field_message(f);

	for (struct cursor_number n = { c.p, 0 }; n.p < c.end;) {
		n = cursor_number(n.p, c.end);
		if (!n.p)
			return -EBADMSG;
		facts_add_code(rule, (int32_t)(uint32_t)n.v);
	}
	return 0;
}

READER(exit_codes, struct rule_row)

static int exit_codes_decode(struct field f, struct rule_row *rule)
{
	return exit_codes_walk(field_message(f), rule);
}

READER(rule, struct rule_row)

static int rule_decode(struct field f, struct template_row *t)
{
	struct rule_row rule;

	t->has_rules = true;
	if (!t->of)
		return 0;
	rule = facts_rule(t);
	if (rule_walk(field_message(f), &rule) < 0)
		return -EBADMSG;
	facts_heed_rule(t, &rule);
	return 0;
}

READER(template, struct template_row)

static NOINLINE int template_read(struct field f, struct pod_facts *pod)
{
	struct template_row t = { 0 };

	if (template_walk(field_message(f), &t) < 0)
		return -EBADMSG;
	for (uint32_t i = 0; t.has_rules && i < pod->n_containers; i++) {
		struct template_row ruled = { .of = facts_ruled(pod, i, t.name) };

		if (ruled.of && template_walk(field_message(f), &ruled) < 0)
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

static int condition_read(struct cursor c, struct pod_facts *pod)
{
	struct condition_row row = { 0 };

	if (condition_walk(c, &row) < 0)
		return -EBADMSG;
	facts_add_condition(pod, &row);
	return 0;
}

static INLINE int condition_decode(struct field f, struct pod_facts *pod)
{
	return may_matter(f, FACTS_CONDITIONS, UINT32_MAX) ? condition_read(field_message(f), pod) : 0;
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

	if (state_walk(field_message(f), &s) < 0)
		return -EBADMSG;
	c->state = facts_state(s.waiting.p, s.running.p, s.terminated.p);
	if (c->state == CONTAINER_WAITING)
		return waiting_walk(s.waiting, c);
	if (c->state == CONTAINER_RUNNING)
		return running_walk(s.running, c);
	return c->state == CONTAINER_TERMINATED ? terminated_walk(s.terminated, c) : 0;
}

static int last_state_decode(struct field f, struct container_facts *c)
{
	struct wire_states s = { 0 };

	if (state_walk(field_message(f), &s) < 0)
		return -EBADMSG;
	return last_walk(s.terminated, c);
}

READER(health, struct health_row)

static int health_decode(struct field f, struct container_facts *c)
{
	struct health_row row = { 0 };

	if (health_walk(field_message(f), &row) < 0)
		return -EBADMSG;
	facts_add_health(c, &row);
	return 0;
}

READER(allocated, struct container_facts)

static NOINLINE int allocated_decode(struct field f, struct container_facts *c)
{
	return allocated_walk(field_message(f), c);
}

READER(container, struct container_facts)

static int container_decode(struct field f, struct pod_facts *pod, enum container_kind kind)
{
	struct container_facts *c = facts_add_container(pod, kind);

	return c ? container_walk(field_message(f), c) : 0;
}

READER(status, struct pod_facts)
READER(pod, struct pod_facts)

#define FIELDS_again(F, X) F(X, templates, 2, spec, PART)
READER(again, struct pod_facts)

int decode_pod_protobuf(const uint8_t *p, size_t n, struct pod_facts *ret)
{
	facts_begin(ret);
	if (pod_walk(cursor_of(p, n), ret) < 0 ||
	    (facts_need_templates(ret) && again_walk(cursor_of(p, n), ret) < 0))
		return -EBADMSG;
	facts_end(ret);
	return 0;
}

#define FIELDS_object(F, X) F(X, meta, 1, metadata, PART)
READER(object, struct pod_facts)

int decode_metadata_protobuf(const uint8_t *p, size_t n, struct pod_facts *ret)
{
	facts_begin(ret);
	if (object_walk(cursor_of(p, n), ret) < 0)
		return -EBADMSG;
	facts_end(ret);
	return 0;
}
