/* Reading requests from a buffer. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_HTTP_PARSE_H
#define APISIM_HTTP_PARSE_H

#include "tests/apisim/http.h"

struct http_head {
	size_t length;
	bool chunked, expect_continue;
};

/* 1: a head was taken from the buffer into a new request; 0: not whole yet; -EBADMSG: it is none. */
int http_parse_head(struct evbuffer *in, struct http_head *ret, struct http_request **ret_req);

/* Takes what there is of a chunked body: 1 whole, 0 not yet, -EBADMSG, -E2BIG beyond max. */
int http_parse_chunks(struct evbuffer *in, struct http_request *req, size_t max);

void http_request_free(struct http_request *req);

/* Decodes %XX (and + as blank where plus is true) in place. */
void http_unescape(char *s, bool plus);

const char *http_reason(int code);

#endif
