/* rbac_needs.c - see rbac_needs.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/local/rbac_needs.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/annotations.h"
#include "model/namespaces.h"
#include "model/replica_leases.h"

#define KEY_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_-"

static unsigned needs_of_duty(const struct duty_policy *dp, enum duty d)
{
	const enum action_kind action = duty_desc(d)->action;
	unsigned needs = dp->announce_ms > 0 ? NEED_ANNOUNCES : 0;

	if (action == ACTION_DELETE || action == ACTION_FORCE_DELETE || dp->fresh_attempt_ms > 0 ||
	    dp->ordinal_stuck == ORDINAL_DELETE)
		needs |= NEED_DELETES;
	if (action == ACTION_FORCE_DELETE)
		needs |= NEED_FORCES | NEED_JOB_PODS;
	if (action == ACTION_DELETE && dp->include_jobs)
		needs |= NEED_JOB_PODS;
	if (action == ACTION_SCALE_DOWN)
		needs |= NEED_SCALES | (dp->log_lines > 0 ? NEED_LOGS : 0u) |
			 (dp->suspend_jobs ? NEED_SUSPENDS : 0u) |
			 (dp->suspend_jobs && dp->suspend_cron_jobs ? NEED_SUSPENDS_CRON : 0u);
	return needs;
}

/* An override may switch on what the duty itself does not. */
unsigned rbac_needs_of(const struct config *c)
{
	const struct policy *p = &c->settings.policy;
	const bool lease = c->settings.election || c->settings.presence;
	unsigned needs = lease ? NEED_ELECTION | NEED_ELECTION_NAMED : 0;

	if (c->settings.election && (c->n_clusters > 1 || c->clusters_from))
		needs |= NEED_SHARES | NEED_SHARES_NAMED;
	needs |= policy_needs_namespaces(p) ? NEED_NAMESPACES : 0;
	/* Rows are by the names of workloads. */
	needs |= policy_enables(p, DUTY_RESTARTS) ? NEED_REPORTS : 0;

	for (int i = 0; i < DUTY__MAX; i++) {
		const enum duty d = (enum duty)i;

		if (!duty_acts(d) || !policy_enables(p, d))
			continue;
		needs |= needs_of_duty(&p->duty[d], d);
		for (size_t k = 0; k < p->n_overrides; k++)
			needs |= needs_of_duty(&p->overrides[k].duty[d], d);
	}
	return needs;
}

static bool is_needed(const struct rbac_request *q, const struct right_desc *r)
{
	return r->needs == NEED_ALWAYS || (q->needs & r->needs);
}

/* To find what the history does not know of: without it a workload has to be named. */
static bool lists_marks(const struct right_desc *r)
{
	return r->set == SET_WHOLES && strcmp(r->verbs, "list") == 0;
}

bool rbac_is_optional(const struct rbac_request *q, const struct right_desc *r)
{
	return role_of(r->role)->bound == BOUND_GUARDED || r->needs == NEED_REPORTS ||
	       r->needs == NEED_LOGS || r->needs == NEED_SHARES || r->needs == NEED_SHARES_NAMED ||
	       lists_marks(r) || (r->role == ROLE_OF_LEADER && !q->config->settings.election);
}

/* Is it among the kinds of another row that is needed? */
static bool is_covered(const struct rbac_request *q, const struct right_desc *r)
{
	const struct right_desc *other;
	const struct kind_desc *k;

	for (size_t i = 0; r->set == SET_ONE && (other = right_at(i)); i++)
		for (size_t n = 0; other->set != SET_ONE && (k = kind_at(n)); n++)
			if (other->role == r->role && !*other->resources && is_needed(q, other) &&
			    !rbac_is_optional(q, other) && right_is_for(other->set, k) &&
			    strcmp(other->verbs, r->verbs) == 0 && strcmp(k->group, r->group) == 0 &&
			    strcmp(k->resource, r->resources) == 0)
				return true;
	return false;
}

bool rbac_needs_right(const struct rbac_request *q, const struct right_desc *r)
{
	return is_needed(q, r) && !is_covered(q, r);
}

const struct kind_desc *rbac_kind_of(const struct rbac_request *q, size_t i)
{
	size_t n = 0;

	while (kind_at(n))
		n++;
	if (i < n)
		return kind_at(i);
	return i - n < q->n_kinds ? &q->kinds[i - n] : NULL;
}

/* Where the Lease is: only the watcher knows better, when the configuration does not say. */
const char *rbac_lease_namespace(const struct rbac_request *q)
{
	const char *ns = q->config->settings.lease_namespace;

	return ns && *ns ? ns : RBAC_HOME;
}

/* "fleets.example.com,widgets.example.com", taken apart in place. */
bool rbac_read_annotations(struct rbac_request *q, char *text)
{
	char *rest = text;

	for (char *one; (one = strsep(&rest, ","));) {
		const size_t n = strlen(one);

		if (!strchr(one, '/') || *one == '/' || n != strspn(one, KEY_CHARS) ||
		    strncmp(one, ANNOTATION_PREFIX, strlen(ANNOTATION_PREFIX)) == 0)
			return false;
		str_list_add(&q->annotations, one, n);
	}
	return true;
}

bool rbac_read_kinds(struct rbac_request *q, char *text)
{
	char *rest = text;

	for (char *one; (one = strsep(&rest, ","));) {
		char *dot = strchr(one, '.');

		if (!dot || dot == one || !dot[1] || q->n_kinds == RBAC_KINDS_MAX ||
		    one[strspn(one, "abcdefghijklmnopqrstuvwxyz0123456789.-")] != '\0')
			return false;
		*dot = '\0';
		q->needs |= q->needs & NEED_SCALES ? NEED_KINDS : 0;
		q->kinds[q->n_kinds++] = (struct kind_desc){ dot + 1, one, NULL, true, true, false, false };
	}
	return true;
}

char *rbac_lease_names(const struct rbac_request *q, const struct right_desc *r)
{
	const char *name = q->config->settings.lease_name;
	char *all = NULL;

	if (r->needs == NEED_ELECTION_NAMED)
		return xstrdup(name);
	for (int i = 1; r->needs == NEED_SHARES_NAMED && i <= REPLICAS_MAX; i++) {
		_cleanup_free_ char *one = xasprintf(REPLICA_LEASE_FORMAT, name, i);

		xappend(&all, ", ", one);
	}
	return all;
}
