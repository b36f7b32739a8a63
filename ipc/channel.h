/* channel.h - one peer: a SEQPACKET socket on an event loop with a bounded send queue. What is sent during
 * one run of the loop leaves at its end, as few datagrams of several messages each. Layer: ipc.  Threads:
 * none.  Owns: its descriptor and queued frames; borrows the event_base. */
// SPDX-License-Identifier: Apache-2.0
#ifndef IPC_CHANNEL_H
#define IPC_CHANNEL_H

#include "ipc/msg.h"

struct channel;
struct event_base;

/* Most messages queued for a peer that does not read. */
#define CHANNEL_QUEUE_MAX 65536u

struct channel_ops {
	/* A valid message. fd is a descriptor that rode along (the receiver owns it) or -1. The handler may
	 * free the channel. */
	void (*on_msg)(void *ctx, struct channel *c, const struct msg *m, int fd);
	/* The peer is gone (err 0: orderly EOF after everything queued was read) or broke the protocol
	 * (-EBADMSG, -EPERM; why says what) or the socket failed. Called once; the handler frees the
	 * channel, then or later. */
	void (*on_close)(void *ctx, struct channel *c, int err, const struct facts *why);
	/* The queue is empty again after channel_send returned -EAGAIN. May be NULL. */
	void (*on_drain)(void *ctx, struct channel *c);
};

/* fd is owned by the channel from now on and made non-blocking. `peer` is what its messages are checked
 * against. */
struct channel *channel_new(struct event_base *base, int fd, enum role self, enum role peer,
			    const struct channel_ops *ops, void *ctx);
/* Writes what is queued as far as the socket takes it now, and closes. */
void channel_free(struct channel **c);

/* Phase that incoming messages are checked against; starts as PH_HELLO. */
void channel_set_phase(struct channel *c, enum phase phase);

/* Queue m, and fd (>= 0) beside it; fd is duplicated, the caller keeps its own. Sent in order, at the end of
 * this run of the loop; at once when a datagram is full or fd rides along. 0, or -EAGAIN when the queue
 * holds CHANNEL_QUEUE_MAX messages (m is not queued), or -EPIPE after close, or -EMFILE when fd cannot be
 * duplicated (m is not queued). */
int channel_send(struct channel *c, const struct msg *m, int fd);
/* Read everything that is there now and report it through ops; used before a dead child is reaped. */
void channel_read_all(struct channel *c);
/* Read what is there now, but no flood of it, and report it through ops: before something that takes long. */
void channel_read_waiting(struct channel *c);
/* Write what is queued, waiting up to timeout_ms. 0 or -ETIMEDOUT or -EPIPE. For a sender that ends, or that
 * does not come back to the loop for long. */
int channel_flush(struct channel *c, int timeout_ms);

#endif
