/* memory_sockets.h - Unix sockets of datagrams, and the epoll of one event loop, without the kernel. Linked
 * into a program, the functions of libc for them are these: for libevent, too. At most one socket listens,
 * whatever its path; a wait of the loop or in poll() takes no time.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_STAGE_MEMORY_SOCKETS_H
#define TESTS_STAGE_MEMORY_SOCKETS_H

#include <stddef.h>

/* Number of sockets that were not closed. */
size_t memory_sockets_open(void);

#endif
