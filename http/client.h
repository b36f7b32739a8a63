/* client.h - HTTP requests to one server: libcurl multi on libevent, TLS from memory, no file is opened.
 * Layer: http.  Threads: none (names are resolved by the loader and given as addresses).
 * Never asks for compression: watch streams gzip each flush, which curl cannot read (curl issue 22156). */
// SPDX-License-Identifier: Apache-2.0
#ifndef HTTP_CLIENT_H
#define HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct http_client;
struct http_request;

/* Borrowed for the call to http_client_new only. NULL members mean "not used". */
struct http_endpoint {
	const char *base_url; /* "https://host:port/prefix" */
	const char *address;  /* "ip:port" to connect to, NULL when base_url holds an IP literal */
	const char *tls_server_name;
	const char *ca_pem, *cert_pem, *key_pem;
	bool insecure;
	const char *proxy;
	const char *bearer_token; /* only sent over https or to loopback */
	const char *username, *password;
	const char *impersonate_user;
	char *const *impersonate_groups;
	size_t n_impersonate_groups;
	const char *user_agent;
};

enum http_failure {
	HTTP_OK,      /* a response arrived (any status) */
	HTTP_CONNECT, /* no connection: refused, unreachable, TLS refused */
	HTTP_TIMEOUT,
	HTTP_BROKEN,    /* reset, truncated, bad framing: the request may have been carried out */
	HTTP_TOO_LARGE, /* body above max_body */
	HTTP_ABORTED,   /* on_data returned non-zero */
};

struct http_result {
	enum http_failure failure;
	char error[256]; /* for people; empty on HTTP_OK */
	long status;
	bool sent;                /* the request left this host entirely: its effect is in doubt on failure */
	const char *content_type; /* "" when absent; valid during on_done */
	int64_t retry_after_ms;   /* -1 when absent or absurd; capped at 60000 */
	int64_t server_date_ms;   /* Date header, 0 when absent */
	const char *body; /* collected body when no on_data was given; NUL-terminated; valid during on_done */
	size_t body_len;
};

struct http_call {
	const char *method; /* "GET" */
	const char *path;   /* "/api/v1/pods?watch=true", appended to base_url */
	const char *accept; /* NULL = application/json */
	const char *content_type;
	const char *body; /* NULL = none; copied */
	size_t body_len;
	size_t max_body;           /* 0 = 8 MiB; not used with on_data */
	uint64_t total_timeout_ms; /* 0 = none (watch) */
	uint64_t idle_timeout_ms;  /* no byte for this long = HTTP_TIMEOUT; 0 = none */
	/* Status and headers are in; called once before on_data. May be NULL. */
	void (*on_headers)(void *ctx, long status, const char *content_type, int64_t server_date_ms);
	/* Bytes as they arrive, never held back. Return 0, or non-zero to abort. NULL = collect. */
	int (*on_data)(void *ctx, const void *p, size_t n);
	/* Exactly once; never after http_request_cancel. */
	void (*on_done)(void *ctx, const struct http_result *r);
	void *ctx;
};

struct http_client *http_client_new(struct event_base *base, const struct http_endpoint *e);
/* Cancels what runs (no on_done). Accepts NULL. */
void http_client_free(struct http_client **c);
/* Replace token, certificates, address for requests from now on. Requests that run go on as they began;
 * connections made with another address or client certificate are not used again. */
void http_client_set_endpoint(struct http_client *c, const struct http_endpoint *e);
/* Starts at once; each request that runs has a connection of its own, and connections are reused until they
 * were idle for a minute. The request belongs to the client and ends with on_done. */
struct http_request *http_client_start(struct http_client *c, const struct http_call *call);
void http_request_cancel(struct http_request **r);

/* Process-wide libcurl/OpenSSL start, before the sandbox: afterwards no file is opened, no thread made. */
void http_global_init(void);

#endif
