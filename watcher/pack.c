/* pack.c - see pack.h.
 * Layout: flags (4 bytes), namespace, group when owned, name, then the rest in the order of put_rest(). */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/pack.h"

#include <string.h>

#include "watcher/uuid.h"

enum {
	P_READY = 1u << 0,
	P_INITIALIZED = 1u << 1,
	P_SCHEDULED = 1u << 2,
	P_MIRROR = 1u << 3,
	P_HAS_PVC = 1u << 4,
	P_SKIP = 1u << 5,
	P_CUT = 1u << 6,
	P_OWNED = 1u << 7,
	P_PREFIX = 1u << 8, /* the name begins with the owner's */
	P_UID_TEXT = 1u << 9,
	P_RV_TEXT = 1u << 10,
	P_REVISION = 1u << 11, /* a revision without an owner */
	P_NODE = 1u << 12,
	P_REASON = 1u << 13,
	P_PRIORITY = 1u << 14,
	P_CREATED = 1u << 15,
	P_DELETION = 1u << 16,
	P_GRACE = 1u << 17,
	P_START = 1u << 18,
	P_READY_SINCE = 1u << 19,
	P_SCHEDULED_AT = 1u << 20,
	P_DISRUPTION = 1u << 21,
	P_FINALIZERS = 1u << 22,
	P_CONTAINERS = 1u << 23,
	P_PHASE_SHIFT = 24, /* 3 bits: index in phases[], 7 = text follows */
};

/* First byte of a container: kind, state (two bits each) and these. */
enum { C_READY = 16, C_STARTED = 32, C_STARTED_AT = 64, C_MORE = 128 };
/* Second byte, when C_MORE. */
enum {
	M_REASON = 1,
	M_RESTARTS = 2,
	M_EXIT = 4,
	M_FINISHED = 8,
	M_LAST_REASON = 16,
	M_LAST_EXIT = 32,
	M_LAST_FINISHED = 64,
};

#define PHASE_OTHER 7u
static const struct str phases[] = { { "", 0 },          { "Pending", 7 }, { "Running", 7 },
				     { "Succeeded", 9 }, { "Failed", 6 },  { "Unknown", 7 } };

/* -- writing ----------------------------------------------------------------------------------------------
 */

struct writer {
	uint8_t *p;
	struct intern *intern;
	int64_t base_s; /* what times are relative to */
};

static void put_u64(struct writer *w, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		*w->p++ = (uint8_t)(v | 128);
	*w->p++ = (uint8_t)v;
}

static void put_i64(struct writer *w, int64_t v)
{
	put_u64(w, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63));
}

static void put_str(struct writer *w, struct str s)
{
	put_u64(w, intern_ref(w->intern, s));
}

/* Rounded up, and within what is milliseconds again. */
static int64_t whole_seconds(int64_t ms)
{
	int64_t s = ms / 1000 + (ms % 1000 > 0);

	return s > INT64_MAX / 1000 ? INT64_MAX / 1000 : s;
}

static void put_time(struct writer *w, int64_t ms)
{
	put_i64(w, whole_seconds(ms) - w->base_s);
}

static void put_container(struct writer *w, const struct container_facts *c)
{
	unsigned more = (c->reason.n ? M_REASON : 0u) | (c->restarts ? M_RESTARTS : 0u) |
			(c->exit_code ? M_EXIT : 0u) | (c->finished_at ? M_FINISHED : 0u) |
			(c->last_reason.n ? M_LAST_REASON : 0u) | (c->last_exit_code ? M_LAST_EXIT : 0u) |
			(c->last_finished_at ? M_LAST_FINISHED : 0u);

	*w->p++ = (uint8_t)((c->kind & 3u) | (c->state & 3u) << 2 | (c->ready ? C_READY : 0u) |
			    (c->started ? C_STARTED : 0u) | (c->started_at ? C_STARTED_AT : 0u) |
			    (more ? C_MORE : 0u));
	put_str(w, c->name);
	if (c->started_at)
		put_time(w, c->started_at);
	if (!more)
		return;
	*w->p++ = (uint8_t)more;
	if (more & M_REASON)
		put_str(w, c->reason);
	if (more & M_RESTARTS)
		put_i64(w, c->restarts);
	if (more & M_EXIT)
		put_i64(w, c->exit_code);
	if (more & M_FINISHED)
		put_time(w, c->finished_at);
	if (more & M_LAST_REASON)
		put_str(w, c->last_reason);
	if (more & M_LAST_EXIT)
		put_i64(w, c->last_exit_code);
	if (more & M_LAST_FINISHED)
		put_time(w, c->last_finished_at);
}

static uint32_t phase_code(struct str phase)
{
	for (uint32_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
		if (str_eq(phase, phases[i]))
			return i;
	return PHASE_OTHER;
}

static uint32_t flags_of(const struct pod_facts *p)
{
	const struct {
		bool on;
		uint32_t bit;
	} t[] = {
		{ p->ready, P_READY },
		{ p->initialized, P_INITIALIZED },
		{ p->scheduled, P_SCHEDULED },
		{ p->mirror, P_MIRROR },
		{ p->has_pvc, P_HAS_PVC },
		{ p->skip, P_SKIP },
		{ p->containers_cut, P_CUT },
		{ p->owner.uid.n == 0 && p->revision.n, P_REVISION },
		{ p->node.n, P_NODE },
		{ p->reason.n, P_REASON },
		{ p->priority_class.n, P_PRIORITY },
		{ p->created, P_CREATED },
		{ p->deletion, P_DELETION },
		{ p->grace_s != -1, P_GRACE },
		{ p->start_time, P_START },
		{ p->ready_since, P_READY_SINCE },
		{ p->scheduled_at, P_SCHEDULED_AT },
		{ p->disruption_at, P_DISRUPTION },
		{ p->n_finalizers, P_FINALIZERS },
		{ p->n_containers, P_CONTAINERS },
	};
	uint32_t flags = phase_code(p->phase) << P_PHASE_SHIFT;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		flags |= t[i].on ? t[i].bit : 0;
	return flags;
}

static void put_head(struct writer *w, const struct pod_facts *p, struct pack_head *head, uint32_t *flags)
{
	uint64_t rv;

	*head = (struct pack_head){ 0 };
	if (!uuid_is_canonical(p->uid, head->uid)) {
		memset(head->uid, 0, sizeof(head->uid));
		*flags |= P_UID_TEXT;
	}
	/* A number is kept as one when its text can be made from it again. */
	if (str_to_u64(p->rv.p, p->rv.n, &rv) == 0 && (p->rv.n == 1 || p->rv.p[0] != '0')) {
		head->rv = rv;
		return;
	}
	head->rv = intern_ref(w->intern, p->rv);
	*flags |= P_RV_TEXT;
}

static void put_rest(struct writer *w, const struct pod_facts *p, uint32_t flags)
{
	const struct {
		uint32_t bit;
		int64_t ms;
	} times[] = { { P_DELETION, p->deletion },
		      { P_START, p->start_time },
		      { P_READY_SINCE, p->ready_since },
		      { P_SCHEDULED_AT, p->scheduled_at },
		      { P_DISRUPTION, p->disruption_at } };

	if (flags & P_UID_TEXT)
		put_str(w, p->uid);
	if (flags & P_REVISION)
		put_str(w, p->revision);
	if (flags & P_NODE)
		put_str(w, p->node);
	if (flags >> P_PHASE_SHIFT == PHASE_OTHER)
		put_str(w, p->phase);
	if (flags & P_REASON)
		put_str(w, p->reason);
	if (flags & P_PRIORITY)
		put_str(w, p->priority_class);
	if (flags & P_CREATED)
		put_time(w, p->created);
	w->base_s = whole_seconds(p->created);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (flags & times[i].bit)
			put_time(w, times[i].ms);
	if (flags & P_GRACE)
		put_i64(w, p->grace_s);
	if (flags & P_FINALIZERS) {
		put_u64(w, p->n_finalizers);
		for (uint32_t i = 0; i < p->n_finalizers && i < POD_FINALIZERS_MAX; i++)
			put_str(w, p->finalizers[i]);
	}
	if (flags & P_CONTAINERS) {
		uint32_t n = p->n_containers < POD_CONTAINERS_MAX ? p->n_containers : POD_CONTAINERS_MAX;

		put_u64(w, n);
		for (uint32_t i = 0; i < n; i++)
			put_container(w, &p->containers[i]);
	}
}

size_t pack_encode(struct intern *t, const struct groups *g, const struct pod_facts *p, uint32_t group,
		   struct pack_head *ret_head, uint8_t buf[static PACK_MAX])
{
	struct writer w = { buf + sizeof(uint32_t), t, 0 };
	struct str rest = p->name;
	uint32_t flags = flags_of(p);

	put_head(&w, p, ret_head, &flags);
	put_str(&w, p->ns);
	if (group) {
		struct str owner = groups_owner_name(g, group);

		flags |= P_OWNED;
		put_u64(&w, group);
		if (owner.n && owner.n <= rest.n && memcmp(rest.p, owner.p, owner.n) == 0) {
			flags |= P_PREFIX;
			rest = (struct str){ rest.p + owner.n, rest.n - owner.n };
		}
	}
	*w.p++ = (uint8_t)rest.n;
	if (rest.n)
		memcpy(w.p, rest.p, rest.n);
	w.p += rest.n;
	put_rest(&w, p, flags);
	memcpy(buf, &flags, sizeof(flags));
	return (size_t)(w.p - buf);
}

/* -- reading ----------------------------------------------------------------------------------------------
 */

struct reader {
	const uint8_t *p;
	const struct intern *intern;
	struct intern *release; /* non-NULL: give references back instead of reading strings */
	int64_t base_s;
};

static uint64_t get_u64(struct reader *r)
{
	uint64_t v = 0;
	unsigned shift = 0;

	for (; *r->p & 128; shift += 7)
		v |= (uint64_t)(*r->p++ & 127) << shift;
	return v | (uint64_t)*r->p++ << shift;
}

static int64_t get_i64(struct reader *r)
{
	uint64_t v = get_u64(r);

	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static struct str get_id(struct reader *r, uint32_t id)
{
	if (!r->release)
		return intern_str(r->intern, id);
	intern_unref(r->release, id);
	return (struct str){ "", 0 };
}

static struct str get_str(struct reader *r)
{
	return get_id(r, (uint32_t)get_u64(r));
}

static int64_t get_time(struct reader *r)
{
	return (get_i64(r) + r->base_s) * 1000;
}

static void get_container(struct reader *r, struct container_facts *c)
{
	uint8_t head = *r->p++;

	*c = (struct container_facts){ .kind = head & 3u,
				       .state = (head >> 2) & 3u,
				       .ready = head & C_READY,
				       .started = head & C_STARTED };
	c->name = get_str(r);
	if (head & C_STARTED_AT)
		c->started_at = get_time(r);
	uint8_t more = head & C_MORE ? *r->p++ : 0;

	if (more & M_REASON)
		c->reason = get_str(r);
	if (more & M_RESTARTS)
		c->restarts = (int32_t)get_i64(r);
	if (more & M_EXIT)
		c->exit_code = (int32_t)get_i64(r);
	if (more & M_FINISHED)
		c->finished_at = get_time(r);
	if (more & M_LAST_REASON)
		c->last_reason = get_str(r);
	if (more & M_LAST_EXIT)
		c->last_exit_code = (int32_t)get_i64(r);
	if (more & M_LAST_FINISHED)
		c->last_finished_at = get_time(r);
}

static void get_flags(uint32_t flags, struct pod_facts *ret)
{
	ret->ready = flags & P_READY;
	ret->initialized = flags & P_INITIALIZED;
	ret->scheduled = flags & P_SCHEDULED;
	ret->mirror = flags & P_MIRROR;
	ret->has_pvc = flags & P_HAS_PVC;
	ret->skip = flags & P_SKIP;
	ret->containers_cut = flags & P_CUT;
}

static void get_strings(struct reader *r, uint32_t flags, struct pod_facts *ret)
{
	uint32_t phase = flags >> P_PHASE_SHIFT;

	if (flags & P_UID_TEXT)
		ret->uid = get_str(r);
	if (flags & P_REVISION)
		ret->revision = get_str(r);
	if (flags & P_NODE)
		ret->node = get_str(r);
	ret->phase = phase == PHASE_OTHER ? get_str(r) : phases[phase];
	if (flags & P_REASON)
		ret->reason = get_str(r);
	if (flags & P_PRIORITY)
		ret->priority_class = get_str(r);
}

/* Everything after the name, in the order of put_rest(). */
static void get_rest(struct reader *r, uint32_t flags, struct pod_facts *ret)
{
	const struct {
		uint32_t bit;
		int64_t *ms;
	} times[] = { { P_DELETION, &ret->deletion },
		      { P_START, &ret->start_time },
		      { P_READY_SINCE, &ret->ready_since },
		      { P_SCHEDULED_AT, &ret->scheduled_at },
		      { P_DISRUPTION, &ret->disruption_at } };

	get_strings(r, flags, ret);
	if (flags & P_CREATED)
		ret->created = get_time(r);
	r->base_s = ret->created / 1000;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		if (flags & times[i].bit)
			*times[i].ms = get_time(r);
	if (flags & P_GRACE)
		ret->grace_s = get_i64(r);
	if (flags & P_FINALIZERS) {
		ret->n_finalizers = (uint32_t)get_u64(r);
		for (uint32_t i = 0; i < ret->n_finalizers && i < POD_FINALIZERS_MAX; i++)
			ret->finalizers[i] = get_str(r);
	}
	if (flags & P_CONTAINERS) {
		ret->n_containers = (uint32_t)get_u64(r);
		for (uint32_t i = 0; i < ret->n_containers; i++)
			get_container(r, &ret->containers[i]);
	}
}

static uint32_t read_key(struct reader *r, const struct groups *g, const uint8_t *buf, struct pack_key *ret)
{
	uint32_t flags;

	memcpy(&flags, buf, sizeof(flags));
	r->p = buf + sizeof(flags);
	*ret = (struct pack_key){ .ns = (uint32_t)get_u64(r) };
	if (flags & P_OWNED)
		ret->group = (uint32_t)get_u64(r);
	if (flags & P_PREFIX && g)
		ret->prefix = groups_owner_name(g, ret->group);
	ret->rest.n = *r->p++;
	ret->rest.p = (const char *)r->p;
	r->p += ret->rest.n;
	return flags;
}

void pack_key(const struct groups *g, const uint8_t *buf, struct pack_key *ret)
{
	struct reader r = { 0 };

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
	struct reader r = { .release = t };
	struct pod_facts dead;
	struct pack_key k;
	uint32_t flags = read_key(&r, NULL, buf, &k);

	clear_facts(&dead);
	intern_unref(t, k.ns);
	if (flags & P_RV_TEXT)
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
	struct reader r = { .intern = t };
	struct pack_key k;
	uint32_t flags = read_key(&r, g, buf, &k);

	clear_facts(ret);
	get_flags(flags, ret);
	ret->ns = intern_str(t, k.ns);
	ret->name = k.rest;
	if (k.prefix.n) {
		memcpy(text->name, k.prefix.p, k.prefix.n);
		memcpy(text->name + k.prefix.n, k.rest.p, k.rest.n);
		ret->name = (struct str){ text->name, k.prefix.n + k.rest.n };
	}
	if (k.group)
		groups_owner(g, k.group, &ret->owner, &ret->revision, text->owner_uid);
	if (!(flags & P_UID_TEXT)) {
		str_uuid_format(head->uid, text->uid);
		ret->uid = (struct str){ text->uid, 36 };
	}
	ret->rv = flags & P_RV_TEXT ? intern_str(t, (uint32_t)head->rv) : number(head->rv, text->rv);
	get_rest(&r, flags, ret);
}
