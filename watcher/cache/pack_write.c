/* pack_write.c - writing of packed pods; see pack.h, layout in pack_bits.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/cache/pack.h"

#include <string.h>

#include "rules/cause.h"
#include "watcher/cache/pack_bits.h"
#include "watcher/cache/uuid.h"

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
	int64_t s = ms / 1000;

	s += s * 1000 < ms;
	return s > INT64_MAX / 1000 ? INT64_MAX / 1000 : s;
}

static void put_time(struct writer *w, int64_t ms)
{
	put_i64(w, whole_seconds(ms) - w->base_s);
}

/* "r.example.com/": what image_host() gives the host of again. */
static void put_pull(struct writer *w, const struct container_facts *c)
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

static void put_container(struct writer *w, const struct container_facts *c)
{
	unsigned more = (c->reason.n ? M_REASON : 0u) | (c->restarts ? M_RESTARTS : 0u) |
			(c->exit_code ? M_EXIT : 0u) | (c->finished_at ? M_FINISHED : 0u) |
			(c->last_reason.n ? M_LAST_REASON : 0u) | (c->last_exit_code ? M_LAST_EXIT : 0u) |
			(c->last_finished_at ? M_LAST_FINISHED : 0u) |
			(c->state == CONTAINER_WAITING && cause_concerns(c) ? M_PULL : 0u);

	*w->p++ = (uint8_t)((c->kind & 3u) | (c->state & 3u) << 2 | (c->ready ? C_READY : 0u) |
			    (c->started ? C_STARTED : 0u) | (more ? C_MORE : 0u));
	put_str(w, c->name);
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
	if (more & M_PULL)
		put_pull(w, c);
}

static uint32_t phase_code(struct str phase)
{
	for (uint32_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
		if (str_eq(phase, phases[i]))
			return i;
	return PHASE_OTHER;
}

static uint32_t on(bool is, uint32_t bit)
{
	return is ? bit : 0;
}

static uint32_t flags_of(const struct pod_facts *p)
{
	return phase_code(p->phase) << P_PHASE_SHIFT | on(p->ready, P_READY) |
	       on(p->initialized, P_INITIALIZED) | on(p->scheduled, P_SCHEDULED) | on(p->mirror, P_MIRROR) |
	       on(p->has_pvc, P_HAS_PVC) | on(p->skip, P_SKIP) | on(p->containers_cut, P_CUT) |
	       on(p->owner.uid.n == 0 && p->revision.n, P_REVISION) | on(p->node.n, P_NODE) |
	       on(p->reason.n, P_REASON) | on(p->priority_class.n, P_PRIORITY) | on(p->created, P_CREATED) |
	       on(p->deletion, P_DELETION) | on(p->grace_s != -1, P_GRACE) | on(p->start_time, P_START) |
	       on(p->unready_since, P_UNREADY_SINCE) | on(p->scheduled_at, P_SCHEDULED_AT) |
	       on(p->disruption_at, P_DISRUPTION) | on(p->n_finalizers, P_FINALIZERS) |
	       on(p->n_containers, P_CONTAINERS) | on(annotations_any(&p->annotations), P_MARKS);
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

static void put_marks(struct writer *w, const struct annotations *m)
{
	*w->p++ = m->skip;
	put_u64(w, (uint64_t)m->extend_ms);
	for (size_t d = 0; d < DUTY__MAX; d++)
		put_i64(w, m->announced[d]);
}

static void put_rest(struct writer *w, const struct pod_facts *p, uint32_t labels_mask, uint32_t flags)
{
	const struct {
		uint32_t bit;
		int64_t ms;
	} times[] = { { P_DELETION, p->deletion },
		      { P_START, p->start_time },
		      { P_UNREADY_SINCE, p->unready_since },
		      { P_SCHEDULED_AT, p->scheduled_at },
		      { P_DISRUPTION, p->disruption_at } };

	if (flags & P_UID_TEXT)
		put_str(w, p->uid);
	if (flags & P_REVISION)
		put_str(w, p->revision);
	if (flags & P_NODE)
		put_str(w, p->node);
	if (PHASE_OF(flags) == PHASE_OTHER)
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
	if (flags & P_MARKS)
		put_marks(w, &p->annotations);
	if (flags & P_LABELS)
		put_u64(w, labels_mask);
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

size_t pack_encode(struct intern *t, const struct groups *g, const struct pod_facts *p,
		   const struct pack_origin *from, struct pack_head *ret_head, uint8_t buf[static PACK_MAX])
{
	struct writer w = { buf + sizeof(uint32_t), t, 0 };
	struct str rest = p->name;
	uint32_t flags = flags_of(p) | on(from->labels_mask, P_LABELS);

	put_head(&w, p, ret_head, &flags);
	put_u64(&w, from->ns);
	if (from->group) {
		struct str owner = groups_owner_name(g, from->group);

		flags |= P_OWNED;
		put_u64(&w, from->group);
		if (owner.n && owner.n <= rest.n && memcmp(rest.p, owner.p, owner.n) == 0) {
			flags |= P_PREFIX;
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
