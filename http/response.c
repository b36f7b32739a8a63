/* response.c - what arrives: headers and body of one request, called by libcurl. */
// SPDX-License-Identifier: Apache-2.0
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/rfc3339.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "http/internal.h"

#define HEADERS_MAX          (64u << 10)
#define BODY_MAX_DEFAULT     (8u << 20)
#define RETRY_AFTER_CAP_S    60
#define RETRY_AFTER_ABSURD_S 86400
#define BLANKS               " \t\r\n"

static void fail(struct http_request *r, enum http_failure kind, const char *why)
{
	if (!r->problem) {
		r->problem = why;
		r->problem_kind = kind;
	}
}

/* RFC 9110 10.2.3, the form in seconds only; a day or more is a mistake, not a wish. */
static int64_t retry_after(struct str v)
{
	uint64_t s;

	if (str_to_u64(v.p, v.n, &s) < 0 || s >= RETRY_AFTER_ABSURD_S)
		return -1;
	return (int64_t)(s > RETRY_AFTER_CAP_S ? RETRY_AFTER_CAP_S : s) * 1000;
}

static void take_header(struct http_request *r, struct str name, struct str value)
{
	int64_t ms;

	if (name.n == 12 && strncasecmp(name.p, "Content-Type", 12) == 0)
		r->content_type[str_copy_printable(r->content_type, sizeof(r->content_type), value.p,
						   value.n)] = '\0';
	else if (name.n == 11 && strncasecmp(name.p, "Retry-After", 11) == 0)
		r->retry_after_ms = retry_after(value);
	else if (name.n == 4 && strncasecmp(name.p, "Date", 4) == 0 &&
		 http_date_parse(value.p, value.n, &ms) == 0)
		r->server_date_ms = ms;
}

/* The empty line. An interim answer (1xx) is followed by the real one. */
static void end_headers(struct http_request *r)
{
	long status = 0;

	curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200)
		return;
	r->status = status;
	r->headers_done = true;
	if (r->call.on_headers)
		r->call.on_headers(r->call.ctx, status, r->content_type, r->server_date_ms);
}

static void begin_headers(struct http_request *r)
{
	r->content_type[0] = '\0';
	r->retry_after_ms = -1;
	r->server_date_ms = 0;
}

static void note_arrival(struct http_request *r)
{
	if (r->call.idle_timeout_ms) /* nobody else asks */
		r->last_byte_ms = clock_boot_ms();
}

size_t response_header(char *p, size_t size, size_t n, void *userdata)
{
	struct http_request *r = userdata;
	const size_t len = size * n;
	const char *colon = memchr(p, ':', len);

	note_arrival(r);
	r->header_bytes += len;
	if (r->header_bytes > HEADERS_MAX) {
		fail(r, HTTP_BROKEN, "the response headers are above 64 KiB");
		return 0;
	}
	if (r->headers_done) /* trailers */
		return len;
	if (len > 5 && memcmp(p, "HTTP/", 5) == 0)
		begin_headers(r);
	else if (str_trim((struct str){ p, len }, BLANKS).n == 0)
		end_headers(r);
	else if (colon)
		take_header(r, (struct str){ p, (size_t)(colon - p) },
			    str_trim((struct str){ colon + 1, len - (size_t)(colon - p) - 1 }, BLANKS));
	return r->state == REQUEST_CANCELLED ? 0 : len;
}

static bool collect(struct http_request *r, const char *p, size_t n)
{
	const size_t max = r->call.max_body ? r->call.max_body : BODY_MAX_DEFAULT;

	if (n > max || r->received_len > max - n) {
		fail(r, HTTP_TOO_LARGE, "the response body is too large");
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

size_t response_body(char *p, size_t size, size_t n, void *userdata)
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
		fail(r, HTTP_ABORTED, "given up by the receiver");
		ok = false;
	}
	return ok && r->state != REQUEST_CANCELLED ? len : 0;
}
