/* known.h - since when the supervisor has known that a workload fails, by its own clock: since its watcher
 * first named it. A watcher that was taken over can say of a fresh failure that it is old; it cannot have
 * said so before. Pure: no I/O, no clock. Process: supervisor.  Owns: copies of all names it is given. Times:
 * Unix ms, 0 = not known. Bounded: a cluster has KNOWN_MAX; what is named beyond that is not known, and so
 * not acted on, until something else has healed. So nobody is displaced, and no cluster takes another one's
 * room. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_KNOWN_H
#define SUPERVISOR_ACTIONS_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KNOWN_MAX 4096u

struct known;

/* Of a workload: by which duty it fails, the uid of what owns its pods, and their revision. */
struct known_key {
	const char *cluster_name;
	uint64_t duty;
	const char *owner, *revision;
};

struct known_entry {
	struct known_entry *next; /* of its bucket */
	int64_t at;
	uint64_t duty;
	size_t cluster; /* index of its name */
	const char *revision;
	char owner[]; /* and behind it the revision */
};

struct known *known_new(void);
void known_free(struct known **k);
void known_forget_all(struct known *k);

/* It was named at `at`. Of what is known already the earlier time counts. False: there is no room. */
bool known_add(struct known *k, const struct known_key *key, int64_t at);
/* It has healed: named again it begins anew. */
void known_remove(struct known *k, const struct known_key *key);
int64_t known_since(const struct known *k, const struct known_key *key);
/* The revision of this owner that was named last; "" when none is known. Valid until it is removed. */
const char *known_revision(const struct known *k, const struct known_key *key);

/* All of them: the first (e NULL), the one behind e, NULL behind the last. */
const struct known_entry *known_next(const struct known *k, const struct known_entry *e);
const char *known_cluster_name(const struct known *k, const struct known_entry *e);
/* Something has changed since this was said to be kept. */
bool known_is_changed(const struct known *k);
void known_kept(struct known *k);

#endif
