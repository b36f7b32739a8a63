/* evil.h - test builds: a live process, inside its sandbox and behind its handshake, turns against the
 * others on command of `probe ROLE NUMBER evil COMMAND`. The attacks: tests/e2e/scenarios/evil.py. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_EVIL_H
#define TESTS_EVIL_H

#include <stdbool.h>

#include "ipc/msg.h"

struct process;

/* clang-format off */
/* Obey a command. In values ~ is a space and # the number of the message; what a command does not name is 0,
 * "x" or empty. 0; -EINVAL for anything else.
 *   say TYPE [FIELD=VALUE...]            send one valid message
 *   flood N TYPE [FIELD=VALUE...]        send N of them, as fast as the socket takes them, each with texts and
 *                                        numbers of its own where no value is named
 *   random N SEED [-TYPE...]             send N valid messages of any type that the role may send, but not of
 *                                        those; made of chance and of what this process has sent and received
 *   rest                                 -EAGAIN while any of these is left to be sent
 *   answer TYPE TYPE2 [FIELD=VALUE...]   from now on answer every TYPE with a TYPE2 that has its fields
 *   precede TYPE TYPE2 [FIELD=VALUE...]  the same, and the honest answer follows
 *   lie TYPE FIELD=VALUE...              from now on send every TYPE of the honest code changed like that
 *   swallow TYPE|all                     from now on receive none of these
 *   mute TYPE|all                        from now on send none of these
 *   raw HEX...                           send these bytes, each as a datagram
 *   open PATH                            open that file to be read
 *   remove PATH                          unlink it
 *   pass FD                              send a HEARTBEAT with that descriptor beside it
 *   hang                                 never come back to the loop */
/* clang-format on */
int evil_obey(struct process *p, enum role role, const char *command);
/* Notice a message to this process. True: it is swallowed. */
bool evil_receives(const struct msg *m);
/* What is sent instead of m, in *buf where it is another; NULL: nothing. */
const struct msg *evil_sends(const struct msg *m, struct msg *buf);

#endif
