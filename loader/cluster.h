/* cluster.h - a cluster of the configuration with its credentials and addresses.  Process: loader. */
// SPDX-License-Identifier: Apache-2.0
#ifndef LOADER_CLUSTER_H
#define LOADER_CLUSTER_H

#include "config/kubeconfig.h"
#include "loader/loader.h"

/* One cluster, ready to be sent: the credential of the watcher and that of the workers. */
struct loaded_cluster {
	const char *name; /* the configuration's */
	uint64_t workers, workers_min;
	struct kube_target reader, writer; /* writer.c is empty when it is the reader's */
	struct plugin_mark reader_plugin, writer_plugin;
	bool own_writer, shared; /* shared: one credential for both all the same */
};

/* How many there are. Without `clusters` it is one, called default. */
size_t loader_clusters(const struct loader *l);
/* Each cluster keeps the index of its name, and a new name gets the next one. False, after an error, when
 * none is left: a restart gives them anew. */
bool loader_give_indexes(struct loader *l);
/* Name and workers of the i-th; nothing is read. */
void loaded_cluster_init(const struct loader *l, size_t i, struct loaded_cluster *ret);
/* Load the i-th, which is initialised. False after an error; it may be half filled then. */
bool loader_load_cluster(struct loader *l, size_t i, struct loaded_cluster *c);
void loaded_cluster_done(struct loaded_cluster *c);

#endif
