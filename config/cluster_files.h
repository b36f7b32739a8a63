/* cluster_files.h - clusters that stand in no list: `clustersFrom` is a pattern, and each file that it
 * matches is the kubeconfig of one.  Layer: config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_CLUSTER_FILES_H
#define CONFIG_CLUSTER_FILES_H

#include "config/positions.h"
#include "config/settings.h"

/* The folder and the pattern of names in it that `clustersFrom` means; `path` is the configuration file's.
 * Both are malloc()ed. False: it is not set, and both are NULL. */
bool cluster_files_place(const char *path, const struct config *c, char **ret_folder, char **ret_pattern);
/* Append a cluster for each file, in the order of their names; it is called as the file, without what stands
 * behind the last dot. The folder is read, the files are not. Every cluster stands at `at`, and what is wrong
 * is told there. */
void cluster_files_add(const char *path, struct config *c, struct positions *positions, struct place at,
		       struct diags *d);

#endif
