// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/wire.h"
#include "tests/apisim/util.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	RECORD = 16 << 10, /* the most a TLS record holds */
	READ_ONCE = 256 << 10,
	WRITE_ONCE = 1 << 20,
	INPUT_MAX = 4 << 20,
};

struct wires {
	struct event_base *base;
	struct event *sender;
	struct wire *waiting;
	void (*before)(void *arg);
	void *arg;
	char room[READ_ONCE]; /* for what is on its way between a buffer and a socket */
};

enum outcome { DONE, WAIT_READ, WAIT_WRITE, GONE };

void wire_send(struct wire *w)
{
	struct wires *all = w->all;

	if (w->prev)
		return;
	if (!all->waiting)
		event_active(all->sender, EV_TIMEOUT, 0);
	w->next = all->waiting;
	if (w->next)
		w->next->prev = &w->next;
	w->prev = &all->waiting;
	all->waiting = w;
}

static void unlink_waiting(struct wire *w)
{
	if (!w->prev)
		return;
	if (w->next)
		w->next->prev = w->prev;
	*w->prev = w->next;
	w->prev = NULL;
}

/* What a result of 0 or less means. */
static enum outcome tls_outcome(const struct wire *w, int rc)
{
	switch (SSL_get_error(w->ssl, rc)) {
	case SSL_ERROR_WANT_WRITE:
		return WAIT_WRITE;
	case SSL_ERROR_WANT_READ:
		return WAIT_READ;
	default:
		return GONE;
	}
}

/* OpenSSL reads ahead: what it holds already must be taken, for the socket will not tell of it. */
static enum outcome read_tls(struct wire *w)
{
	size_t got = 0;

	do {
		int n;

		ERR_clear_error();
		n = SSL_read(w->ssl, w->all->room, RECORD);
		if (n <= 0)
			return tls_outcome(w, n);
		evbuffer_add(w->in, w->all->room, (size_t)n);
		got += (size_t)n;
	} while (SSL_has_pending(w->ssl) && got < READ_ONCE);
	if (SSL_has_pending(w->ssl))
		event_active(w->reader, EV_READ, 0);
	return DONE;
}

static enum outcome read_plain(struct wire *w)
{
	const ssize_t n = read(w->fd, w->all->room, READ_ONCE);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? WAIT_READ : GONE;
	evbuffer_add(w->in, w->all->room, (size_t)n);
	return n ? DONE : GONE;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct wire *w = arg;
	enum outcome outcome = DONE;

	(void)fd, (void)what;
	if (evbuffer_get_length(w->in) < INPUT_MAX)
		outcome = w->ssl ? read_tls(w) : read_plain(w);
	w->owner->on_input(w->arg);
	if (outcome == GONE) {
		w->owner->on_gone(w->arg);
		return;
	}
	w->full = evbuffer_get_length(w->in) >= INPUT_MAX;
	if (w->full)
		event_del(w->reader);
	w->read_waits = outcome == WAIT_WRITE;
	if (w->read_waits)
		event_add(w->writer, NULL);
	if (evbuffer_get_length(w->out))
		wire_send(w); /* TLS may have had to read before it could write */
}

/* Bytes that have left, or 0 with the reason why none did. */
static size_t write_tls(struct wire *w, size_t most, enum outcome *ret_outcome)
{
	const ev_ssize_t size = evbuffer_copyout(w->out, w->all->room, most < RECORD ? most : RECORD);
	int n;

	ERR_clear_error();
	n = SSL_write(w->ssl, w->all->room, (int)size);
	if (n > 0) {
		evbuffer_drain(w->out, (size_t)n);
		return (size_t)n;
	}
	*ret_outcome = tls_outcome(w, n);
	return 0;
}

static size_t write_plain(struct wire *w, size_t most, enum outcome *ret_outcome)
{
	const int n = evbuffer_write_atmost(w->out, w->fd, (ev_ssize_t)most);

	if (n > 0)
		return (size_t)n;
	*ret_outcome = n < 0 && errno != EAGAIN && errno != EINTR ? GONE : WAIT_WRITE;
	return 0;
}

static void write_some(struct wire *w)
{
	size_t left = w->rate && w->allowed < WRITE_ONCE ? w->allowed : WRITE_ONCE;
	enum outcome outcome = DONE;

	while (outcome == DONE && left && evbuffer_get_length(w->out)) {
		const size_t n = w->ssl ? write_tls(w, left, &outcome) : write_plain(w, left, &outcome);

		left -= n;
		if (w->rate)
			w->allowed -= n;
	}
	if (outcome == GONE) {
		w->owner->on_gone(w->arg);
		return;
	}
	if (evbuffer_get_length(w->out) && outcome != WAIT_READ && (!w->rate || w->allowed))
		event_add(w->writer, NULL);
	if (evbuffer_get_length(w->out) <= w->low)
		w->owner->on_room(w->arg);
}

/* An owner may free its own wire meanwhile, and whoever has more to send comes in the next round. */
static void on_send(evutil_socket_t fd, short what, void *arg)
{
	struct wires *all = arg;
	struct wire *round = all->waiting, *w;

	(void)fd, (void)what;
	all->before(all->arg);
	all->waiting = NULL;
	if (round)
		round->prev = &round;
	while ((w = round)) {
		unlink_waiting(w);
		write_some(w);
	}
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct wire *w = arg;

	(void)fd, (void)what;
	if (w->read_waits)
		event_active(w->reader, EV_READ, 0);
	wire_send(w);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct wire *w = arg;

	(void)fd, (void)what;
	w->allowed = w->rate;
	wire_send(w);
}

struct wires *wires_new(struct event_base *base, void (*before)(void *arg), void *arg)
{
	struct wires *all = util_alloc(sizeof(*all));

	all->base = base;
	all->before = before;
	all->arg = arg;
	all->sender = event_new(base, -1, 0, on_send, all);
	return all;
}

void wires_free(struct wires *all)
{
	event_free(all->sender);
	free(all);
}

static SSL *server_side(SSL_CTX *tls, int fd)
{
	SSL *ssl = SSL_new(tls);

	if (!ssl || SSL_set_fd(ssl, fd) != 1)
		util_die(71, "no TLS connection");
	SSL_set_accept_state(ssl);
	SSL_set_read_ahead(ssl, 1);
	SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	return ssl;
}

struct wire *wire_new(struct wires *all, int fd, SSL_CTX *tls, const struct wire_owner *owner, void *arg)
{
	struct wire *w = util_alloc(sizeof(*w));

	w->all = all;
	w->fd = fd;
	w->owner = owner;
	w->arg = arg;
	w->ssl = tls ? server_side(tls, fd) : NULL;
	w->in = evbuffer_new();
	w->out = evbuffer_new();
	w->reader = event_new(all->base, fd, EV_READ | EV_PERSIST, on_readable, w);
	w->writer = event_new(all->base, fd, EV_WRITE, on_writable, w);
	event_add(w->reader, NULL);
	return w;
}

void wire_free(struct wire *w)
{
	unlink_waiting(w);
	event_free(w->reader);
	event_free(w->writer);
	if (w->ticker)
		event_free(w->ticker);
	evbuffer_free(w->in);
	evbuffer_free(w->out);
	SSL_free(w->ssl);
	close(w->fd);
	free(w);
}

void wire_again(struct wire *w)
{
	if (w->full && evbuffer_get_length(w->in) < INPUT_MAX)
		event_add(w->reader, NULL);
	if (evbuffer_get_length(w->in))
		event_active(w->reader, EV_READ, 0);
}

void wire_set_rate(struct wire *w, size_t bytes_per_second)
{
	const struct timeval second = { .tv_sec = 1 };

	w->rate = w->allowed = bytes_per_second;
	if (!w->ticker)
		w->ticker = event_new(w->all->base, -1, EV_PERSIST, on_tick, w);
	event_add(w->ticker, &second);
}
