/* shares.c - see shares.h.  A name is interned behind the letter of its kind; its id is its number in the
 * budget. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/guards/shares.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "watcher/cache/intern.h"

#define KEY_MAX 320

/* As bits 1 << duty: what was spent changed, and is remembered by the reporter. */
struct share {
	uint8_t dirty, saved;
};
_Static_assert(DUTY__MAX <= 8, "a bit for each duty");

struct shares {
	struct budget *budget;
	struct intern *names;
	struct share *v; /* by id */
	uint32_t cap, dirty;
};

static const char letters[] = { [SHARE_NAMESPACE] = 'n', [SHARE_NODE] = 'd' };
static const char *const kind_names[] = { [SHARE_NAMESPACE] = "ns", [SHARE_NODE] = "node" };

struct shares *shares_new(void)
{
	struct shares *s = xcalloc(1, sizeof(*s));

	s->budget = budget_new();
	s->names = intern_new();
	return s;
}

void shares_free(struct shares **s)
{
	if (!*s)
		return;
	budget_free(&(*s)->budget);
	intern_free(&(*s)->names);
	free((*s)->v);
	free(*s);
	*s = NULL;
}

struct budget *shares_budget(const struct shares *s)
{
	return s->budget;
}

static struct str key_of(enum share_kind kind, struct str name, char buf[static KEY_MAX])
{
	int n = snprintf(buf, KEY_MAX, "%c%.*s", letters[kind], STR_ARG(name));

	return (struct str){ buf, n < KEY_MAX ? (size_t)n : KEY_MAX - 1 };
}

uint32_t shares_find(const struct shares *s, enum share_kind kind, struct str name)
{
	char buf[KEY_MAX];

	return intern_find(s->names, key_of(kind, name, buf));
}

uint32_t shares_make(struct shares *s, enum share_kind kind, struct str name)
{
	char buf[KEY_MAX];
	uint32_t id;

	if (str_empty(name))
		return 0;
	id = shares_find(s, kind, name);
	if (id)
		return id;
	id = intern_ref(s->names, key_of(kind, name, buf));
	s->v = xgrow(s->v, &s->cap, id, sizeof(*s->v));
	s->v[id] = (struct share){ 0 };
	return id;
}

void shares_changed(struct shares *s, enum duty d, uint32_t id)
{
	if (!id)
		return;
	s->dirty += !s->v[id].dirty;
	s->v[id].dirty |= (uint8_t)(1u << d);
}

static enum share_kind kind_of(const struct shares *s, uint32_t id)
{
	return *intern_str(s->names, id).p == letters[SHARE_NODE] ? SHARE_NODE : SHARE_NAMESPACE;
}

/* Pods that this duty ended there within the last hour. */
static int64_t pods_of(const struct shares *s, uint32_t id, enum duty d, const struct clock_snapshot *now)
{
	const bool node = kind_of(s, id) == SHARE_NODE;

	return budget_pods(s->budget, d, node ? 0 : id, node ? id : 0, now->boot);
}

/* Key: KIND/DUTY/NAME, DUTY being its id. */
void shares_on_saved(struct shares *s, const struct msg_saved_row *m, const struct clock_snapshot *now)
{
	const char *duty = strchr(m->key, '/'), *name = duty ? strchr(duty + 1, '/') : NULL;
	struct spend spend = { .pods = (uint32_t)m->count };
	uint64_t d;

	if (!name || str_to_u64(duty + 1, (size_t)(name - duty - 1), &d) < 0 || !duty_desc((enum duty)d))
		return;
	for (enum share_kind kind = 0; kind <= SHARE_NODE; kind++) {
		if (!str_is((struct str){ m->key, (size_t)(duty - m->key) }, kind_names[kind]))
			continue;
		const uint32_t id = shares_make(s, kind, STR_C(name + 1));

		spend.duty = (enum duty)d;
		*(kind == SHARE_NODE ? &spend.node : &spend.ns) = id;
		s->v[id].saved |= (uint8_t)(1u << d);
		budget_load(s->budget, &spend, 0, clocks_boot_of_saved(now, m->until - BUDGET_HOUR_MS));
	}
}

static int send_one(struct shares *s, uint32_t id, enum duty d, uint64_t cluster,
		    const struct clock_snapshot *now, const struct outbox *out)
{
	const struct str name = intern_str(s->names, id);
	const int64_t pods = pods_of(s, id, d, now);
	char key[KEY_MAX];
	int n = snprintf(key, sizeof(key), "%s/%d/%.*s", kind_names[kind_of(s, id)], (int)d,
			 (int)(name.n - 1), name.p + 1);

	s->v[id].saved = (uint8_t)((s->v[id].saved & ~(1u << d)) | (unsigned)(pods > 0) << d);
	return outbox_send_saved(out, cluster, GUARD_BUDGET, (struct str){ key, (size_t)n },
				 pods ? now->wall : 0, now->wall + BUDGET_HOUR_MS, (uint64_t)pods, "");
}

int shares_flush(struct shares *s, uint64_t cluster, const struct clock_snapshot *now,
		 const struct outbox *out)
{
	for (uint32_t id = 1; id < s->cap && s->dirty; id++)
		for (enum duty d = 0; d < DUTY__MAX && s->v[id].dirty; d++) {
			if (!(s->v[id].dirty & (1u << d)))
				continue;
			int r = send_one(s, id, d, cluster, now, out);

			if (r < 0)
				return r;
			s->v[id].dirty &= (uint8_t) ~(1u << d);
			s->dirty -= s->v[id].dirty == 0;
		}
	return 0;
}

/* Names are kept one by one, and forgotten together when nothing needs any. */
static bool needs_names(const struct shares *s)
{
	if (!budget_is_empty(s->budget) || s->dirty)
		return true;
	for (uint32_t id = 1; id < s->cap; id++)
		if (s->v[id].saved)
			return true;
	return false;
}

void shares_expire(struct shares *s, const struct clock_snapshot *now)
{
	budget_expire(s->budget, now->boot);
	for (uint32_t id = 1; id < s->cap; id++)
		for (enum duty d = 0; d < DUTY__MAX && s->v[id].saved; d++)
			if ((s->v[id].saved & (1u << d)) && pods_of(s, id, d, now) == 0)
				shares_changed(s, d, id);
	if (needs_names(s))
		return;
	intern_free(&s->names);
	s->names = intern_new();
}
