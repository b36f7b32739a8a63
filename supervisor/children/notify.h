/* notify.h - sd_notify(3) without libsystemd: one datagram to $NOTIFY_SOCKET.
 * Process: supervisor.  Protocol: systemd man sd_notify. Without a socket every call does nothing. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_CHILDREN_NOTIFY_H
#define SUPERVISOR_CHILDREN_NOTIFY_H

#include <stdint.h>

struct notify;

/* Reads and removes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID from the environment: children do not get
 * them. *ret_watchdog_ms: how often WATCHDOG=1 is wanted (half of the limit), 0 = never. */
struct notify *notify_new(uint64_t *ret_watchdog_ms);
void notify_free(struct notify **n);
/* printf-like text of one or more KEY=value lines. */
void notify_send(const struct notify *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
