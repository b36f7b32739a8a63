/* transfer.c - see transfer.h. */
// SPDX-License-Identifier: Apache-2.0
#include "http/transfer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/rfc3339.h"
#include "base/str.h"
#include "base/xalloc.h"

#define CONNECT_TIMEOUT_MS 10000L
#define STREAM_BUFFER      (128L << 10)
#define COLLECT_BUFFER     (16L << 10)
#define UPLOAD_BUFFER      (16L << 10) /* the least; made anew for each request over TLS */
/* A dead peer is noticed after 15 + 3 x 5 s of silence, or 30 s of unacknowledged data. */
#define KEEP_IDLE_S     15L
#define KEEP_INTERVAL_S 5L
#define KEEP_COUNT      3
#define USER_TIMEOUT_MS 30000

#define HEADERS_MAX          (64u << 10)
#define BODY_MAX_DEFAULT     (8u << 20)
#define RETRY_AFTER_CAP_S    60
#define RETRY_AFTER_ABSURD_S 86400

void transfer_release(struct http_request *r, bool whole)
{
	CURL *easy = TAKE_PTR(r->easy);
	struct endpoint *e = r->endpoint;

	/* A handle counts the connections that died under it, over all its requests, and gives up at the
	 * sixth. */
	if (!whole || r->sends > 1 || e->n_idle == IDLE_HANDLES_MAX) {
		curl_easy_cleanup(easy);
		return;
	}
	/* The next request sets all that set_request sets; until then nothing points to this one. */
	curl_easy_setopt(easy, CURLOPT_PRIVATE, NULL);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL);
	curl_easy_setopt(easy, CURLOPT_PREREQDATA, NULL);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, NULL);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, NULL);
	e->idle[e->n_idle++] = easy;
}

void transfer_free(struct http_request *r)
{
	if (r->idle_timer)
		event_free(r->idle_timer);
	endpoint_unref(&r->endpoint);
	free(r->accept.data);
	free(r->sent_type.data);
	for (size_t i = 0; i < r->n_extra; i++)
		free(r->extra[i].data);
	free(r->extra);
	free(r->body);
	free(r->received);
	free(r->problem);
	free(r);
}

void transfer_fail(struct http_request *r, enum http_failure kind, enum text why)
{
	struct facts f = { 0 };

	if (r->problem)
		return;
	facts_text(&f, FACT_PROBLEM, why);
	r->problem = facts_dup(&f);
	r->problem_kind = kind;
}

static int tune_socket(void *ctx, curl_socket_t fd, curlsocktype purpose)
{
	const int count = KEEP_COUNT;
	const unsigned timeout = USER_TIMEOUT_MS;

	(void)ctx;
	(void)purpose;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof(timeout));
	return CURL_SOCKOPT_OK;
}

/* libcurl sends a request again, unasked, when a kept connection turns out to be dead. A write may have been
 * carried out by then: it ends here, in doubt, and its owner looks before trying again. */
static int before_send(void *userdata, char *ip, char *local_ip, int port, int local_port)
{
	struct http_request *r = userdata;

	(void)ip;
	(void)local_ip;
	(void)port;
	(void)local_port;
	if (++r->sends == 1 || r->repeatable)
		return CURL_PREREQFUNC_OK;
	transfer_fail(r, HTTP_BROKEN, TEXT_KEPT_BROKE);
	return CURL_PREREQFUNC_ABORT;
}

/* -- what arrives -- */

/* RFC 9110 10.2.3, the form in seconds only; a day or more is a mistake, not a wish. */
static int64_t retry_after(struct str v)
{
	uint64_t s;

	if (str_to_u64(v.p, v.n, &s) < 0 || s >= RETRY_AFTER_ABSURD_S)
		return -1;
	return (int64_t)(s > RETRY_AFTER_CAP_S ? RETRY_AFTER_CAP_S : s) * 1000;
}

/* Of the final answer; empty when it is absent. */
static struct str header_of(const struct http_request *r, const char *name)
{
	struct curl_header *h;

	if (curl_easy_header(r->easy, name, 0, CURLH_HEADER, -1, &h) != CURLHE_OK)
		return (struct str){ "", 0 };
	return (struct str){ h->value, strlen(h->value) };
}

void transfer_note(struct http_request *r, long status)
{
	const struct http_client *c = r->client;

	if (c->seen && !r->seen)
		c->seen(c->seen_ctx, &(struct http_seen){ .verb = r->verb,
							  .status = status,
							  .us = clock_boot_us() - r->started_us });
	r->seen = true;
}

/* The empty line. An interim answer (1xx) is followed by the real one. */
static void end_headers(struct http_request *r)
{
	const struct str type = header_of(r, "Content-Type"), date = header_of(r, "Date");
	long status = 0;

	curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200)
		return;
	r->status = status;
	r->headers_done = true;
	(void)str_copy_printable(r->content_type, sizeof(r->content_type), type.p, type.n);
	r->retry_after_ms = retry_after(header_of(r, "Retry-After"));
	(void)http_date_parse(date.p, date.n, &r->server_date_ms);
	if (r->call.on_data)
		transfer_note(r, status);
	if (r->call.on_headers)
		r->call.on_headers(r->call.ctx, status, r->content_type, r->server_date_ms);
}

static void note_arrival(struct http_request *r)
{
	if (r->call.idle_timeout_ms) /* nobody else asks */
		r->last_byte_ms = clock_boot_ms();
}

static size_t on_header(char *p, size_t size, size_t n, void *userdata)
{
	struct http_request *r = userdata;
	const size_t len = size * n;

	note_arrival(r);
	r->header_bytes += len;
	if (r->header_bytes > HEADERS_MAX) {
		transfer_fail(r, HTTP_BROKEN, TEXT_HEADERS_LARGE);
		return 0;
	}
	if (r->headers_done) /* trailers */
		return len;
	if (str_trim((struct str){ p, len }, " \t\r\n").n == 0)
		end_headers(r);
	return r->state == REQUEST_CANCELLED ? 0 : len;
}

static bool collect(struct http_request *r, const char *p, size_t n)
{
	const size_t max = r->call.max_body ? r->call.max_body : BODY_MAX_DEFAULT;

	if (n > max || r->received_len > max - n) {
		transfer_fail(r, HTTP_TOO_LARGE, TEXT_BODY_LARGE);
		return false;
	}
	if (r->received_len + n + 1 > r->received_cap) {
		size_t cap = r->received_cap ? r->received_cap : 4096;

		while (cap < r->received_len + n + 1)
			cap *= 2;
		r->received = xreallocarray(r->received, cap, 1);
		r->received_cap = cap;
	}
	memcpy(r->received + r->received_len, p, n);
	r->received_len += n;
	r->received[r->received_len] = '\0';
	return true;
}

static size_t on_body(char *p, size_t size, size_t n, void *userdata)
{
	struct http_request *r = userdata;
	const size_t len = size * n;
	bool ok = true;

	note_arrival(r);
	if (r->state == REQUEST_CANCELLED)
		return 0;
	if (!r->call.on_data) {
		ok = collect(r, p, len);
	} else if (r->call.on_data(r->call.ctx, p, len) != 0) {
		transfer_fail(r, HTTP_ABORTED, TEXT_GIVEN_UP);
		ok = false;
	}
	return ok && r->state != REQUEST_CANCELLED ? len : 0;
}

/* -- what all requests of an endpoint have in common -- */

static bool set_transport(CURL *easy, const struct endpoint *e, struct sockets *s)
{
	bool ok = true;

	SET(CURLOPT_CURLU, e->origin);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_PATH_AS_IS, 1L);
	SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SET(CURLOPT_CONNECTTIMEOUT_MS, CONNECT_TIMEOUT_MS);
	SET(CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_BUFFER);
	SET(CURLOPT_TCP_KEEPALIVE, 1L);
	SET(CURLOPT_TCP_KEEPIDLE, KEEP_IDLE_S);
	SET(CURLOPT_TCP_KEEPINTVL, KEEP_INTERVAL_S);
	SET(CURLOPT_SOCKOPTFUNCTION, tune_socket);
	SET(CURLOPT_CLOSESOCKETFUNCTION, sockets_close);
	SET(CURLOPT_CLOSESOCKETDATA, s);
	SET(CURLOPT_MAXAGE_CONN, (long)IDLE_CONN_MAX_S);
	SET(CURLOPT_CONNECT_TO, e->connect_to);
	SET(CURLOPT_DNS_CACHE_TIMEOUT, -1L); /* there are only addresses in it */
	SET(CURLOPT_PREREQFUNCTION, before_send);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	return ok;
}

static bool set_tls(CURL *easy, struct endpoint *e)
{
	bool ok = true;

	if (!e->is_https)
		return true;
	ok = endpoint_set_trust(e, easy);
	if (e->cert.data)
		SET(CURLOPT_SSLCERT_BLOB, &e->cert);
	if (e->key.data)
		SET(CURLOPT_SSLKEY_BLOB, &e->key);
	/* Of a key that needs a password OpenSSL would ask for it at a terminal. */
	SET(CURLOPT_KEYPASSWD, "");
	return ok;
}

static bool set_login(CURL *easy, const struct endpoint *e)
{
	bool ok = true;

	SET(CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
	if (e->username) {
		SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		SET(CURLOPT_USERNAME, e->username);
		SET(CURLOPT_PASSWORD, e->password);
	}
	return ok;
}

static CURL *easy_for(struct endpoint *e, struct sockets *s)
{
	if (e->n_idle > 0)
		return e->idle[--e->n_idle];
	CURL *easy = curl_easy_init();

	if (easy && set_transport(easy, e, s) && endpoint_set_proxy(e, easy) && set_tls(easy, e) &&
	    set_login(easy, e))
		return easy;
	curl_easy_cleanup(easy);
	return NULL;
}

/* -- what is this request's own: each of these options is set for every request, so that none is inherited -
 */

static bool set_headers(CURL *easy, struct http_request *r)
{
	const char *accept = r->call.accept ? r->call.accept : "application/json";
	const char *type = r->call.content_type ? r->call.content_type : "application/json";
	struct curl_slist *rest = r->endpoint->headers;
	bool ok = true;

	for (size_t i = r->n_extra; i-- > 0; rest = &r->extra[i])
		r->extra[i].next = rest;
	r->accept = (struct curl_slist){ xconcat("Accept: ", accept, NULL), rest };
	if (r->body) {
		r->sent_type = (struct curl_slist){ xconcat("Content-Type: ", type, NULL), rest };
		r->accept.next = &r->sent_type;
	}
	SET(CURLOPT_HTTPHEADER, &r->accept);
	return ok;
}

static bool set_method(CURL *easy, const struct http_request *r)
{
	const bool posts = r->body || strcmp(r->call.method, "POST") == 0;
	bool ok = true;

	/* The fields make it a POST; what comes after them may make it something else. */
	SET(CURLOPT_POSTFIELDS, posts && !r->body ? "" : r->body);
	SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)(r->body ? r->call.body_len : 0));
	if (strcmp(r->call.method, "HEAD") == 0)
		SET(CURLOPT_NOBODY, 1L);
	else if (posts)
		SET(CURLOPT_POST, 1L);
	else
		SET(CURLOPT_HTTPGET, 1L);
	SET(CURLOPT_CUSTOMREQUEST, r->call.method);
	return ok;
}

/* As it is written. What is no ASCII may not stand in a path (RFC 3986 3.3). */
static char *encode(const char *text)
{
	static const char hex[] = "0123456789abcdef";
	const char *query = strchrnul(text, '?');
	char *coded = xmalloc(strlen(text) * 3 + 1), *w = coded;

	for (const char *s = text; *s; s++) {
		const unsigned char c = (unsigned char)*s;

		if (c < 0x80 || s > query) {
			*w++ = *s;
			continue;
		}
		*w++ = '%';
		*w++ = hex[c >> 4];
		*w++ = hex[c & 15];
	}
	*w = '\0';
	return coded;
}

/* libcurl would take a URL apart for every request, and put it together again. */
static bool set_target(CURL *easy, const struct http_request *r)
{
	const struct endpoint *e = r->endpoint;
	_cleanup_free_ char *target =
		xconcat(e->prefix, e->bare && *r->call.path != '/' ? "/" : "", r->call.path, NULL);
	_cleanup_free_ char *coded = encode(target);
	bool ok = true;

	SET(CURLOPT_REQUEST_TARGET, coded);
	return ok;
}

static bool set_request(CURL *easy, struct http_request *r)
{
	bool ok = true;

	SET(CURLOPT_TIMEOUT_MS, (long)r->call.total_timeout_ms);
	SET(CURLOPT_FORBID_REUSE, (long)r->call.alone);
	SET(CURLOPT_RESOLVE,
	    r->endpoint->resolve); /* which libcurl keeps with the connections, not in easy */
	SET(CURLOPT_BUFFERSIZE, r->call.on_data ? STREAM_BUFFER : COLLECT_BUFFER);
	SET(CURLOPT_PRIVATE, r);
	SET(CURLOPT_ERRORBUFFER, r->error);
	SET(CURLOPT_PREREQDATA, r);
	SET(CURLOPT_HEADERDATA, r);
	SET(CURLOPT_WRITEDATA, r);
	return set_target(easy, r) && set_method(easy, r) && set_headers(easy, r) && ok;
}

static bool is_path(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s <= 0x20 || *s == 0x7f || *s == '#')
			return false;
	return true;
}

/* Takes or makes the curl handle, or the request has a problem. */
static void prepare(struct http_request *r)
{
	r->problem_kind = HTTP_CONNECT;
	r->problem = facts_dup(r->endpoint->problem);
	if (r->problem)
		return;
	if (!is_path(r->call.path)) {
		transfer_fail(r, HTTP_CONNECT, TEXT_PATH_UNFIT);
		return;
	}
	r->easy = easy_for(r->endpoint, &r->client->sockets);
	if (!r->easy || !set_request(r->easy, r))
		transfer_fail(r, HTTP_CONNECT, TEXT_REQUEST_UNFIT);
}

static void copy_headers(struct http_request *r)
{
	r->n_extra = r->call.n_headers;
	r->extra = r->n_extra ? xcalloc(r->n_extra, sizeof(*r->extra)) : NULL;
	for (size_t i = 0; i < r->n_extra; i++)
		r->extra[i].data = xstrdup(r->call.headers[i]);
}

struct http_request *transfer_new(struct http_client *c, const struct http_call *call)
{
	struct http_request *r = xcalloc(1, sizeof(*r));

	r->client = c;
	r->call = *call;
	r->endpoint = endpoint_ref(c->endpoint);
	r->retry_after_ms = -1;
	r->repeatable = strcmp(call->method, "GET") == 0 || strcmp(call->method, "HEAD") == 0;
	if (call->body)
		r->body = xmemdup(call->body, call->body_len + (call->body_len == 0));
	copy_headers(r);
	if (c->seen) {
		r->verb = api_verb_of(call->method, call->path);
		r->started_us = clock_boot_us();
	}
	prepare(r);
	/* the caller's */
	r->call.method = r->call.path = r->call.accept = r->call.content_type = r->call.body = NULL;
	r->call.headers = NULL;
	return r;
}

/* -- the end -- */

bool transfer_is_answered(CURL *easy)
{
	const struct http_request *r = NULL;

	(void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &r);
	return r && r->headers_done;
}

/* Does that code end the way to the server, before a request goes out on it? */
static bool is_before_request(CURLcode code)
{
	static const CURLcode before_request[] = {
		CURLE_COULDNT_CONNECT,      CURLE_COULDNT_RESOLVE_HOST,     CURLE_COULDNT_RESOLVE_PROXY,
		CURLE_SSL_CONNECT_ERROR,    CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM,
		CURLE_SSL_CIPHER,           CURLE_SSL_CACERT_BADFILE,       CURLE_URL_MALFORMAT,
		CURLE_UNSUPPORTED_PROTOCOL, CURLE_SSL_ISSUER_ERROR,         CURLE_PROXY,
	};

	for (size_t i = 0; i < ARRAY_SIZE(before_request); i++)
		if (code == before_request[i])
			return true;
	return false;
}

static enum http_failure failure_of(CURLcode code, const struct http_request *r)
{
	if (r->sends == 0 && is_before_request(code))
		return HTTP_CONNECT;
	if (code == CURLE_OPERATION_TIMEDOUT)
		return r->sends > 0 ? HTTP_TIMEOUT : HTTP_CONNECT;
	return HTTP_BROKEN;
}

/* When a kept connection ends without an answer curl begins anew, and forgets how much it had sent there: an
 * end, or the end of the time, before the second request says that there was a first. */
static bool sent_whole(const struct http_request *r, CURLcode code)
{
	long head = 0;
	curl_off_t body = 0;

	if (!r->easy || r->sends == 0)
		return false;
	if (r->sends > 1 || r->status || is_before_request(code) || code == CURLE_OPERATION_TIMEDOUT)
		return true;
	curl_easy_getinfo(r->easy, CURLINFO_REQUEST_SIZE, &head);
	curl_easy_getinfo(r->easy, CURLINFO_SIZE_UPLOAD_T, &body);
	return head > 0 && (!r->body || (size_t)body >= r->call.body_len);
}

void transfer_result(struct http_request *r, CURLcode code, struct http_result *ret)
{
	*ret = (struct http_result){
		.status = r->status,
		.sent = sent_whole(r, code),
		.content_type = r->content_type,
		.retry_after_ms = r->retry_after_ms,
		.server_date_ms = r->server_date_ms,
		.body = r->received ? r->received : "",
		.body_len = r->received_len,
	};
	if (r->problem) {
		ret->failure = r->problem_kind;
		facts_add(&ret->why, r->problem);
	} else if (code != CURLE_OK) {
		const char *words = r->error[0] ? r->error : curl_easy_strerror(code);

		if (r->sends == 0)
			ret->way = endpoint_way(r->endpoint, r->easy, code);
		ret->failure = ret->way.at_proxy ? HTTP_CONNECT : failure_of(code, r);
		endpoint_transport(&ret->way, code, words, &ret->why);
	}
}
