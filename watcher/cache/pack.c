/* pack.c - see pack.h. Reading; pack_write.c writes. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/cache/pack.h"

#include <string.h>

#include "watcher/cache/pack_bits.h"
#include "watcher/cache/uuid.h"

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
	if (more & M_PULL) {
		c->cause = (enum pull_cause) * r->p++;
		c->image = get_str(r);
	}
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
	uint32_t phase = PHASE_OF(flags);

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

static void get_marks(struct reader *r, struct annotations *m)
{
	m->skip = *r->p++;
	m->extend_ms = (int64_t)get_u64(r);
	for (size_t d = 0; d < DUTY__MAX; d++)
		m->announced[d] = get_i64(r);
}

/* Everything after the name, in the order of put_rest(). */
static void get_rest(struct reader *r, uint32_t flags, struct pod_facts *ret)
{
	const struct {
		uint32_t bit;
		int64_t *ms;
	} times[] = { { P_DELETION, &ret->deletion },
		      { P_START, &ret->start_time },
		      { P_UNREADY_SINCE, &ret->unready_since },
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
	if (flags & P_MARKS)
		get_marks(r, &ret->annotations);
	if (flags & P_LABELS)
		ret->labels_mask = (uint32_t)get_u64(r);
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
	static struct pod_facts dead; /* large: not to be cleared each time */
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

bool pack_same_uid(const struct intern *t, const struct groups *g, const struct pack_head *head,
		   const uint8_t *buf, const struct pack_head *other, struct str uid)
{
	static const uint8_t none[16];
	static struct pod_facts facts; /* large: not to be cleared each time */
	struct pack_text text;

	if (memcmp(head->uid, other->uid, sizeof(head->uid)) != 0)
		return false;
	if (memcmp(head->uid, none, sizeof(none)) != 0)
		return true;
	pack_decode(t, g, head, buf, &text, &facts);
	return str_eq(facts.uid, uid);
}
