/* routes.c - see routes.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/web/routes.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

/* healthz is what livez is, as long as both exist: liveness never depends on the API server. */
static const struct check_group {
	const char *name;
	size_t checks; /* offset of its struct health in struct stats */
} groups[] = {
	{ "healthz", offsetof(struct stats, live) },
	{ "livez", offsetof(struct stats, live) },
	{ "readyz", offsetof(struct stats, ready) },
};

static bool in_group(const char *path, const char *name)
{
	const size_t n = strlen(name);

	return strncmp(path + 1, name, n) == 0 && (path[n + 1] == '\0' || path[n + 1] == '/');
}

void routes_serve(struct stats *s, const struct history *h, const char *path, const char *query,
		  struct listener_answer *ret)
{
	*ret = (struct listener_answer){ .status = 404, .content_type = "text/plain; charset=utf-8" };
	stats_refresh(s, h);
	if (strcmp(path, "/metrics") == 0) {
		ret->status = 200;
		ret->content_type = METRICS_CONTENT_TYPE;
		ret->body = metrics_text(s->metrics, &ret->size);
		return;
	}
	for (size_t i = 0; !ret->body && i < ARRAY_SIZE(groups); i++)
		if (in_group(path, groups[i].name))
			ret->status =
				health_answer((const struct health *)((const char *)s + groups[i].checks),
					      groups[i].name, path, query, &ret->body);
	if (!ret->body)
		ret->body = xstrdup("404 page not found\n");
	ret->size = strlen(ret->body);
}
