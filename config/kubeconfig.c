/* kubeconfig.c - sources, merging, contexts; see kubeconfig.h. The fields of an entry: kubeconfig_user.c. */
// SPDX-License-Identifier: Apache-2.0
#include "config/kubeconfig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "config/url.h"
#include "config/value.h"

#define FILES_MAX 32u

/* The kubeconfigs in the order in which they win. */
struct files {
	char *path[FILES_MAX];
	struct yaml y[FILES_MAX];
	size_t n;
};

static void files_done(struct files *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->path[i]);
		yaml_done(&f->y[i]);
	}
}

const char *kube_service_account_dir(void)
{
	const char *dir = str_env("OPC_SERVICEACCOUNT_DIR");

	return dir ? dir : "/var/run/secrets/kubernetes.io/serviceaccount";
}

bool kube_is_in_pod(void)
{
	return str_env("KUBERNETES_SERVICE_HOST") && str_env("KUBERNETES_SERVICE_PORT");
}

bool kube_is_in_cluster(void)
{
	_cleanup_free_ char *token = xasprintf("%s/token", kube_service_account_dir());
	struct stat st;

	return kube_is_in_pod() && stat(token, &st) == 0 && S_ISREG(st.st_mode);
}

static int add_file(struct files *f, const char *path, struct diags *d)
{
	const size_t before = d->errors;

	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->path[i], path) == 0)
			return 0;
	if (f->n == FILES_MAX)
		return diags_error(d, place_of_file(path), MANY_KUBECONFIGS, FILES_MAX);
	const int r = yaml_read(path, YAML_KUBECONFIG, &f->y[f->n], d);
	const yaml_node_t *root = yaml_root(&f->y[f->n]);

	if (r == 0 && root && root->type != YAML_MAPPING_NODE)
		(void)diags_error(d, yaml_place(path, root, NULL), NO_KUBECONFIG, WORD(yaml_kind(root)));
	if (r < 0 || d->errors > before) {
		yaml_done(&f->y[f->n]);
		return r < 0 ? r : -EINVAL;
	}
	f->path[f->n++] = xstrdup(path);
	return 0;
}

/* "a:b:c"; files that do not exist are left out, but not all. */
static int add_files(struct files *f, const char *list, struct diags *d)
{
	_cleanup_free_ char *copy = xstrdup(list);
	int r = 0;

	for (char *next = copy, *path; (path = strsep(&next, ":"));) {
		const int one = *path != '\0' && access(path, F_OK) == 0 ? add_file(f, path, d) : 0;

		r = one < 0 ? one : r;
	}
	if (f->n == 0 && r == 0)
		return diags_error(d, place_of_file(NULL), NONE_EXISTS, list);
	return r;
}

/* Step over the items of one list of all files, in the order of the files: *file and *i are 0 before the
 * first. Returns the item's name; "" for an item without one. */
static const char *next_entry(const struct files *f, const char *list, size_t *file, size_t *i,
			      struct yaml_item *ret)
{
	for (; *file < f->n; ++*file, *i = 0) {
		const struct yaml *y = &f->y[*file];

		if (yaml_next(y, yaml_get(y, yaml_root(y), list).value, i, ret) && !ret->key) {
			const yaml_node_t *name = yaml_get(y, ret->value, "name").value;

			return yaml_is_text(name) ? yaml_text(name) : "";
		}
	}
	return NULL;
}

/* The entry called `name` of `clusters`, `users` or `contexts`: the first file that has it wins whole. */
static struct kube_entry find_entry(const struct files *f, const char *list, const char *member,
				    const char *name, struct diags *d)
{
	struct yaml_item n;
	const char *one;

	for (size_t file = 0, i = 0; (one = next_entry(f, list, &file, &i, &n));)
		if (strcmp(one, name) == 0)
			return (struct kube_entry){ f->path[file], name, &f->y[file],
						    yaml_get(&f->y[file], n.value, member).value, d };
	return (struct kube_entry){ 0 };
}

static const char *current_context(const struct files *f)
{
	for (size_t i = 0; i < f->n; i++) {
		const yaml_node_t *n = yaml_get(&f->y[i], yaml_root(&f->y[i]), "current-context").value;

		if (yaml_is_text(n) && *yaml_text(n))
			return yaml_text(n);
	}
	return NULL;
}

/* "a, b, c": names that could have been meant. */
static void list_names(const struct files *f, const char *list, char *ret, size_t size)
{
	struct yaml_item n;
	const char *one;
	size_t w = 0;

	ret[0] = '\0';
	for (size_t file = 0, i = 0; (one = next_entry(f, list, &file, &i, &n));)
		if (*one && w + strlen(one) + 3 < size)
			w += (size_t)snprintf(ret + w, size - w, "%s%s", w ? ", " : "", one);
	if (w == 0)
		(void)snprintf(ret, size, "-");
}

static int missing(const struct files *f, const char *list, const char *what, const char *name,
		   struct diags *d)
{
	char names[400];

	list_names(f, list, names, sizeof(names));
	if (!name)
		return diags_error(d, place_of_file(f->path[0]), NO_CURRENT, what, names);
	return diags_error(d, place_of_file(f->path[0]), THERE_IS_NO, what, name, names);
}

static void set_text(char **ret, const char *text)
{
	free(*ret);
	*ret = text ? xstrdup(text) : NULL;
}

static int read_target(const struct files *f, const char *wanted, struct kube_target *t, struct diags *d)
{
	const char *name = wanted ? wanted : current_context(f);
	const size_t before = d->errors;
	struct kube_entry context, cluster, user;
	const char *cluster_name, *user_name;

	if (!name)
		return missing(f, "contexts", "context", NULL, d);
	context = find_entry(f, "contexts", "context", name, d);
	if (!context.path)
		return missing(f, "contexts", "context", name, d);
	set_text(&t->path, context.path);
	set_text(&t->context, name);
	cluster_name = kube_entry_text(&context, "cluster");
	user_name = kube_entry_text(&context, "user");
	cluster = cluster_name ? find_entry(f, "clusters", "cluster", cluster_name, d)
			       : (struct kube_entry){ 0 };
	if (!cluster.node)
		return missing(f, "clusters", "cluster", cluster_name ? cluster_name : "", d);
	kube_read_cluster(&cluster, t);
	set_text(&t->user, user_name);
	if (user_name) {
		user = find_entry(f, "users", "user", user_name, d);
		if (!user.path)
			return missing(f, "users", "user", user_name, d);
		if (user.node && user.node->type == YAML_MAPPING_NODE)
			kube_read_user(&user, t);
	}
	const char *ns = kube_entry_text(&context, "namespace");

	if (ns && !setting_is_object_name(ns))
		(void)diags_error(d,
				  yaml_place(context.path,
					     yaml_get(context.y, context.node, "namespace").value,
					     "namespace"),
				  NO_OBJECT_NAME, ns);
	t->c.namespace = ns ? xstrdup(ns) : NULL;
	t->source = xasprintf("%s (%s)", context.path, name);
	return d->errors > before ? -EINVAL : 0;
}

static void read_service_account(struct kube_target *t)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");
	const bool six = strchr(host, ':') != NULL;

	t->c.server = xasprintf("https://%s%s%s:%s", six ? "[" : "", host, six ? "]" : "", port);
	t->ca_file = xasprintf("%s/ca.crt", kube_service_account_dir());
	t->token_file = xasprintf("%s/token", kube_service_account_dir());
	t->source = xasprintf("service account in %s", kube_service_account_dir());
	set_text(&t->path, t->source);
	t->in_cluster = true;
}

/* Fill f, or t from the service account, or neither (master alone). */
static int find_source(const struct kube_options *o, struct files *f, struct kube_target *t, struct diags *d)
{
	const char *env = str_env("KUBECONFIG"), *home = str_env("HOME");
	_cleanup_free_ char *standard = xasprintf("%s/.kube/config", home ? home : "");

	const char *given = o->kubeconfig && *o->kubeconfig ? o->kubeconfig : NULL;

	set_text(&t->path, given ? given : env);
	if (given)
		return add_file(f, given, d);
	if (env)
		return add_files(f, env, d);
	/* The token of the pod is not for another server. */
	if (!o->master && !o->context && kube_is_in_cluster()) {
		read_service_account(t);
		return 0;
	}
	if (home && access(standard, F_OK) == 0) {
		set_text(&t->path, standard);
		return add_file(f, standard, d);
	}
	if (o->master)
		return 0;
	return diags_error(d, place_of_file(NULL), NO_API_SERVER, home ? standard : "~/.kube/config");
}

/* Query and fragment go, so does a trailing slash; without a scheme it depends on whether TLS is configured
 * (client-go rest/url_utils.go). */
static int normalise_server(struct kube_target *t, struct diags *d)
{
	struct cluster_settings *c = &t->c;
	const bool tls = c->insecure || c->ca_pem || t->ca_file || c->cert_pem || t->cert_file;
	enum phrase why = PHRASE_DIAG_TOO_LONG;
	const char *scheme = strstr(c->server, "://") ? "" : tls ? "https://" : "http://";
	char *all = xasprintf("%s%s", scheme, c->server);
	struct url u;
	size_t n = strcspn(all, "?#");

	while (n > 0 && all[n - 1] == '/')
		n--;
	all[n] = '\0';
	free(c->server);
	c->server = all;
	if (n > 2048 || url_parse(all, &u, &why) < 0)
		return diags_error(d, place_of_file(t->source), BAD_SERVER, all, WORD(why));
	return u.https;
}

/* client-go sends no credential where TLS does not protect it (IsConfigTransportTLS). */
static void drop_credentials(struct kube_target *t, struct diags *d)
{
	struct cluster_settings *c = &t->c;
	char **const all[] = { &c->token,   &c->username,   &c->password,    &c->cert_pem,
			       &c->key_pem, &t->token_file, &t->cert_file,   &t->key_file,
			       &t->ca_file, &c->ca_pem,     &t->exec.command };
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		any = any || *all[i];
		kube_secret_clear(all[i]);
	}
	if (any)
		diags_warn(d, place_of_file(t->source), NOT_HTTPS);
}

int kube_target_load(const struct kube_options *o, struct kube_target *ret, struct diags *d)
{
	struct files f = { 0 };
	int r;

	*ret = (struct kube_target){ 0 };
	r = find_source(o, &f, ret, d);
	if (r == 0 && f.n > 0)
		r = read_target(&f, o->context, ret, d);
	if (r == 0 && o->master) {
		kube_secret_clear(&ret->c.server);
		kube_secret_clear(&ret->c.tls_server_name);
		ret->c.server = xstrdup(o->master);
		if (!ret->source)
			ret->source = xstrdup("--master");
	}
	files_done(&f);
	if (r == 0)
		r = normalise_server(ret, d);
	if (r == 0)
		drop_credentials(ret, d);
	return r < 0 ? r : 0;
}
