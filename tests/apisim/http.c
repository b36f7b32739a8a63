// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/http.h"
#include "tests/apisim/http_parse.h"
#include "tests/apisim/text.h"
#include "tests/apisim/util.h"
#include "tests/apisim/wire.h"

#include <errno.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <arpa/inet.h>
#include <time.h>

enum {
	HIGH_WATER = 4 << 20, /* output a connection may hold before a stream waits */
	LOW_WATER = 1 << 20,
	BODY_MAX = 3 << 20, /* as kube-apiserver */
};

struct http_server {
	struct evconnlistener *listener;
	struct wires *wires;
	SSL_CTX *tls;
	http_handler handler;
	void *arg;
	LIST_HEAD(, http_conn) conns;
	uint64_t bytes;
	struct text head; /* room for that of an answer */
	time_t second;    /* that `date` was made in */
	char date[64];
};

struct http_conn {
	struct http_server *server;
	struct wire *wire;
	LIST_ENTRY(http_conn) of_server;
	struct http_request *parsing; /* head read, body not yet */
	size_t body_left;
	bool body_chunked;
	struct http_request *current; /* being answered */
	struct stream *stream;
	bool chunked, broken_chunks, busy, closing;
	bool last;   /* close after this answer */
	int64_t cut; /* bytes of body before the cut, -1 */
};

static void stream_end(struct http_conn *c)
{
	struct stream *s = c->stream;

	c->stream = NULL;
	if (s) {
		s->conn = NULL;
		s->free(s);
	}
}

static void conn_free(void *arg)
{
	struct http_conn *c = arg;

	stream_end(c);
	if (c->current)
		c->current->conn = NULL;
	if (c->parsing)
		http_request_free(c->parsing);
	LIST_REMOVE(c, of_server);
	wire_free(c->wire);
	free(c);
}

static void conn_close_after_flush(struct http_conn *c)
{
	c->closing = true;
	stream_end(c);
	c->wire->low = 0;
	wire_send(c->wire);
}

/* Moves body bytes to the socket, up to the cut. */
static void conn_send(struct http_conn *c, struct evbuffer *body)
{
	size_t n = evbuffer_get_length(body);

	if (c->cut >= 0 && (int64_t)n >= c->cut) {
		c->server->bytes += (uint64_t)c->cut;
		evbuffer_remove_buffer(body, c->wire->out, (size_t)c->cut);
		evbuffer_drain(body, evbuffer_get_length(body));
		conn_close_after_flush(c);
		return;
	}
	if (c->cut >= 0)
		c->cut -= (int64_t)n;
	c->server->bytes += n;
	evbuffer_add_buffer(c->wire->out, body);
	wire_send(c->wire);
}

static void conn_next(struct http_conn *c)
{
	c->busy = false;
	c->current = NULL;
	if (c->last) {
		conn_close_after_flush(c);
		return;
	}
	c->wire->low = 0;
	wire_again(c->wire);
}

static void chunk_wrap(struct http_conn *c, struct evbuffer *body)
{
	char head[32];
	int n = snprintf(head, sizeof(head), c->broken_chunks ? "zz%zx\r\n" : "%zx\r\n",
			 evbuffer_get_length(body));

	evbuffer_prepend(body, head, (size_t)n);
	evbuffer_add(body, "\r\n", 2);
}

static void conn_pump(struct http_conn *c)
{
	struct evbuffer *piece = evbuffer_new();
	enum stream_state state = STREAM_MORE;

	while (c->stream && !c->closing && state == STREAM_MORE) {
		size_t queued = evbuffer_get_length(c->wire->out);

		if (queued >= HIGH_WATER)
			break;
		state = c->stream->fill(c->stream, piece, HIGH_WATER - queued);
		if (c->chunked && evbuffer_get_length(piece))
			chunk_wrap(c, piece);
		if (state == STREAM_END && c->chunked)
			evbuffer_add(piece, "0\r\n\r\n", 5);
		if (state == STREAM_ABORT)
			conn_close_after_flush(c);
		else if (evbuffer_get_length(piece) || c->cut == 0)
			conn_send(c, piece);
	}
	evbuffer_free(piece);
	if (state == STREAM_END && !c->closing) {
		stream_end(c);
		conn_next(c);
	}
}

void http_wake(struct stream *s)
{
	if (s->conn)
		conn_pump(s->conn);
}

static void on_room(void *arg)
{
	struct http_conn *c = arg;

	if (c->stream)
		conn_pump(c);
	else if (c->closing && evbuffer_get_length(c->wire->out) == 0)
		conn_free(c);
}

static void conn_refuse(struct http_conn *c, const char *line)
{
	evbuffer_add(c->wire->out, line, strlen(line));
	c->busy = true;
	conn_close_after_flush(c);
}

/* True when the body is whole. */
static bool conn_read_body(struct http_conn *c, struct evbuffer *in)
{
	struct http_request *r = c->parsing;
	int rc;

	if (!c->body_chunked) {
		if (evbuffer_get_length(in) < c->body_left)
			return false;
		r->body = util_alloc(c->body_left + 1);
		r->body_size = c->body_left;
		evbuffer_remove(in, r->body, r->body_size);
		return true;
	}
	rc = http_parse_chunks(in, r, BODY_MAX);
	if (rc < 0)
		conn_refuse(c, rc == -E2BIG
				       ? "HTTP/1.1 413 Request Entity Too Large\r\nConnection: close\r\n\r\n"
				       : "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
	return rc > 0;
}

static bool conn_read_head(struct http_conn *c, struct evbuffer *in)
{
	struct http_head head;
	int rc = http_parse_head(in, &head, &c->parsing);

	if (rc < 0)
		conn_refuse(c, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
	if (rc <= 0)
		return false;
	if (head.length > BODY_MAX) {
		conn_refuse(c, "HTTP/1.1 413 Request Entity Too Large\r\nConnection: close\r\n\r\n");
		return false;
	}
	c->body_left = head.length;
	c->body_chunked = head.chunked;
	if (head.expect_continue) {
		evbuffer_add(c->wire->out, "HTTP/1.1 100 Continue\r\n\r\n", 25);
		wire_send(c->wire);
	}
	return true;
}

static void on_input(void *arg)
{
	struct http_conn *c = arg;
	struct evbuffer *in = c->wire->in;

	if (c->busy || c->closing || (!c->parsing && !conn_read_head(c, in)) || !conn_read_body(c, in))
		return;
	c->current = c->parsing;
	c->parsing = NULL;
	c->busy = true;
	c->current->conn = c;
	c->current->at = util_now();
	c->server->handler(c->server->arg, c->current);
}

static void on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *addr, int len, void *arg)
{
	static const struct wire_owner owner = { on_input, on_room, conn_free };
	struct http_server *s = arg;
	struct http_conn *c = util_alloc(sizeof(*c));
	int one = 1;

	(void)l, (void)addr, (void)len;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	c->wire = wire_new(s->wires, fd, s->tls, &owner, c);
	c->server = s;
	LIST_INSERT_HEAD(&s->conns, c, of_server);
}

struct http_server *http_server_new(struct event_base *base, const char *host, uint16_t port, SSL_CTX *tls,
				    http_handler handler, void (*before_send)(void *arg), void *arg)
{
	struct http_server *s = util_alloc(sizeof(*s));
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (inet_pton(AF_INET, host, &sin.sin_addr) != 1)
		util_die(64, "--listen: %s is not an IPv4 address", host);
	s->wires = wires_new(base, before_send, arg);
	s->tls = tls;
	s->handler = handler;
	s->arg = arg;
	s->listener = evconnlistener_new_bind(base, on_accept, s, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE,
					      512, (struct sockaddr *)&sin, sizeof(sin));
	if (!s->listener)
		util_die(69, "cannot listen on %s:%u: %s", host, port, strerror(errno));
	return s;
}

void http_server_drop_all(struct http_server *s)
{
	while (!LIST_EMPTY(&s->conns))
		conn_free(LIST_FIRST(&s->conns));
}

void http_server_free(struct http_server *s)
{
	http_server_drop_all(s);
	evconnlistener_free(s->listener);
	wires_free(s->wires);
	text_done(&s->head);
	free(s);
}

void http_server_close_all(struct http_server *s)
{
	struct http_conn *c, *next;

	for (c = LIST_FIRST(&s->conns); c; c = next) {
		next = LIST_NEXT(c, of_server);
		if (!c->current || c->stream)
			conn_free(c);
	}
}

uint16_t http_server_port(const struct http_server *s)
{
	struct sockaddr_in sin = { 0 };
	socklen_t len = sizeof(sin);

	getsockname(evconnlistener_get_fd(s->listener), (struct sockaddr *)&sin, &len);
	return ntohs(sin.sin_port);
}

uint64_t http_server_bytes(const struct http_server *s)
{
	return s->bytes;
}

static const char *date_now(struct http_server *s)
{
	const time_t now = (time_t)util_now();
	struct tm tm;

	if (now != s->second) {
		s->second = now;
		gmtime_r(&now, &tm);
		strftime(s->date, sizeof(s->date), "%a, %d %b %Y %H:%M:%S GMT", &tm);
	}
	return s->date;
}

static void add_padding(struct text *t, size_t n)
{
	text_string(t, "X-Padding: ");
	memset(text_room(t, n), 'x', n);
	t->size += n;
	text_string(t, "\r\n");
}

static void make_head(struct text *t, const struct http_request *req, int code, const char *type,
		      const char *headers, int64_t length)
{
	char id[17];

	snprintf(id, sizeof(id), "%016llx", (unsigned long long)util_random());
	t->size = 0;
	text_string(t, "HTTP/1.1 ");
	text_number(t, code);
	text_string(t, " ");
	text_string(t, http_reason(code));
	text_string(t, "\r\nAudit-Id: ");
	text_string(t, id);
	text_string(t, "\r\nCache-Control: no-cache, private\r\n");
	if (req->header_padding)
		add_padding(t, req->header_padding);
	text_string(t, "Content-Type: ");
	text_string(t, type);
	text_string(t, "\r\nDate: ");
	text_string(t, date_now(req->conn->server));
	text_string(t, "\r\n");
	text_string(t, headers ? headers : "");
	if (length >= 0) {
		text_string(t, "Content-Length: ");
		text_number(t, req->no_length_check ? length + 1000 : length);
		text_string(t, "\r\n\r\n");
	} else {
		text_string(t, "Transfer-Encoding: chunked\r\n\r\n");
	}
}

static void conn_send_head(struct http_conn *c, const struct http_request *req, int code, const char *type,
			   const char *headers, int64_t length)
{
	struct text *head = &c->server->head;

	make_head(head, req, code, type, headers, length);
	evbuffer_add(c->wire->out, head->data, head->size);
	wire_send(c->wire);
	c->cut = req->cut_after;
	c->last = req->close || (length >= 0 && req->no_length_check);
	if (req->bytes_per_second && !c->wire->rate)
		wire_set_rate(c->wire, req->bytes_per_second);
	c->broken_chunks = req->no_length_check;
}

void http_reply(struct http_request *req, int code, const char *type, const char *headers,
		struct evbuffer *body)
{
	struct http_conn *c = req->conn;

	if (c) {
		conn_send_head(c, req, code, type, headers, (int64_t)evbuffer_get_length(body));
		c->current = NULL;
		conn_send(c, body);
		if (!c->closing)
			conn_next(c);
	}
	evbuffer_free(body);
	http_request_free(req);
}

void http_reply_stream(struct http_request *req, int code, const char *type, int64_t length,
		       struct stream *stream)
{
	struct http_conn *c = req->conn;

	if (c) {
		conn_send_head(c, req, code, type, NULL, length);
		c->current = NULL;
		c->stream = stream;
		c->chunked = length < 0;
		stream->conn = c;
		c->wire->low = LOW_WATER;
		conn_pump(c);
	} else {
		stream->free(stream);
	}
	http_request_free(req);
}

void http_drop(struct http_request *req, bool close)
{
	struct http_conn *c = req->conn;

	if (c) {
		c->current = NULL;
		if (close)
			conn_close_after_flush(c);
	}
	http_request_free(req);
}
