/* loader.h - the parts of the one-shot loader: everything that opens a file, runs a program or asks the DNS
 * on behalf of the others, and then ends.  Process: loader. */
// SPDX-License-Identifier: Apache-2.0
#ifndef LOADER_LOADER_H
#define LOADER_LOADER_H

#include "config/config.h"
#include "config/diag.h"
#include "config/kubeconfig.h"

#define LOADER_TIME_S 30 /* of one run */

struct loader_options {
	const char *config, *kubeconfig, *master, *state_dir;
};

/* When to run again, ms; 0 = never. */
struct loader_refresh {
	uint64_t ms;
};
void loader_refresh_within(struct loader_refresh *r, uint64_t ms);

/* Where errors go and what they add up to. temporary: only errors that may be gone at the next try. */
struct loader {
	const struct loader_options *options;
	struct config config;
	struct diags diags;
	struct loader_refresh refresh;
	bool lasting; /* an error that will not go away by itself */
};

/* One cluster, ready to be sent: the credential of the watcher and that of the workers. */
struct loaded_cluster {
	char *name;
	uint64_t workers;
	struct kube_target reader, writer; /* writer.c is empty when it is the reader's */
	bool own_writer;
};

/* All that the configuration names: files, zone, webhook, state directory, own pod. False after an error. */
bool loader_complete(struct loader *l);
/* *ret is malloc()ed; false after an error (some may be half filled). */
bool loader_clusters(struct loader *l, struct loaded_cluster **ret, size_t *ret_n);
void loaded_clusters_free(struct loaded_cluster **c, size_t n);

/* A path of the configuration: relative ones start beside the configuration file. */
char *loader_path(const struct loader *l, const char *path);

/* Run the plugin and put what it says into t->c. 0, or negative errno with a text in reterr (no secrets).
 * *ret_expiry is Unix ms, 0 when it names none. timeout_ms bounds it. */
#define LOADER_ERROR_MAX 600
int loader_exec(struct kube_target *t, int timeout_ms, int64_t *ret_expiry,
		char reterr[static LOADER_ERROR_MAX]);

/* Address for a host and port: the first that answers, else the first; "ip:port", "[v6]:port". 0 or -EAI code
 * * -1 with a text. */
int loader_resolve(const char *host, unsigned port, char **ret, char reterr[static LOADER_ERROR_MAX]);

#endif
