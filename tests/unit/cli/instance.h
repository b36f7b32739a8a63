/* instance.h - a control socket that answers by a script, in a process of its own.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_CLI_INSTANCE_H
#define TESTS_CLI_INSTANCE_H

#include <stdint.h>

#include "ipc/msg.h"

/* One question. The socket is gone after the last of them. */
struct instance_call {
	int fd;
	struct msg request;
};

/* Listen at a path of its own, which it writes, and call `answer` for each of `calls` questions, of one
 * connection after another. */
void instance_start(char ret_path[static 128], unsigned calls,
		    void (*answer)(const struct instance_call *call, unsigned nth));
/* Send one message to the command. */
void instance_send(const struct instance_call *call, const struct msg *m);
/* Send CTL_END with that exit code. */
void instance_end(const struct instance_call *call, int code);

#endif
