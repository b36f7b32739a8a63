/* measures.c - see timings.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/measures.h"

#include <stddef.h>
#include <string.h>

uint64_t timing_bound(unsigned bucket)
{
#define BOUND(us) us,
	static const uint64_t bounds[TIMING_BOUNDS] = { TIMING_BUCKETS(BOUND) };
#undef BOUND

	return bucket < TIMING_BOUNDS ? bounds[bucket] : UINT64_MAX;
}

unsigned timing_bucket(uint64_t us)
{
	unsigned bucket = 0;

	while (us > timing_bound(bucket))
		bucket++;
	return bucket;
}

static const struct {
	const char *name, *method; /* what it is sent as; NULL = as a GET */
	bool writes;
} verbs[API_VERB__MAX] = {
	[API_GET] = { "get", NULL, false },          [API_LIST] = { "list", NULL, false },
	[API_WATCH] = { "watch", NULL, false },      [API_CREATE] = { "create", "POST", true },
	[API_UPDATE] = { "update", "PUT", true },    [API_PATCH] = { "patch", "PATCH", true },
	[API_DELETE] = { "delete", "DELETE", true },
};

const char *api_verb_name(enum api_verb v)
{
	return (unsigned)v < API_VERB__MAX ? verbs[v].name : "?";
}

bool api_verb_writes(enum api_verb v)
{
	return (unsigned)v < API_VERB__MAX && verbs[v].writes;
}

/* The n-th segment behind /api/VERSION or /apis/GROUP/VERSION; NULL when there is none, or it is none of
 * those. */
static const char *segment(const char *path, unsigned n)
{
	const bool core = strncmp(path, "/api/", 5) == 0;

	if (!core && strncmp(path, "/apis/", 6) != 0)
		return NULL;
	for (n += core ? 2 : 3; path && n > 0; n--) {
		path = strpbrk(path + 1, "/?");
		if (path && *path == '?')
			path = NULL;
	}
	return path && path[1] && path[1] != '?' ? path + 1 : NULL;
}

/* RESOURCE, or namespaces/NAMESPACE/RESOURCE. */
static bool is_list(const char *path)
{
	const char *first = segment(path, 0);
	const bool inside = first && strncmp(first, "namespaces/", 11) == 0 && segment(path, 2);

	return inside ? !segment(path, 3) : first && !segment(path, 1);
}

enum api_verb api_verb_of(const char *method, const char *path)
{
	const char *query = strchr(path, '?');

	for (enum api_verb v = 0; v < API_VERB__MAX; v++)
		if (verbs[v].method && strcmp(verbs[v].method, method) == 0)
			return v;
	if (query && (strstr(query, "?watch=") || strstr(query, "&watch=")))
		return API_WATCH;
	return is_list(path) ? API_LIST : API_GET;
}

const char *due_state_name(enum due_state s)
{
	static const char *const names[DUE_STATE__MAX] = {
		[DUE_NOW] = "due",         [DUE_WAITING] = "waiting", [DUE_BLOCKED] = "blocked",
		[DUE_REFUSED] = "refused", [DUE_WOULD] = "would",
	};

	return (unsigned)s < DUE_STATE__MAX ? names[s] : "?";
}
