/* answers.h - the way back to the operator who asked. Connections are numbered and belong to control.c, which
 * stands above; 0 is nobody, and an answer to somebody who has left is dropped.  Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_ANSWERS_H
#define SUPERVISOR_ACTIONS_ANSWERS_H

#include "ipc/msg.h"

struct answers {
	void *ctx;
	/* One message for this connection. */
	void (*send)(void *ctx, uint64_t conn, const struct msg *m);
	/* The answer is complete: exit code, and text for the operator or "". */
	void (*end)(void *ctx, uint64_t conn, uint64_t code, const char *text);
};

#endif
