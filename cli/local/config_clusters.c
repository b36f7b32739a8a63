/* config_clusters.c - see config_clusters.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/local/config_clusters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/tree_size.h"
#include "base/xalloc.h"
#include "cli/view/output.h"
#include "cli/view/table.h"
#include "config/clusters.h"
#include "config/file.h"
#include "config/kubeconfig.h"

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
static void print_need(const struct config *c, FILE *out)
{
	struct tree_size size = tree_size_of_none();

	for (size_t i = 0; i < c->n_clusters; i++) {
		const struct cluster_config one = clusters_at(c, i);

		tree_size_add(&size, one.workers_min, one.workers);
	}
	if (c->n_clusters > 1)
		table_indented(out, 2, TEXT(CLUSTERS_NEED), size.idle, size.most, size.descriptors,
			       size.memory >> 20, TREE_POD_BYTES);
}

void config_clusters_print(const struct config *c, const json_t *clusters, FILE *out)
{
	json_t *one;
	size_t i;

	if (!names_any(c))
		return;
	(void)fprintf(out, "%s\n", TEXT(CLUSTERS_HEAD));
	json_array_foreach (clusters, i, one) {
		const json_t *writer = json_object_get(one, "writer");
		_cleanup_free_ char *words = words_of(one);
		_cleanup_free_ char *workers = writer ? words_of(writer) : NULL;

		table_indented(out, 2, "%s:", text_of(one, "name"));
		table_indented(out, 4, "%s", words);
		if (workers)
			table_indented(out, 4, TEXT(CLUSTERS_WORKERS), workers);
	}
	print_need(c, out);
}
