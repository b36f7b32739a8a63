/* The workloads of a filled cluster, and the values of their objects. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_FILL_WORKLOAD_H
#define APISIM_FILL_WORKLOAD_H

#include "tests/apisim/fill_text.h"
#include "tests/apisim/object.h"

/* One Deployment and its ReplicaSet. */
struct fill_workload {
	uint64_t seed, replicas, nodes;
	int64_t created, now;
	bool pullfail;
	char app[40], rs[96], hash[16], ns[32], uid[37], rs_uid[37]; /* the Deployment is called as the app */
	char created_at[21], ended_at[21], access[6], digest[65], image[96];
	char restarts[21], count[21], ready[21], available[6];
};

/* Objects of one workload made from one text: all alike but for the words below. */
struct fill_group {
	struct fill_group *next;
	const struct fill_workload
		*w; /* shared by the groups of a workload, freed with the one that owns it */
	bool owns_workload;
	enum fill_text text;
	json_t *labels; /* of its objects, made when first asked for */
};

/* Workload number `number` of a cluster: its names, times and uids, all from the seed. That, replicas,
 * nodes, now and pullfail are set. */
void fill_workload_init(struct fill_workload *w, uint64_t number, uint64_t namespaces);

/* The value of a word for an object (arg is its struct obj); a fill_word_fn. */
const char *fill_word(const void *arg, const char *word, size_t n, char out[256]);

/* The words of pods whose values stand there as text or time; NULL at the end. The values of the first
 * FILL_POD_WORDS differ between the pods of a group, all values of one word being of one length. */
enum { FILL_POD_WORDS = 9 };
extern const char *const fill_words[];

#endif
