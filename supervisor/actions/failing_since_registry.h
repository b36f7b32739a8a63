/* failing_since_registry.h - since when the supervisor has known that a workload fails, by its own clock:
 * since its watcher first named it. A watcher that was taken over can say of a fresh failure that it is old;
 * it cannot have said so before. Pure: no I/O, no clock. Process: supervisor.  Owns: copies of all names it
 * is given. Times: Unix ms, 0 = not known. Bounded: a cluster has FAILING_SINCE_MAX; what is named beyond
 * that is not known, and so not acted on, until something else has healed. So nobody is displaced, and no
 * cluster takes another one's room. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_FAILING_SINCE_REGISTRY_H
#define SUPERVISOR_ACTIONS_FAILING_SINCE_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAILING_SINCE_MAX 4096u

struct failing_since_registry;

/* Of a workload: by which duty it fails, the uid of what owns its pods, and their revision. */
struct failing_since_key {
	const char *cluster_name;
	uint64_t duty;
	const char *owner, *revision;
};

struct failing_since_entry {
	struct failing_since_entry *next; /* of its bucket */
	int64_t at;
	uint64_t duty;
	size_t cluster; /* index of its name */
	const char *revision;
	char owner[]; /* and behind it the revision */
};

/* A cluster of which something is known. */
struct failing_since_cluster {
	char name[64];
	size_t n;        /* entries of it */
	int64_t watched; /* when it was last seen to be watched, */
	int64_t since;   /* and since when without a break; 0: there was none */
};

struct failing_since_registry *failing_since_new(void);
void failing_since_free(struct failing_since_registry **k);
void failing_since_forget_all(struct failing_since_registry *k);

/* It was named at `at`. Of what is known already the earlier time counts. False: there is no room. */
bool failing_since_add(struct failing_since_registry *k, const struct failing_since_key *key, int64_t at);
/* It has healed: named again it begins anew. */
void failing_since_remove(struct failing_since_registry *k, const struct failing_since_key *key);
int64_t failing_since_get(const struct failing_since_registry *k, const struct failing_since_key *key);
/* The revision of this owner that was named last; "" when none is known. Valid until it is removed. */
const char *failing_since_revision(const struct failing_since_registry *k,
				   const struct failing_since_key *key);

/* All of them: the first (e NULL), the one behind e, NULL behind the last. */
const struct failing_since_entry *failing_since_next(const struct failing_since_registry *k,
						     const struct failing_since_entry *e);
const char *failing_since_cluster_name(const struct failing_since_registry *k,
				       const struct failing_since_entry *e);
/* The cluster is watched at `at`. What heals and fails again within a break of an hour nobody sees. */
#define FAILING_SINCE_BREAK_MS 3600000
void failing_since_watched(struct failing_since_registry *k, const char *cluster_name, int64_t at);
/* The end of its last break; 0: there was none while anything of it was known. */
int64_t failing_since_watched_since(const struct failing_since_registry *k, const char *cluster_name);
/* The first from *i on, NULL behind the last. *i: 0 at first. */
const struct failing_since_cluster *failing_since_next_cluster(const struct failing_since_registry *k,
							       size_t *i);
/* What is known of that cluster; c is not valid any more. */
void failing_since_forget_cluster(struct failing_since_registry *k, const struct failing_since_cluster *c);
/* As it was kept. False: nothing is known of that cluster. */
bool failing_since_on_kept(struct failing_since_registry *k, const char *cluster_name, int64_t watched,
			   int64_t since);
/* Their clock was set: nothing is known for longer, or shorter. */
void failing_since_move(struct failing_since_registry *k, int64_t step);
/* Something has changed since this was said to be kept. */
bool failing_since_is_changed(const struct failing_since_registry *k);
void failing_since_kept(struct failing_since_registry *k);

#endif
