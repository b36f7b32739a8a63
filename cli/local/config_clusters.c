/* config_clusters.c - see config_clusters.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/local/config_clusters.h"

#include "base/cleanup.h"
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

/* Its parts are null where it cannot be read. name: NULL of workers. */
static json_t *look_at_source(const char *name, const struct cluster_source *s, struct diags *d)
{
	const struct kube_options o = { .kubeconfig = s->kubeconfig, .context = s->context };
	_cleanup_(kube_target_done) struct kube_target t = { 0 };
	const bool known = s->kubeconfig && file_can_be_read(s->kubeconfig, "kubeconfig", d) &&
			   kube_target_load(&o, &t, d) == 0;

	if (known) {
		file_tell_closed(s->kubeconfig, "kubeconfig", d);
		file_tell_exposed(s->kubeconfig, d);
	}
	return json_pack("{s:s*, s:o, s:o, s:o, s:o}", "name", name, "server",
			 text_or_null(known ? t.c.server : NULL), "context",
			 text_or_null(known ? t.context : s->context), "user",
			 text_or_null(known ? t.user : NULL), "kubeconfig", text_or_null(s->kubeconfig));
}

json_t *config_clusters_look(const char *path, const struct config *c, struct diags *d)
{
	json_t *all = json_array();

	for (size_t i = 0; i < clusters_count(c); i++) {
		const struct cluster_config one = clusters_at(c, i);
		_cleanup_(cluster_source_done) struct cluster_source reader =
			clusters_reader(c, &one, path, NULL);
		_cleanup_(cluster_source_done) struct cluster_source writer =
			clusters_writer(c, &one, path, NULL);
		json_t *told = look_at_source(clusters_name(&one), &reader, d);

		if (clusters_own_writer(&one))
			json_object_set_new(told, "writer", look_at_source(NULL, &writer, d));
		json_array_append_new(all, told);
	}
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
}
