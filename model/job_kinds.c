/* job_kinds.c - see job_kinds.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/job_kinds.h"

#include <string.h>

#include "model/rights.h"

/* "apps" of "apps/v1"; empty of "v1". */
static struct str group_of(struct str api_version)
{
	const char *slash = api_version.n ? memchr(api_version.p, '/', api_version.n) : NULL;

	return (struct str){ api_version.p, slash ? (size_t)(slash - api_version.p) : 0 };
}

/* "Kind", "Kind.group", and patterns of both. */
static bool is_listed(const struct str_list *list, struct str kind, struct str group)
{
	char whole[200];

	if (kind.n + group.n + 1 > sizeof(whole))
		return false;
	memcpy(whole, kind.p, kind.n);
	whole[kind.n] = '.';
	if (group.n)
		memcpy(whole + kind.n + 1, group.p, group.n);
	return str_list_globs(list, kind) ||
	       (group.n && str_list_globs(list, (struct str){ whole, kind.n + 1 + group.n }));
}

static const struct kind_desc *find_known(struct str kind, struct str group)
{
	const struct kind_desc *k;

	for (size_t i = 0; (k = kind_at(i)); i++)
		if (str_is(kind, k->kind) && str_is(group, k->group))
			return k;
	return NULL;
}

enum tri job_kinds_match(const struct owner_facts *o, const struct str_list *job_kinds, enum tri scales)
{
	const struct str group = group_of(o->api_version);
	const struct kind_desc *known = find_known(o->kind, group);

	if (str_empty(o->uid))
		return TRI_NO;
	if (str_is(o->kind, "Job") || (known && known->suspend != SUSPEND_NO) ||
	    is_listed(job_kinds, o->kind, group))
		return TRI_YES;
	if (known)
		return TRI_NO;
	return scales == TRI_UNKNOWN ? TRI_UNKNOWN : scales == TRI_YES ? TRI_NO : TRI_YES;
}
