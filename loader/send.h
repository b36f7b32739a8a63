/* send.h - what the loader tells the supervisor.  Process: loader. */
// SPDX-License-Identifier: Apache-2.0
#ifndef LOADER_SEND_H
#define LOADER_SEND_H

#include "ipc/channel.h"
#include "loader/cluster.h"

void send_hello(struct channel *c);
/* The lines from index `from` on; of: the cluster that they are about, NULL = the whole. */
void send_lines(struct channel *c, const struct diags *d, size_t from, uint64_t cluster,
		const struct loaded_cluster *of);
/* The names from index `from` on, the first of all with the descriptor. */
void send_watches(struct channel *c, const struct watches *w, size_t from);
/* What the supervisor itself must know. */
void send_supervisor(struct channel *c, const struct loader *l);
/* Where the cluster is, as far as that is known. */
void send_cluster(struct channel *c, const struct loader *l, uint64_t cluster,
		  const struct loaded_cluster *of, bool loaded);
/* Settings of this role of that cluster; fd is borrowed. 0 or negative errno. */
int send_blob(struct channel *c, enum role role, uint64_t cluster, int fd, uint64_t refresh_ms,
	      struct plugin_mark plugin);
void send_end(struct channel *c, bool ok);

#endif
