/* HTTP/1.1 over plain TCP or TLS: requests come in whole, answers go out whole, by reference, or as a stream
 * that is asked for more whenever there is room. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_HTTP_H
#define APISIM_HTTP_H

#include <event2/buffer.h>
#include <event2/event.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdint.h>

struct http_conn;

struct http_request {
	struct http_conn *conn;      /* NULL once the client is gone */
	double at;                   /* when it had arrived, server time */
	char *head;                  /* what came before the body; the texts below stand in it */
	char *method, *path, *query; /* path is decoded; query as sent, "" when absent */
	const char *accept, *content_type, *authorization, *agent; /* "" when absent */
	char *body;
	size_t body_size;
	bool close; /* the client wants the connection closed after the answer */
	/* What faults do to the answer: */
	int64_t cut_after;       /* close after that many bytes of body; -1: do not */
	bool no_length_check;    /* Content-Length is wrong_length, chunk sizes are broken */
	size_t header_padding;   /* one header line of that many bytes */
	size_t bytes_per_second; /* of the connection from now on; 0: as fast as it goes */
};

enum stream_state { STREAM_MORE, STREAM_IDLE, STREAM_END, STREAM_ABORT };

/* An answer produced piece by piece. `conn` is set while the client listens. */
struct stream {
	struct http_conn *conn;
	/* Appends about `room` bytes to out. IDLE: nothing more until http_wake. ABORT: close at once. */
	enum stream_state (*fill)(struct stream *s, struct evbuffer *out, size_t room);
	void (*free)(struct stream *s);
};

typedef void (*http_handler)(void *arg, struct http_request *req);

struct http_server;

/* Listens on host:port (port 0: any free one). tls NULL: plain. Dies with a message when it cannot. The
 * handler owns the request and must end it with one of the functions below, now or later. before_send is
 * called before any byte of an answer leaves. */
struct http_server *http_server_new(struct event_base *base, const char *host, uint16_t port, SSL_CTX *tls,
				    http_handler handler, void (*before_send)(void *arg), void *arg);
void http_server_free(struct http_server *s);

uint16_t http_server_port(const struct http_server *s);
uint64_t http_server_bytes(const struct http_server *s);

/* Each ends the request. body is taken; headers: further lines "Name: value\r\n" or NULL. */
void http_reply(struct http_request *req, int code, const char *type, const char *headers,
		struct evbuffer *body);

/* length -1: chunked. The stream is taken, and freed when it ends or the client goes away. */
void http_reply_stream(struct http_request *req, int code, const char *type, int64_t length,
		       struct stream *stream);

/* Ends it without an answer: `close` the connection, or leave it hanging until the client goes away. */
void http_drop(struct http_request *req, bool close);

/* The stream has more to say. */
void http_wake(struct stream *s);

/* Closes every connection that is not reading this very request. */
void http_server_close_all(struct http_server *s);

/* Closes every connection, also those whose request is being handled: not to be called from a handler. */
void http_server_drop_all(struct http_server *s);

#endif
