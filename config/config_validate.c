/* config_validate.c - see config_validate.h. A warning about a reading that is safer than the original
 * program's ends when the key is written out. */
// SPDX-License-Identifier: Apache-2.0
#include "config/config_validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/url_template.h"
#include "config/cron.h"
#include "config/file.h"
#include "config/table.h"
#include "config/sinks_validate.h"
#include "config/window.h"
#include "config/zone_file.h"
#include "model/namespaces.h"

struct check {
	const char *path;
	const struct config *c;
	const struct positions *positions;
	struct diags *d;
};

/* Where a key stands, and its path for people. */
static struct place place_at(const struct check *k, const char *path)
{
	return positions_of(k->positions, k->path, path);
}

static bool is_written(const struct check *k, const char *path)
{
	return place_at(k, path).line > 0;
}

/* Where an item of a list stands; key: of it that is meant, NULL = the whole. */
static struct place at_item(const struct check *k, const struct place *item, const char *key)
{
	return (struct place){ k->path, item->line, item->column, key };
}

#define ERROR(k, ...) diags_error((k)->d, __VA_ARGS__)
#define WARN(k, ...)  diags_warn((k)->d, __VA_ARGS__)

/* path: what the key is called in the sentence, valid as long as the place. */
static struct place at_duty(const struct check *k, enum duty duty, const char *key, char path[static 64])
{
	(void)snprintf(path, 64, "%s.%s", duty_name(duty), key);
	return place_at(k, path);
}

/* -- what an item of overrides may say of a duty; NULL: what the file says for all -- */

static const struct duty_policy *duty_of(const struct check *k, const struct policy_override *o, enum duty d)
{
	return o ? &o->duty[d] : &k->c->settings.policy.duty[d];
}

/* The key of a duty there, or the item that it stands in. */
static struct place at_duty_of(const struct check *k, const struct policy_override *o, enum duty d,
			       const char *key, char path[static 64])
{
	const struct place all = at_duty(k, d, key, path);

	return o ? at_item(k, &k->positions->override[o - k->c->settings.policy.overrides].item, path) : all;
}

/* What an override takes from the file is told there. */
static bool is_short(const struct check *k, const struct policy_override *o, enum duty d, int64_t least_ms)
{
	const struct duty_policy *all = duty_of(k, NULL, d), *here = duty_of(k, o, d);

	return here->enable && here->hours_ms < least_ms &&
	       !(o && all->enable && all->hours_ms == here->hours_ms);
}

static void check_hours(const struct check *k, const struct policy_override *o)
{
	char key[64];

	if (is_short(k, o, DUTY_IMAGE_PULL, 600000))
		WARN(k, at_duty_of(k, o, DUTY_IMAGE_PULL, "hours", key), PULL_SHORT);
	if (is_short(k, o, DUTY_TERMINATING, 60000))
		WARN(k, at_duty_of(k, o, DUTY_TERMINATING, "hours", key), TERMINATING_SHORT);
}

/* The first of `names` that the pattern would take, and that is not named beside it; NULL when there is none.
 */
static const char *left_out(const struct str_list *list, struct str pattern, const struct str_list *names)
{
	for (size_t i = 0; i < names->n; i++)
		if (str_glob(pattern, STR_C(names->v[i])) && !str_list_has(list, STR_C(names->v[i])))
			return names->v[i];
	return NULL;
}

static void check_exception(const struct check *k, struct place at, const struct str_list *list,
			    const struct namespace_item *item)
{
	if (item->kind == NAMESPACE_LABEL)
		return;
	if (item->kind == NAMESPACE_NAME && str_list_has(list, item->text))
		WARN(k, at, NS_BOTH, STR_ARG(item->text));
	else if (!namespaces_select_more(list) && !left_out(&(struct str_list){ 0 }, item->text, list))
		WARN(k, at, NS_EXCEPTS_NONE, STR_ARG(item->text));
}

static void check_name(const struct check *k, enum duty duty, struct place at, struct str name)
{
	const struct policy *p = &k->c->settings.policy;

	if (namespaces_match(&p->exclude_namespaces, name, NULL) == TRI_YES)
		WARN(k, at, NS_EXCLUDED, STR_ARG(name));
	else if (namespaces_match(&p->default_exclude_namespaces, name, NULL) == TRI_YES)
		WARN(k, at, NS_PROTECTED, STR_ARG(name));
	else if (str_list_has(&p->duty[duty].namespaces, STR_LIT("*")))
		WARN(k, at, NS_IN_STAR, STR_ARG(name));
	else if (str_is(name, "all"))
		WARN(k, at, NS_ALL);
}

static void check_pattern(const struct check *k, enum duty duty, struct place at, struct str pattern)
{
	const struct policy *p = &k->c->settings.policy;
	const struct str_list *list = &p->duty[duty].namespaces, *by_default = &p->default_exclude_namespaces;
	const char *one = left_out(list, pattern, by_default);

	if (str_is(pattern, "*"))
		return; /* `config check` says below what that leaves out */
	if (str_list_has(list, STR_LIT("*")))
		WARN(k, at, NS_IN_STAR, STR_ARG(pattern));
	else if (one)
		WARN(k, at, NS_PATTERN_LACKS, STR_ARG(pattern), one);
}

static void check_namespaces(const struct check *k, enum duty duty)
{
	const struct str_list *list = &k->c->settings.policy.duty[duty].namespaces;
	char key[64], enable[64];
	const struct place at = at_duty(k, duty, "namespaces", key);

	if (list->n == 0)
		WARN(k, at_duty(k, duty, "enable", enable), NS_NONE);
	for (size_t i = 0; i < list->n; i++) {
		const struct namespace_item item = namespaces_item(STR_C(list->v[i]));

		if (item.except)
			check_exception(k, at, list, &item);
		else if (item.kind == NAMESPACE_NAME)
			check_name(k, duty, at, item.text);
		else if (item.kind == NAMESPACE_PATTERN)
			check_pattern(k, duty, at, item.text);
	}
}

/* Exceptions alone would exclude all others: that is hardly what was meant. */
static void check_exclusions(const struct check *k, const char *key, const struct str_list *list)
{
	if (namespaces_only_except(list))
		ERROR(k, place_at(k, key), NS_EXCLUDES_ALL, list->v[0]);
	for (size_t i = 0; i < list->n; i++) {
		const struct namespace_item item = namespaces_item(STR_C(list->v[i]));

		if (item.except)
			check_exception(k, place_at(k, key), list, &item);
	}
}

/* Is it a file of the original program, which knew this spelling of the duty alone? */
static bool is_original(const struct check *k, enum duty d)
{
	const struct place *p = &k->positions->row[settings_find(duty_name(d)) - settings_table];

	return p->line > 0 && strcasecmp(p->key, duty_desc(d)->alias) == 0;
}

static void check_duties(const struct check *k)
{
	const struct duty_policy *duty = k->c->settings.policy.duty;
	bool any = false;

	for (enum duty d = 0; d < DUTY__MAX; d++) {
		any = any || policy_enables(&k->c->settings.policy, d);
		if (policy_enables(&k->c->settings.policy, d))
			check_namespaces(k, d);
	}
	if (!any)
		WARN(k, place_of_file(k->path), ALL_OFF);
	check_hours(k, NULL);
	if (duty[DUTY_IMAGE_PULL].enable &&
	    (is_original(k, DUTY_EVICTED) || is_original(k, DUTY_TERMINATING)) &&
	    !is_written(k, "errImagePull.causes"))
		WARN(k, place_at(k, "errImagePull"), KEEPS_UNKNOWN);
	if (duty[DUTY_EVICTED].enable && is_original(k, DUTY_EVICTED) &&
	    !is_written(k, "deleteEvictedPod.includeJobs"))
		WARN(k, place_at(k, "deleteEvictedPod"), KEEPS_JOBS);
	if (duty[DUTY_TERMINATING].enable && is_original(k, DUTY_TERMINATING) &&
	    !is_written(k, "deleteTerminatingPod.unreachableNodes"))
		WARN(k, place_at(k, "deleteTerminatingPod"), KEEPS_UNREACHABLE);
}

static void check_secrets(const struct check *k)
{
	const struct config *c = k->c;
	const struct place url = place_at(k, "tooManyRestart.apiurlFile"),
			   secret = place_at(k, "tooManyRestart.secretFile");

	file_tell_missing(url, c->api_url_file, k->d);
	file_tell_missing(secret, c->api_secret_file, k->d);
	if (c->api_url && c->api_url_file)
		ERROR(k, url, BOTH_GIVEN, "apiurl");
	if (c->api_secret && c->api_secret_file)
		ERROR(k, secret, BOTH_GIVEN, "secret");
}

static void check_link(const struct check *k, const char *path, const char *link)
{
	static const char *const keys[] = { "cluster", "namespace", "workload", "pod",     "kind",
					    "node",    "duty",      "reason",   "actionId" };
	struct str at;

	switch (link ? url_template_check(link, keys, ARRAY_SIZE(keys), &at) : URL_TEMPLATE_OK) {
	case URL_TEMPLATE_OK:
		break;
	case URL_TEMPLATE_SCHEME:
		ERROR(k, place_at(k, path), LINK_SCHEME);
		break;
	case URL_TEMPLATE_HOST:
		ERROR(k, place_at(k, path), LINK_HOST);
		break;
	case URL_TEMPLATE_CHARACTER:
		ERROR(k, place_at(k, path), LINK_CHARACTER, STR_ARG(at));
		break;
	case URL_TEMPLATE_KEY:
		ERROR(k, place_at(k, path), LINK_KEY, STR_ARG(at));
		break;
	}
}

/* Two runs less than a minute apart flood the group. */
static bool is_frequent(const struct cron *c, const struct zone *z)
{
	int64_t t = cron_next(c, z, INT64_C(1767225600000)); /* 2026-01-01 */

	for (int i = 0; t != 0 && i < 60; i++) {
		const int64_t next = cron_next(c, z, t);

		if (next != 0 && next - t < 60000)
			return true;
		t = next;
	}
	return false;
}

/* Load the zone of that name; *ret is NULL for UTC, and after an error. */
static void check_zone(const struct check *k, struct place at, const char *name, struct zone **ret)
{
	_cleanup_free_ void *bytes = NULL;
	char why[SENTENCE_MAX];
	size_t n;
	int r = zone_load(name, &bytes, &n);

	*ret = NULL;
	if (r == 0 && bytes)
		r = zone_parse(bytes, n, ret);
	if (r < 0)
		ERROR(k, at, ZONE, name, zone_error(why, r));
}

static const char *default_zone(const struct check *k)
{
	return k->c->settings.window_zone ? k->c->settings.window_zone : "UTC";
}

static void check_schedule(const struct check *k)
{
	const struct settings *s = &k->c->settings;
	const struct place schedule = place_at(k, "tooManyRestart.duration"),
			   zone = place_at(k, "tooManyRestart.timeZone");
	struct zone *z = NULL;
	struct cron c;

	if (!s->schedule || cron_parse(s->schedule, &c, NULL) < 0)
		return; /* reported where it was read */
	if (c.zone[0] && s->time_zone)
		WARN(k, schedule, ZONE_UNUSED, c.zone);
	if (c.zone[0] || !s->time_zone)
		check_zone(k, c.zone[0] ? schedule : place_at(k, "timeZone"),
			   c.zone[0] ? c.zone : default_zone(k), &z);
	else
		check_zone(k, zone, s->time_zone, &z);
	if (policy_enables(&s->policy, DUTY_RESTARTS) && is_frequent(&c, z))
		WARN(k, schedule, FREQUENT);
	zone_free(&z);
}

/* Every zone that a window names is there; the windows themselves were read where they stand. */
static void check_windows(const struct check *k, const struct policy_override *o, enum duty d)
{
	const struct str_list *windows = &duty_of(k, o, d)->windows;
	struct zone *z = NULL;
	struct window w;
	char key[64];

	if (o && str_list_equal(windows, &duty_of(k, NULL, d)->windows))
		return;
	for (size_t i = 0; i < windows->n; i++) {
		if (window_parse(windows->v[i], &w, NULL) < 0 || !*w.cron.zone)
			continue;
		check_zone(k, at_duty_of(k, o, d, "windows", key), w.cron.zone, &z);
		zone_free(&z);
	}
}

static bool same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Where replicas see one another. */
static void check_home(const struct check *k)
{
	const char *home = k->c->settings.election_home;

	if (!home || !*home)
		return;
	for (size_t i = 0; i < k->c->n_clusters; i++)
		if (same(k->c->clusters[i].name, home))
			return;
	ERROR(k, place_at(k, "leaderElection.home"), NO_CLUSTER_NAMED, home);
}

/* Of those before it the first that is the same, or is called so, is named. */
static void check_is_new(const struct check *k, size_t i)
{
	const struct cluster_config *a = &k->c->clusters[i], *b = k->c->clusters;
	const struct place *item = &k->positions->cluster[i].item;

	for (; b < a; b++) {
		if (b->name && same(a->name, b->name)) {
			ERROR(k, at_item(k, item, "clusters[].name"), CALLED_TWICE, a->name);
			return;
		}
		if (b->name && same(a->kubeconfig, b->kubeconfig) && same(a->context, b->context)) {
			ERROR(k, at_item(k, item, NULL), SAME_CLUSTER, b->name, a->name);
			return;
		}
	}
}

static void check_clusters(const struct check *k)
{
	const struct config *c = k->c;

	if (c->workers_min > c->workers)
		ERROR(k, place_at(k, "workers.min"), ABOVE, (long long)c->workers_min, "workers.max",
		      (long long)c->workers);
	file_tell_missing(place_at(k, "kubeconfig"), c->kubeconfig, k->d);
	file_tell_missing(place_at(k, "writerKubeconfig"), c->writer_kubeconfig, k->d);
	for (size_t i = 0; i < c->n_clusters; i++) {
		const struct cluster_config *a = &c->clusters[i];
		const struct item_places *places = &k->positions->cluster[i];
		const struct place *item = &places->item;

		file_tell_missing(at_item(k, item, "clusters[].kubeconfig"), a->kubeconfig, k->d);
		file_tell_missing(at_item(k, item, "clusters[].writerKubeconfig"), a->writer_kubeconfig,
				  k->d);
		if (!a->name && !places->key[0].line) /* the name is its first key */
			ERROR(k, at_item(k, item, "clusters[].name"), MISSING, "...");
		if (a->name && !a->is_file) /* files were compared before */
			check_is_new(k, i);
	}
	if (c->n_clusters > 0 && c->context)
		WARN(k, place_at(k, "context"), CONTEXT_UNUSED);
	check_home(k);
}

static bool shares(const struct str_list *a, const struct str_list *b)
{
	for (size_t i = 0; i < a->n; i++)
		if (str_list_has(b, STR_C(a->v[i])))
			return true;
	return a->n == 0 && b->n == 0;
}

/* Do they match by the same labels in one namespace at least? Then the later one is not used there. */
static bool hides(const struct policy_override *a, const struct policy_override *b)
{
	for (size_t i = 0; i < a->labels.n; i++)
		if (!str_list_has(&b->labels, STR_C(a->labels.v[i])))
			return false;
	return a->labels.n == b->labels.n && shares(&a->namespaces, &b->namespaces);
}

static void check_overrides(const struct check *k)
{
	const struct policy *p = &k->c->settings.policy;

	for (size_t i = 0; i < p->n_overrides; i++) {
		const struct policy_override *o = &p->overrides[i];
		const struct place at = at_item(k, &k->positions->override[i].item, NULL);

		if (o->namespaces.n == 0 && o->labels.n == 0)
			ERROR(k, at, OVERRIDE_ALL, o->name);
		for (size_t j = 0; j < i; j++) {
			if (strcmp(o->name, p->overrides[j].name) == 0)
				ERROR(k, at_item(k, &at, "overrides[].name"), CALLED_TWICE, o->name);
			else if (hides(&p->overrides[j], o))
				WARN(k, at, OVERRIDE_HIDDEN, o->name, p->overrides[j].name);
		}
		check_hours(k, o);
		for (enum duty d = 0; d < DUTY__MAX; d++)
			check_windows(k, o, d);
	}
}

void config_validate(const char *path, const struct config *c, const struct positions *positions,
		     struct diags *d)
{
	const struct check k = { path, c, positions, d };
	struct zone *zone;

	check_duties(&k);
	check_exclusions(&k, "excludeNamespaces", &c->settings.policy.exclude_namespaces);
	check_exclusions(&k, "defaultExcludeNamespaces", &c->settings.policy.default_exclude_namespaces);
	check_secrets(&k);
	check_link(&k, "links.page", c->settings.links.page);
	check_link(&k, "links.runbook", c->settings.links.runbook);
	config_validate_sinks(path, c, positions, d);
	check_schedule(&k);
	check_zone(&k, place_at(&k, "timeZone"), default_zone(&k), &zone);
	zone_free(&zone);
	for (enum duty duty = 0; duty < DUTY__MAX; duty++)
		check_windows(&k, NULL, duty);
	check_clusters(&k);
	check_overrides(&k);
}
