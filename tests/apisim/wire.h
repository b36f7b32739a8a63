/* The sockets of a server, plain or TLS: bytes in and out by buffers. All writing of a turn of the event loop
 * happens at its end. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_WIRE_H
#define APISIM_WIRE_H

#include <event2/buffer.h>
#include <event2/event.h>
#include <openssl/ssl.h>
#include <stdbool.h>

struct wires;

/* before is called before anything is written. */
struct wires *wires_new(struct event_base *base, void (*before)(void *arg), void *arg);

/* Its wires must be gone. */
void wires_free(struct wires *all);

/* What a wire tells its owner, from the event loop. */
struct wire_owner {
	void (*on_input)(void *arg); /* there may be more in `in`; must not free the wire */
	void (*on_room)(void *arg);  /* after a wire_send, no more than `low` bytes are left in `out` */
	void (*on_gone)(void *arg);  /* the other side is gone, or nothing can be sent to it any more */
};

struct wire {
	struct wires *all;
	struct wire *next, **prev; /* of those with something to send */
	const struct wire_owner *owner;
	void *arg;
	int fd;
	SSL *ssl;                  /* NULL: plain */
	struct evbuffer *in, *out; /* the owner's to take from and to add to */
	size_t low;
	struct event *reader, *writer, *ticker;
	bool full;            /* so much is in `in` that nothing more is read */
	bool read_waits;      /* TLS can read only once it has written */
	size_t rate, allowed; /* bytes a second, and what is left of this one; rate 0: as fast as it goes */
};

/* Takes a socket that does not block. tls NULL: plain. Reading pauses while 4 MiB are in `in`. */
struct wire *wire_new(struct wires *all, int fd, SSL_CTX *tls, const struct wire_owner *owner, void *arg);

/* Closes it at once. */
void wire_free(struct wire *w);

/* What is in `out` leaves at the end of this turn, or as soon as it can; on_room comes also when there is
 * nothing. */
void wire_send(struct wire *w);

/* on_input comes once more when something is in `in`. */
void wire_again(struct wire *w);

/* From now on so many bytes leave in each second. */
void wire_set_rate(struct wire *w, size_t bytes_per_second);

#endif
