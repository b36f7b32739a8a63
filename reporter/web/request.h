/* request.h - an HTTP/1 request: its first line, and the header that says what is wanted.
 * Layer: process (reporter).  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_WEB_REQUEST_H
#define REPORTER_WEB_REQUEST_H

#include <stdbool.h>

struct web_request {
	bool head;          /* HEAD, else GET */
	const char *path;   /* begins with "/" and has no query */
	const char *query;  /* NULL when there is none */
	const char *accept; /* value of Accept, NULL when there is none */
};

/* "METHOD target HTTP/1.x": three words, one space between them. The line is cut up, and *ret borrows from
 * it. 0, or the status to refuse it with: 400, 405 or 505. */
int request_parse(char *line, struct web_request *ret);
/* A line of the headers: an Accept is taken down. *ret borrows from it. Of several the first counts. */
void request_header(char *line, struct web_request *ret);

#endif
