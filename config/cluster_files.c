/* cluster_files.c - see cluster_files.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/cluster_files.h"

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

static void add(struct config *c, const char *folder, const char *file, struct place at, struct diags *d)
{
	const struct setting *row =
		setting_find_member(settings_cluster_table, offsetof(struct cluster_config, name));
	const char *dot = strrchr(file, '.');
	_cleanup_free_ char *kubeconfig = xasprintf("%s/%s", folder, file);
	const struct place of_file = { .file = kubeconfig, .key = at.key };
	struct cluster_config *one = setting_append(settings_find("clusters"), c);

	one->is_file = true;
	(void)setting_assign(row, one, file, dot ? (size_t)(dot - file) : strlen(file), d, of_file);
	one->kubeconfig = TAKE_PTR(kubeconfig);
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
