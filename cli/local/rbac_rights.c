/* rbac_rights.c - see rbac_rights.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/local/rbac_rights.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/config.h"
#include "model/annotations.h"
#include "model/namespaces.h"
#include "model/object_events.h"
#include "model/reasons.h"
#include "model/replica_leases.h"

#define KEY_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_-"

#define NEXT_LINE "\n        " /* of an expression in admission.yaml */
/* A worker's clock may be so much ahead of the server's, and both count whole seconds. */
#define SLACK_MS 5000

/* -- what is needed -- */

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

/* -- expressions of CEL (github.com/google/cel-spec, doc/langdef.md) -- */

/* The namespace of a request and its labels are variables.ns and variables.labels. */

/* A literal; quotes, backslashes and control characters are escaped. */
static void put_string(FILE *f, struct str s)
{
	(void)fputc('\'', f);
	for (size_t i = 0; i < s.n; i++) {
		const unsigned char c = (unsigned char)s.p[i];

		if (c == '\'' || c == '\\' || c < 0x20 || c == 0x7f)
			(void)fprintf(f, "\\x%02x", c);
		else
			(void)fputc(c, f);
	}
	(void)fputc('\'', f);
}

/* A list, six on a line. */
static void put_list(FILE *f, const struct str_list *l)
{
	(void)fputc('[', f);
	for (size_t i = 0; i < l->n; i++) {
		(void)fputs(i == 0 ? "" : i % 6 == 0 ? "," NEXT_LINE : ", ", f);
		put_string(f, STR_C(l->v[i]));
	}
	(void)fputc(']', f);
}

/* '*' stands for any characters, all others for themselves. */
static void put_matches(FILE *f, const char *what, struct str pattern)
{
	(void)fprintf(f, "%s.matches('^", what);
	for (size_t i = 0; i < pattern.n; i++)
		if (pattern.p[i] == '*')
			(void)fputs(".*", f);
		else if (pattern.p[i] == '.')
			(void)fputs("[.]", f);
		else
			(void)fputc(pattern.p[i], f);
	(void)fputs("$')", f);
}

/* True when the expression `what` matches a pattern of l. */
static void put_matches_any(FILE *f, const char *what, const struct str_list *l)
{
	struct str_list plain = { 0 };

	for (size_t i = 0; i < l->n; i++)
		if (!strchr(l->v[i], '*'))
			str_list_add(&plain, l->v[i], strlen(l->v[i]));
	(void)fprintf(f, "%s in ", what);
	put_list(f, &plain);
	for (size_t i = 0; i < l->n; i++)
		if (strchr(l->v[i], '*')) {
			(void)fputs(" ||" NEXT_LINE, f);
			put_matches(f, what, STR_C(l->v[i]));
		}
	str_list_done(&plain);
}

static void put_item(FILE *f, const struct namespace_item *item)
{
	if (item->kind == NAMESPACE_PATTERN) {
		put_matches(f, "variables.ns", item->text);
		return;
	}
	(void)fputs("(", f);
	put_string(f, item->text);
	(void)fputs(" in variables.labels && variables.labels[", f);
	put_string(f, item->text);
	put_matches(f, "]", item->value);
	(void)fputs(")", f);
}

/* Those of the items that except, or of the others, that mean the namespace: the names, then each of the
 * rest. */
static bool put_any(FILE *f, const struct str_list *l, bool except)
{
	struct str_list names = { 0 };
	bool any = false;

	for (size_t i = 0; i < l->n; i++) {
		const struct namespace_item item = namespaces_item(STR_C(l->v[i]));

		if (item.except == except && item.kind == NAMESPACE_NAME)
			str_list_add(&names, item.text.p, item.text.n);
	}
	if (names.n > 0) {
		(void)fputs("variables.ns in ", f);
		put_list(f, &names);
		any = true;
	}
	str_list_done(&names);
	for (size_t i = 0; i < l->n; i++) {
		const struct namespace_item item = namespaces_item(STR_C(l->v[i]));

		if (item.except != except || item.kind == NAMESPACE_NAME)
			continue;
		(void)fputs(any ? " ||" NEXT_LINE : "", f);
		put_item(f, &item);
		any = true;
	}
	return any;
}

static bool has_exceptions(const struct str_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (namespaces_item(STR_C(l->v[i])).except)
			return true;
	return false;
}

/* True in the namespaces that l means: names, patterns, labels, exceptions. */
static void put_in_namespaces(FILE *f, const struct str_list *l)
{
	(void)fputs("(", f);
	if (!put_any(f, l, false))
		(void)fputs(namespaces_only_except(l) ? "true" : "false", f);
	if (has_exceptions(l)) {
		(void)fputs(") &&" NEXT_LINE "!(", f);
		(void)put_any(f, l, true);
	}
	(void)fputs(")", f);
}

/* True in the namespaces that l names without a pattern (namespaces_name()). */
static void put_named(FILE *f, const struct str_list *l)
{
	struct str_list names = { 0 };

	for (size_t i = 0; i < l->n; i++) {
		const struct namespace_item item = namespaces_item(STR_C(l->v[i]));

		if (item.kind == NAMESPACE_NAME && namespaces_name(l, item.text))
			str_list_add(&names, item.text.p, item.text.n);
	}
	(void)fputs("variables.ns in ", f);
	put_list(f, &names);
	str_list_done(&names);
}

/* -- one value -- */

struct value {
	FILE *f;
	char *text;
	size_t n;
};

static FILE *begin(struct value *v)
{
	return v->f = open_memstream(&v->text, &v->n);
}

/* Set key to what was printed since begin(). */
static void end(struct value *v, json_t *to, const char *key)
{
	(void)fclose(v->f);
	json_object_set_new(to, key, json_string(v->text));
	free(v->text);
}

static void set_list(json_t *to, const char *key, const struct str_list *l)
{
	struct value v;

	put_list(begin(&v), l);
	end(&v, to, key);
}

/* -- duties -- */

/* What a duty may delete or suspend: the widest of its settings and of all overrides. */
struct limits {
	bool jobs, bare, fresh_attempt, ordinal;
	int64_t suspend_after_ms; /* the shortest; 0: it suspends nothing */
	struct str_list status, phases;
};

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
	l->ordinal = l->ordinal || dp->ordinal_stuck == ORDINAL_DELETE;
	if (dp->suspend_jobs && (l->suspend_after_ms == 0 || dp->hours_ms < l->suspend_after_ms))
		l->suspend_after_ms = dp->hours_ms;
	add_texts(&l->status, &dp->status);
	add_texts(&l->phases, &dp->phases);
}

static struct limits limits_of(const struct policy *p, enum duty d)
{
	struct limits l = { 0 };

	add_limits(&l, &p->duty[d]);
	for (size_t i = 0; i < p->n_overrides; i++)
		add_limits(&l, &p->overrides[i].duty[d]);
	return l;
}

static bool works(const struct policy *p, enum duty d)
{
	return duty_acts(d) && policy_enables(p, d);
}

static json_t *duty_values(const struct policy *p, enum duty d)
{
	struct limits l = limits_of(p, d);
	const bool pod = action_desc(duty_desc(d)->action)->target == TARGET_POD;
	json_t *duty = json_pack("{s:s, s:b, s:b, s:b, s:b, s:b, s:b, s:b}", "duty", duty_name(d),
				 duty_name(d), 1, "deletes", pod || l.fresh_attempt || l.ordinal, "setsOnly",
				 !l.fresh_attempt, "scalesDown", !pod, "jobs", l.jobs, "bare", l.bare,
				 "anyStatus", str_list_has(&l.status, STR_LIT("*")));
	struct value v;

	put_named(begin(&v), &p->duty[d].namespaces);
	end(&v, duty, "named");
	put_in_namespaces(begin(&v), &p->duty[d].namespaces);
	end(&v, duty, "in");
	put_matches_any(begin(&v), "o.kind", &p->job_kinds);
	(void)fputs(" ||" NEXT_LINE, v.f);
	put_matches_any(v.f, "(o.kind + '.' + o.apiVersion.split('/')[0])", &p->job_kinds);
	end(&v, duty, "jobKind");
	set_list(duty, "status", &l.status);
	set_list(duty, "phases", &l.phases);
	put_matches_any(begin(&v), "oldObject.?status.?reason.orValue('')", &l.status);
	end(&v, duty, "podStatus");
	put_matches_any(begin(&v), "c.?state.?terminated.?reason.orValue('')", &l.status);
	end(&v, duty, "containerStatus");
	str_list_done(&l.status);
	str_list_done(&l.phases);
	return duty;
}

static void set_duties(json_t *to, const struct policy *p)
{
	struct limits l = limits_of(p, DUTY_IMAGE_PULL);
	json_t *duties = json_array();

	for (enum duty d = 0; d < DUTY__MAX; d++)
		if (works(p, d))
			json_array_append_new(duties, duty_values(p, d));
	json_object_set_new(to, "duties", duties);
	json_object_set_new(
		to, "suspendAfter",
		json_integer(l.suspend_after_ms > SLACK_MS ? (l.suspend_after_ms - SLACK_MS) / 1000 : 0));
	str_list_done(&l.status);
	str_list_done(&l.phases);
}

/* -- kinds -- */

/* Set key to a list: first, then "UPDATE apps/deployments/scale" for every kind of the set. */
static void set_requests(json_t *to, const char *key, const struct rbac_request *q, enum right_set set,
			 const char *behind, const char *first)
{
	struct value v;
	FILE *f = begin(&v);
	const struct kind_desc *k;
	const char *comma = *first ? ", " : "";

	(void)fprintf(f, "[%s", first);
	for (size_t i = 0; (k = rbac_kind_of(q, i)); i++)
		if (right_is_for(set, k)) {
			(void)fprintf(f, "%s'UPDATE %s%s%s%s'", comma, k->group, *k->group ? "/" : "",
				      k->resource, behind);
			comma = "," NEXT_LINE;
		}
	(void)fputs("]", f);
	end(&v, to, key);
}

static void set_whats(json_t *to, const struct rbac_request *q)
{
	const struct policy *p = &q->config->settings.policy;
	const bool scales = works(p, DUTY_IMAGE_PULL) || works(p, DUTY_CRASH_LOOP);
	const bool announces = q->needs & NEED_ANNOUNCES;
	const struct {
		const char *name;
		enum right_set set;
		const char *behind, *first;
		bool any;
	} lists[] = {
		{ "scales", SET_SCALES, "/scale", "", scales },
		{ "byScale", SET_BY_SCALE, "/scale", "", scales },
		{ "wholes", SET_WHOLES, "", "", scales },
		{ "others", SET_BY_SCALE, "", "", scales },
		{ "suspended", q->needs & NEED_SUSPENDS_CRON ? SET_SUSPENDS : SET_SUSPENDS_JOB, "", "",
		  q->needs & NEED_SUSPENDS },
		{ "annotates", SET_SCALES, "", announces ? "'UPDATE pods'" : "", scales || announces },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (lists[i].any)
			set_requests(to, lists[i].name, q, lists[i].set, lists[i].behind, lists[i].first);
		else
			json_object_set_new(to, lists[i].name, json_string("[]"));
	json_object_set_new(to, "suspends", json_boolean(q->needs & NEED_SUSPENDS));
}

/* "apps/Deployment": the kinds of the groups of Kubernetes about which there may be an Event. */
static void set_subjects(json_t *to)
{
	struct value v;
	FILE *f = begin(&v);
	const struct kind_desc *k;

	(void)fputs("['/Pod'", f);
	for (size_t i = 0; (k = kind_at(i)); i++)
		if (k->namespaced)
			(void)fprintf(f, "," NEXT_LINE "'%s/%s'", k->group, k->kind);
	(void)fputs("]", f);
	end(&v, to, "subjects");
}

static void add_code(struct str_list *to, const char *code)
{
	if (*code && !str_list_has(to, STR_C(code)))
		str_list_add(to, code, strlen(code));
}

/* Of the Events that worker/action_event.c makes. */
static void set_reasons(json_t *to)
{
	struct str_list codes = { 0 };

	for (int i = 0; i < OBJECT_EVENT__MAX; i++) {
		add_code(&codes, object_event_desc((enum object_event_id)i)->done);
		add_code(&codes, object_event_desc((enum object_event_id)i)->will);
	}
	for (int i = 0; i < REASON__MAX; i++)
		if (reason_desc((enum reason)i)->event == REASON_EVENT_WARNING)
			add_code(&codes, reason_code((enum reason)i));
	set_list(to, "reasons", &codes);
	str_list_done(&codes);
}

/* -- roles -- */

static json_t *rule(const struct right_desc *r, const char *group, const char *resources)
{
	return json_pack("{s:s, s:s, s:s}", "group", *group ? group : "\"\"", "resources", resources, "verbs",
			 r->verbs);
}

/* One rule for each group, at the first of its kinds. */
static void add_kinds(json_t *rules, const struct rbac_request *q, const struct right_desc *r)
{
	const struct kind_desc *k, *other;

	for (size_t i = 0; (k = rbac_kind_of(q, i)); i++) {
		_cleanup_free_ char *list = NULL;
		bool first = true;

		for (size_t j = 0; (other = rbac_kind_of(q, j)); j++) {
			if (!right_is_for(r->set, other) || strcmp(other->group, k->group) != 0)
				continue;
			_cleanup_free_ char *one = xconcat(other->resource, r->resources, NULL);

			first = first && j >= i;
			xappend(&list, ", ", one);
		}
		if (first && right_is_for(r->set, k))
			json_array_append_new(rules, rule(r, k->group, list));
	}
}

static void add_right(json_t *rules, const struct rbac_request *q, const struct right_desc *r)
{
	const size_t n = json_array_size(rules);

	if (r->set == SET_ONE)
		json_array_append_new(rules, rule(r, r->group, r->resources));
	else
		add_kinds(rules, q, r);
	if (r->why && json_array_size(rules) == n)
		json_array_append_new(rules, json_object()); /* the reason alone */
	if (r->why)
		json_object_set_new(json_array_get(rules, n), "why", json_string(r->why));
	_cleanup_free_ char *leases = rbac_lease_names(q, r);

	if (leases)
		json_object_set_new(json_array_get(rules, n), "lease", json_string(leases));
}

static json_t *role_values(const struct rbac_request *q, enum right_role role)
{
	const struct role_desc *desc = role_of(role);
	const char *ns = desc->scope == SCOPE_HOME     ? rbac_lease_namespace(q)
			 : desc->scope == SCOPE_SPREAD ? q->o->namespaces.v[0]
						       : NULL;
	json_t *rules = json_array();
	const struct right_desc *r;

	for (size_t i = 0; (r = right_at(i)); i++)
		if (r->role == role && rbac_needs_right(q, r))
			add_right(rules, q, r);
	return json_pack("{s:s, s:s*, s:b, s:b, s:b, s:b, s:o}", "role", desc->name, "namespace", ns,
			 "atHome", desc->scope == SCOPE_HOME, "guarded", desc->bound == BOUND_GUARDED,
			 "reads", desc->account != ACCOUNT_WRITER, "writes", desc->account != ACCOUNT_READER,
			 "rules", rules);
}

json_t *rbac_values(const struct rbac_request *q)
{
	const struct policy *p = &q->config->settings.policy;
	json_t *roles = json_array();
	json_t *all = json_pack("{s:s, s:s*, s:o}", "home", RBAC_HOME, "user", q->o->writer, "roles", roles);
	struct value v;

	for (int i = 0; i < ROLE_OF__MAX; i++) {
		json_t *role = role_values(q, (enum right_role)i);

		if (json_array_size(json_object_get(role, "rules")) > 0)
			json_array_append(roles, role);
		json_decref(role);
	}
	if (q->o->writer) {
		put_string(begin(&v), STR_C(q->o->writer));
		end(&v, all, "writer");
	}
	put_in_namespaces(begin(&v), &p->exclude_namespaces);
	end(&v, all, "excluded");
	put_in_namespaces(begin(&v), &p->default_exclude_namespaces);
	end(&v, all, "protected");
	set_list(all, "allowed", &q->annotations);
	set_whats(all, q);
	set_subjects(all);
	set_reasons(all);
	set_duties(all, p);
	return all;
}
