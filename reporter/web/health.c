/* health.c - see health.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/web/health.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

static void set(struct health *h, const char *name, bool ok, bool any)
{
	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->v[i].name, name) == 0) {
			h->v[i].ok = ok;
			return;
		}
	h->v = xreallocarray(h->v, h->n + 1, sizeof(*h->v));
	h->v[h->n++] = (struct health_check){ xstrdup(name), ok, any };
}

void health_set(struct health *h, const char *name, bool ok)
{
	set(h, name, ok, false);
}

void health_set_any(struct health *h, const char *name, bool ok)
{
	set(h, name, ok, true);
}

void health_done(struct health *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->v[i].name);
	free(h->v);
	*h = (struct health){ 0 };
}

/* Is "key" or "key=value" one of the '&'-separated parts of query? */
static bool query_has(const char *query, const char *key, const char *value)
{
	const size_t nk = strlen(key);

	for (const char *p = query; p && *p; p += strcspn(p, "&"), p += *p == '&') {
		const size_t n = strcspn(p, "&");

		if (n < nk || strncmp(p, key, nk) != 0)
			continue;
		if (!value && (n == nk || p[nk] == '='))
			return true;
		if (value && n == nk + 1 + strlen(value) && p[nk] == '=' &&
		    strncmp(p + nk + 1, value, n - nk - 1) == 0)
			return true;
	}
	return false;
}

static int one_check(const struct health *h, const char *name, char **ret)
{
	for (size_t i = 0; i < h->n; i++) {
		if (strcmp(h->v[i].name, name) != 0)
			continue;
		*ret = xstrdup(h->v[i].ok ? "ok" : "internal server error: reason withheld\n");
		return h->v[i].ok ? 200 : 500;
	}
	*ret = xstrdup("404 page not found\n");
	return 404;
}

int health_answer(const struct health *h, const char *group, const char *path, const char *query, char **ret)
{
	const char *rest = path + 1 + strlen(group);
	size_t n = 0;
	bool ok = true, any = false, some = false; /* some: there are checks of which one suffices */

	if (*rest == '/' && rest[1])
		return one_check(h, rest + 1, ret);
	*ret = NULL;
	FILE *f = open_memstream(ret, &n);

	if (!f)
		abort();
	for (size_t i = 0; i < h->n; i++) {
		const bool excluded = query_has(query, "exclude", h->v[i].name),
			   good = h->v[i].ok || excluded;

		(void)fprintf(f, "[%c]%s %s\n", good ? '+' : '-', h->v[i].name,
			      excluded ? "excluded: ok"
			      : good   ? "ok"
				       : "failed: reason withheld");
		ok = ok && (good || h->v[i].any);
		some = some || h->v[i].any;
		any = any || (good && h->v[i].any);
	}
	ok = ok && (any || !some);
	(void)fprintf(f, "%s check %s\n", group, ok ? "passed" : "failed");
	(void)fclose(f);
	if (ok && !query_has(query, "verbose", NULL)) {
		free(*ret);
		*ret = xstrdup("ok");
	}
	return ok ? 200 : 500;
}
