/* url.h - the parts of a URL that matter before a request is made.  Layer: config.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_URL_H
#define CONFIG_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "model/phrases.h"

struct url {
	bool https;     /* or smtps: TLS from the first byte on */
	char host[254]; /* without brackets */
	bool ip;        /* host is an IPv4 or IPv6 literal */
	bool six;
	unsigned port;
	const char *path; /* into the text; "" or from the first '/' or '?' on */
};

/* http://host[:port][/...] or https://. No user information, no spaces. 0, or -EINVAL with a row in *ret_why,
 * which has no argument: the URL may be a secret. */
int url_parse(const char *text, struct url *ret, enum phrase *ret_why);
/* The same of the schemes "a|b|c": https, http, smtps, smtp, socks5h. A user may stand in front of the host
 * of a mail server; without a port it is the scheme's own. */
int url_parse_as(const char *text, const char *allowed, struct url *ret, enum phrase *ret_why);
/* Of what news is sent to, and of proxies on the way there. */
#define URL_SINKS   "https|http|smtp|smtps"
#define URL_PROXIES "http|socks5h"
/* Does it begin with name, of n bytes, and "://"? */
bool url_scheme_is(const char *text, const char *name, size_t n);
/* localhost, 127.0.0.0/8 or ::1 */
bool url_is_loopback(const struct url *u);
/* Loopback, a Service of this cluster (a single name, NAME.NAMESPACE.svc, with or without the cluster's
 * domain behind it) or a private address of IPv4: what goes there leaves no network of one's own. */
bool url_is_inside(const struct url *u);
/* Does "?a=1&b=2" give a value to that one? */
bool url_has_parameter(const struct url *u, const char *name);

#endif
