/* complete.c - what the configuration names besides clusters: secret files, time zone, state
 * directory, and who we are. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/complete.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/fnv.h"
#include "base/private_dir.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "config/clusters.h"
#include "config/cron.h"
#include "config/kubeconfig.h"
#include "config/file.h"
#include "config/value.h"
#include "config/window.h"
#include "config/zone_file.h"
#include "loader/sinks.h"
#include "loader/trust.h"
#include "loader/way.h"

static bool load_zone(struct loader *l)
{
	struct settings *s = &l->config.settings;
	char why[SENTENCE_MAX];
	struct cron c;
	size_t n = 0;
	int r;

	const bool prefixed = cron_parse(s->schedule, &c, NULL) == 0 && c.zone[0] != '\0';
	char *name = prefixed       ? xstrdup(c.zone)
		     : s->time_zone ? xstrdup(s->time_zone)
				    : xstrdup(s->window_zone ? s->window_zone : "UTC");

	free(s->time_zone);
	s->time_zone = name;
	r = zone_load(s->time_zone, &s->zone_data, &n);
	s->zone_size = r == 0 ? n : 0;
	if (r == 0)
		return true;
	return loader_error(l, -EINVAL, place_of_file(l->options->config), ZONE, s->time_zone,
			    zone_error(why, r));
}

struct window_zones {
	struct loader *l;
	struct str_list names;
	bool ok;
};

static void load_window_zone(struct window_zones *z, const char *name)
{
	struct settings *s = &z->l->config.settings;
	const char *of = *name ? name : s->window_zone ? s->window_zone : "";
	_cleanup_free_ void *bytes = NULL;
	char why[SENTENCE_MAX];
	size_t n = 0, all = s->window_zones_size;
	int r;

	if (str_list_has(&z->names, STR_C(name)))
		return;
	str_list_add(&z->names, name, strlen(name));
	r = zone_load(of, &bytes, &n);
	if (r < 0)
		z->ok = loader_error(z->l, -EINVAL, place_of_file(z->l->options->config), ZONE, of,
				     zone_error(why, r));
	else
		windows_pack_zone(&s->window_zones, &all, name, bytes, bytes ? n : 0);
	s->window_zones_size = all;
}

static void load_zones_of(struct window_zones *z, const struct duty_policy duties[static DUTY__MAX])
{
	struct window w;

	for (int d = 0; d < DUTY__MAX; d++)
		for (size_t i = 0; i < duties[d].windows.n; i++)
			if (window_parse(duties[d].windows.v[i], &w, NULL) == 0)
				load_window_zone(z, w.cron.zone);
}

/* The processes that need them open no file. */
static bool load_window_zones(struct loader *l)
{
	const struct policy *p = &l->config.settings.policy;
	struct window_zones z = { .l = l, .ok = true };

	load_zones_of(&z, p->duty);
	for (size_t i = 0; i < p->n_overrides; i++)
		load_zones_of(&z, p->overrides[i].duty);
	str_list_done(&z.names);
	return z.ok;
}

static char *default_state_dir(void)
{
	const char *xdg = str_env("XDG_STATE_HOME"), *home = str_env("HOME");

	if (geteuid() == 0)
		return xstrdup("/var/lib/ops-pod-cleaner");
	if (xdg && xdg[0] == '/')
		return xasprintf("%s/ops-pod-cleaner", xdg);
	return home ? xasprintf("%s/.local/state/ops-pod-cleaner", home) : NULL;
}

/* Paths within it have to fit into a message. */
#define STATE_DIR_BYTES 900

static bool find_state_dir(struct loader *l)
{
	struct settings *s = &l->config.settings;
	_cleanup_free_ char *beside = s->state_dir ? file_beside(l->options->config, s->state_dir) : NULL;

	free(s->state_dir);
	if (l->options->state_dir)
		s->state_dir = way_absolute(l->options->state_dir);
	else
		s->state_dir = beside ? way_absolute(beside) : default_state_dir();
	/* A folder of our own in a volume that a kubelet made. */
	if (s->state_dir && private_dir_is_volume(s->state_dir)) {
		char *own = xasprintf("%s/ops-pod-cleaner", s->state_dir);

		free(s->state_dir);
		s->state_dir = own;
	}
	if (s->state_dir && strlen(s->state_dir) > STATE_DIR_BYTES)
		return loader_error(l, -ENAMETOOLONG, (struct place){ .key = "stateDir" }, STATE_LONG,
				    STATE_DIR_BYTES, s->state_dir);
	if (s->state_dir)
		return true;
	return loader_error(l, -EINVAL, place_of_file(l->options->config), NO_STATE);
}

/* The pod we run in is never acted on, its namespace is a default exclusion. */
static void find_ourselves(struct loader *l)
{
	struct policy *p = &l->config.settings.policy;
	const char *ns = str_env("POD_NAMESPACE"), *pod = str_env("POD_NAME");
	const bool inside = kube_is_in_cluster();
	_cleanup_free_ char *path = xasprintf("%s/namespace", kube_service_account_dir()), *text = NULL;
	char why[SENTENCE_MAX];
	size_t n;

	if (!ns && inside && file_read(path, 256, &text, &n, why) == 0) {
		text[strcspn(text, " \t\r\n")] = '\0';
		ns = text;
	}
	if (!pod && inside)
		pod = str_env("HOSTNAME"); /* the kubelet names the host after the pod */
	if (ns && setting_is_object_name(ns) && strlen(ns) <= 63)
		p->own_namespace = xstrdup(ns);
	if (pod && strlen(pod) <= 253)
		p->own_pod = xstrdup(pod);
}

/* "/run/ops-pod-cleaner@prod": systemd's name of the instance. NULL = it has none. */
static const char *instance_name(void)
{
	const char *at = strrchr(str_env("RUNTIME_DIRECTORY") ? str_env("RUNTIME_DIRECTORY") : "", '@');

	return at && at[1] && !strpbrk(at, "/:") ? at + 1 : NULL;
}

#define LISTEN_PORT      9464
#define LISTEN_INSTANCES 1000

/* A kubelet asks from outside of the pod, and so does who collects metrics. */
static void find_listen(struct loader *l)
{
	struct settings *s = &l->config.settings;
	const char *host = str_env("KUBERNETES_SERVICE_HOST");

	const char *instance = instance_name();

	if (s->metrics_listen)
		return;
	/* Instances of one machine read files that are alike: each has its port, the same at every start. */
	const unsigned port =
		!kube_is_in_pod() && instance
			? LISTEN_PORT + 1 + (unsigned)(fnv_text(FNV_START, instance) % LISTEN_INSTANCES)
			: LISTEN_PORT;

	s->metrics_listen = xasprintf("%s:%u",
				      !kube_is_in_pod()   ? "127.0.0.1"
				      : strchr(host, ':') ? "[::]"
							  : "0.0.0.0",
				      port);
}

/* What people call the only cluster, where `clusters` does not name it. What is wrong with its kubeconfig is
 * said where it is loaded. */
static void find_title(struct loader *l)
{
	_cleanup_(kube_target_done) struct kube_target t = { 0 };
	_cleanup_(diags_done) struct diags unheard = { 0 };
	const struct config *c = &l->config;
	const struct cluster_config one = clusters_at(c, 0);

	if (c->n_clusters > 0)
		return;
	_cleanup_(cluster_source_done) struct cluster_source source =
		clusters_reader(c, &one, l->options->config, l->options->kubeconfig);
	const struct kube_options o = { source.kubeconfig, source.context, l->options->master };
	const char *title =
		kube_target_load(&o, &t, &unheard) == 0 && t.context ? t.context : instance_name();

	if (title && *title && strlen(title) <= 253)
		l->config.settings.cluster_title = xstrdup(title);
}

static bool set_one(struct loader *l, const char *text)
{
	const char *equals = strchr(text, '='), *value = equals ? equals + 1 : "";
	_cleanup_free_ char *key = equals ? xstrndup(text, (size_t)(equals - text)) : NULL,
			    *flag = xconcat("--set ", text, NULL);
	const struct place at = { .key = flag };
	const struct setting *row = settings_table;
	struct policy *p = &l->config.settings.policy;
	int r = 0;

	while (key && row->path && strcmp(row->path, key) != 0)
		row++;
	if (!key || !row->path)
		return loader_error(l, -EINVAL, at, SET_KEY);
	r = setting_assign(row, &l->config, value, strlen(value), &l->diags, at);
	for (size_t i = 0; r == 0 && setting_is_of_duty(row) && i < p->n_overrides; i++)
		r = setting_assign(row, &p->overrides[i], value, strlen(value), &l->diags, at);
	return r == 0 || loader_failed(l, r);
}

bool loader_set(struct loader *l)
{
	bool ok = true;

	for (size_t i = 0; i < l->options->n_set; i++)
		ok = set_one(l, l->options->set[i]) && ok;
	return ok;
}

bool loader_complete(struct loader *l)
{
	bool ok = true;

	loader_read_sinks(l);
	trust_complete_sinks(&l->config.settings);
	ok = load_zone(l) && ok;
	ok = load_window_zones(l) && ok;
	ok = find_state_dir(l) && ok;
	find_listen(l);
	find_ourselves(l);
	find_title(l);
	return ok;
}
