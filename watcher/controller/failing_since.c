/* failing_since.c - see failing_since.h.  Keys are interned; the id is the index of the clock. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/failing_since.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "watcher/cache/intern.h"

struct failing_clock {
	int64_t at;         /* 0 = ended, to be written back */
	int64_t attempted;  /* a pod was deleted for a fresh attempt; 0 = not yet */
	uint64_t idle_from; /* boot time; 0 = some pod fails */
	bool used, dirty;
};

struct failing_since {
	struct intern *keys; /* "owner/revision" */
	struct failing_clock *v;
	uint32_t cap, running, dirty;
};

struct failing_since *failing_since_new(void)
{
	struct failing_since *s = xcalloc(1, sizeof(*s));

	s->keys = intern_new();
	return s;
}

void failing_since_free(struct failing_since **s)
{
	if (!*s)
		return;
	intern_free(&(*s)->keys);
	free((*s)->v);
	free(*s);
	*s = NULL;
}

/* Room for "owner/revision"; longer parts are cut, Kubernetes has none. */
#define KEY_MAX  256u
#define PART_MAX 127u

static struct str key_of(struct str owner, struct str revision, char buf[static KEY_MAX])
{
	size_t o = owner.n < PART_MAX ? owner.n : PART_MAX, r = revision.n < PART_MAX ? revision.n : PART_MAX;

	memcpy(buf, owner.p, o);
	buf[o] = '/';
	if (r)
		memcpy(buf + o + 1, revision.p, r);
	return (struct str){ buf, o + 1 + r };
}

static struct failing_clock *find(const struct failing_since *s, struct str owner, struct str revision)
{
	char buf[KEY_MAX];
	uint32_t id;

	if (s->running + s->dirty == 0)
		return NULL;
	id = intern_find(s->keys, key_of(owner, revision, buf));
	return id ? &s->v[id] : NULL;
}

static struct failing_clock *make(struct failing_since *s, struct str owner, struct str revision)
{
	char buf[KEY_MAX];
	uint32_t id = intern_ref(s->keys, key_of(owner, revision, buf));

	s->v = xgrow(s->v, &s->cap, id, sizeof(*s->v));
	s->v[id] = (struct failing_clock){ .used = true };
	return &s->v[id];
}

static void mark_dirty(struct failing_since *s, struct failing_clock *c)
{
	s->dirty += !c->dirty;
	c->dirty = true;
}

void failing_since_load(struct failing_since *s, struct str owner, struct str revision, int64_t at_ms,
			int64_t attempted_ms, uint64_t boot_ms)
{
	struct failing_clock *c = find(s, owner, revision);

	if (at_ms <= 0)
		return;
	if (!c) {
		c = make(s, owner, revision);
		c->at = at_ms;
		c->idle_from = boot_ms;
		s->running++;
	} else if (c->at > at_ms) {
		c->at = at_ms;
	}
	if (c->at)
		c->attempted = attempted_ms;
}

int64_t failing_since_failing(struct failing_since *s, struct str owner, struct str revision, int64_t now_ms)
{
	struct failing_clock *c = find(s, owner, revision);

	if (!c)
		c = make(s, owner, revision);
	c->idle_from = 0;
	if (c->at == 0) {
		c->at = now_ms;
		s->running++;
		mark_dirty(s, c);
	}
	return c->at;
}

int64_t failing_since_get(const struct failing_since *s, struct str owner, struct str revision)
{
	const struct failing_clock *c = find(s, owner, revision);

	return c ? c->at : 0;
}

int64_t failing_since_attempted(const struct failing_since *s, struct str owner, struct str revision)
{
	const struct failing_clock *c = find(s, owner, revision);

	return c && c->at ? c->attempted : 0;
}

void failing_since_set_attempted(struct failing_since *s, struct str owner, struct str revision,
				 int64_t attempted_ms)
{
	struct failing_clock *c = find(s, owner, revision);

	if (!c || c->at == 0)
		return;
	c->attempted = attempted_ms;
	mark_dirty(s, c);
}

void failing_since_idle(struct failing_since *s, struct str owner, struct str revision, uint64_t boot_ms)
{
	struct failing_clock *c = find(s, owner, revision);

	if (c && c->idle_from == 0)
		c->idle_from = boot_ms;
}

static void end(struct failing_since *s, struct failing_clock *c)
{
	if (c->at == 0)
		return;
	c->at = c->attempted = 0;
	s->running--;
	mark_dirty(s, c);
}

void failing_since_clear(struct failing_since *s, struct str owner, struct str revision)
{
	struct failing_clock *c = find(s, owner, revision);

	if (c)
		end(s, c);
}

void failing_since_forget(struct failing_since *s, struct str owner)
{
	for (uint32_t id = 1; id < s->cap && s->running; id++) {
		const struct str key = s->v[id].used ? intern_str(s->keys, id) : (struct str){ 0 };

		if (key.n > owner.n && key.p[owner.n] == '/' && memcmp(key.p, owner.p, owner.n) == 0)
			end(s, &s->v[id]);
	}
}

void failing_since_expire(struct failing_since *s, uint64_t boot_ms)
{
	for (uint32_t id = 1; id < s->cap && s->running; id++)
		if (s->v[id].used && s->v[id].idle_from &&
		    boot_ms >= s->v[id].idle_from + FAILING_SINCE_IDLE_MS)
			end(s, &s->v[id]);
}

int failing_since_flush(struct failing_since *s, failing_since_flush_fn *fn, void *ctx)
{
	for (uint32_t id = 1; id < s->cap && s->dirty; id++) {
		struct failing_clock *c = &s->v[id];

		if (!c->used || !c->dirty)
			continue;
		struct str key = intern_str(s->keys, id), owner = key;
		const char *slash = memchr(key.p, '/', key.n);

		owner.n = (size_t)(slash - key.p);
		int r = fn(ctx, owner, (struct str){ slash + 1, key.n - owner.n - 1 }, c->at, c->attempted);

		if (r < 0)
			return r;
		c->dirty = false;
		s->dirty--;
		if (c->at == 0) {
			c->used = false;
			intern_unref(s->keys, id);
		}
	}
	return 0;
}

uint32_t failing_since_count(const struct failing_since *s)
{
	return s->running;
}
