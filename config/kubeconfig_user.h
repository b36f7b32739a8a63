/* kubeconfig_user.h - the fields of one cluster, context and user entry, and the target that they make.
 * Layer: config (library opc_config_yaml). */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_KUBECONFIG_USER_H
#define CONFIG_KUBECONFIG_USER_H

#include "config/diag.h"
#include "config/settings.h"
#include "config/yaml.h"

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

/* One API server as a kubeconfig names it: addresses, credentials, files still to be read. */
struct kube_target {
	struct cluster_settings c; /* without name; *-data decoded, files not read yet */
	char *ca_file, *cert_file, *key_file, *token_file;
	struct kube_exec exec;
	char *source;                /* for people: "/root/.kube/config, context x" */
	char *path, *context, *user; /* the parts of it; path: also of one that cannot be read */
	bool in_cluster;
};

/* Release what it holds; secrets are wiped first. */
void kube_target_done(struct kube_target *t);
/* Wipe and free a text, and set it to NULL. */
void kube_secret_clear(char **s);

/* An entry and the file that it came from: relative paths start there. node NULL = no such entry. */
struct kube_entry {
	const char *path;
	const char *name;
	const struct yaml *y;
	const yaml_node_t *node; /* the `cluster`, `context` or `user` mapping */
	struct diags *d;         /* where its errors go */
};

/* Text of a key; NULL when absent or empty. Another type is an error. */
const char *kube_entry_text(const struct kube_entry *e, const char *key);

void kube_read_cluster(const struct kube_entry *e, struct kube_target *t);
void kube_read_user(const struct kube_entry *e, struct kube_target *t);

/* Strict base64 (RFC 4648 4) that skips white space; NULL when it is none. Result NUL-terminated, malloc()ed.
 */
char *kube_base64_decode(const char *text, size_t n, size_t *ret_n);

#endif
