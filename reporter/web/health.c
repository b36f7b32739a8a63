/* health.c - see health.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/web/health.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/xalloc.h"

/* Is "key" or "key=value" one of the '&'-separated parts of query? */
static bool query_has(const char *query, const char *key, const char *value)
{
	for (struct str rest = STR_C(query ? query : ""); rest.n > 0;) {
		struct str part = str_cut(&rest, '&');

		if (str_is(str_cut(&part, '='), key) && (!value || str_is(part, value)))
			return true;
	}
	return false;
}

static int one_check(const struct health_check *v, size_t n, const char *name, char **ret)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(v[i].name, name) != 0)
			continue;
		*ret = xstrdup(v[i].ok ? "ok" : "internal server error: reason withheld\n");
		return v[i].ok ? 200 : 500;
	}
	*ret = xstrdup("404 page not found\n");
	return 404;
}

int health_answer(const struct health_check *v, size_t n, const char *group, const char *path,
		  const char *query, char **ret)
{
	const char *rest = path + 1 + strlen(group);
	size_t size;
	bool ok = true, any = false, some = false; /* some: there are checks of which one suffices */

	if (*rest == '/' && rest[1])
		return one_check(v, n, rest + 1, ret);
	*ret = NULL;
	FILE *f = open_memstream(ret, &size);

	if (!f)
		abort();
	for (size_t i = 0; i < n; i++) {
		const bool excluded = query_has(query, "exclude", v[i].name), good = v[i].ok || excluded;

		(void)fprintf(f, "[%c]%s %s\n", good ? '+' : '-', v[i].name,
			      excluded ? "excluded: ok"
			      : good   ? "ok"
				       : "failed: reason withheld");
		ok = ok && (good || v[i].any);
		some = some || v[i].any;
		any = any || (good && v[i].any);
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
