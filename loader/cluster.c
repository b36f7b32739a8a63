/* cluster.c - one cluster: kubeconfig, then the files it names, its plugin, its address. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/cluster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "config/blob.h"
#include "config/certificates.h"
#include "config/clusters.h"
#include "config/file.h"
#include "config/url.h"
#include "loader/exec.h"
#include "loader/resolve.h"
#include "loader/trust.h"

#define PEM_MAX_BYTES   (1u << 20)
#define TOKEN_MAX_BYTES (64u << 10)
#define BLANKS          " \t\r\n"
/* client-go takes a token file for expired 1 min after reading, with 10 s to spare; certificates after 5 min.
 */
#define TOKEN_FILE_MS   50000u
#define CERT_FILE_MS    300000u
#define NAME_MS         300000u
#define EXEC_EARLY_MS   60000
#define EXEC_SOON_MS    10000
#define EXEC_TIMEOUT_MS 20000u
#define EXEC_SPARE_MS   1000u /* is left to say that the plugin was given up */

static bool read_pem(struct loader *l, const char *path, const char *key, char **ret)
{
	const struct place at = { .file = path, .key = key };
	char why[SENTENCE_MAX];
	size_t n;

	if (!path)
		return true;
	free(*ret);
	*ret = NULL;
	const int r = file_read(path, PEM_MAX_BYTES, ret, &n, why);

	if (r < 0)
		return loader_tell(l, r, at, why);
	if (!file_is_pem(*ret, n))
		return loader_error(l, -EINVAL, at, NO_PEM);
	return true;
}

/* Of the authority. As with client-go one that is damaged hinders no other. */
static bool keep_whole(struct loader *l, const struct kube_target *t)
{
	const struct place at = { .file = t->ca_file ? t->ca_file : t->source,
				  .key = t->ca_file ? "certificate-authority"
						    : "certificate-authority-data" };
	size_t damaged;

	if (!t->c.ca_pem)
		return true;
	if (certificates_keep_whole(t->c.ca_pem, &damaged) == 0)
		return loader_error(l, -EINVAL, at, NO_CERTIFICATE);
	if (damaged > 0)
		diags_warn(&l->diags, at, CERTIFICATES_DAMAGED, damaged);
	return true;
}

/* The file wins while it can be read; a token beside it is the fallback. */
static bool read_token(struct loader *l, struct kube_target *t)
{
	const struct place at = { .file = t->token_file, .key = "token" };
	char why[SENTENCE_MAX];
	_cleanup_free_ char *text = NULL;
	size_t n = 0;
	const int r = file_read(t->token_file, TOKEN_MAX_BYTES, &text, &n, why);

	loader_refresh_within(l, TOKEN_FILE_MS);
	if (r < 0 && t->c.token) {
		diags_warn(&l->diags, at, TOKEN_BESIDE, why);
		return true;
	}
	if (r < 0)
		return loader_tell(l, r, at, why);
	const struct str trimmed = str_trim((struct str){ text, n }, BLANKS);
	_cleanup_(kube_secret_clear) char *token = xstrndup(trimmed.p, trimmed.n);

	explicit_bzero(text, n);
	if (token[0] == '\0' || strlen(token) != trimmed.n || strpbrk(token, BLANKS))
		return loader_error(l, -EINVAL, at, TOKEN_EMPTY);
	kube_secret_clear(&t->c.token);
	t->c.token = TAKE_PTR(token);
	return true;
}

static int plugin_timeout_ms(const struct loader *l)
{
	const uint64_t now = clock_boot_ms(), end = l->until_ms - EXEC_SPARE_MS;

	return now >= end ? 1 : (int)(end - now < EXEC_TIMEOUT_MS ? end - now : EXEC_TIMEOUT_MS);
}

/* Until it is asked again; a minute before its credential ends, though never at every moment. */
static int64_t plugin_left_ms(struct plugin_mark p)
{
	const int64_t left = p.until_ms - clock_wall_ms() - EXEC_EARLY_MS;

	return p.until_ms == 0 ? INT64_MAX : left > EXEC_SOON_MS ? left : EXEC_SOON_MS;
}

/* As client-go, which asks again when the credential ends or is refused. */
static bool keep_credential(struct loader *l, struct kube_target *t, enum role role, uint64_t index)
{
	_cleanup_(settings_done) struct settings old = { 0 };
	const struct plugin_mark p = l->kept_plugin[role][index];
	char why[SETTINGS_ERROR_MAX];

	if (p.hash != loader_exec_hash(t) || plugin_left_ms(p) == EXEC_SOON_MS ||
	    settings_read_blob(l->kept[role][index], &old, why) < 0)
		return false;
	t->c.token = TAKE_PTR(old.cluster.token);
	t->c.cert_pem = TAKE_PTR(old.cluster.cert_pem);
	t->c.key_pem = TAKE_PTR(old.cluster.key_pem);
	return true;
}

static bool run_plugin(struct loader *l, struct kube_target *t, struct plugin_mark *ret)
{
	char why[SENTENCE_MAX];
	const int r = loader_exec(t, plugin_timeout_ms(l), &ret->until_ms, why);

	ret->hash = loader_exec_hash(t);
	return r == 0 || loader_error(l, r == -ENOENT ? r : -EAGAIN, place_of_file(t->source), PLUGIN,
				      t->exec.command, why);
}

static bool ask_plugin(struct loader *l, struct kube_target *t, enum role role, uint64_t index,
		       struct plugin_mark *ret)
{
	const bool kept = keep_credential(l, t, role, index);

	if (kept)
		*ret = l->kept_plugin[role][index];
	else if (!run_plugin(l, t, ret))
		return false;
	if (ret->until_ms > 0)
		loader_refresh_within(l, (uint64_t)plugin_left_ms(*ret));
	return true;
}

/* The process that uses the proxy cannot ask the DNS. */
static bool resolve_proxy(struct loader *l, struct kube_target *t)
{
	static const char socks[] = "socks5://";
	const bool is_socks = strncmp(t->c.proxy, socks, strlen(socks)) == 0;
	const struct place at = { .file = t->source, .key = "proxy-url" };
	char why[SENTENCE_MAX];
	enum phrase wrong;
	struct url u;

	/* curl's socks5h leaves the name of the API server to the proxy, as Go's socks5 does. */
	if (is_socks) {
		_cleanup_free_ char *given = t->c.proxy;

		t->c.proxy = xasprintf("socks5h://%s", given + strlen(socks));
	}
	if (url_parse_as(t->c.proxy, "https|" URL_PROXIES, &u, &wrong) < 0)
		return loader_tell(l, -EINVAL, at, WORD(wrong));
	if (u.ip)
		return true;
	if (loader_resolve(u.host, u.port, &t->c.address, why) < 0)
		return loader_tell(l, -EAGAIN, at, why);
	loader_refresh_within(l, NAME_MS);
	return true;
}

/* client-go heeds it; the plugins get it. A name or address of NO_PROXY is not asked for as exactly as there:
 * it is a warning. */
static void warn_of_environment(struct loader *l, const struct kube_target *t, const struct url *u)
{
	const char *upper = str_env("HTTPS_PROXY"), *proxy = upper ? upper : str_env("https_proxy");
	const char *named = str_env("NO_PROXY"), *none = named ? named : str_env("no_proxy");

	if (proxy && u->https && !url_is_loopback(u) &&
	    !(none && (strchr(none, '*') || strstr(none, u->host))))
		diags_warn(&l->diags, place_of_file(t->source), PROXY_OF_ENVIRONMENT);
}

static bool resolve_server(struct loader *l, struct kube_target *t)
{
	char why[SENTENCE_MAX];
	enum phrase wrong;
	struct url u;

	if (t->c.proxy)
		return resolve_proxy(l, t);
	if (url_parse(t->c.server, &u, &wrong) < 0)
		return true; /* kube_target_load has checked it */
	warn_of_environment(l, t, &u);
	if (u.ip)
		return true;
	if (loader_resolve(u.host, u.port, &t->c.address, why) < 0)
		return loader_tell(l, -EAGAIN, (struct place){ .file = t->source, .key = "server" }, why);
	loader_refresh_within(l, NAME_MS);
	return true;
}

/* Wherever it may be found, though it may not be there yet. */
static void watch_kubeconfig(struct loader *l, const char *given)
{
	const char *home = str_env("HOME");
	_cleanup_free_ char *standard = home ? xasprintf("%s/.kube/config", home) : NULL;

	if (given)
		watches_add(&l->watches, given);
	else if (str_env("KUBECONFIG"))
		watches_add_list(&l->watches, str_env("KUBECONFIG"));
	else
		watches_add(&l->watches, standard);
}

static bool load_target(struct loader *l, const struct kube_options *o, enum role role, uint64_t index,
			struct kube_target *t, struct plugin_mark *plugin)
{
	watch_kubeconfig(l, o->kubeconfig);
	const int r = kube_target_load(o, t, &l->diags);
	bool ok = true;

	if (r < 0) {
		l->lasting = l->lasting || !exit_is_transient(r);
		return false;
	}
	if (t->cert_file || t->ca_file)
		loader_refresh_within(l, CERT_FILE_MS);
	loader_check_secret(l, o->kubeconfig);
	loader_check_secret(l, t->key_file);
	loader_check_secret(l, t->token_file);
	watches_add(&l->watches, t->ca_file);
	watches_add(&l->watches, t->cert_file);
	watches_add(&l->watches, t->key_file);
	watches_add(&l->watches, t->token_file);
	ok = read_pem(l, t->ca_file, "certificate-authority", &t->c.ca_pem) && keep_whole(l, t) && ok;
	ok = read_pem(l, t->cert_file, "client-certificate", &t->c.cert_pem) && ok;
	ok = read_pem(l, t->key_file, "client-key", &t->c.key_pem) && ok;
	ok = (!t->token_file || read_token(l, t)) && ok;
	if (ok && t->exec.command)
		ok = ask_plugin(l, t, role, index, plugin);
	if (ok && t->c.key_pem && file_is_locked_pem(t->c.key_pem))
		ok = loader_error(l, -EINVAL, ((struct place){ .file = t->source, .key = "client-key" }),
				  KEY_LOCKED);
	trust_complete_cluster(&t->c);
	return resolve_server(l, t) && ok;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Whoever has the one can do what the other may. An impersonated user is not asked for: whoever may
 * impersonate him, may. */
static bool same_credential(const struct cluster_settings *a, const struct cluster_settings *b)
{
	return same_text(a->token, b->token) && same_text(a->cert_pem, b->cert_pem) &&
	       same_text(a->username, b->username);
}

size_t loader_clusters(const struct loader *l)
{
	return clusters_count(&l->config);
}

bool loader_give_indexes(struct loader *l)
{
	for (size_t i = 0; i < loader_clusters(l); i++) {
		const struct cluster_config c = clusters_at(&l->config, i);
		const char *name = clusters_name(&c);
		size_t k = 0;

		while (k < l->indexes.n && strcmp(l->indexes.v[k], name) != 0)
			k++;
		if (k == CLUSTERS_MAX)
			return loader_error(l, -EINVAL, (struct place){ .key = "clusters" }, NO_INDEX,
					    CLUSTERS_MAX);
		if (k == l->indexes.n)
			str_list_add(&l->indexes, name, strlen(name));
		l->index[i] = k;
	}
	return true;
}

void loaded_cluster_init(const struct loader *l, size_t i, struct loaded_cluster *ret)
{
	const struct cluster_config c = clusters_at(&l->config, i);

	*ret = (struct loaded_cluster){ .name = clusters_name(&c),
					.workers = c.workers,
					.workers_min = c.workers_min };
}

bool loader_load_cluster(struct loader *l, size_t i, struct loaded_cluster *ret)
{
	const struct cluster_config c = clusters_at(&l->config, i);
	const char *path = l->options->config, *flag = l->options->kubeconfig;

	if (c.wrong)
		return loader_tell(l, -EINVAL, place_of_file(c.kubeconfig), c.wrong);
	_cleanup_(cluster_source_done) struct cluster_source reader =
		clusters_reader(&l->config, &c, path, flag);
	_cleanup_(cluster_source_done) struct cluster_source writer =
		clusters_writer(&l->config, &c, path, flag);
	const struct kube_options r = { reader.kubeconfig, reader.context, l->options->master };
	const struct kube_options w = { writer.kubeconfig, writer.context, l->options->master };
	bool ok = load_target(l, &r, ROLE_WATCHER, l->index[i], &ret->reader, &ret->reader_plugin);

	ret->shared = true;
	ret->writer_plugin = ret->reader_plugin;
	if (!clusters_own_writer(&c))
		return ok;
	ret->writer_plugin = (struct plugin_mark){ 0 };
	ret->own_writer = true;
	ok = load_target(l, &w, ROLE_WORKER, l->index[i], &ret->writer, &ret->writer_plugin) && ok;
	ret->shared = same_credential(&ret->reader.c, &ret->writer.c);
	if (ok && strcmp(ret->reader.c.server, ret->writer.c.server) != 0)
		return loader_error(l, -EINVAL, place_of_file(l->options->config), TWO_SERVERS, ret->name,
				    ret->reader.c.server, ret->writer.c.server);
	return ok;
}

void loaded_cluster_done(struct loaded_cluster *c)
{
	kube_target_done(&c->reader);
	kube_target_done(&c->writer);
}
