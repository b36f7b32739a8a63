/* request.h - an HTTP/1 request: its first line, and the headers that say what is wanted.
 * Layer: process (reporter).  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_WEB_REQUEST_H
#define REPORTER_WEB_REQUEST_H

#include <stdbool.h>

#include "base/str.h"
#include "model/language.h"

/* Headers that are taken down. */
#define REQUEST_HEADERS 3u

struct web_request {
	bool head;             /* HEAD, else GET */
	const char *path;      /* begins with "/" and has no query */
	const char *query;     /* NULL when there is none */
	const char *accept;    /* value of Accept, NULL when there is none */
	const char *languages; /* of Accept-Language, likewise */
	const char *host;      /* of Host, likewise */
	bool two_hosts;        /* there is more than one Host */
	bool local;            /* it came to a loopback address; set by the listener */
};

/* "METHOD target HTTP/1.x": three words, one space between them. The line is cut up, and *ret borrows from
 * it. 0, or the status to refuse it with: 400, 405 or 505. */
int request_parse(char *line, struct web_request *ret);
/* A line of the headers. True when it is one of those that are taken down: then *ret borrows from it. Of
 * several of one name the first counts. */
bool request_header(char *line, struct web_request *ret);
/* 0, or the status to refuse it with by its headers. 400: two Hosts (RFC 9112 3.2). 421: it came to a
 * loopback address, and its Host is neither an address nor localhost nor missing: a name that somebody else
 * answers for may have been made to mean this machine (DNS rebinding), so that a page from there reads what
 * is here. */
int request_refused(const struct web_request *r);
/* An item of the list that a header holds, as "text/plain; version=1; q=0.5" (RFC 9110 12.4.2, 12.5). */
struct request_item {
	struct str name, version; /* version: "" = none */
	unsigned q;               /* thousandths; nonsense is 0 */
};
/* Take the first item off a list that is not empty. It borrows from the list. */
struct request_item request_take_item(struct str *list);
/* The language that its sender wants most of those spoken here (RFC 9110 12.5.4); English where it wants
 * none of them. */
enum language request_language(const struct web_request *r);

#endif
