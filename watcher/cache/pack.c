/* pack.c - see pack.h. Of each step, what writes stands before what reads. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/cache/pack.h"

#include <string.h>

#include "base/cleanup.h"
#include "rules/cause.h"
#include "watcher/cache/uuid.h"

/* -- layout: flags (4 bytes), namespace, group when owned, name, then what put_rest() writes -- */

/* Picks, of the facts of fields.def, those that are packed so. */
#define IF_BIT_BIT(...) __VA_ARGS__
#define IF_BIT_RARE(...)
#define IF_BIT_FIELD(...)
#define IF_BIT_AGAIN(...)
#define IF_BIT_OWN(...)
#define IF_BIT_PART(...)
#define IF_BIT_NO(...)
#define IF_RARE_BIT(...)
#define IF_RARE_RARE(...) __VA_ARGS__
#define IF_RARE_FIELD(...)
#define IF_RARE_AGAIN(...)
#define IF_RARE_OWN(...)
#define IF_RARE_PART(...)
#define IF_RARE_NO(...)
#define IF_FIELD_BIT(...)
#define IF_FIELD_RARE(...)
#define IF_FIELD_FIELD(...) __VA_ARGS__
#define IF_FIELD_AGAIN(...) __VA_ARGS__
#define IF_FIELD_OWN(...)
#define IF_FIELD_PART(...)
#define IF_FIELD_NO(...)

#define FLAG_OF(kind, member, packed, duties, doc)                                                           \
	IF_BIT_##packed(FLAG_##member, ) IF_FIELD_##packed(FLAG_##member, )
enum flag {
	POD_FACTS(FLAG_OF) FLAG_created,
	FLAG_revision, /* of a pod without owner: else its group keeps it */
	FLAG_owned,
	FLAG_prefix, /* the name begins with the owner's */
	FLAG_uid_text,
	FLAG_rv_text,
	FLAG_annotations,
	FLAG_labels, /* which overrides its labels match */
	FLAG_finalizers,
	FLAG_containers,
	FLAG_rare,
	FLAG_phase, /* 3 bits: index in phases[], PHASE_OTHER = text follows */
};
_Static_assert(FLAG_phase + 3 <= 32, "the flags of a pod are 4 bytes");

#define RARE_OF(kind, member, packed, duties, doc) IF_RARE_##packed(RARE_##member, )
enum rare { POD_FACTS(RARE_OF) RARE_END };
_Static_assert(RARE_END <= 8, "what is rare of a pod is a byte");

/* First byte of a container: kind, state (two bits each) and these. */
#define HEAD_OF(kind, member, packed, duties, doc) IF_BIT_##packed(HEAD_##member, )
enum head { HEAD_STATE = 2, HEAD_STATE_END, CONTAINER_FACTS(HEAD_OF) HEAD_more };
_Static_assert(HEAD_more < 8, "the head of a container is a byte");
/* Behind the name, when HEAD_more: one byte, and another one for what is rare. */
#define MORE_OF(kind, member, packed, duties, doc) IF_FIELD_##packed(MORE_##member, )
enum more { MORE_pull /* cause and registry host of a failed pull */, CONTAINER_FACTS(MORE_OF) MORE_END };
_Static_assert(MORE_END <= 14, "what more there is of a container is two bytes");

#define HAS(bits, bit) ((bits) >> (bit)&1u)

#define PHASE_OTHER 7u
static const struct str phases[] = { STR_LIT(""),          STR_LIT("Running"), STR_LIT("Pending"),
				     STR_LIT("Succeeded"), STR_LIT("Failed"),  STR_LIT("Unknown") };

static uint32_t on(bool is, unsigned bit)
{
	return (uint32_t)is << bit;
}

/* -- values -- */

struct pack_writer {
	uint8_t *p;
	struct intern *intern;
	int64_t base_s; /* what times are relative to */
};

struct pack_reader {
	const uint8_t *p;
	const struct intern *intern;
	struct intern *release; /* non-NULL: give references back instead of reading strings */
	int64_t base_s;
};

static void put_u64(struct pack_writer *w, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		*w->p++ = (uint8_t)(v | 128);
	*w->p++ = (uint8_t)v;
}

static uint64_t get_u64(struct pack_reader *r)
{
	uint64_t v = 0;
	unsigned shift = 0;

	for (; *r->p & 128; shift += 7)
		v |= (uint64_t)(*r->p++ & 127) << shift;
	return v | (uint64_t)*r->p++ << shift;
}

static void put_i64(struct pack_writer *w, int64_t v)
{
	put_u64(w, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63));
}

static int64_t get_i64(struct pack_reader *r)
{
	uint64_t v = get_u64(r);

	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static void put_str(struct pack_writer *w, struct str s)
{
	put_u64(w, intern_ref(w->intern, s));
}

static struct str get_id(struct pack_reader *r, uint32_t id)
{
	if (!r->release)
		return intern_str(r->intern, id);
	intern_unref(r->release, id);
	return (struct str){ "", 0 };
}

static struct str get_str(struct pack_reader *r)
{
	return get_id(r, (uint32_t)get_u64(r));
}

/* Rounded up, and within what is milliseconds again. */
static int64_t whole_seconds(int64_t ms)
{
	int64_t s = ms / 1000;

	s += s * 1000 < ms;
	return s > INT64_MAX / 1000 ? INT64_MAX / 1000 : s;
}

static void put_time(struct pack_writer *w, int64_t ms)
{
	put_i64(w, whole_seconds(ms) - w->base_s);
}

static int64_t get_time(struct pack_reader *r)
{
	return (get_i64(r) + r->base_s) * 1000;
}

/* A fact of each kind: is there anything to keep, and how. */
#define IS_SET_TEXT(v)    ((v).n != 0)
#define IS_SET_BOOL(v)    (v)
#define IS_SET_INT32(v)   ((v) != 0)
#define IS_SET_TIME(v)    ((v) != 0)
#define IS_SET_SECONDS(v) ((v) != -1)
#define PUT_TEXT(w, v)    put_str(w, v)
#define PUT_INT32(w, v)   put_i64(w, v)
#define PUT_TIME(w, v)    put_time(w, v)
#define PUT_SECONDS(w, v) put_i64(w, v)
#define GET_TEXT(r)       get_str(r)
#define GET_INT32(r)      (int32_t) get_i64(r)
#define GET_TIME(r)       get_time(r)
#define GET_SECONDS(r)    get_i64(r)

/* -- a container -- */

/* "r.example.com/": what image_host() gives the host of again. */
static void put_pull(struct pack_writer *w, const struct container_facts *c)
{
	const struct str host = image_host(c->image);
	char text[INTERN_LEN_MAX];
	const size_t n = host.n < sizeof(text) - 1 ? host.n : sizeof(text) - 1;

	*w->p++ = (uint8_t)cause_of(c);
	if (n)
		memcpy(text, host.p, n);
	text[n] = '/';
	put_str(w, (struct str){ text, n ? n + 1 : 0 });
}

#define HEAD_BIT(kind, member, packed, duties, doc) IF_BIT_##packed(| on(c->member, HEAD_##member))
#define KEEPS_FIELD(c)                              true
#define KEEPS_AGAIN(c)                              ((c)->state != CONTAINER_RUNNING || (c)->restarts != 0)
#define MORE_BIT(kind, member, packed, duties, doc)                                                          \
	IF_FIELD_##packed(| on(IS_SET_##kind(c->member) && KEEPS_##packed(c), MORE_##member))
#define PUT_MORE(kind, member, packed, duties, doc)                                                          \
	IF_FIELD_##packed(if (HAS(more, MORE_##member)) PUT_##kind(w, c->member);)

static void put_container(struct pack_writer *w, const struct container_facts *c)
{
	const bool pull = c->state == CONTAINER_WAITING && cause_concerns(c);
	const uint32_t more = on(pull, MORE_pull) CONTAINER_FACTS(MORE_BIT);

	*w->p++ = (uint8_t)((c->kind & 3u) | (c->state & 3u) << HEAD_STATE |
			    on(more, HEAD_more) CONTAINER_FACTS(HEAD_BIT));
	put_str(w, c->name);
	if (!more)
		return;
	put_u64(w, more);
	CONTAINER_FACTS(PUT_MORE)
	if (pull)
		put_pull(w, c);
}

#define GET_HEAD(kind, member, packed, duties, doc) IF_BIT_##packed(c->member = HAS(head, HEAD_##member);)
#define GET_MORE(kind, member, packed, duties, doc)                                                          \
	IF_FIELD_##packed(if (HAS(more, MORE_##member)) c->member = GET_##kind(r);)

static void get_container(struct pack_reader *r, struct container_facts *c)
{
	const uint32_t head = *r->p++;

	*c = (struct container_facts){ .kind = head & 3u, .state = head >> HEAD_STATE & 3u };
	CONTAINER_FACTS(GET_HEAD)
	c->name = get_str(r);
	if (!HAS(head, HEAD_more))
		return;
	const uint32_t more = (uint32_t)get_u64(r);

	CONTAINER_FACTS(GET_MORE)
	if (HAS(more, MORE_pull)) {
		c->cause = (enum pull_cause) * r->p++;
		c->image = get_str(r);
	}
}

/* -- a pod -- */

static uint32_t phase_code(struct str phase)
{
	for (uint32_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
		if (str_eq(phase, phases[i]))
			return i;
	return PHASE_OTHER;
}

#define SET_FLAG(kind, member) | on(IS_SET_##kind(p->member), FLAG_##member)
#define FLAG_BIT(kind, member, packed, duties, doc)                                                          \
	IF_BIT_##packed(SET_FLAG(kind, member)) IF_FIELD_##packed(SET_FLAG(kind, member))

#define RARE_BIT(kind, member, packed, duties, doc) IF_RARE_##packed(| on(p->member, RARE_##member))

static uint8_t rare_of(const struct pod_facts *p)
{
	return (uint8_t)(0u POD_FACTS(RARE_BIT));
}

static uint32_t flags_of(const struct pod_facts *p, const struct pack_origin *from)
{
	return phase_code(p->phase) << FLAG_phase | on(p->created, FLAG_created) |
	       on(p->owner.uid.n == 0 && p->revision.n, FLAG_revision) | on(from->group, FLAG_owned) |
	       on(annotations_any(&p->annotations), FLAG_annotations) | on(from->labels_mask, FLAG_labels) |
	       on(p->n_finalizers, FLAG_finalizers) | on(rare_of(p), FLAG_rare) |
	       on(p->n_containers, FLAG_containers) POD_FACTS(FLAG_BIT);
}

static void put_head(struct pack_writer *w, const struct pod_facts *p, struct pack_head *head,
		     uint32_t *flags)
{
	uint64_t rv;

	*head = (struct pack_head){ 0 };
	if (!uuid_is_canonical(p->uid, head->uid)) {
		memset(head->uid, 0, sizeof(head->uid));
		*flags |= on(true, FLAG_uid_text);
	}
	/* A number is kept as one when its text can be made from it again. */
	if (str_to_u64(p->rv.p, p->rv.n, &rv) == 0 && rv <= PACK_RV_MAX &&
	    (p->rv.n == 1 || p->rv.p[0] != '0')) {
		head->rv = rv & PACK_RV_MAX;
		return;
	}
	head->rv = intern_ref(w->intern, p->rv);
	*flags |= on(true, FLAG_rv_text);
}

static void put_annotations(struct pack_writer *w, const struct annotations *a)
{
	*w->p++ = a->skip;
	put_u64(w, (uint64_t)a->extend_ms);
	for (size_t d = 0; d < DUTY__MAX; d++)
		put_i64(w, a->announced[d]);
}

static void get_annotations(struct pack_reader *r, struct annotations *a)
{
	a->skip = *r->p++;
	a->extend_ms = (int64_t)get_u64(r);
	for (size_t d = 0; d < DUTY__MAX; d++)
		a->announced[d] = get_i64(r);
}

#define PUT_FACT(kind, member, packed, duties, doc)                                                          \
	IF_FIELD_##packed(if (HAS(flags, FLAG_##member)) PUT_##kind(w, p->member);)

static void put_rest(struct pack_writer *w, const struct pod_facts *p, uint32_t labels_mask, uint32_t flags)
{
	if (HAS(flags, FLAG_uid_text))
		put_str(w, p->uid);
	if (HAS(flags, FLAG_revision))
		put_str(w, p->revision);
	if (flags >> FLAG_phase == PHASE_OTHER)
		put_str(w, p->phase);
	if (HAS(flags, FLAG_created))
		put_time(w, p->created);
	w->base_s = whole_seconds(p->created);
	POD_FACTS(PUT_FACT)
	if (HAS(flags, FLAG_rare))
		*w->p++ = rare_of(p);
	if (HAS(flags, FLAG_annotations))
		put_annotations(w, &p->annotations);
	if (HAS(flags, FLAG_labels))
		put_u64(w, labels_mask);
	if (HAS(flags, FLAG_finalizers)) {
		put_u64(w, p->n_finalizers);
		for (uint32_t i = 0; i < p->n_finalizers && i < POD_FINALIZERS_MAX; i++)
			put_str(w, p->finalizers[i]);
	}
	if (HAS(flags, FLAG_containers)) {
		const uint32_t n =
			p->n_containers < POD_CONTAINERS_MAX ? p->n_containers : POD_CONTAINERS_MAX;

		put_u64(w, n);
		for (uint32_t i = 0; i < n; i++)
			put_container(w, &p->containers[i]);
	}
}

#define GET_FACT(kind, member, packed, duties, doc)                                                          \
	IF_BIT_##packed(ret->member = HAS(flags, FLAG_##member);)                                            \
		IF_FIELD_##packed(if (HAS(flags, FLAG_##member)) ret->member = GET_##kind(r);)

#define GET_RARE(kind, member, packed, duties, doc) IF_RARE_##packed(ret->member = HAS(rare, RARE_##member);)

static void get_rare(uint32_t rare, struct pod_facts *ret)
{
	POD_FACTS(GET_RARE)
}

/* Everything after the name, in the order of put_rest(). */
static void get_rest(struct pack_reader *r, uint32_t flags, struct pod_facts *ret)
{
	const uint32_t phase = flags >> FLAG_phase;

	if (HAS(flags, FLAG_uid_text))
		ret->uid = get_str(r);
	if (HAS(flags, FLAG_revision))
		ret->revision = get_str(r);
	ret->phase = phase == PHASE_OTHER ? get_str(r) : phases[phase];
	if (HAS(flags, FLAG_created))
		ret->created = get_time(r);
	r->base_s = ret->created / 1000;
	POD_FACTS(GET_FACT)
	get_rare(HAS(flags, FLAG_rare) ? *r->p++ : 0, ret);
	if (HAS(flags, FLAG_annotations))
		get_annotations(r, &ret->annotations);
	if (HAS(flags, FLAG_labels))
		ret->labels_mask = (uint32_t)get_u64(r);
	if (HAS(flags, FLAG_finalizers)) {
		ret->n_finalizers = (uint32_t)get_u64(r);
		for (uint32_t i = 0; i < ret->n_finalizers && i < POD_FINALIZERS_MAX; i++)
			ret->finalizers[i] = get_str(r);
	}
	if (HAS(flags, FLAG_containers)) {
		ret->n_containers = (uint32_t)get_u64(r);
		for (uint32_t i = 0; i < ret->n_containers; i++)
			get_container(r, &ret->containers[i]);
	}
}

/* -- the whole -- */

size_t pack_encode(struct intern *t, const struct groups *g, const struct pod_facts *p,
		   const struct pack_origin *from, struct pack_head *ret_head, uint8_t buf[static PACK_MAX])
{
	struct pack_writer w = { buf + sizeof(uint32_t), t, 0 };
	struct str rest = p->name;
	uint32_t flags = flags_of(p, from);

	put_head(&w, p, ret_head, &flags);
	put_u64(&w, from->ns);
	if (from->group) {
		struct str owner = groups_owner_name(g, from->group);

		put_u64(&w, from->group);
		if (owner.n && owner.n <= rest.n && memcmp(rest.p, owner.p, owner.n) == 0) {
			flags |= on(true, FLAG_prefix);
			rest = (struct str){ rest.p + owner.n, rest.n - owner.n };
		}
	}
	*w.p++ = (uint8_t)rest.n;
	if (rest.n)
		memcpy(w.p, rest.p, rest.n);
	w.p += rest.n;
	put_rest(&w, p, from->labels_mask, flags);
	memcpy(buf, &flags, sizeof(flags));
	return (size_t)(w.p - buf);
}

static uint32_t read_key(struct pack_reader *r, const struct groups *g, const uint8_t *buf,
			 struct pack_key *ret)
{
	uint32_t flags;

	memcpy(&flags, buf, sizeof(flags));
	r->p = buf + sizeof(flags);
	*ret = (struct pack_key){ .ns = (uint32_t)get_u64(r) };
	if (HAS(flags, FLAG_owned))
		ret->group = (uint32_t)get_u64(r);
	if (HAS(flags, FLAG_prefix) && g)
		ret->prefix = groups_owner_name(g, ret->group);
	ret->rest.n = *r->p++;
	ret->rest.p = (const char *)r->p;
	r->p += ret->rest.n;
	return flags;
}

void pack_key(const struct groups *g, const uint8_t *buf, struct pack_key *ret)
{
	struct pack_reader r = { 0 };

	(void)read_key(&r, g, buf, ret);
}

bool pack_is(const struct groups *g, const uint8_t *buf, uint32_t ns, struct str name)
{
	struct pack_key k;

	pack_key(g, buf, &k);
	return k.ns == ns && k.prefix.n + k.rest.n == name.n &&
	       (!k.prefix.n || memcmp(name.p, k.prefix.p, k.prefix.n) == 0) &&
	       memcmp(name.p + k.prefix.n, k.rest.p, k.rest.n) == 0;
}

/* The scalar part of a pod without anything set; the arrays are left alone, they are large. */
static void clear_facts(struct pod_facts *p)
{
	memset(p, 0, offsetof(struct pod_facts, finalizers));
	p->n_containers = 0;
	p->grace_s = -1;
}

void pack_release(struct intern *t, const struct pack_head *head, const uint8_t *buf)
{
	struct pack_reader r = { .release = t };
	_uninitialized_ struct pod_facts dead;
	struct pack_key k;
	uint32_t flags = read_key(&r, NULL, buf, &k);

	clear_facts(&dead);
	intern_unref(t, k.ns);
	if (HAS(flags, FLAG_rv_text))
		intern_unref(t, (uint32_t)head->rv);
	get_rest(&r, flags, &dead);
}

/* Decimal text of v, without a format string: this runs for every pod judged. */
static struct str number(uint64_t v, char buf[static 24])
{
	size_t i = 24;

	do
		buf[--i] = (char)('0' + v % 10);
	while (v /= 10);
	return (struct str){ buf + i, 24 - i };
}

void pack_decode(const struct intern *t, const struct groups *g, const struct pack_head *head,
		 const uint8_t *buf, struct pack_text *text, struct pod_facts *ret)
{
	struct pack_reader r = { .intern = t };
	struct pack_key k;
	uint32_t flags = read_key(&r, g, buf, &k);

	clear_facts(ret);
	ret->ns = intern_str(t, k.ns);
	ret->name = k.rest;
	if (k.prefix.n) {
		memcpy(text->name, k.prefix.p, k.prefix.n);
		memcpy(text->name + k.prefix.n, k.rest.p, k.rest.n);
		ret->name = (struct str){ text->name, k.prefix.n + k.rest.n };
	}
	if (k.group)
		groups_owner(g, k.group, &ret->owner, &ret->revision, text->owner_uid);
	if (!HAS(flags, FLAG_uid_text)) {
		str_uuid_format(head->uid, text->uid);
		ret->uid = (struct str){ text->uid, 36 };
	}
	ret->rv = HAS(flags, FLAG_rv_text) ? intern_str(t, (uint32_t)head->rv) : number(head->rv, text->rv);
	get_rest(&r, flags, ret);
}

bool pack_same_uid(const struct intern *t, const struct groups *g, const struct pack_head *head,
		   const uint8_t *buf, const struct pack_head *other, struct str uid)
{
	static const uint8_t none[16];
	_uninitialized_ struct pod_facts facts;
	struct pack_text text;

	if (memcmp(head->uid, other->uid, sizeof(head->uid)) != 0)
		return false;
	if (memcmp(head->uid, none, sizeof(none)) != 0)
		return true;
	pack_decode(t, g, head, buf, &text, &facts);
	return str_eq(facts.uid, uid);
}
