/* notify.h - sd_notify(3) without libsystemd: one datagram to $NOTIFY_SOCKET.
 * Process: supervisor.  Protocol: systemd man sd_notify. Without a socket every call does nothing. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_NOTIFY_H
#define SUPERVISOR_NOTIFY_H

#include <stdint.h>

/* Reads and removes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID from the environment: children do not get
 * them. */
void notify_init(void);
/* printf-like text of one or more KEY=value lines. */
void notify_send(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* How often WATCHDOG=1 is wanted, ms (half of the limit); 0 = never. */
uint64_t notify_watchdog_ms(void);
void notify_done(void);

#endif
