/* server.h - a scripted HTTP server in a process of its own, plain or TLS; its certificate is made on the
 * spot. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_HTTP_SERVER_H
#define TESTS_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Seen by both sides. */
struct server_log {
	unsigned connections, requests;
	char last[8192]; /* the last request, whole */
};

struct server_conn {
	int fd;
	void *ssl;
	struct server_log *log;
};

/* Called in the server for each request; 0 = close the connection. */
typedef int server_fn(struct server_conn *c, const char *request);

struct server {
	pid_t pid;
	uint16_t port;
	char url[64], address[64];
	struct server_log *log;
	char *ca_pem; /* TLS: the certificate, for name "api.test" and address 127.0.0.1 */
};

void server_start(struct server *s, server_fn *fn, bool tls);
void server_stop(struct server *s);
void server_send(struct server_conn *c, const char *data, size_t n);
void server_sends(struct server_conn *c, const char *text);
/* Wait until the peer closes. */
void server_drain(struct server_conn *c);

#endif
