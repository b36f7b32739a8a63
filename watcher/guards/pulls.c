/* pulls.c - see pulls.h. Of each host the newest pull is kept, and the newest of another owner than that. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/guards/pulls.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "rules/cause.h"

#define HOSTS_MAX 128u /* the one that was pulled from longest ago makes room */
#define HOST_LEN  254u
#define OWNER_LEN 129u

struct pull {
	char owner[OWNER_LEN];
	int64_t at;
};

struct host {
	char name[HOST_LEN];
	struct pull newest, other;
};

struct pulls {
	struct host *hosts;
	uint32_t n, cap;
	bool news;
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
			if (p->hosts[i].newest.at < h->newest.at)
				h = &p->hosts[i];
	}
	*h = (struct host){ 0 };
	(void)str_copy_printable(h->name, sizeof(h->name), name.p, name.n);
	return h;
}

static void note(struct host *h, struct str owner, int64_t at)
{
	if (!str_is(owner, h->newest.owner)) {
		h->other = h->newest;
		(void)str_copy_printable(h->newest.owner, sizeof(h->newest.owner), owner.p, owner.n);
	}
	h->newest.at = at;
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
		if (!counts(&pod->containers[i], &name))
			continue;
		note(make(p, name), owner, at);
		p->news = true;
	}
}

static int64_t of_others(const struct host *h, struct str owner)
{
	if (!h)
		return 0;
	return str_is(owner, h->newest.owner) ? h->other.at : h->newest.at;
}

int64_t pulls_of_others(const struct pulls *p, struct str owner, const struct pod_facts *pod)
{
	int64_t earliest = INT64_MAX;
	struct str name;

	for (uint32_t i = 0; i < pod->n_containers && i < POD_CONTAINERS_MAX; i++) {
		if (!cause_concerns(&pod->containers[i]))
			continue;
		const int64_t at = counts(&pod->containers[i], &name) ? of_others(find(p, name), owner) : 0;

		earliest = at < earliest ? at : earliest;
	}
	return earliest == INT64_MAX ? 0 : earliest;
}

bool pulls_take_news(struct pulls *p)
{
	const bool news = p->news;

	p->news = false;
	return news;
}
