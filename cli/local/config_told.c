/* config_told.c - see config_told.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/local/config_told.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/tree_size.h"
#include "base/xalloc.h"
#include "cli/local/yaml_json.h"
#include "cli/view/output.h"
#include "cli/view/table.h"
#include "config/clusters.h"
#include "config/cron.h"
#include "config/file.h"
#include "config/kubeconfig.h"
#include "config/window.h"
#include "config/zone_file.h"
#include "model/duties.h"
#include "rules/select.h"

#define RUNS           3
#define LOCAL_TIME_MAX (RFC3339_MAX + 8)

/* -- clusters -- */

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

/* What tells one API server from another; NULL where it is not known. Owned by the caller. */
static char *server_key(const struct kube_target *t)
{
	const char *ca = t->c.ca_pem ? t->c.ca_pem : t->ca_file ? t->ca_file : "";

	return t->c.server ? xconcat(t->c.server, "\n", t->c.tls_server_name ? t->c.tls_server_name : "",
				     "\n", ca, NULL)
			   : NULL;
}

/* Its parts are null where it cannot be read. name: NULL of workers. ret_key: server_key(). */
static json_t *look_at_source(const char *name, const struct cluster_source *s, struct diags *d,
			      char **ret_key)
{
	const struct kube_options o = { .kubeconfig = s->kubeconfig, .context = s->context };
	_cleanup_(kube_target_done) struct kube_target t = { 0 };
	const bool known = s->kubeconfig && file_can_be_read(s->kubeconfig, "kubeconfig", d) &&
			   kube_target_load(&o, &t, d) == 0;

	*ret_key = known ? server_key(&t) : NULL;
	if (known) {
		file_tell_closed(s->kubeconfig, "kubeconfig", d);
		file_tell_exposed(s->kubeconfig, d);
	}
	return json_pack("{s:s*, s:o, s:o, s:o, s:o}", "name", name, "server",
			 text_or_null(known ? t.c.server : NULL), "context",
			 text_or_null(known ? t.context : s->context), "user",
			 text_or_null(known ? t.user : NULL), "kubeconfig", text_or_null(s->kubeconfig));
}

/* Its actions would be counted in two budgets, and told twice. */
static void tell_same_server(const char *path, const struct config *c, const char *const *keys, size_t i,
			     struct diags *d)
{
	for (size_t k = 0; keys[i] && k < i; k++)
		if (keys[k] && strcmp(keys[i], keys[k]) == 0) {
			diags_warn(d, ((struct place){ .file = path, .key = "clusters" }), SAME_SERVER,
				   c->clusters[k].name, c->clusters[i].name, (int)strcspn(keys[i], "\n"),
				   keys[i]);
			return;
		}
}

json_t *config_clusters_look(const char *path, const struct config *c, struct diags *d)
{
	json_t *all = json_array();
	_cleanup_free_ char **keys = xcalloc(clusters_count(c), sizeof(*keys));

	for (size_t i = 0; i < clusters_count(c); i++) {
		const struct cluster_config one = clusters_at(c, i);
		_cleanup_(cluster_source_done) struct cluster_source reader =
			clusters_reader(c, &one, path, NULL);
		_cleanup_(cluster_source_done) struct cluster_source writer =
			clusters_writer(c, &one, path, NULL);
		json_t *told = look_at_source(clusters_name(&one), &reader, d, &keys[i]);
		_cleanup_free_ char *writers = NULL;

		tell_same_server(path, c, (const char *const *)keys, i, d);
		if (clusters_own_writer(&one))
			json_object_set_new(told, "writer", look_at_source(NULL, &writer, d, &writers));
		json_array_append_new(all, told);
	}
	for (size_t i = 0; i < clusters_count(c); i++)
		free(keys[i]);
	return all;
}

static const char *text_of(const json_t *one, const char *key)
{
	return json_string_value(json_object_get(one, key));
}

/* Owned by the caller. */
static char *words_of(const json_t *source)
{
	const char *server = text_of(source, "server"), *context = text_of(source, "context"),
		   *user = text_of(source, "user"), *kubeconfig = text_of(source, "kubeconfig");
	_cleanup_free_ char *in = context ? xasprintf(TEXT(STATUS_CONTEXT), context) : xstrdup("");
	_cleanup_free_ char *as = user ? xasprintf(TEXT(STATUS_USER), user) : xstrdup("");

	if (!kubeconfig)
		return xconcat(TEXT(CLUSTERS_SEARCHED), in, NULL);
	return xasprintf(TEXT(CLUSTERS_PLACE), server ? server : TEXT(CLUSTERS_UNKNOWN), in, as, kubeconfig);
}

/* A file that leaves it to whoever runs it has nothing to tell. */
static bool names_any(const struct config *c)
{
	return c->n_clusters > 0 || c->kubeconfig || c->context || c->writer_kubeconfig || c->writer_context;
}

/* Of several: one fits everywhere. */
static void print_need(const struct config *c)
{
	struct tree_size size = tree_size_of_none();

	for (size_t i = 0; i < c->n_clusters; i++) {
		const struct cluster_config one = clusters_at(c, i);

		tree_size_add(&size, one.workers_min, one.workers);
	}
	if (c->n_clusters > 1)
		table_indented(stdout, 2, TEXT(CLUSTERS_NEED), size.idle, size.most, size.descriptors,
			       size.memory >> 20, TREE_POD_BYTES);
}

static void print_clusters(const struct config *c, const json_t *clusters)
{
	json_t *one;
	size_t i;

	if (!names_any(c))
		return;
	printf("%s\n", TEXT(CLUSTERS_HEAD));
	json_array_foreach (clusters, i, one) {
		const json_t *writer = json_object_get(one, "writer");
		_cleanup_free_ char *words = words_of(one);
		_cleanup_free_ char *workers = writer ? words_of(writer) : NULL;

		table_indented(stdout, 2, "%s:", text_of(one, "name"));
		table_indented(stdout, 4, "%s", words);
		if (workers)
			table_indented(stdout, 4, TEXT(CLUSTERS_WORKERS), workers);
	}
	print_need(c);
}

/* -- namespaces -- */

/* Owned by the caller, as what follows. */
static char *item_text(const struct namespace_item *i, enum language l)
{
	if (i->kind == NAMESPACE_LABEL && str_is(i->value, "*"))
		return xasprintf(phrase(NAMESPACES_LABEL, l), STR_ARG(i->text));
	if (i->kind == NAMESPACE_LABEL)
		return xasprintf(phrase(NAMESPACES_LABELLED, l), STR_ARG(i->text), STR_ARG(i->value));
	if (str_is(i->text, "*"))
		return xstrdup(phrase(NAMESPACES_EVERY, l));
	if (i->kind == NAMESPACE_PATTERN)
		return xasprintf(phrase(NAMESPACES_NAMED, l), STR_ARG(i->text));
	return xstrndup(i->text.p, i->text.n);
}

/* Of the items that except, or of the others; NULL: there are none. */
static char *items_text(const struct str_list *list, bool except, enum language l)
{
	char *text = NULL;

	for (size_t k = 0; k < list->n; k++) {
		const struct namespace_item i = namespaces_item(STR_C(list->v[k]));
		_cleanup_free_ char *one = item_text(&i, l);

		if (i.except == except)
			xappend(&text, ", ", one);
	}
	return text;
}

/* protected: what the list does not name is not meant where it is protected. */
static char *meaning(const struct str_list *list, bool protected, enum language l)
{
	_cleanup_free_ char *named = items_text(list, false, l), *excepted = items_text(list, true, l);
	const char *otherwise = list->n ? phrase(NAMESPACES_EVERY, l) : phrase(NONE, l);

	return xconcat(named ? named : otherwise, excepted ? phrase(NAMESPACES_BUT_NOT, l) : "",
		       excepted ? excepted : "",
		       protected && namespaces_select_more(list) ? phrase(NAMESPACES_PROTECTED, l) : "",
		       NULL);
}

/* Does the duty work in this namespace? */
static bool serves(const struct policy *p, enum duty d, json_t *item, const char *name)
{
	json_t *labels = json_object_get(json_object_get(item, "metadata"), "labels"), *value;
	_cleanup_free_ struct label *v = xcalloc(json_object_size(labels) + 1, sizeof(*v));
	const char *key;
	size_t n = 0;

	json_object_foreach (labels, key, value)
		if (json_is_string(value))
			v[n++] = (struct label){ STR_C(key), STR_C(json_string_value(value)) };
	const struct namespace_labels all = { v, n };
	const struct pod_facts pod = { .ns = STR_C(name), .namespace_labels = &all };
	enum reason ignored;

	return select_namespace(p, d, &pod, &ignored);
}

static json_t *served(const struct policy *p, enum duty d, const json_t *cluster)
{
	json_t *names = json_array(), *items = json_object_get(cluster, "items"), *item;
	size_t i;

	json_array_foreach (items, i, item) {
		const char *name =
			json_string_value(json_object_get(json_object_get(item, "metadata"), "name"));

		if (name && serves(p, d, item, name))
			json_array_append_new(names, json_string(name));
	}
	return names;
}

json_t *config_namespaces_load(const char *path)
{
	json_t *root = yaml_json_read(path);

	if (root && !json_is_array(json_object_get(root, "items"))) {
		(void)fprintf(stderr, TEXT(NAMESPACES_NO_LIST), path);
		(void)fputc('\n', stderr);
		json_decref(root);
		root = NULL;
	}
	return root;
}

json_t *config_namespaces_json(const struct policy *p, const json_t *cluster, enum language l)
{
	json_t *all = json_object();

	for (size_t i = 0; i < DUTY__MAX; i++) {
		const enum duty d = duty_at(i);
		_cleanup_free_ char *text = meaning(&p->duty[d].namespaces, true, l);
		json_t *one = json_pack("{s:s}", "meaning", text);

		if (cluster)
			json_object_set_new(one, "namespaces", served(p, d, cluster));
		if (policy_enables(p, d))
			json_object_set(all, duty_name(d), one);
		json_decref(one);
	}
	return all;
}

static void print_line(const char *what, const char *text)
{
	printf("  %s:\n", what);
	table_indented(stdout, 4, "%s", text);
}

static void print_served(const json_t *names, const json_t *cluster)
{
	_cleanup_free_ char *all = NULL;
	const json_t *name;
	size_t i;

	json_array_foreach (names, i, name)
		xappend(&all, ", ", json_string_value(name));
	_cleanup_free_ char *head =
		xasprintf(TEXT(NAMESPACES_OF), json_array_size(json_object_get(cluster, "items")),
			  json_array_size(names));

	table_indented(stdout, 4, "%s%s", head, all ? all : "");
}

static void print_namespaces(const struct policy *p, const json_t *cluster)
{
	const enum language said = language_of_environment();
	json_auto_t *all = config_namespaces_json(p, cluster, said);
	const char *duty;
	json_t *one;
	bool wide = false;

	printf("%s\n", TEXT(NAMESPACES_HEAD));
	json_object_foreach (all, duty, one) {
		print_line(duty, text_of(one, "meaning"));
		if (cluster)
			print_served(json_object_get(one, "namespaces"), cluster);
	}
	for (enum duty d = 0; d < DUTY__MAX; d++)
		wide = wide || (policy_enables(p, d) && namespaces_select_more(&p->duty[d].namespaces));
	for (size_t i = 0; i < p->n_overrides; i++) {
		_cleanup_free_ char *text = meaning(&p->overrides[i].namespaces, false, said);
		_cleanup_free_ char *what = xasprintf(TEXT(NAMESPACES_OVERRIDE), p->overrides[i].name);

		if (p->overrides[i].namespaces.n)
			print_line(what, text);
	}
	_cleanup_free_ char *never = meaning(&p->exclude_namespaces, false, said);
	_cleanup_free_ char *protected = meaning(&p->default_exclude_namespaces, false, said);

	if (p->exclude_namespaces.n)
		print_line(TEXT(NAMESPACES_NEVER), never);
	if (wide) {
		_cleanup_free_ char *text = xconcat(protected, TEXT(NAMESPACES_OWN), NULL);

		print_line(TEXT(NAMESPACES_PROTECTED_ARE), text);
	}
}

/* -- schedules -- */

/* Local time with its offset: "2026-11-21T09:00:00+08:00"; zone NULL = UTC. */
static void format_local(int64_t ms, const struct zone *zone, char ret[static LOCAL_TIME_MAX])
{
	int64_t until;
	const int32_t east = zone_offset(zone, ms / 1000, &until);
	const int32_t minutes = (east < 0 ? -east : east) / 60;
	char buf[RFC3339_MAX];

	rfc3339_format(ms + (int64_t)east * 1000, false, buf);
	if (east == 0)
		(void)snprintf(ret, LOCAL_TIME_MAX, "%s", buf);
	else
		(void)snprintf(ret, LOCAL_TIME_MAX, "%.*s%c%02d:%02d", (int)strlen(buf) - 1, buf,
			       east < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

json_t *schedule_times(const struct cron *cron, const struct zone *zone, int64_t from_ms, int64_t n)
{
	json_t *times = json_array();
	char time[LOCAL_TIME_MAX];

	for (int64_t i = 0; i < n && (from_ms = cron_next(cron, zone, from_ms)) != 0; i++) {
		format_local(from_ms, zone, time);
		json_array_append_new(times, json_string(time));
	}
	return times;
}

/* One schedule as it is written, with the zone that it names or else is read by. */
static void add(json_t *all, const char *key, const char *text, const struct cron *cron,
		const char *zone_name, int64_t now_ms)
{
	const char *name = cron->zone[0] ? cron->zone : zone_name ? zone_name : "UTC";
	_cleanup_free_ void *bytes = NULL;
	struct zone *zone = NULL;
	size_t n = 0;

	if (zone_load(name, &bytes, &n) == 0 && bytes)
		(void)zone_parse(bytes, n, &zone);
	json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:o}", "key", key, "schedule", text, "zone",
					     name, "next", schedule_times(cron, zone, now_ms, RUNS)));
	zone_free(&zone);
}

static void add_windows(json_t *all, const char *before, enum duty d, const struct str_list *windows,
			const char *zone, int64_t now_ms)
{
	_cleanup_free_ char *key = xasprintf("%s%s.windows", before, duty_name(d));
	struct window w;

	for (size_t i = 0; i < windows->n; i++)
		if (window_parse(windows->v[i], &w, NULL) == 0)
			add(all, key, windows->v[i], &w.cron, zone, now_ms);
}

json_t *schedule_json(const struct config *c, int64_t now_ms)
{
	const struct settings *s = &c->settings;
	const struct policy *p = &s->policy;
	json_t *all = json_array();
	struct cron cron;

	if (policy_enables(p, DUTY_RESTARTS) && s->schedule && cron_parse(s->schedule, &cron, NULL) == 0)
		add(all, "tooManyRestart.duration", s->schedule, &cron,
		    s->time_zone ? s->time_zone : s->window_zone, now_ms);
	for (size_t i = 0; i < DUTY__MAX; i++) {
		const enum duty d = duty_at(i);
		const struct str_list *windows = &p->duty[d].windows;

		if (!policy_enables(p, d))
			continue;
		add_windows(all, "", d, windows, s->window_zone, now_ms);
		for (size_t k = 0; k < p->n_overrides; k++) {
			const struct policy_override *o = &p->overrides[k];
			_cleanup_free_ char *before = xasprintf("override %s: ", o->name);

			if (!str_list_equal(windows, &o->duty[d].windows))
				add_windows(all, before, d, &o->duty[d].windows, s->window_zone, now_ms);
		}
	}
	return all;
}

static void print_schedules(const struct config *c)
{
	json_auto_t *all = schedule_json(c, clock_wall_ms());
	json_t *one, *time;
	size_t i, k;

	if (json_array_size(all) > 0)
		printf("%s\n", TEXT(CONFIG_NEXT_RUNS));
	json_array_foreach (all, i, one) {
		_cleanup_free_ char *times = NULL;

		json_array_foreach (json_object_get(one, "next"), k, time)
			xappend(&times, " ", json_string_value(time));
		table_indented(stdout, 2, "%s \"%s\", %s:", text_of(one, "key"), text_of(one, "schedule"),
			       text_of(one, "zone"));
		table_indented(stdout, 4, "%s", times ? times : "");
	}
}

void config_told_print(const struct config *c, const json_t *clusters, const json_t *cluster)
{
	table_indented(stdout, 0, "%s",
		       c->settings.policy.mode == MODE_OBSERVE ? TEXT(CONFIG_OBSERVES)
							       : TEXT(CONFIG_ENFORCES));
	print_clusters(c, clusters);
	print_namespaces(&c->settings.policy, cluster);
	print_schedules(c);
}
