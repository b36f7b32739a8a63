/* kubeconfig_user.h - the fields of one cluster, context and user entry.  Layer: config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_KUBECONFIG_USER_H
#define CONFIG_KUBECONFIG_USER_H

#include "config/diag.h"
#include "config/kube_target.h"
#include "config/tree.h"

/* An entry and the file that it came from: relative paths start there. node NULL = no such entry. */
struct kube_entry {
	const char *path;
	const char *name;
	const struct tree_node *node; /* the `cluster`, `context` or `user` mapping */
};

/* Text of a key; NULL when absent or empty. Another type is an error in d. */
const char *kube_entry_text(const struct kube_entry *e, const char *key, struct diags *d);

void kube_read_cluster(const struct kube_entry *e, struct kube_target *t, struct diags *d);
void kube_read_user(const struct kube_entry *e, struct kube_target *t, struct diags *d);

/* Strict base64 (RFC 4648 4) that skips white space; NULL when it is none. Result NUL-terminated, malloc()ed.
 */
char *kube_base64_decode(const char *text, size_t n, size_t *ret_n);

#endif
