/* config_validate.c - see config_validate.h. A warning about a reading that is safer than the original
 * program's ends when the key is written out. */
// SPDX-License-Identifier: Apache-2.0
#include "config/config_validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/cron.h"
#include "config/diag.h"
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

static const struct position *position_of(const struct check *k, const char *path)
{
	return &k->positions->row[settings_find(path) - settings_table];
}

static bool is_written(const struct check *k, const char *path)
{
	return position_of(k, path)->line > 0;
}

#define ERROR(k, m, ...) diags_error((k)->d, (k)->path, (m)->line, (m)->column, __VA_ARGS__)
#define WARN(k, m, ...)  diags_warn((k)->d, (k)->path, (m)->line, (m)->column, __VA_ARGS__)

static const struct position *position_of_key(const struct check *k, enum duty duty, const char *key)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%s.%s", duty_name(duty), key);
	return position_of(k, path);
}

/* Is there an item, not an exception, that selects others than itself? */
static bool selects_more(const struct str_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct namespace_item item = namespaces_item(STR_C(l->v[i]));

		if (!item.except && item.kind != NAMESPACE_NAME)
			return true;
	}
	return namespaces_only_except(l);
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

static void check_exception(const struct check *k, const char *key, const struct position *at,
			    const struct str_list *list, const struct namespace_item *item)
{
	if (item->kind == NAMESPACE_LABEL)
		return;
	if (item->kind == NAMESPACE_NAME && str_list_has(list, item->text))
		WARN(k, at, "%s: \"%.*s\" is named and excepted: the exception wins", key,
		     STR_ARG(item->text));
	else if (!selects_more(list) && !left_out(&(struct str_list){ 0 }, item->text, list))
		WARN(k, at, "%s: \"!%.*s\" excepts nothing that is selected", key, STR_ARG(item->text));
}

static void check_name(const struct check *k, enum duty duty, const struct position *at, struct str name)
{
	const struct policy *p = &k->c->settings.policy;

	if (namespaces_match(&p->exclude_namespaces, name, NULL) == TRI_YES)
		WARN(k, at, "%s.namespaces: \"%.*s\" is also in excludeNamespaces, which wins",
		     duty_name(duty), STR_ARG(name));
	else if (namespaces_match(&p->default_exclude_namespaces, name, NULL) == TRI_YES)
		WARN(k, at, "%s.namespaces: \"%.*s\" is left alone unless it is named, and here it is named",
		     duty_name(duty), STR_ARG(name));
	else if (str_list_has(&p->duty[duty].namespaces, STR_LIT("*")))
		WARN(k, at, "%s.namespaces: \"%.*s\" is already in \"*\"", duty_name(duty), STR_ARG(name));
	else if (str_is(name, "all"))
		WARN(k, at, "%s.namespaces: \"all\" is one namespace of that name; write \"*\" for all",
		     duty_name(duty));
}

static void check_pattern(const struct check *k, enum duty duty, const struct position *at,
			  struct str pattern)
{
	const struct policy *p = &k->c->settings.policy;
	const struct str_list *list = &p->duty[duty].namespaces, *by_default = &p->default_exclude_namespaces;
	const char *one = left_out(list, pattern, by_default);

	if (str_is(pattern, "*")) {
		if (!is_written(k, "defaultExcludeNamespaces"))
			WARN(k, at,
			     "%s.namespaces: \"*\" leaves out kube-system and %zu more "
			     "(defaultExcludeNamespaces): name one to work in it",
			     duty_name(duty), by_default->n - 1);
	} else if (str_list_has(list, STR_LIT("*"))) {
		WARN(k, at, "%s.namespaces: \"%.*s\" is already in \"*\"", duty_name(duty), STR_ARG(pattern));
	} else if (one) {
		WARN(k, at,
		     "%s.namespaces: \"%.*s\" leaves out %s (defaultExcludeNamespaces): name it to work in "
		     "it",
		     duty_name(duty), STR_ARG(pattern), one);
	}
}

static void check_namespaces(const struct check *k, enum duty duty)
{
	const struct str_list *list = &k->c->settings.policy.duty[duty].namespaces;
	const struct position *at = position_of_key(k, duty, "namespaces");
	char key[64];

	(void)snprintf(key, sizeof(key), "%s.namespaces", duty_name(duty));
	if (list->n == 0)
		WARN(k, position_of_key(k, duty, "enable"),
		     "%s is enabled but works in no namespace: name some in namespaces, or \"*\" for all",
		     duty_name(duty));
	for (size_t i = 0; i < list->n; i++) {
		const struct namespace_item item = namespaces_item(STR_C(list->v[i]));

		if (item.except)
			check_exception(k, key, at, list, &item);
		else if (item.kind == NAMESPACE_NAME)
			check_name(k, duty, at, item.text);
		else if (item.kind == NAMESPACE_PATTERN)
			check_pattern(k, duty, at, item.text);
	}
	if (namespaces_only_except(list))
		check_pattern(k, duty, at, STR_LIT("*"));
}

/* Exceptions alone would exclude all others: that is hardly what was meant. */
static void check_exclusions(const struct check *k, const char *key, const struct str_list *list)
{
	const struct position *at = position_of(k, key);

	if (namespaces_only_except(list))
		ERROR(k, at,
		      "%s: \"%s\" alone would exclude every other namespace: write without '!' what is "
		      "excluded",
		      key, list->v[0]);
	for (size_t i = 0; i < list->n; i++) {
		const struct namespace_item item = namespaces_item(STR_C(list->v[i]));

		if (item.except)
			check_exception(k, key, at, list, &item);
	}
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
		WARN(k, &(struct position){ 0 },
		     "every duty is off: write enable: true for those that shall work");
	if (duty[DUTY_IMAGE_PULL].enable && duty[DUTY_IMAGE_PULL].hours_ms < 600000)
		WARN(k, position_of_key(k, DUTY_IMAGE_PULL, "hours"),
		     "errImagePull.hours: less than 10m is short: the kubelet itself waits up to 5m between "
		     "two tries, and a short outage of a registry scales workloads to 0");
	if (duty[DUTY_EVICTED].enable && !is_written(k, "deleteEvictedPod.includeJobs"))
		WARN(k, position_of(k, "deleteEvictedPod"),
		     "deleteEvictedPod keeps pods of Jobs, which the original program deleted: write "
		     "includeJobs: true or false");
	if (duty[DUTY_TERMINATING].enable && !is_written(k, "deleteTerminatingPod.unreachableNodes"))
		WARN(k, position_of(k, "deleteTerminatingPod"),
		     "deleteTerminatingPod keeps pods on nodes that do not answer, which the original "
		     "program deleted: write unreachableNodes: true (dangerous) or false");
}

static void check_file(const struct check *k, const struct position *at, const char *key, const char *file)
{
	file_tell_missing(k->path, at, key, file, k->d);
}

static void check_secrets(const struct check *k)
{
	const struct config *c = k->c;

	check_file(k, position_of(k, "tooManyRestart.apiurlFile"), "tooManyRestart.apiurlFile",
		   c->api_url_file);
	check_file(k, position_of(k, "tooManyRestart.secretFile"), "tooManyRestart.secretFile",
		   c->api_secret_file);

	if (c->api_url && c->api_url_file)
		ERROR(k, position_of(k, "tooManyRestart.apiurlFile"),
		      "apiurl and apiurlFile are both given: keep one");
	if (c->api_secret && c->api_secret_file)
		ERROR(k, position_of(k, "tooManyRestart.secretFile"),
		      "secret and secretFile are both given: keep one");
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

static void check_schedule(const struct check *k)
{
	const struct settings *s = &k->c->settings;
	const struct position *at = position_of(k, "tooManyRestart.duration");
	const char *name = s->time_zone ? s->time_zone : "UTC";
	_cleanup_free_ void *bytes = NULL;
	struct zone *z = NULL;
	struct cron c;
	size_t n;
	int r;

	if (!s->schedule || cron_parse(s->schedule, &c, NULL) < 0)
		return; /* reported where it was read */
	if (c.zone[0] != '\0') {
		name = c.zone;
		if (is_written(k, "tooManyRestart.timeZone"))
			WARN(k, at, "the time zone in front of the schedule, %s, is used, not timeZone",
			     c.zone);
	} else if (is_written(k, "tooManyRestart.timeZone")) {
		at = position_of(k, "tooManyRestart.timeZone");
	} else if (is_written(k, "timeZone") && policy_enables(&s->policy, DUTY_RESTARTS)) {
		WARN(k, position_of(k, "timeZone"),
		     "timeZone is of windows: the report is sent by tooManyRestart.timeZone, which is %s",
		     name);
	}
	r = zone_load(name, &bytes, &n);
	if (r == 0 && bytes)
		r = zone_parse(bytes, n, &z);
	if (r < 0)
		ERROR(k, at, "time zone \"%s\": %s", name, diags_said(k->d, zone_error(r)));
	else if (policy_enables(&s->policy, DUTY_RESTARTS) && is_frequent(&c, z))
		WARN(k, position_of(k, "tooManyRestart.duration"),
		     "the report is sent more than once a minute: the bot refuses more than 100 a minute");
	zone_free(&z);
}

static const char *zone_of_windows(const struct check *k)
{
	return k->c->settings.window_zone ? k->c->settings.window_zone : "UTC";
}

static void check_zone(const struct check *k, const struct position *at, const char *name)
{
	_cleanup_free_ void *bytes = NULL;
	size_t n;
	const int r = zone_load(name, &bytes, &n);

	if (r < 0)
		ERROR(k, at, "time zone \"%s\": %s", name, diags_said(k->d, zone_error(r)));
}

/* Every zone that a window names is there; the windows themselves were read where they stand. */
static void check_windows(const struct check *k, enum duty d)
{
	const struct str_list *windows = &k->c->settings.policy.duty[d].windows;
	struct window w;

	for (size_t i = 0; i < windows->n; i++) {
		if (window_parse(windows->v[i], &w, NULL) < 0)
			continue;
		if (*w.cron.zone)
			check_zone(k, position_of_key(k, d, "windows"), w.cron.zone);
		else if (!is_written(k, "timeZone")) /* else it is looked at where it stands */
			check_zone(k, position_of_key(k, d, "windows"), zone_of_windows(k));
	}
}

static bool same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static void check_clusters(const struct check *k)
{
	const struct config *c = k->c;

	check_file(k, position_of(k, "kubeconfig"), "kubeconfig", c->kubeconfig);
	check_file(k, position_of(k, "writerKubeconfig"), "writerKubeconfig", c->writer_kubeconfig);

	for (size_t i = 0; i < c->n_clusters; i++) {
		const struct cluster_config *a = &c->clusters[i];

		check_file(k, &k->positions->cluster[i], "clusters[].kubeconfig", a->kubeconfig);
		check_file(k, &k->positions->cluster[i], "clusters[].writerKubeconfig", a->writer_kubeconfig);
		if (!a->name && !k->positions->cluster[i].key)
			ERROR(k, &k->positions->cluster[i], "a cluster without a name: write name: ...");
		for (size_t j = 0; j < i && a->name; j++) {
			const struct cluster_config *b = &c->clusters[j];

			if (!b->name)
				continue;
			if (same(a->name, b->name))
				ERROR(k, &k->positions->cluster[i], "two clusters are called \"%s\"",
				      a->name);
			else if (same(a->kubeconfig, b->kubeconfig) && same(a->context, b->context))
				ERROR(k, &k->positions->cluster[i],
				      "\"%s\" and \"%s\" are the same cluster: give each its kubeconfig or "
				      "context",
				      b->name, a->name);
		}
	}
	if (c->n_clusters > 0 && c->context)
		WARN(k, position_of(k, "context"),
		     "context is not used when clusters is given: write it there");
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
		const struct position *at = &k->positions->override[i];

		if (o->namespaces.n == 0 && o->labels.n == 0)
			ERROR(k, at,
			      "override \"%s\" has neither namespaces nor labels: write the keys where they "
			      "hold for all",
			      o->name);
		for (size_t j = 0; j < i; j++) {
			if (strcmp(o->name, p->overrides[j].name) == 0)
				ERROR(k, at, "two overrides are called \"%s\"", o->name);
			else if (hides(&p->overrides[j], o))
				WARN(k, at,
				     "override \"%s\" is not used where \"%s\", which stands first and is as "
				     "specific, matches too",
				     o->name, p->overrides[j].name);
		}
	}
}

void config_validate(const char *path, const struct config *c, const struct positions *positions,
		     struct diags *d)
{
	const struct check k = { path, c, positions, d };

	check_duties(&k);
	check_exclusions(&k, "excludeNamespaces", &c->settings.policy.exclude_namespaces);
	check_exclusions(&k, "defaultExcludeNamespaces", &c->settings.policy.default_exclude_namespaces);
	check_secrets(&k);
	config_validate_sinks(path, c, positions, d);
	check_schedule(&k);
	if (is_written(&k, "timeZone"))
		check_zone(&k, position_of(&k, "timeZone"), zone_of_windows(&k));
	for (enum duty duty = 0; duty < DUTY__MAX; duty++)
		check_windows(&k, duty);
	check_clusters(&k);
	check_overrides(&k);
}
