/* pulls.c - see pulls.h. Of each host two moments are kept, at least PULLS_SETTLE_MS apart, so that there is
 * one that long ago however often it is pulled from; of each the first pull, and the first of another owner.
 */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/guards/pulls.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "rules/cause.h"

#define HOSTS_MAX 128u /* the one that was pulled from longest ago makes room */
#define HOST_LEN  254u
#define OWNER_LEN 129u

struct pull {
	char owner[OWNER_LEN];
	int64_t at; /* 0 = none */
	bool told;  /* pulls_take_news() said that it has settled */
};

/* What began at first.at. */
struct moment {
	struct pull first, other;
};

struct host {
	char name[HOST_LEN];
	struct moment newest, before;
};

struct pulls {
	struct host *hosts;
	uint32_t n, cap;
};

struct pulls *pulls_new(void)
{
	return xcalloc(1, sizeof(struct pulls));
}

void pulls_free(struct pulls **p)
{
	if (!*p)
		return;
	free((*p)->hosts);
	free(*p);
	*p = NULL;
}

static struct host *find(const struct pulls *p, struct str name)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (str_is(name, p->hosts[i].name))
			return &p->hosts[i];
	return NULL;
}

static struct host *make(struct pulls *p, struct str name)
{
	struct host *h = find(p, name);

	if (h)
		return h;
	if (p->n < HOSTS_MAX) {
		p->hosts = xgrow(p->hosts, &p->cap, p->n, sizeof(*p->hosts));
		h = &p->hosts[p->n++];
	} else {
		h = p->hosts;
		for (uint32_t i = 1; i < p->n; i++)
			if (p->hosts[i].newest.first.at < h->newest.first.at)
				h = &p->hosts[i];
	}
	*h = (struct host){ 0 };
	(void)str_copy_printable(h->name, sizeof(h->name), name.p, name.n);
	return h;
}

static void set(struct pull *p, struct str owner, int64_t at)
{
	*p = (struct pull){ .at = at };
	(void)str_copy_printable(p->owner, sizeof(p->owner), owner.p, owner.n);
}

static void note(struct host *h, struct str owner, int64_t at)
{
	struct moment *m = &h->newest;

	if (m->first.at == 0 || at >= m->first.at + PULLS_SETTLE_MS) {
		h->before = *m;
		m->other = (struct pull){ 0 };
		set(&m->first, owner, at);
	} else if (m->other.at == 0 && !str_is(owner, m->first.owner)) {
		set(&m->other, owner, at);
	}
}

/* Does it count: of a container that an image is pulled for? */
static bool counts(const struct container_facts *c, struct str *ret_host)
{
	*ret_host = image_host(c->image);
	return c->kind != CONTAINER_EPHEMERAL && ret_host->n > 0 && ret_host->n < HOST_LEN;
}

void pulls_note(struct pulls *p, struct str owner, const struct pod_facts *pod, int64_t at)
{
	struct str name;

	for (uint32_t i = 0; i < pod->n_containers && i < POD_CONTAINERS_MAX; i++) {
		if (counts(&pod->containers[i], &name))
			note(make(p, name), owner, at);
	}
}

/* The first pull of another owner in that moment; 0 when there is none until then. */
static int64_t of_others(const struct moment *m, struct str owner, int64_t until)
{
	const struct pull *p = str_is(owner, m->first.owner) ? &m->other : &m->first;

	return p->at <= until ? p->at : 0;
}

static int64_t from_host(const struct host *h, struct str owner, int64_t until)
{
	const int64_t at = h ? of_others(&h->newest, owner, until) : 0;

	return at || !h ? at : of_others(&h->before, owner, until);
}

int64_t pulls_of_others(const struct pulls *p, struct str owner, const struct pod_facts *pod, int64_t until)
{
	int64_t earliest = INT64_MAX;
	struct str name;

	for (uint32_t i = 0; i < pod->n_containers && i < POD_CONTAINERS_MAX; i++) {
		if (!cause_concerns(&pod->containers[i]))
			continue;
		const int64_t at =
			counts(&pod->containers[i], &name) ? from_host(find(p, name), owner, until) : 0;

		earliest = at < earliest ? at : earliest;
	}
	return earliest == INT64_MAX ? 0 : earliest;
}

static bool settles(struct pull *p, int64_t now)
{
	const bool news = p->at && !p->told && now >= p->at + PULLS_SETTLE_MS;

	p->told = p->told || news;
	return news;
}

bool pulls_take_news(struct pulls *p, int64_t now)
{
	bool news = false;

	for (uint32_t i = 0; i < p->n; i++) {
		struct host *h = &p->hosts[i];
		struct pull *const of[] = { &h->newest.first, &h->newest.other, &h->before.first,
					    &h->before.other };

		for (size_t k = 0; k < ARRAY_SIZE(of); k++)
			news = settles(of[k], now) || news;
	}
	return news;
}
