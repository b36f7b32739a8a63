/* kubeconfig_user.c - see kubeconfig_user.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/kubeconfig_user.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
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

/* Where a key of the entry stands, or the entry. */
static struct place entry_place(const struct kube_entry *e, const char *key)
{
	const yaml_node_t *n = yaml_get(e->y, e->node, key).key;

	return yaml_place(e->path, n ? n : e->node, e->name);
}

#define ERROR(e, key, ...) ((void)diags_error((e)->d, entry_place(e, key), __VA_ARGS__))

const char *kube_entry_text(const struct kube_entry *e, const char *key)
{
	const yaml_node_t *n = yaml_get(e->y, e->node, key).value;

	if (!n || yaml_is_null(n))
		return NULL;
	if (!yaml_is_text(n)) {
		ERROR(e, key, WRONG_KIND, key, WORD(yaml_kind(n)), WORD(PHRASE_DIAG_TEXT));
		return NULL;
	}
	return *yaml_text(n) ? yaml_text(n) : NULL;
}

static bool entry_bool(const struct kube_entry *e, const char *key)
{
	const char *s = kube_entry_text(e, key);

	if (s && strcmp(s, "true") != 0 && strcmp(s, "false") != 0)
		ERROR(e, key, TRUE_OR_FALSE);
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
		ERROR(e, data_key, BOTH_FORMS);
		return;
	}
	*ret_pem = kube_base64_decode(data, strlen(data), &n);
	if (!*ret_pem)
		ERROR(e, data_key, NO_BASE64);
	else if (!file_is_pem(*ret_pem, n))
		ERROR(e, data_key, NO_PEM_IN);
}

/* -- cluster -- */

static void check_proxy(const struct kube_entry *e, const char *proxy)
{
	static const char *const schemes[] = { "http://", "https://", "socks5://" };

	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++)
		if (strncmp(proxy, schemes[i], strlen(schemes[i])) == 0)
			return;
	ERROR(e, "proxy-url", PROXY_SCHEME);
}

void kube_read_cluster(const struct kube_entry *e, struct kube_target *t)
{
	struct cluster_settings *c = &t->c;

	c->server = copy_text(e, "server");
	if (!c->server)
		ERROR(e, "server", NO_SERVER_OF);
	c->tls_server_name = copy_text(e, "tls-server-name");
	c->proxy = copy_text(e, "proxy-url");
	if (c->proxy)
		check_proxy(e, c->proxy);
	c->insecure = entry_bool(e, "insecure-skip-tls-verify");
	read_pem(e, "certificate-authority", &t->ca_file, &c->ca_pem);
	if (c->insecure && (t->ca_file || c->ca_pem))
		ERROR(e, "insecure-skip-tls-verify", CA_AND_INSECURE);
}

/* -- user -- */

/* What becomes a header of each request ends no line of it; a block of YAML ("as: |") ends with one. */
static void check_line(const struct kube_entry *e, const yaml_node_t *at, const char *key, const char *text)
{
	if (text && !str_is_line(text))
		(void)diags_error(e->d, yaml_place(e->path, at, key), TEXT_UNCLEAN);
}

static char *copy_line(const struct kube_entry *e, const char *key)
{
	char *text = copy_text(e, key);

	check_line(e, yaml_get(e->y, e->node, key).value, key, text);
	return text;
}

static void read_groups(const struct kube_entry *e, struct str_list *ret)
{
	const yaml_node_t *list = yaml_get(e->y, e->node, "as-groups").value;
	struct yaml_item item;

	if (!list || yaml_is_null(list))
		return;
	if (list->type != YAML_SEQUENCE_NODE) {
		ERROR(e, "as-groups", GROUPS_LIST);
		return;
	}
	for (size_t i = 0; yaml_next(e->y, list, &i, &item);) {
		const char *group = yaml_is_text(item.value) ? yaml_text(item.value) : NULL;

		if (!group || ret->n == 64 || strlen(group) > 1024)
			diags_error(e->d, yaml_place(e->path, item.value, "as-groups"), GROUPS_MANY);
		else
			str_list_add(ret, group, strlen(group));
		check_line(e, item.value, "as-groups", group);
	}
}

static void read_impersonation(const struct kube_entry *e, struct kube_target *t)
{
	t->c.impersonate_user = copy_line(e, "as");
	read_groups(e, &t->c.impersonate_groups);
	if (t->c.impersonate_groups.n > 0 && !t->c.impersonate_user)
		ERROR(e, "as-groups", GROUPS_AS);
	/* To leave these out silently would act with other rights than was written. */
	if (yaml_get(e->y, e->node, "as-uid").key)
		ERROR(e, "as-uid", AS_OWN, "as-uid");
	if (yaml_get(e->y, e->node, "as-user-extra").key)
		ERROR(e, "as-user-extra", AS_OWN, "as-user-extra");
}

static void read_exec_env(const struct kube_entry *exec, struct kube_exec *ret)
{
	const yaml_node_t *list = yaml_get(exec->y, exec->node, "env").value;
	struct yaml_item n;

	for (size_t i = 0; yaml_next(exec->y, list, &i, &n) && !n.key;) {
		const struct kube_entry item = { exec->path, exec->name, exec->y, n.value, exec->d };
		const char *name = kube_entry_text(&item, "name"), *value = kube_entry_text(&item, "value");

		if (!name || strchr(name, '=')) {
			diags_error(exec->d, yaml_place(exec->path, n.value, "exec.env"), EXEC_ENV);
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
			diags_error(exec->d, yaml_place(exec->path, n.value, "exec.args"), ITEM_NO_TEXT,
				    WORD(yaml_kind(n.value)));
	}
}

/* interactiveMode is required by v1 and IfAvailable in v1beta1; nobody sits in front of a daemon. */
static void check_interactive(const struct kube_entry *exec, bool v1)
{
	const char *mode = kube_entry_text(exec, "interactiveMode");

	if (!mode && v1)
		ERROR(exec, "interactiveMode", MISSING_KEY, "exec.interactiveMode", "IfAvailable");
	else if (mode && strcmp(mode, "Always") == 0)
		ERROR(exec, "interactiveMode", EXEC_ASKS);
	else if (mode && strcmp(mode, "Never") != 0 && strcmp(mode, "IfAvailable") != 0)
		ERROR(exec, "interactiveMode", NONE_OF, mode, "Never|IfAvailable|Always");
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
		ERROR(e, "exec", WRONG_KIND, "exec", WORD(yaml_kind(exec.node)), WORD(PHRASE_DIAG_MAPPING));
		return;
	}
	command = kube_entry_text(&exec, "command");
	version = kube_entry_text(&exec, "apiVersion");
	if (!command)
		ERROR(&exec, "command", MISSING_KEY, "exec.command", "...");
	else
		x->command = strchr(command, '/') ? file_beside(e->path, command) : xstrdup(command);
	if (!version)
		ERROR(&exec, "apiVersion", MISSING_KEY, "exec.apiVersion", "client.authentication.k8s.io/v1");
	else if (strcmp(version, "client.authentication.k8s.io/v1") != 0 &&
		 strcmp(version, "client.authentication.k8s.io/v1beta1") != 0)
		ERROR(&exec, "apiVersion", NONE_OF, version,
		      "client.authentication.k8s.io/v1|client.authentication.k8s.io/v1beta1");
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
		ERROR(e, "username", TOKEN_AND_NAME);
	if (cert && !key)
		ERROR(e, "client-certificate", NEEDS_TOO, "client-certificate", "client-key");
	if (key && !cert)
		ERROR(e, "client-key", NEEDS_TOO, "client-key", "client-certificate");
	if (yaml_get(e->y, e->node, "auth-provider").key)
		ERROR(e, "auth-provider", AUTH_PROVIDER);
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
	c->token = copy_line(e, "token");
	t->token_file = copy_path(e, "tokenFile");
	c->username = copy_text(e, "username");
	c->password = copy_text(e, "password");
	read_impersonation(e, t);
	read_exec(e, t);
	check_methods(e, t);
}
