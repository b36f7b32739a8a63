/* kubeconfig_user.c - see kubeconfig_user.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/kubeconfig_user.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/diag.h"
#include "config/file.h"

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
	free(t->path);
	free(t->context);
	free(t->user);
	*t = (struct kube_target){ 0 };
}

static void error_at(const struct kube_entry *e, const char *key, const char *text)
{
	const yaml_node_t *n = yaml_get(e->y, e->node, key).key;

	diags_error(e->d, YAML_AT(e->path, n ? n : e->node), "\"%s\": %s", e->name, text);
}

const char *kube_entry_text(const struct kube_entry *e, const char *key)
{
	const yaml_node_t *n = yaml_get(e->y, e->node, key).value;

	if (!n || yaml_is_null(n))
		return NULL;
	if (!yaml_is_text(n)) {
		diags_error(e->d, YAML_AT(e->path, n), "%s is %s, a text was expected", key,
			    yaml_kind_name(n));
		return NULL;
	}
	return *yaml_text(n) ? yaml_text(n) : NULL;
}

static bool entry_bool(const struct kube_entry *e, const char *key)
{
	const char *s = kube_entry_text(e, key);

	if (s && strcmp(s, "true") != 0 && strcmp(s, "false") != 0)
		error_at(e, key, "write true or false");
	return s && strcmp(s, "true") == 0;
}

static char *copy_text(const struct kube_entry *e, const char *key)
{
	const char *s = kube_entry_text(e, key);

	return s ? xstrdup(s) : NULL;
}

static char *copy_path(const struct kube_entry *e, const char *key)
{
	const char *s = kube_entry_text(e, key);

	return s ? file_beside(e->path, s) : NULL;
}

/* -- base64 -- */

char *kube_base64_decode(const char *text, size_t n, size_t *ret_n)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	_cleanup_free_ char *out = xmalloc(n / 4 * 3 + 4);
	uint32_t bits = 0;
	size_t digits = 0, pad = 0, w = 0;

	for (size_t i = 0; i < n; i++) {
		const char c = text[i], *digit = c ? strchr(alphabet, c) : NULL;

		if (c == '\n' || c == '\r' || c == ' ' || c == '\t')
			continue;
		if (c == '=' && ++pad <= 2)
			continue;
		if (!digit || pad > 0)
			return NULL;
		bits = bits << 6 | (uint32_t)(digit - alphabet);
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
static void read_pem(const struct kube_entry *e, const char *key, char **ret_file, char **ret_pem)
{
	_cleanup_free_ char *data_key = xasprintf("%s-data", key);
	const char *data = kube_entry_text(e, data_key);
	size_t n;

	*ret_file = copy_path(e, key);
	if (!data)
		return;
	if (*ret_file) {
		error_at(e, data_key, "the file and the -data form are both given: keep one");
		return;
	}
	*ret_pem = kube_base64_decode(data, strlen(data), &n);
	if (!*ret_pem)
		error_at(e, data_key, "is not base64");
	else if (!file_is_pem(*ret_pem, n))
		error_at(e, data_key, "does not hold PEM (-----BEGIN ...) in base64");
}

/* -- cluster -- */

static void check_proxy(const struct kube_entry *e, const char *proxy)
{
	static const char *const schemes[] = { "http://", "https://", "socks5://" };

	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
		if (strncmp(proxy, schemes[i], strlen(schemes[i])) == 0)
			return;
	error_at(e, "proxy-url", "the proxy must begin with http://, https:// or socks5://");
}

void kube_read_cluster(const struct kube_entry *e, struct kube_target *t)
{
	struct cluster_settings *c = &t->c;

	c->server = copy_text(e, "server");
	if (!c->server)
		error_at(e, "server", "no server found for this cluster: write server: https://...");
	c->tls_server_name = copy_text(e, "tls-server-name");
	c->proxy = copy_text(e, "proxy-url");
	if (c->proxy)
		check_proxy(e, c->proxy);
	c->insecure = entry_bool(e, "insecure-skip-tls-verify");
	read_pem(e, "certificate-authority", &t->ca_file, &c->ca_pem);
	if (c->insecure && (t->ca_file || c->ca_pem))
		error_at(e, "insecure-skip-tls-verify",
			 "a certificate authority and insecure-skip-tls-verify exclude one another: remove "
			 "one");
}

/* -- user -- */

static void read_groups(const struct kube_entry *e, struct str_list *ret)
{
	const yaml_node_t *list = yaml_get(e->y, e->node, "as-groups").value;
	struct yaml_item item;

	if (!list || yaml_is_null(list))
		return;
	if (list->type != YAML_SEQUENCE_NODE) {
		error_at(e, "as-groups", "a list of texts was expected");
		return;
	}
	for (size_t i = 0; yaml_next(e->y, list, &i, &item);) {
		if (yaml_is_text(item.value) && ret->n < 64 && strlen(yaml_text(item.value)) <= 1024)
			str_list_add(ret, yaml_text(item.value), strlen(yaml_text(item.value)));
		else
			diags_error(e->d, YAML_AT(e->path, item.value),
				    "as-groups: at most 64 texts of 1024 bytes");
	}
}

static void read_impersonation(const struct kube_entry *e, struct kube_target *t)
{
	t->c.impersonate_user = copy_text(e, "as");
	read_groups(e, &t->c.impersonate_groups);
	if (t->c.impersonate_groups.n > 0 && !t->c.impersonate_user)
		error_at(e, "as-groups", "as-groups needs as: the user to act as");
	/* To leave these out silently would act with other rights than was written. */
	if (yaml_get(e->y, e->node, "as-uid").key)
		error_at(e, "as-uid", "as-uid is not supported: use a credential of its own");
	if (yaml_get(e->y, e->node, "as-user-extra").key)
		error_at(e, "as-user-extra", "as-user-extra is not supported: use a credential of its own");
}

static void read_exec_env(const struct kube_entry *exec, struct kube_exec *ret)
{
	const yaml_node_t *list = yaml_get(exec->y, exec->node, "env").value;
	struct yaml_item n;

	for (size_t i = 0; yaml_next(exec->y, list, &i, &n) && !n.key;) {
		const struct kube_entry item = { exec->path, exec->name, exec->y, n.value, exec->d };
		const char *name = kube_entry_text(&item, "name"), *value = kube_entry_text(&item, "value");

		if (!name || strchr(name, '=')) {
			diags_error(exec->d, YAML_AT(exec->path, n.value),
				    "exec.env: an item needs a name and a value");
			continue;
		}
		ret->env = xreallocarray(ret->env, ret->n_env + 1, sizeof(*ret->env));
		ret->env[ret->n_env++] = (struct kube_env){ xstrdup(name), xstrdup(value ? value : "") };
	}
}

static void read_exec_args(const struct kube_entry *exec, struct kube_exec *ret)
{
	const yaml_node_t *list = yaml_get(exec->y, exec->node, "args").value;
	struct yaml_item n;

	for (size_t i = 0; yaml_next(exec->y, list, &i, &n) && !n.key;) {
		if (yaml_is_text(n.value))
			str_list_add(&ret->args, yaml_text(n.value), strlen(yaml_text(n.value)));
		else
			diags_error(exec->d, YAML_AT(exec->path, n.value),
				    "exec.args: an item is %s, a text was expected", yaml_kind_name(n.value));
	}
}

/* interactiveMode is required by v1 and IfAvailable in v1beta1; nobody sits in front of a daemon. */
static void check_interactive(const struct kube_entry *exec, bool v1)
{
	const char *mode = kube_entry_text(exec, "interactiveMode");

	if (!mode && v1)
		error_at(exec, "interactiveMode",
			 "exec.interactiveMode is missing: write IfAvailable or Never");
	else if (mode && strcmp(mode, "Always") == 0)
		error_at(exec, "interactiveMode",
			 "the plugin always asks somebody (interactiveMode: Always), and nobody is there: "
			 "use another "
			 "credential");
	else if (mode && strcmp(mode, "Never") != 0 && strcmp(mode, "IfAvailable") != 0)
		error_at(exec, "interactiveMode",
			 "exec.interactiveMode is none of Never, IfAvailable, Always");
}

static void read_exec(const struct kube_entry *e, struct kube_target *t)
{
	const struct kube_entry exec = { e->path, e->name, e->y, yaml_get(e->y, e->node, "exec").value,
					 e->d };
	struct kube_exec *x = &t->exec;
	const char *command, *version;

	if (!exec.node || yaml_is_null(exec.node))
		return;
	if (exec.node->type != YAML_MAPPING_NODE) {
		error_at(e, "exec", "exec must be a mapping");
		return;
	}
	command = kube_entry_text(&exec, "command");
	version = kube_entry_text(&exec, "apiVersion");
	if (!command)
		error_at(&exec, "command", "exec.command is missing");
	else
		x->command = strchr(command, '/') ? file_beside(e->path, command) : xstrdup(command);
	if (!version)
		error_at(&exec, "apiVersion",
			 "exec.apiVersion is missing: write client.authentication.k8s.io/v1");
	else if (strcmp(version, "client.authentication.k8s.io/v1") != 0 &&
		 strcmp(version, "client.authentication.k8s.io/v1beta1") != 0)
		error_at(&exec, "apiVersion",
			 "exec.apiVersion is not supported: client.authentication.k8s.io/v1 and v1beta1 are");
	else
		x->api_version = xstrdup(version);
	check_interactive(&exec, version && strcmp(version, "client.authentication.k8s.io/v1") == 0);
	x->provide_cluster_info = entry_bool(&exec, "provideClusterInfo");
	x->install_hint = copy_text(&exec, "installHint");
	read_exec_args(&exec, x);
	read_exec_env(&exec, x);
}

static void check_methods(const struct kube_entry *e, struct kube_target *t)
{
	const struct cluster_settings *c = &t->c;
	const bool token = c->token || t->token_file, cert = c->cert_pem || t->cert_file,
		   key = c->key_pem || t->key_file, basic = c->username || c->password;

	if (token && basic)
		error_at(e, "username", "a token and a user name are both given: only one is allowed");
	if (cert && !key)
		error_at(e, "client-certificate", "a client certificate needs client-key or client-key-data");
	if (key && !cert)
		error_at(e, "client-key", "a client key needs client-certificate or client-certificate-data");
	if (yaml_get(e->y, e->node, "auth-provider").key)
		error_at(e, "auth-provider",
			 "auth-provider was removed from Kubernetes: use exec (a credential plugin) or a "
			 "token");
	/* client-go does not run the plugin when there is another credential. */
	if (t->exec.command && (token || cert || basic)) {
		free(t->exec.command);
		t->exec.command = NULL;
	}
}

void kube_read_user(const struct kube_entry *e, struct kube_target *t)
{
	struct cluster_settings *c = &t->c;

	read_pem(e, "client-certificate", &t->cert_file, &c->cert_pem);
	read_pem(e, "client-key", &t->key_file, &c->key_pem);
	c->token = copy_text(e, "token");
	t->token_file = copy_path(e, "tokenFile");
	c->username = copy_text(e, "username");
	c->password = copy_text(e, "password");
	read_impersonation(e, t);
	read_exec(e, t);
	check_methods(e, t);
}
