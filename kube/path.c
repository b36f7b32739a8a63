/* path.c - request paths, see request.h; apart from it so that who only reads needs no JSON. */
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "kube/request.h"

/* RFC 3986 unreserved characters; everything else is encoded, so '/', '?', '%' never stay themselves. */
static bool is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
	       c == '.' || c == '_' || c == '~';
}

char *request_escape(const char *s)
{
	static const char hex[] = "0123456789ABCDEF";
	char *out = xmalloc(strlen(s) * 3 + 1);
	size_t w = 0;

	for (; *s; s++) {
		if (is_unreserved(*s)) {
			out[w++] = *s;
			continue;
		}
		out[w++] = '%';
		out[w++] = hex[(unsigned char)*s >> 4];
		out[w++] = hex[(unsigned char)*s & 15];
	}
	out[w] = '\0';
	return out;
}

static bool is_part(const char *s)
{
	return *s != '\0' && strcmp(s, ".") != 0 && strcmp(s, "..") != 0;
}

struct path {
	char *text;
	bool bad;
};

static void path_add(struct path *p, const char *literal, const char *part)
{
	if (!part)
		return;
	if (!is_part(part))
		p->bad = true;
	_cleanup_free_ char *escaped = request_escape(part);
	char *longer = xasprintf("%s/%s%s", p->text, literal, escaped);

	free(p->text);
	p->text = longer;
}

char *request_path(const char *group, const char *version, const char *ns, const char *resource,
		   const char *name, const char *subresource, const char *query)
{
	const bool core = !group || *group == '\0';
	struct path p = { xstrdup(""), !version || !resource || (subresource && !name) };

	if (core) {
		path_add(&p, "api/", version);
	} else {
		path_add(&p, "apis/", group);
		path_add(&p, "", version);
	}
	path_add(&p, "namespaces/", ns);
	path_add(&p, "", resource);
	path_add(&p, "", name);
	path_add(&p, "", subresource);
	if (p.bad) {
		free(p.text);
		return NULL;
	}
	if (query && *query) {
		char *whole = xasprintf("%s?%s", p.text, query);

		free(p.text);
		p.text = whole;
	}
	return p.text;
}
