/* kubeconfig_user.c - see kubeconfig_user.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/kubeconfig_user.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/diag.h"

void kube_secret_clear(char **s)
{
	if (*s)
		explicit_bzero(*s, strlen(*s));
	free(*s);
	*s = NULL;
}

void kube_target_done(struct kube_target *t)
{
	struct settings s = { .cluster = t->c };

	settings_done(&s);
	free(t->ca_file);
	free(t->cert_file);
	free(t->key_file);
	free(t->token_file);
	free(t->exec.command);
	free(t->exec.api_version);
	free(t->exec.install_hint);
	str_list_done(&t->exec.args);
	for (size_t i = 0; i < t->exec.n_env; i++) {
		free(t->exec.env[i].name);
		kube_secret_clear(&t->exec.env[i].value);
	}
	free(t->exec.env);
	free(t->source);
	*t = (struct kube_target){ 0 };
}

static void error_at(const struct kube_entry *e, const char *key, struct diags *d, const char *text)
{
	const struct tree_node *n = tree_get(e->node, key);

	n = n ? n->key : e->node;
	diags_error(d, e->path, n->line, n->column, "\"%s\": %s", e->name, text);
}

const char *kube_entry_text(const struct kube_entry *e, const char *key, struct diags *d)
{
	const struct tree_node *n = tree_get(e->node, key);

	if (!n || tree_is_null(n))
		return NULL;
	if (n->kind != TREE_SCALAR) {
		diags_error(d, e->path, n->line, n->column, "%s is %s, a text was expected", key,
			    tree_kind_name(n));
		return NULL;
	}
	return n->n > 0 ? n->text : NULL;
}

static bool entry_bool(const struct kube_entry *e, const char *key, struct diags *d)
{
	const char *s = kube_entry_text(e, key, d);

	if (s && strcmp(s, "true") != 0 && strcmp(s, "false") != 0)
		error_at(e, key, d, "write true or false");
	return s && strcmp(s, "true") == 0;
}

static void copy_text(const struct kube_entry *e, const char *key, char **ret, struct diags *d)
{
	const char *s = kube_entry_text(e, key, d);

	if (s) {
		free(*ret);
		*ret = xstrdup(s);
	}
}

static char *beside(const char *file, const char *path)
{
	const char *slash = strrchr(file, '/');

	if (path[0] == '/' || !slash)
		return xstrdup(path);
	return xasprintf("%.*s/%s", (int)(slash - file), file, path);
}

static void copy_path(const struct kube_entry *e, const char *key, char **ret, struct diags *d)
{
	const char *s = kube_entry_text(e, key, d);

	if (s) {
		free(*ret);
		*ret = beside(e->path, s);
	}
}

/* -- base64 -- */

static int base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

char *kube_base64_decode(const char *text, size_t n, size_t *ret_n)
{
	_cleanup_free_ char *out = xmalloc(n / 4 * 3 + 4);
	uint32_t bits = 0;
	size_t digits = 0, pad = 0, w = 0;

	for (size_t i = 0; i < n; i++) {
		const char c = text[i];
		const int v = base64_digit(c);

		if (c == '\n' || c == '\r' || c == ' ' || c == '\t')
			continue;
		if (c == '=' && ++pad <= 2)
			continue;
		if (v < 0 || pad > 0)
			return NULL;
		bits = bits << 6 | (uint32_t)v;
		if (++digits % 4 == 0) {
			out[w++] = (char)(bits >> 16);
			out[w++] = (char)(bits >> 8);
			out[w++] = (char)bits;
		}
	}
	if ((digits + pad) % 4 != 0 || digits % 4 == 1)
		return NULL;
	if (digits % 4 == 2)
		out[w++] = (char)(bits >> 4);
	if (digits % 4 == 3) {
		out[w++] = (char)(bits >> 10);
		out[w++] = (char)(bits >> 2);
	}
	out[w] = '\0';
	*ret_n = w;
	return TAKE_PTR(out);
}

/* KEY names a file, KEY-data holds its bytes in base64; both at once is an error. */
static void read_pem(const struct kube_entry *e, const char *key, char **ret_file, char **ret_pem,
		     struct diags *d)
{
	_cleanup_free_ char *data_key = xasprintf("%s-data", key);
	const char *data = kube_entry_text(e, data_key, d);
	size_t n;

	copy_path(e, key, ret_file, d);
	if (!data)
		return;
	if (*ret_file) {
		error_at(e, data_key, d, "the file and the -data form are both given: keep one");
		return;
	}
	*ret_pem = kube_base64_decode(data, strlen(data), &n);
	if (!*ret_pem)
		error_at(e, data_key, d, "is not base64");
	else if (strlen(*ret_pem) != n || !strstr(*ret_pem, "-----BEGIN "))
		error_at(e, data_key, d, "does not hold PEM (-----BEGIN ...) in base64");
}

/* -- cluster -- */

static void check_proxy(const struct kube_entry *e, const char *proxy, struct diags *d)
{
	static const char *const schemes[] = { "http://", "https://", "socks5://" };

	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
		if (strncmp(proxy, schemes[i], strlen(schemes[i])) == 0)
			return;
	error_at(e, "proxy-url", d, "the proxy must begin with http://, https:// or socks5://");
}

void kube_read_cluster(const struct kube_entry *e, struct kube_target *t, struct diags *d)
{
	struct cluster_settings *c = &t->c;

	copy_text(e, "server", &c->server, d);
	if (!c->server)
		error_at(e, "server", d, "no server found for this cluster: write server: https://...");
	copy_text(e, "tls-server-name", &c->tls_server_name, d);
	copy_text(e, "proxy-url", &c->proxy, d);
	if (c->proxy)
		check_proxy(e, c->proxy, d);
	c->insecure = entry_bool(e, "insecure-skip-tls-verify", d);
	read_pem(e, "certificate-authority", &t->ca_file, &c->ca_pem, d);
	if (c->insecure && (t->ca_file || c->ca_pem))
		error_at(e, "insecure-skip-tls-verify", d,
			 "a certificate authority and insecure-skip-tls-verify exclude one another: remove "
			 "one");
}

/* -- user -- */

static void read_groups(const struct kube_entry *e, struct str_list *ret, struct diags *d)
{
	const struct tree_node *list = tree_get(e->node, "as-groups");

	if (!list || tree_is_null(list))
		return;
	if (list->kind != TREE_LIST) {
		error_at(e, "as-groups", d, "a list of texts was expected");
		return;
	}
	for (const struct tree_node *n = list->first; n; n = n->next) {
		if (n->kind == TREE_SCALAR && ret->n < 64 && n->n <= 1024)
			str_list_add(ret, n->text, n->n);
		else
			diags_error(d, e->path, n->line, n->column,
				    "as-groups: at most 64 texts of 1024 bytes");
	}
}

static void read_impersonation(const struct kube_entry *e, struct kube_target *t, struct diags *d)
{
	copy_text(e, "as", &t->c.impersonate_user, d);
	read_groups(e, &t->c.impersonate_groups, d);
	if (t->c.impersonate_groups.n > 0 && !t->c.impersonate_user)
		error_at(e, "as-groups", d, "as-groups needs as: the user to act as");
	/* To leave these out silently would act with other rights than was written. */
	if (tree_get(e->node, "as-uid"))
		error_at(e, "as-uid", d, "as-uid is not supported: use a credential of its own");
	if (tree_get(e->node, "as-user-extra"))
		error_at(e, "as-user-extra", d,
			 "as-user-extra is not supported: use a credential of its own");
}

static void read_exec_env(const struct kube_entry *exec, struct kube_exec *ret, struct diags *d)
{
	const struct tree_node *list = tree_get(exec->node, "env");

	for (const struct tree_node *n = list && list->kind == TREE_LIST ? list->first : NULL; n;
	     n = n->next) {
		const struct kube_entry item = { exec->path, exec->name, n };
		const char *name = kube_entry_text(&item, "name", d),
			   *value = kube_entry_text(&item, "value", d);

		if (!name || strchr(name, '=')) {
			diags_error(d, exec->path, n->line, n->column,
				    "exec.env: an item needs a name and a value");
			continue;
		}
		ret->env = xreallocarray(ret->env, ret->n_env + 1, sizeof(*ret->env));
		ret->env[ret->n_env++] = (struct kube_env){ xstrdup(name), xstrdup(value ? value : "") };
	}
}

static void read_exec_args(const struct kube_entry *exec, struct kube_exec *ret, struct diags *d)
{
	const struct tree_node *list = tree_get(exec->node, "args");

	for (const struct tree_node *n = list && list->kind == TREE_LIST ? list->first : NULL; n;
	     n = n->next) {
		if (n->kind == TREE_SCALAR)
			str_list_add(&ret->args, n->text, n->n);
		else
			diags_error(d, exec->path, n->line, n->column,
				    "exec.args: an item is %s, a text was expected", tree_kind_name(n));
	}
}

/* interactiveMode is required by v1 and IfAvailable in v1beta1; nobody sits in front of a daemon. */
static void check_interactive(const struct kube_entry *exec, bool v1, struct diags *d)
{
	const char *mode = kube_entry_text(exec, "interactiveMode", d);

	if (!mode && v1)
		error_at(exec, "interactiveMode", d,
			 "exec.interactiveMode is missing: write IfAvailable or Never");
	else if (mode && strcmp(mode, "Always") == 0)
		error_at(exec, "interactiveMode", d,
			 "the plugin always asks somebody (interactiveMode: Always), and nobody is there: "
			 "use another "
			 "credential");
	else if (mode && strcmp(mode, "Never") != 0 && strcmp(mode, "IfAvailable") != 0)
		error_at(exec, "interactiveMode", d,
			 "exec.interactiveMode is none of Never, IfAvailable, Always");
}

static void read_exec(const struct kube_entry *e, struct kube_target *t, struct diags *d)
{
	const struct kube_entry exec = { e->path, e->name, tree_get(e->node, "exec") };
	struct kube_exec *x = &t->exec;
	const char *command, *version;

	if (!exec.node || tree_is_null(exec.node))
		return;
	if (exec.node->kind != TREE_MAP) {
		error_at(e, "exec", d, "exec must be a mapping");
		return;
	}
	command = kube_entry_text(&exec, "command", d);
	version = kube_entry_text(&exec, "apiVersion", d);
	if (!command)
		error_at(&exec, "command", d, "exec.command is missing");
	else
		x->command = strchr(command, '/') ? beside(e->path, command) : xstrdup(command);
	if (!version)
		error_at(&exec, "apiVersion", d,
			 "exec.apiVersion is missing: write client.authentication.k8s.io/v1");
	else if (strcmp(version, "client.authentication.k8s.io/v1") != 0 &&
		 strcmp(version, "client.authentication.k8s.io/v1beta1") != 0)
		error_at(&exec, "apiVersion", d,
			 "exec.apiVersion is not supported: client.authentication.k8s.io/v1 and v1beta1 are");
	else
		x->api_version = xstrdup(version);
	check_interactive(&exec, version && strcmp(version, "client.authentication.k8s.io/v1") == 0, d);
	x->provide_cluster_info = entry_bool(&exec, "provideClusterInfo", d);
	copy_text(&exec, "installHint", &x->install_hint, d);
	read_exec_args(&exec, x, d);
	read_exec_env(&exec, x, d);
}

static void check_methods(const struct kube_entry *e, struct kube_target *t, struct diags *d)
{
	const struct cluster_settings *c = &t->c;
	const bool token = c->token || t->token_file, cert = c->cert_pem || t->cert_file,
		   key = c->key_pem || t->key_file, basic = c->username || c->password;

	if (token && basic)
		error_at(e, "username", d, "a token and a user name are both given: only one is allowed");
	if (cert && !key)
		error_at(e, "client-certificate", d,
			 "a client certificate needs client-key or client-key-data");
	if (key && !cert)
		error_at(e, "client-key", d,
			 "a client key needs client-certificate or client-certificate-data");
	if (tree_get(e->node, "auth-provider"))
		error_at(e, "auth-provider", d,
			 "auth-provider was removed from Kubernetes: use exec (a credential plugin) or a "
			 "token");
	/* client-go does not run the plugin when there is another credential. */
	if (t->exec.command && (token || cert || basic)) {
		free(t->exec.command);
		t->exec.command = NULL;
	}
}

void kube_read_user(const struct kube_entry *e, struct kube_target *t, struct diags *d)
{
	struct cluster_settings *c = &t->c;

	read_pem(e, "client-certificate", &t->cert_file, &c->cert_pem, d);
	read_pem(e, "client-key", &t->key_file, &c->key_pem, d);
	copy_text(e, "token", &c->token, d);
	copy_path(e, "tokenFile", &t->token_file, d);
	copy_text(e, "username", &c->username, d);
	copy_text(e, "password", &c->password, d);
	read_impersonation(e, t, d);
	read_exec(e, t, d);
	check_methods(e, t, d);
}
