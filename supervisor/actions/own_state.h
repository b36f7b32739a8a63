/* own_state.h - what the supervisor itself keeps on disk, out of the reach of all its children: the key with
 * which it signs intents and their ends, the pauses, what was written to each cluster, and since when it has
 * known that a workload fails. The state directory is the supervisor's; the history has a folder of its own
 * in it, which is all that the reporter can open. One file, replaced whole. Process: supervisor.  Owns: the
 * lock of the state directory, the key, the counts.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_OWN_STATE_H
#define SUPERVISOR_ACTIONS_OWN_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/siphash.h"
#include "ipc/msg.h"
#include "supervisor/actions/failing_since_registry.h"
#include "supervisor/actions/pause_list.h"

#define OWN_STATE_FILE    "supervisor.state"
#define OWN_STATE_HISTORY "history" /* the reporter's folder */

enum own_found {
	OWN_NEW,     /* there was no file */
	OWN_READ,    /* it is what the last life wrote */
	OWN_DAMAGED, /* it is not: everything is paused until an operator resumes */
};

/* What was written to a cluster (write_guard.h): in a span of time that began at `at`, Unix ms. */
struct write_span {
	int64_t at;
	uint64_t used, kept; /* kept: on disk; what a restart finds there counts as used */
};

struct write_count {
	char cluster_name[64];
	struct write_span minute, hour;
	bool earlier; /* counted by an earlier life, and its clock is not borne out yet */
};

struct own_state {
	struct pause_list *pauses;
	char *dir; /* NULL before it is opened */
	int lock_fd;
	enum own_found found; /* at the start */
	bool unread; /* what the history says of pauses, until it was read: such a file is OWN_NEW to the next
			life */
	uint8_t key[SIPHASH_KEY_SIZE];
	uint64_t floor; /* what ended before a lease of this id was opened: an intent below it is over */
	struct write_count counts[CLUSTERS_MAX];
	size_t n_counts;
	struct failing_since_registry *known; /* since when workloads fail, by own_state_now() */
	uint64_t known_ms;                    /* boot ms: that is not written again before */
	int64_t wall_ahead; /* of boot time: the clock by which pauses end and writes are counted */
};

/* Nothing is on disk yet: a new key, no pauses, nothing counted. pauses is borrowed. */
struct own_state *own_state_new(struct pause_list *pauses);
void own_state_free(struct own_state **o);

/* Take the state directory: make, check and lock it, give the history its folder, read our file, or write it
 * when it is new. On error ret_text is
 * a sentence with the remedy: -EWOULDBLOCK another instance holds the directory; -EPERM or -ENOTDIR it is not
 * ours; or what the system said. */
int own_state_open(struct own_state *o, const char *dir, struct facts *ret_why);
/* Write it. 0, or negative errno: then the last that was written still stands there. */
int own_state_save(struct own_state *o);
/* The same where what is known to fail has changed, and seldom where there is much of it: a restart does not
 * begin anew. What is not on disk does, and is acted on later. */
void own_state_keep_known(struct own_state *o);

/* The name of the history that goes with this state: no other has it. It tells nothing of the key. A history
 * that is lost beside this file does not count from 1 again (own_state_floor()), and without this file the
 * key is another. */
void own_state_history(const struct own_state *o, char ret[static SIPHASH_TEXT_MAX]);

/* Raise the floor. */
void own_state_set_floor(struct own_state *o, uint64_t id);

/* The signature of an intent: all that OPEN_INTENT says of it, with the name of the cluster instead of its
 * index, which changes with the configuration. m: INTENT or OPEN_INTENT; its own `mac` does not matter. */
void own_state_sign(const struct own_state *o, const struct msg *m, const char *cluster_name,
		    char ret[static SIPHASH_TEXT_MAX]);
bool own_state_is_signed(const struct own_state *o, const struct msg *open_intent, const char *cluster_name);
/* The signature of what a restore of that INTENT, which ended by r, puts back: its number, its object, the
 * workload by name and uid, and how many replicas it had. "" when there is nothing to put back. */
void own_state_sign_end(const struct own_state *o, const struct msg *intent, const struct msg_record *r,
			const char *cluster_name, char ret[static SIPHASH_TEXT_MAX]);
/* Does the row of the history carry it? What it says besides is not signed. */
bool own_state_vouches(const struct own_state *o, const struct msg_ctl_restore_row *row,
		       const char *cluster_name);

/* Unix ms of that clock: this host's, as it was when own_state_follow_clock() last looked. */
int64_t own_state_now(const struct own_state *o);
/* True: this host's clock was set since. What is kept has gone with it, so nothing is over sooner or later;
 * to be saved. What an earlier life has paused or counted stays: perhaps the clock is right again. */
bool own_state_follow_clock(struct own_state *o);

/* What was written to this cluster; made when it is new, NULL when there are too many. */
struct write_count *own_state_count(struct own_state *o, const char *cluster_name);
/* Remove a count, which may move another one to its place. */
void own_state_forget_count(struct own_state *o, struct write_count *c);

#endif
