/* clusters.c - see clusters.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/clusters.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/file.h"
#include "config/table.h"
#include "config/value.h"

size_t clusters_count(const struct config *c)
{
	return c->n_clusters > 0 ? c->n_clusters : 1;
}

struct cluster_config clusters_at(const struct config *c, size_t i)
{
	struct cluster_config one =
		c->n_clusters > 0 ? c->clusters[i]
				  : (struct cluster_config){ .context = c->context,
							     .writer_kubeconfig = c->writer_kubeconfig,
							     .writer_context = c->writer_context };

	one.workers_min = one.workers > 0 ? one.workers : c->workers_min;
	if (one.workers == 0)
		one.workers = c->workers;
	return one;
}

const char *clusters_name(const struct cluster_config *one)
{
	return one->name ? one->name : "default";
}

bool clusters_own_writer(const struct cluster_config *one)
{
	return one->writer_kubeconfig || one->writer_context;
}

static char *find_kubeconfig(const struct config *c, const char *own, const char *path, const char *flag)
{
	if (own)
		return file_beside(path, own);
	if (flag)
		return xstrdup(flag);
	return c->kubeconfig ? file_beside(path, c->kubeconfig) : NULL;
}

struct cluster_source clusters_reader(const struct config *c, const struct cluster_config *one,
				      const char *path, const char *flag)
{
	return (struct cluster_source){ find_kubeconfig(c, one->kubeconfig, path, flag), one->context };
}

struct cluster_source clusters_writer(const struct config *c, const struct cluster_config *one,
				      const char *path, const char *flag)
{
	const char *own = one->writer_kubeconfig ? one->writer_kubeconfig : one->kubeconfig;

	return (struct cluster_source){ find_kubeconfig(c, own, path, flag), one->writer_context };
}

void cluster_source_done(struct cluster_source *s)
{
	free(s->kubeconfig);
	*s = (struct cluster_source){ 0 };
}

/* -- clusters that are files -- */

bool cluster_files_place(const char *path, const struct config *c, char **ret_folder, char **ret_pattern)
{
	*ret_folder = *ret_pattern = NULL;
	if (!c->clusters_from || !*c->clusters_from)
		return false;
	_cleanup_free_ char *whole = file_beside(path, c->clusters_from);
	const char *slash = strrchr(whole, '/');

	*ret_folder = slash ? xstrndup(whole, slash > whole ? (size_t)(slash - whole) : 1) : xstrdup(".");
	*ret_pattern = xstrdup(slash ? slash + 1 : whole);
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names that match, ordered. 0 or -errno. */
static int list(const char *folder, const char *pattern, struct str_list *ret)
{
	DIR *dir = opendir(folder);

	if (!dir)
		return -errno;
	for (const struct dirent *e; (e = readdir(dir));)
		if (fnmatch(pattern, e->d_name, FNM_PERIOD) == 0)
			str_list_add(ret, e->d_name, strlen(e->d_name));
	(void)closedir(dir);
	if (ret->n > 0)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_name);
	return 0;
}

static bool is_called(const struct config *c, const char *name)
{
	for (size_t i = 0; i < c->n_clusters; i++)
		if (c->clusters[i].name && strcmp(c->clusters[i].name, name) == 0)
			return true;
	return false;
}

/* Is the cluster of that file there already? */
static void compare(const struct config *c, const char *name, const char *kubeconfig, struct diags *d)
{
	if (is_called(c, name))
		diags_error(d, place_of_file(NULL), CALLED_TWICE, name);
	for (size_t i = 0; i < c->n_clusters; i++) {
		const struct cluster_config *b = &c->clusters[i];

		if (b->name && b->kubeconfig && !b->context && strcmp(b->kubeconfig, kubeconfig) == 0)
			diags_error(d, place_of_file(NULL), SAME_CLUSTER, b->name, name);
	}
}

/* The name of the whole file, with '_' for what that of a cluster cannot have. */
static char *name_that_waits(const char *file)
{
	char *name = xstrndup(file, 63);

	for (char *p = name; *(p += strspn(p, SETTING_NAME_CHARS));)
		*p = '_';
	if (strchr(".-", *name))
		*name = '_';
	return name;
}

static void add(struct config *c, const char *folder, const char *file, struct place at, struct diags *d)
{
	const struct setting *row =
		setting_find_member(settings_cluster_table, offsetof(struct cluster_config, name));
	const char *dot = strrchr(file, '.');
	_cleanup_free_ char *kubeconfig = xasprintf("%s/%s", folder, file);
	const struct place of_file = { .file = kubeconfig, .key = at.key };
	_cleanup_(diags_done) struct diags wrong = { 0 };
	struct cluster_config one = { .is_file = true };
	char sentence[SENTENCE_MAX];

	if (setting_assign(row, &one, file, dot ? (size_t)(dot - file) : strlen(file), &wrong, of_file) == 0)
		compare(c, one.name, kubeconfig, &wrong);
	if (wrong.n > 0) {
		(void)sentence_make(sentence, FILE_WAITS, wrong.v[0].sentence);
		(void)diags_put(d, false, of_file, sentence);
		free(one.name);
		one.name = name_that_waits(file);
		one.wrong = xstrdup(sentence);
	}
	one.kubeconfig = TAKE_PTR(kubeconfig);
	if (is_called(c, one.name)) /* it waits until the other one has left */
		for (row = settings_cluster_table; row->path; row++)
			setting_clear(row, &one);
	else
		*(struct cluster_config *)setting_append(settings_find("clusters"), c) = one;
}

void cluster_files_add(const char *path, struct config *c, struct positions *positions, struct place at,
		       struct diags *d)
{
	_cleanup_free_ char *folder = NULL, *pattern = NULL;
	_cleanup_(str_list_done) struct str_list files = { 0 };

	if (!cluster_files_place(path, c, &folder, &pattern))
		return;
	if (strpbrk(folder, "*?[")) {
		diags_error(d, at, PATTERN_FOLDER);
		return;
	}
	const int r = list(folder, pattern, &files);

	if (r < 0)
		diags_error(d, at, FOLDER_UNREADABLE, folder, strerrordesc_np(-r));
	else if (files.n == 0 && c->n_clusters == 0)
		diags_error(d, at, NO_FILE_MATCHES, folder, pattern);
	for (size_t i = 0; i < files.n; i++) {
		if (c->n_clusters == CLUSTERS_MAX) {
			diags_error(d, at, TOO_MANY, (size_t)CLUSTERS_MAX, "clusters");
			return;
		}
		positions->cluster[c->n_clusters].item = at;
		add(c, folder, files.v[i], at, d);
	}
}
