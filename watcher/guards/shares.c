/* shares.c - see shares.h.  A share is interned as KIND/DUTY/NAME, the key under which it is saved; its id is
 * its number in the budget. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/guards/shares.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "watcher/cache/intern.h"

#define KEY_MAX 320

struct share {
	enum share_kind kind;
	enum duty duty;
	bool dirty; /* what was spent changed */
	bool saved; /* the reporter remembers it */
};

struct shares {
	struct budget *budget;
	struct intern *keys;
	struct share *v; /* by id */
	uint32_t cap, dirty;
};

static const char *const kind_names[] = { [SHARE_NAMESPACE] = "ns", [SHARE_NODE] = "node" };

struct shares *shares_new(void)
{
	struct shares *s = xcalloc(1, sizeof(*s));

	s->budget = budget_new();
	s->keys = intern_new();
	return s;
}

void shares_free(struct shares **s)
{
	if (!*s)
		return;
	budget_free(&(*s)->budget);
	intern_free(&(*s)->keys);
	free((*s)->v);
	free(*s);
	*s = NULL;
}

struct budget *shares_budget(const struct shares *s)
{
	return s->budget;
}

static struct str key_of(enum share_kind kind, enum duty d, struct str name, char buf[static KEY_MAX])
{
	int n = snprintf(buf, KEY_MAX, "%s/%d/%.*s", kind_names[kind], (int)d, STR_ARG(name));

	return (struct str){ buf, n < KEY_MAX ? (size_t)n : KEY_MAX - 1 };
}

uint32_t shares_find(const struct shares *s, enum share_kind kind, enum duty d, struct str name)
{
	char buf[KEY_MAX];

	return intern_find(s->keys, key_of(kind, d, name, buf));
}

uint32_t shares_make(struct shares *s, enum share_kind kind, enum duty d, struct str name)
{
	char buf[KEY_MAX];

	if (str_empty(name))
		return 0;
	const uint32_t id = intern_once(s->keys, key_of(kind, d, name, buf));

	s->v = xgrow(s->v, &s->cap, id, sizeof(*s->v));
	s->v[id].kind = kind;
	s->v[id].duty = d;
	return id;
}

void shares_changed(struct shares *s, uint32_t id)
{
	if (!id)
		return;
	s->dirty += !s->v[id].dirty;
	s->v[id].dirty = true;
}

/* Pods that its duty ended there within the last hour. */
static int64_t pods_of(const struct shares *s, uint32_t id, const struct clock_snapshot *now)
{
	const bool node = s->v[id].kind == SHARE_NODE;

	return budget_pods(s->budget, s->v[id].duty, node ? 0 : id, node ? id : 0, now->boot);
}

void shares_on_saved(struct shares *s, const struct msg_saved_row *m, const struct clock_snapshot *now)
{
	struct str name = STR_C(m->key);
	const struct str kind_name = str_cut(&name, '/'), duty = str_cut(&name, '/');
	struct spend spend = { .pods = (uint32_t)m->count };
	uint64_t d;

	if (str_to_u64(duty.p, duty.n, &d) < 0 || !duty_desc((enum duty)d))
		return;
	for (enum share_kind kind = 0; kind <= SHARE_NODE; kind++) {
		if (!str_is(kind_name, kind_names[kind]))
			continue;
		const uint32_t id = shares_make(s, kind, (enum duty)d, name);

		if (!id)
			return;
		spend.duty = (enum duty)d;
		*(kind == SHARE_NODE ? &spend.node : &spend.ns) = id;
		s->v[id].saved = true;
		budget_load(s->budget, &spend, 0, clocks_boot_of_saved(now, m->until - BUDGET_HOUR_MS));
	}
}

bool shares_are_unsaved(const struct shares *s)
{
	return s->dirty > 0;
}

int shares_flush(struct shares *s, uint64_t cluster, const struct clock_snapshot *now,
		 const struct outlet *out)
{
	for (uint32_t id = 1; id < s->cap && s->dirty; id++) {
		if (!s->v[id].dirty)
			continue;
		const int64_t pods = pods_of(s, id, now);
		const int r = outlet_send_saved(out, cluster, GUARD_BUDGET, intern_str(s->keys, id),
						pods ? now->wall : 0, now->wall + BUDGET_HOUR_MS,
						(uint64_t)pods, NULL);

		if (r < 0)
			return r;
		s->v[id].saved = pods > 0;
		s->v[id].dirty = false;
		s->dirty--;
	}
	return 0;
}

void shares_expire(struct shares *s, const struct clock_snapshot *now)
{
	bool saved = false;

	budget_expire(s->budget, now->boot);
	for (uint32_t id = 1; id < s->cap; id++) {
		saved = saved || s->v[id].saved;
		if (s->v[id].saved && pods_of(s, id, now) == 0)
			shares_changed(s, id);
	}
	/* Keys are kept one by one, and forgotten together when nothing needs any. */
	if (saved || s->dirty || !budget_is_empty(s->budget))
		return;
	intern_free(&s->keys);
	s->keys = intern_new();
}
