/* url_template.h - a URL with {{key}} in its path and query, whose places are filled with texts of others:
 * each is percent-encoded (RFC 3986, 2.1), so that none decides where the URL leads.  Layer: base.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_URL_TEMPLATE_H
#define BASE_URL_TEMPLATE_H

#include "base/str.h"

enum url_template_fault {
	URL_TEMPLATE_OK,
	URL_TEMPLATE_SCHEME,    /* it begins with neither https:// nor http:// */
	URL_TEMPLATE_HOST,      /* there is no host, or a {{key}} before the path */
	URL_TEMPLATE_CHARACTER, /* one that a URL has only encoded, or a brace, or a mark of a chat: ( ) ' * !
				 */
	URL_TEMPLATE_KEY,       /* a {{key}} that is not among the keys */
};

/* What is wrong with it. keys: those that may stand in it, n of them. *ret_at: what is meant, borrowed from
 * s. */
enum url_template_fault url_template_check(const char *s, const char *const *keys, size_t n,
					   struct str *ret_at);
/* Fill a template that has been checked. value() returns the text of a key, or NULL. NULL where a key has
 * none, else the URL, which the caller frees. */
char *url_template_fill(const char *s, const char *(*value)(const void *ctx, struct str key),
			const void *ctx);

#endif
