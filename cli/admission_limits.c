/* admission_limits.c - see admission_limits.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/admission_limits.h"

#include <string.h>

static void add_texts(struct str_list *to, const struct str_list *from)
{
	for (size_t i = 0; i < from->n; i++)
		if (!str_list_has(to, STR_C(from->v[i])))
			str_list_add(to, from->v[i], strlen(from->v[i]));
}

static void add_limits(struct limits *l, const struct duty_policy *dp)
{
	if (!dp->enable)
		return;
	l->jobs = l->jobs || dp->include_jobs;
	l->bare = l->bare || dp->include_bare_pods;
	l->fresh_attempt = l->fresh_attempt || dp->fresh_attempt_ms > 0;
	if (dp->suspend_jobs && (l->suspend_after_ms == 0 || dp->hours_ms < l->suspend_after_ms))
		l->suspend_after_ms = dp->hours_ms;
	add_texts(&l->status, &dp->status);
	add_texts(&l->phases, &dp->phases);
}

struct limits limits_of(const struct policy *p, enum duty d)
{
	struct limits l = { 0 };

	add_limits(&l, &p->duty[d]);
	for (size_t i = 0; i < p->n_overrides; i++)
		add_limits(&l, &p->overrides[i].duty[d]);
	return l;
}

void limits_done(struct limits *l)
{
	str_list_done(&l->status);
	str_list_done(&l->phases);
}
