// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/http_parse.h"
#include "tests/apisim/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_MAX = 64 << 10 };

void http_request_free(struct http_request *req)
{
	free(req->head);
	free(req->body);
	free(req);
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void http_unescape(char *s, bool plus)
{
	char *to = s;

	for (; *s; s++) {
		if (*s == '%' && hex(s[1]) >= 0 && hex(s[2]) >= 0) {
			*to++ = (char)(hex(s[1]) << 4 | hex(s[2]));
			s += 2;
		} else {
			*to++ = plus && *s == '+' ? ' ' : *s;
		}
	}
	*to = '\0';
}

static int header(struct http_request *r, struct http_head *h, char *line)
{
	char *value = strchr(line, ':');
	int64_t n;

	if (!value || value == line)
		return -EBADMSG;
	*value++ = '\0';
	value += strspn(value, " \t");
	for (size_t end = strlen(value); end > 0 && (value[end - 1] == ' ' || value[end - 1] == '\t'); end--)
		value[end - 1] = '\0';
	if (!strcasecmp(line, "accept"))
		r->accept = value;
	else if (!strcasecmp(line, "content-type"))
		r->content_type = value;
	else if (!strcasecmp(line, "authorization"))
		r->authorization = value;
	else if (!strcasecmp(line, "user-agent"))
		r->agent = value;
	else if (!strcasecmp(line, "expect"))
		h->expect_continue = !strcasecmp(value, "100-continue");
	else if (!strcasecmp(line, "connection"))
		r->close = !strcasecmp(value, "close");
	else if (!strcasecmp(line, "transfer-encoding"))
		h->chunked = !strcasecmp(value, "chunked");
	if (strcasecmp(line, "content-length") != 0)
		return 0;
	if (!util_parse_int(value, &n) || n < 0)
		return -EBADMSG;
	h->length = (size_t)n;
	return 0;
}

static int request_line(struct http_request *r, char *line)
{
	char *path = strchr(line, ' '), *end = path ? strchr(path + 1, ' ') : NULL, *query;

	if (!end || strncmp(end + 1, "HTTP/1.", 7) != 0 || path[1] != '/')
		return -EBADMSG;
	*path++ = '\0';
	*end = '\0';
	query = strchr(path, '?');
	if (query)
		*query++ = '\0';
	r->method = line;
	r->path = path;
	r->query = query ? query : end;
	http_unescape(r->path, false);
	return 0;
}

static int parse_text(struct http_request *r, struct http_head *h)
{
	char *save = NULL, *line = strtok_r(r->head, "\r\n", &save);
	int rc = line ? request_line(r, line) : -EBADMSG;

	while (rc == 0 && (line = strtok_r(NULL, "\r\n", &save)))
		rc = header(r, h, line);
	return rc;
}

int http_parse_head(struct evbuffer *in, struct http_head *ret, struct http_request **ret_req)
{
	struct evbuffer_ptr end;
	struct http_request *r;
	size_t n;
	int rc;

	while (evbuffer_get_length(in) >= 2 && !memcmp(evbuffer_pullup(in, 2), "\r\n", 2))
		evbuffer_drain(in, 2);
	end = evbuffer_search(in, "\r\n\r\n", 4, NULL);
	if (end.pos < 0)
		return evbuffer_get_length(in) > HEAD_MAX ? -EBADMSG : 0;
	n = (size_t)end.pos + 4;
	r = util_alloc(sizeof(*r));
	r->head = util_alloc_raw(n + 1);
	evbuffer_remove(in, r->head, n);
	r->head[n] = '\0';
	r->accept = r->content_type = r->authorization = r->agent = "";
	r->cut_after = -1;
	*ret = (struct http_head){ 0 };
	rc = parse_text(r, ret);
	if (rc < 0) {
		http_request_free(r);
		return rc;
	}
	*ret_req = r;
	return 1;
}

int http_parse_chunks(struct evbuffer *in, struct http_request *req, size_t max)
{
	for (;;) {
		struct evbuffer_ptr eol = evbuffer_search(in, "\r\n", 2, NULL);
		char line[32] = "", *end;
		size_t n;

		if (eol.pos < 0)
			return evbuffer_get_length(in) > sizeof(line) ? -EBADMSG : 0;
		if ((size_t)eol.pos >= sizeof(line))
			return -EBADMSG;
		evbuffer_copyout(in, line, (size_t)eol.pos);
		n = strtoul(line, &end, 16);
		if (end == line)
			return -EBADMSG;
		if (n > max || req->body_size + n > max)
			return -E2BIG;
		if (evbuffer_get_length(in) < (size_t)eol.pos + 2 + n + 2)
			return 0;
		evbuffer_drain(in, (size_t)eol.pos + 2);
		req->body = util_realloc(req->body, req->body_size + n + 1);
		evbuffer_remove(in, req->body + req->body_size, n);
		req->body_size += n;
		req->body[req->body_size] = '\0';
		evbuffer_drain(in, 2);
		if (!n)
			return 1;
	}
}

const char *http_reason(int code)
{
	static const struct {
		int code;
		const char *text;
	} reasons[] = {
		{ 200, "OK" },
		{ 201, "Created" },
		{ 202, "Accepted" },
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 406, "Not Acceptable" },
		{ 409, "Conflict" },
		{ 410, "Gone" },
		{ 413, "Request Entity Too Large" },
		{ 415, "Unsupported Media Type" },
		{ 422, "Unprocessable Entity" },
		{ 429, "Too Many Requests" },
		{ 500, "Internal Server Error" },
		{ 502, "Bad Gateway" },
		{ 503, "Service Unavailable" },
		{ 504, "Gateway Timeout" },
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].code == code)
			return reasons[i].text;
	return "Unknown";
}
