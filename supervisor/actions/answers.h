/* answers.h - the way back to those who ask: an operator's connection (control.c), or a restore that a
 * watcher has asked for (restores.c). Each has a number, which goes with its questions and comes back with
 * their answers; 0 is nobody. Open questions to children are counted, so that an answer is taken from the
 * child that was asked alone, and the death of that child answers them. Process: supervisor. Owns: nothing;
 * askers are parts of their owners. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_ANSWERS_H
#define SUPERVISOR_ACTIONS_ANSWERS_H

#include "supervisor/children/child.h"

/* Children that one asker may have open questions to at once. */
#define ASKED_MAX 8

struct asker {
	struct asker *next;
	uint64_t conn; /* its number, unique in the life of the supervisor; 0 = not added */
	/* Take a message of an answer. CTL_END, CTL_DRY_RUN_RESULT, CTL_ACCESS_ROW and CTL_RESTORE_ROW end a
	 * question. May remove the asker. Returns false when a child answers something that was not its
	 * question. */
	bool (*take)(struct asker *a, const struct msg *m);
	struct {
		const struct child *child;
		unsigned open; /* questions without the end of their answer; 0 = free */
	} asked[ASKED_MAX];
	unsigned queued; /* questions that wait for a child to ask */
};

struct answers {
	struct asker *first;
	uint64_t last_conn;
};

/* Give a a new number and make it known; it keeps its place until answers_remove(). Its `take` is set, the
 * rest is overwritten. */
void answers_add(struct answers *all, struct asker *a);
/* Answers that still come for it are dropped. Nothing happens when it was not added. */
void answers_remove(struct answers *all, struct asker *a);

/* Pass a's question m on to a child of that role. When it is not running (to may be NULL), does not take it,
 * or a waits for too many children, the answer is a CTL_END at once. */
void answers_ask(struct answers *all, struct asker *a, struct child *to, enum role role, const struct msg *m);
/* Put m, which holds the number of its asker, off until there is a child to ask; answers_forward() follows.
 */
void answers_queue(const struct answers *all, const struct msg *m);
/* Ask what was put off; nothing happens when the asker has left. */
void answers_forward(struct answers *all, struct child *to, enum role role, const struct msg *m);
/* True while a waits for a child. */
bool asker_waits(const struct asker *a);

/* Hand m to the asker of that number; dropped when there is none. */
void answers_send(const struct answers *all, uint64_t conn, const struct msg *m);
/* Hand it a CTL_END: exit code, and what the operator is told (NULL: nothing). */
void answers_end(const struct answers *all, uint64_t conn, uint64_t code, const struct facts *why);
/* The same with one statement. */
void answers_refuse(const struct answers *all, uint64_t conn, uint64_t code, enum text why);
/* An answer of a child: for the asker whose question it has open; dropped when that one has left, else a
 * protocol error of the child. */
void answers_on_msg(const struct answers *all, struct child *child, const struct msg *m);
/* End the questions that the dead child has open, with EXIT_CODE_UNAVAILABLE. */
void answers_on_child_dead(const struct answers *all, const struct child *child);

#endif
