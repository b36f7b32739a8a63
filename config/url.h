/* url.h - the parts of an http(s) URL that matter before a request is made.  Layer: config.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_URL_H
#define CONFIG_URL_H

#include <stdbool.h>
#include <stddef.h>

struct url {
	bool https;
	char host[254]; /* without brackets */
	bool ip;        /* host is an IPv4 or IPv6 literal */
	bool six;
	unsigned port;
	const char *path; /* into the text; "" or from the first '/' or '?' on */
};

/* http://host[:port][/...] or https://. No user information, no spaces. 0, or -EINVAL with a text in *reterr
 * that does not repeat the URL (it may be a secret). */
int url_parse(const char *text, struct url *ret, const char **reterr);
/* localhost, 127.0.0.0/8 or ::1 */
bool url_is_loopback(const struct url *u);

#endif
