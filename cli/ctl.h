/* ctl.h - ask the running instance over its control socket.
 * Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_CTL_H
#define CLI_CTL_H

#include "ipc/msg.h"

/* Send `request`, give every answer but CTL_END to on_row, and wait for CTL_END. Returns CTL_END's code, or
 * EXIT_CODE_UNAVAILABLE when no instance listens or it does not answer within timeout_ms. Errors are printed
 * on stderr. socket NULL = the default. */
int ctl_ask(const char *socket, const struct msg *request, uint64_t timeout_ms,
	    void (*on_row)(void *ctx, const struct msg *m), void *ctx);

#endif
