/* kube_target.h - one API server as a kubeconfig names it: addresses, credentials, files still to be read.
 * Layer: config (library opc_config_yaml). */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_KUBE_TARGET_H
#define CONFIG_KUBE_TARGET_H

#include "config/settings.h"

struct kube_env {
	char *name, *value;
};

/* users[].user.exec */
struct kube_exec {
	char *command; /* absolute, or found in $PATH; NULL = no plugin */
	char *api_version;
	struct str_list args;
	struct kube_env *env;
	size_t n_env;
	bool provide_cluster_info;
	char *install_hint;
};

struct kube_target {
	struct cluster_settings c; /* without name and workers; *-data decoded, files not read yet */
	char *ca_file, *cert_file, *key_file, *token_file;
	struct kube_exec exec;
	char *source; /* for people: "/root/.kube/config, context x" */
	bool in_cluster;
};

/* Release what it holds; secrets are wiped first. */
void kube_target_done(struct kube_target *t);
/* Wipe and free a text, and set it to NULL. */
void kube_secret_clear(char **s);

#endif
