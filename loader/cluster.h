/* cluster.h - each cluster of the configuration with its credentials and addresses.  Process: loader. */
// SPDX-License-Identifier: Apache-2.0
#ifndef LOADER_CLUSTER_H
#define LOADER_CLUSTER_H

#include "config/kubeconfig.h"
#include "loader/loader.h"

/* One cluster, ready to be sent: the credential of the watcher and that of the workers. */
struct loaded_cluster {
	char *name;
	uint64_t workers;
	struct kube_target reader, writer; /* writer.c is empty when it is the reader's */
	bool own_writer, shared;           /* shared: one credential for both all the same */
};

/* *ret is malloc()ed; false after an error (some may be half filled). */
bool loader_clusters(struct loader *l, struct loaded_cluster **ret, size_t *ret_n);
void loaded_clusters_free(struct loaded_cluster **c, size_t n);

#endif
