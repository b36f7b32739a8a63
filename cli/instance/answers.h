/* answers.h - what the instances of other replicas answered, for a command that shows all of them as one:
 * each runs the command in its pod and prints its answers (`--answers`); one reads them (`--with-answers`)
 * and runs the command once for each. Process: cli.
 *
 * Printed is a line "ops-pod-cleaner answers 1 LENGTH", then LENGTH bytes: the messages (ipc/msg.h) in the
 * order in which the command got them. A command asks by what was answered before, so that it asks a second
 * time for the same. Read is a line "ops-pod-cleaner replica NAME" for this instance, then such a line and
 * the answers for each of the others. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_INSTANCE_ANSWERS_H
#define CLI_INSTANCE_ANSWERS_H

#include <stdio.h>

#include "ipc/msg.h"

#define ANSWERS_MAX 8 /* other replicas */

struct answers;

/* From now on keep every message that ctl_recv() gives, and print nothing to stdout before answers_print().
 */
void answers_record(void);
/* Print what was kept to the stdout of before. 0 or a negative errno. */
int answers_print(void);
/* A message came. It is kept with times that another machine can read. Nothing when nothing is recorded. */
void answers_keep(const struct msg *m);

/* Read the answers of other replicas; of one that is missing or cut off, a line says so on stderr. Returns
 * EXIT_CODE_OK, EXIT_CODE_UNAVAILABLE when one is missing, or EXIT_CODE_USAGE where it is no such stream. */
int answers_read(FILE *in);
/* How many were read; 0 also while they are recorded. */
size_t answers_count(void);
/* Is this command one of several whose answers are shown as one? */
bool answers_are_joined(void);
/* The i-th instance of a command: 0 is the one that listens at `socket`, the others are read. A path for
 * ctl_open(). NULL behind the last. */
const char *answers_socket(const char *socket, size_t i);
/* The name of the i-th instance: of its pod. */
const char *answers_replica(size_t i);

/* The answers that answers_socket() gave; NULL when `socket` is a path. Borrowed. */
struct answers *answers_find(const char *socket);
/* The next message. 0, -ENODATA behind the last, or -EBADMSG. */
int answers_next(struct answers *a, struct msg *ret);

#endif
