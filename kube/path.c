/* path.c - see path.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/path.h"

#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

/* RFC 3986 unreserved characters; everything else is encoded, so '/', '?', '%' never stay themselves. */
static const bool is_unreserved[256] = {
	['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['0' ... '9'] = true, ['-'] = true,
	['.'] = true,         ['_'] = true,         ['~'] = true
};

/* Writes at most three bytes for each; returns where it ends. */
static char *escape_to(char *w, const char *s)
{
	static const char hex[] = "0123456789ABCDEF";

	for (; *s; s++) {
		if (is_unreserved[(unsigned char)*s]) {
			*w++ = *s;
			continue;
		}
		*w++ = '%';
		*w++ = hex[(unsigned char)*s >> 4];
		*w++ = hex[(unsigned char)*s & 15];
	}
	return w;
}

char *path_escape(const char *s)
{
	char *out = xmalloc(strlen(s) * 3 + 1);

	*escape_to(out, s) = '\0';
	return out;
}

/* As Kubernetes' own IsValidPathSegmentName. Encoded, "/" would stay where it is on the way to the API
 * server, but a proxy in between may decode it, and then "..%2Fsecrets" is another resource. */
static bool is_part(const char *s)
{
	return *s != '\0' && strcmp(s, ".") != 0 && strcmp(s, "..") != 0 && !strpbrk(s, "/%");
}

struct part {
	const char *literal, *part; /* part NULL: neither */
};

/* NULL when a part is none. */
static char *join_parts(const struct part *parts, size_t n, const char *query)
{
	size_t room = strlen(query) + 2;

	for (size_t i = 0; i < n; i++) {
		if (parts[i].part && !is_part(parts[i].part))
			return NULL;
		room += parts[i].part ? strlen(parts[i].literal) + 3 * strlen(parts[i].part) : 0;
	}
	char *text = xmalloc(room), *end = text;

	for (size_t i = 0; i < n; i++)
		if (parts[i].part)
			end = escape_to(mempcpy(end, parts[i].literal, strlen(parts[i].literal)),
					parts[i].part);
	if (*query)
		*end++ = '?';
	*(char *)mempcpy(end, query, strlen(query)) = '\0';
	return text;
}

char *path_format(const char *group, const char *version, const char *ns, const char *resource,
		  const char *name, const char *subresource, const char *query)
{
	const bool core = !group || *group == '\0';
	const struct part parts[] = {
		{ core ? "/api/" : "/apis/", core ? version : group },
		{ "/", core ? NULL : version },
		{ "/namespaces/", ns },
		{ "/", resource },
		{ "/", name },
		{ "/", subresource },
	};

	if (!version || !resource || (subresource && !name))
		return NULL;
	return join_parts(parts, ARRAY_SIZE(parts), query ? query : "");
}
