/* generation.h - all that one run of the loader produced, and how two of them differ.
 * Process: supervisor.  Settings are sealed memfds, which the supervisor hands on and does not read. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_CHILDREN_GENERATION_H
#define SUPERVISOR_CHILDREN_GENERATION_H

#include <stdbool.h>

#include "ipc/msg.h"

#define GENERATION_FIXED_MAX 16

struct generation {
	uint64_t number;
	bool complete;                  /* the loader said so */
	struct msg_load_supervisor all; /* what concerns all clusters */
	uint64_t refresh_ms;            /* load again after this time, 0 = never */
	/* An index belongs to one name as long as the supervisor lives: that of a cluster which these
	 * settings have no more stays empty. There are all.clusters so far. */
	uint64_t n_wanted; /* of them, those that these settings have: by generation_follow() */
	bool wanted[CLUSTERS_MAX];
	char names[CLUSTERS_MAX][64];
	uint64_t workers[CLUSTERS_MAX];                    /* at most */
	uint64_t workers_min[CLUSTERS_MAX];                /* that run while there is no work */
	struct msg_load_cluster at[CLUSTERS_MAX];          /* for people: where they are */
	struct facts problem[CLUSTERS_MAX];                /* why one could not be loaded, none = it was */
	struct msg_load_fixed fixed[GENERATION_FIXED_MAX]; /* what only a restart changes */
	size_t n_fixed;
	int fd[ROLE__MAX][CLUSTERS_MAX + 1]; /* settings by role and cluster, -1 = none; owned */
	/* Their credential: the plugin that it is from, and its end, as in LOAD_BLOB. */
	uint64_t plugin[ROLE__MAX][CLUSTERS_MAX + 1];
	int64_t plugin_until[ROLE__MAX][CLUSTERS_MAX + 1];
	bool refused[CLUSTERS_MAX]; /* by the server */
};

struct generation *generation_new(uint64_t number);
void generation_free(struct generation **g);
/* One message of the loader. fd is what rode along, or -1; it is taken over. */
void generation_add(struct generation *g, const struct msg *m, int fd);
/* The first cluster of these settings from *c on is *c; false when there is none. */
bool generation_next(const struct generation *g, uint64_t *c);
/* Index of the cluster of that name; all.clusters when these settings have none. */
uint64_t generation_find_cluster(const struct generation *g, const char *name);
/* Every part has arrived; a cluster that could not be loaded has none, or those of an earlier generation. */
bool generation_whole(const struct generation *g);
/* There are settings for its watcher and its workers: from this load or, when that failed, an earlier one. */
bool generation_has_cluster(const struct generation *g, uint64_t cluster);
/* Some cluster could not be loaded. */
bool generation_has_trouble(const struct generation *g);
/* What has changed without any child's noticing: problems, places, plugins, when to load again. */
void generation_update(struct generation *g, const struct generation *newer);
/* What g does not know: where a cluster is whose credential is kept from `older`, and the names of indexes
 * that it has no more. older NULL: it is the first. False: it gives an index to another name, or to none, and
 * cannot follow `older`. */
bool generation_follow(struct generation *g, const struct generation *older);
/* Of each cluster that could not be loaded, why (FACT_EACH); none when all are loaded. */
void generation_describe_trouble(const struct generation *g, struct facts *ret);
/* What differs so that b cannot replace a without a restart, NULL = nothing; borrowed from b. */
const char *generation_fixed_difference(const struct generation *a, const struct generation *b);
/* Nobody would notice the difference. */
bool generation_equal(const struct generation *a, const struct generation *b);

#endif
