/* call.h - what a request is made of, and its result.  Layer: http. */
// SPDX-License-Identifier: Apache-2.0
#ifndef HTTP_CALL_H
#define HTTP_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/facts.h"
#include "model/measures.h"

/* Borrowed for the call to http_client_new only. NULL members mean "not used". */
struct http_endpoint {
	const char *base_url; /* "https://host:port/prefix" */
	const char *address; /* "ip,[v6]:port" to connect to, in turn; NULL when base_url holds an IP literal;
				with a proxy, the proxy's */
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

/* Where the way to the server ended, when it did. */
struct http_way {
	bool at_proxy; /* the proxy is not reached, or lets nothing through: the server knows of nothing */
	long proxy_status; /* how it refused CONNECT; 0 = otherwise, or it did not answer */
};

struct http_result {
	enum http_failure failure;
	struct facts why; /* none on HTTP_OK, else FACT_PROBLEM and what it names */
	long status;
	bool sent;                /* the request left this host entirely: its effect is in doubt on failure */
	const char *content_type; /* "" when absent; valid during on_done */
	int64_t retry_after_ms;   /* -1 when absent or absurd; capped at 60000 */
	int64_t server_date_ms;   /* Date header, 0 when absent */
	const char *body; /* collected body when no on_data was given; NUL-terminated; valid during on_done */
	size_t body_len;
	struct http_way way;
};

/* A request whose answer has begun, or that has ended without one: for who counts. */
struct http_seen {
	enum api_verb verb;
	long status; /* 0 = no answer */
	uint64_t us; /* from its start until now */
};
typedef void http_seen_fn(void *ctx, const struct http_seen *seen);

struct http_call {
	const char *method; /* "GET" */
	const char *path;   /* "/api/v1/pods?watch=true", appended to base_url */
	const char *accept; /* NULL = application/json */
	const char *content_type;
	char *const *headers; /* more of them, "Name: value"; copied */
	size_t n_headers;
	const char *body; /* NULL = none; copied */
	size_t body_len;
	size_t max_body;           /* 0 = 8 MiB; not used with on_data */
	uint64_t total_timeout_ms; /* 0 = none (watch) */
	uint64_t idle_timeout_ms;  /* no byte for this long = HTTP_TIMEOUT; 0 = none */
	bool alone;                /* its connection is kept for nobody */
	/* Status and headers are in; called once before on_data. May be NULL. */
	void (*on_headers)(void *ctx, long status, const char *content_type, int64_t server_date_ms);
	/* Bytes as they arrive, never held back. Return 0, or non-zero to abort. NULL = collect. */
	int (*on_data)(void *ctx, const void *p, size_t n);
	/* Exactly once; never after http_request_cancel. */
	void (*on_done)(void *ctx, const struct http_result *r);
	void *ctx;
};

#endif
