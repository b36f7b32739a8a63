/* channel_ends.h - one or two channels on a socketpair and an event loop, which count what they are told. The
 * messages are heartbeats, numbered in order.  Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_UNIT_IPC_CHANNEL_ENDS_H
#define TESTS_UNIT_IPC_CHANNEL_ENDS_H

#include "ipc/channel.h"

struct end {
	struct channel *channel;
	unsigned received, closed, drained;
	uint64_t last;
	int err, fd;
	bool in_order, keeps; /* keeps: its channel is not freed when it has closed */
	uint64_t act_at;      /* at this message the handler calls act */
	void (*act)(struct end *e);
};

extern struct event_base *base;

/* A new loop, and a as the supervisor's end of a socketpair; b is the watcher's, or NULL: then its descriptor
 * is returned. */
int setup_pair(struct end *a, struct end *b);
/* Frees what setup_pair made; b may be NULL, fd -1. */
void end_test(struct end *a, struct end *b, int fd);
/* As long as something is to be done, so often. */
void spin(unsigned turns);

struct msg heartbeat(uint64_t n);
void send_beat(struct channel *c, uint64_t n, int fd);
void send_beats(struct channel *c, uint64_t first, uint64_t last);
/* Messages first to last, one behind the other; returns the length. */
size_t encode_beats(uint8_t *buf, uint64_t first, uint64_t last);
/* The next datagram on a raw descriptor holds the messages first to last and nothing else; first 0: there is
 * none. */
void expect_datagram(int fd, uint64_t first, uint64_t last);

#endif
