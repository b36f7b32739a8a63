/* ctl.h - ask the running instance over its control socket.
 * Process: cli. Errors are printed on stderr where they are found; what is returned is the exit code.
 * Whoever waits at a terminal for more than a second is told so, on stderr. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_INSTANCE_CTL_H
#define CLI_INSTANCE_CTL_H

#include "ipc/msg.h"

struct ctl;

/* Send `request`, give every answer but CTL_END to on_row (NULL: to nobody), and wait for CTL_END. Returns
 * CTL_END's code, or EXIT_CODE_UNAVAILABLE when no instance listens or the whole answer does not come within
 * timeout_ms. socket NULL = the default. */
int ctl_ask(const char *socket, const struct msg *request, uint64_t timeout_ms,
	    void (*on_row)(void *ctx, const struct msg *m), void *ctx);

/* A connection for more than one question. 0 or EXIT_CODE_UNAVAILABLE. */
int ctl_open(const char *socket, struct ctl **ret);
/* The same once the instance listens, which it may begin to do within timeout_ms; else EXIT_CODE_UNAVAILABLE.
 */
int ctl_open_soon(const char *socket, uint64_t timeout_ms, struct ctl **ret);
/* Accepts NULL. */
void ctl_close(struct ctl **c);
/* The same as ctl_ask on an open connection. */
int ctl_request(struct ctl *c, const struct msg *request, uint64_t timeout_ms,
		void (*on_row)(void *ctx, const struct msg *m), void *ctx);
/* Return the name of the operator, "" when there is none: the user who called sudo, else the own one. The
 * instance adds the uid that the kernel reports. Valid until getpwuid() is called again. */
const char *ctl_operator(void);
/* Send without waiting. 0 or EXIT_CODE_UNAVAILABLE. */
int ctl_send(struct ctl *c, const struct msg *m);
/* Next message of the instance. 0, or EXIT_CODE_UNAVAILABLE (none within timeout_ms, or the end). */
int ctl_recv(struct ctl *c, uint64_t timeout_ms, struct msg *ret);

/* The messages of an answer, by their type: rows.ctl_cluster.v[0] is the first CTL_CLUSTER. Zeroed = empty.
 * Each v is the owner's (rows_done). */
struct rows {
#define M(ID, name, ...)                                                                                     \
	struct {                                                                                             \
		struct msg_##name *v;                                                                        \
		size_t n;                                                                                    \
	} name;
	MSG_LIST(M)
#undef M
};

/* For ctl_ask() and ctl_request(): ctx is the rows, of which m becomes one more. */
void rows_take(void *ctx, const struct msg *m);
/* Sort the rows of the history by action key, of one key the newest first. */
void rows_sort_history(struct rows *r);
void rows_done(struct rows *r);

#endif
