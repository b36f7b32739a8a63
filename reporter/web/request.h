/* request.h - the first line of an HTTP/1 request.
 * Layer: process (reporter).  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_WEB_REQUEST_H
#define REPORTER_WEB_REQUEST_H

#include <stdbool.h>

struct web_request {
	bool head;         /* HEAD, else GET */
	const char *path;  /* begins with "/" and has no query */
	const char *query; /* NULL when there is none */
};

/* "METHOD target HTTP/1.x": three words, one space between them. The line is cut up, and *ret borrows from
 * it. 0, or the status to refuse it with: 400, 405 or 505. */
int request_parse(char *line, struct web_request *ret);

#endif
