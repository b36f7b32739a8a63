/* failing_since_registry.c - see failing_since_registry.h. A hash by cluster, duty and owner: the revisions
 * of one owner share a bucket. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/failing_since_registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/xalloc.h"
#include "ipc/msg.h"

#if !defined(BUCKETS) /* the fuzz build has few: their chains are long, and all are looked through often */
#define BUCKETS 4096u
#endif

#define KEEP_MS 600000 /* it is not written down more often that a cluster is watched */

struct failing_since_registry {
	struct failing_since_entry *by_owner[BUCKETS];
	struct failing_since_cluster clusters[CLUSTERS_MAX]; /* n 0: the place is free */
	bool changed;
};

struct failing_since_registry *failing_since_new(void)
{
	return xcalloc(1, sizeof(struct failing_since_registry));
}

void failing_since_free(struct failing_since_registry **k)
{
	if (*k)
		failing_since_forget_all(*k);
	free(*k);
	*k = NULL;
}

/* Its place, or CLUSTERS_MAX. */
static size_t find_cluster(const struct failing_since_registry *k, const char *name)
{
	size_t i = 0;

	while (i < CLUSTERS_MAX && !(k->clusters[i].n > 0 && strcmp(k->clusters[i].name, name) == 0))
		i++;
	return i;
}

static size_t make_cluster(struct failing_since_registry *k, const char *name, int64_t at)
{
	size_t i = find_cluster(k, name);

	if (i < CLUSTERS_MAX)
		return i;
	for (i = 0; i < CLUSTERS_MAX && k->clusters[i].n > 0; i++)
		;
	if (i == CLUSTERS_MAX)
		return i;
	k->clusters[i] = (struct failing_since_cluster){ .watched = at };
	(void)snprintf(k->clusters[i].name, sizeof(k->clusters[i].name), "%s", name);
	return i;
}

static size_t bucket_of(size_t cluster, uint64_t duty, const char *owner)
{
	return (size_t)(fnv_text(FNV_START ^ (cluster << 8 | duty), owner) >> 20) % BUCKETS;
}

static bool is_of(const struct failing_since_entry *e, size_t cluster, const struct failing_since_key *key)
{
	return e->cluster == cluster && e->duty == key->duty && strcmp(e->owner, key->owner) == 0;
}

/* Where the entry hangs; where nothing hangs when there is none. */
static struct failing_since_entry **find(struct failing_since_registry *k, size_t cluster,
					 const struct failing_since_key *key)
{
	struct failing_since_entry **p = &k->by_owner[bucket_of(cluster, key->duty, key->owner)];

	while (*p && !(is_of(*p, cluster, key) && strcmp((*p)->revision, key->revision) == 0))
		p = &(*p)->next;
	return p;
}

static void drop(struct failing_since_registry *k, struct failing_since_entry **p)
{
	struct failing_since_entry *e = *p;

	*p = e->next;
	k->clusters[e->cluster].n--;
	k->changed = true;
	free(e);
}

void failing_since_forget_all(struct failing_since_registry *k)
{
	for (size_t b = 0; b < BUCKETS; b++)
		while (k->by_owner[b])
			drop(k, &k->by_owner[b]);
}

void failing_since_forget_cluster(struct failing_since_registry *k, const struct failing_since_cluster *c)
{
	const size_t i = (size_t)(c - k->clusters);

	for (size_t b = 0; b < BUCKETS; b++)
		for (struct failing_since_entry **p = &k->by_owner[b]; *p;)
			if ((*p)->cluster == i)
				drop(k, p);
			else
				p = &(*p)->next;
}

static struct failing_since_entry *make(const struct failing_since_key *key, size_t cluster, int64_t at)
{
	const size_t owner = strlen(key->owner) + 1, revision = strlen(key->revision) + 1;
	struct failing_since_entry *e = xcalloc(1, sizeof(*e) + owner + revision);

	memcpy(e->owner, key->owner, owner);
	memcpy(e->owner + owner, key->revision, revision);
	e->revision = e->owner + owner;
	e->at = at;
	e->duty = key->duty;
	e->cluster = cluster;
	return e;
}

/* What is known from a time that is still to come was named by a clock that has been set back. */
static bool begin_earlier(struct failing_since_registry *k, struct failing_since_entry *e, int64_t at)
{
	k->changed = k->changed || at < e->at;
	e->at = at < e->at ? at : e->at;
	return true;
}

bool failing_since_add(struct failing_since_registry *k, const struct failing_since_key *key, int64_t at)
{
	const size_t cluster = make_cluster(k, key->cluster_name, at);
	struct failing_since_entry **p = cluster < CLUSTERS_MAX ? find(k, cluster, key) : NULL;

	if (p && *p)
		return begin_earlier(k, *p, at);
	if (!p || k->clusters[cluster].n >= FAILING_SINCE_MAX)
		return false;
	*p = make(key, cluster, at);
	k->clusters[cluster].n++;
	k->changed = true;
	return true;
}

void failing_since_remove(struct failing_since_registry *k, const struct failing_since_key *key)
{
	const size_t cluster = find_cluster(k, key->cluster_name);
	struct failing_since_entry **p = cluster < CLUSTERS_MAX ? find(k, cluster, key) : NULL;

	if (p && *p)
		drop(k, p);
}

/* The newest of this owner, of that revision when there is one. */
static const struct failing_since_entry *newest(const struct failing_since_registry *k,
						const struct failing_since_key *key)
{
	const size_t cluster = find_cluster(k, key->cluster_name);
	const struct failing_since_entry *found = NULL, *e;

	if (cluster == CLUSTERS_MAX)
		return NULL;
	for (e = k->by_owner[bucket_of(cluster, key->duty, key->owner)]; e; e = e->next)
		if (is_of(e, cluster, key) && (!key->revision || strcmp(e->revision, key->revision) == 0) &&
		    (!found || e->at > found->at))
			found = e;
	return found;
}

int64_t failing_since_get(const struct failing_since_registry *k, const struct failing_since_key *key)
{
	const struct failing_since_entry *e = newest(k, key);

	return e ? e->at : 0;
}

const char *failing_since_revision(const struct failing_since_registry *k,
				   const struct failing_since_key *key)
{
	const struct failing_since_key any = { key->cluster_name, key->duty, key->owner, NULL };
	const struct failing_since_entry *e = newest(k, &any);

	return e ? e->revision : "";
}

const struct failing_since_entry *failing_since_next(const struct failing_since_registry *k,
						     const struct failing_since_entry *e)
{
	size_t b = e ? bucket_of(e->cluster, e->duty, e->owner) + 1 : 0;

	if (e && e->next)
		return e->next;
	while (b < BUCKETS && !k->by_owner[b])
		b++;
	return b < BUCKETS ? k->by_owner[b] : NULL;
}

const char *failing_since_cluster_name(const struct failing_since_registry *k,
				       const struct failing_since_entry *e)
{
	return k->clusters[e->cluster].name;
}

static struct failing_since_cluster *cluster_of(struct failing_since_registry *k, const char *name)
{
	const size_t i = find_cluster(k, name);

	return i < CLUSTERS_MAX ? &k->clusters[i] : NULL;
}

void failing_since_watched(struct failing_since_registry *k, const char *cluster_name, int64_t at)
{
	struct failing_since_cluster *c = cluster_of(k, cluster_name);

	if (!c || (at >= c->watched && at - c->watched < KEEP_MS))
		return;
	if (at - c->watched > FAILING_SINCE_BREAK_MS)
		c->since = at;
	c->watched = at;
	k->changed = true;
}

int64_t failing_since_watched_since(const struct failing_since_registry *k, const char *cluster_name)
{
	const size_t i = find_cluster(k, cluster_name);

	return i < CLUSTERS_MAX ? k->clusters[i].since : 0;
}

const struct failing_since_cluster *failing_since_next_cluster(const struct failing_since_registry *k,
							       size_t *i)
{
	while (*i < CLUSTERS_MAX && k->clusters[*i].n == 0)
		++*i;
	return *i < CLUSTERS_MAX ? &k->clusters[(*i)++] : NULL;
}

bool failing_since_on_kept(struct failing_since_registry *k, const char *cluster_name, int64_t watched,
			   int64_t since)
{
	struct failing_since_cluster *c = cluster_of(k, cluster_name);

	if (!c)
		return false;
	c->watched = watched;
	c->since = since;
	return true;
}

static int64_t moved(int64_t at, int64_t step)
{
	return at + step > 1 ? at + step : 1;
}

void failing_since_move(struct failing_since_registry *k, int64_t step)
{
	for (size_t b = 0; b < BUCKETS; b++)
		for (struct failing_since_entry *e = k->by_owner[b]; e; e = e->next)
			e->at = moved(e->at, step);
	for (size_t i = 0; i < CLUSTERS_MAX; i++) {
		struct failing_since_cluster *c = &k->clusters[i];

		c->watched = moved(c->watched, step);
		c->since = c->since > 0 ? moved(c->since, step) : 0;
	}
	k->changed = true;
}

bool failing_since_is_changed(const struct failing_since_registry *k)
{
	return k->changed;
}

void failing_since_kept(struct failing_since_registry *k)
{
	k->changed = false;
}
