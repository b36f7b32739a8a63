/* kubeconfig.h - which API server, with which credential: kubeconfig files, $KUBECONFIG, the service account
 * of a pod. Order of the sources as controller-runtime has it: explicit file, $KUBECONFIG, in-cluster,
 * ~/.kube/config. Rules of merging, of relative paths and what excludes what follow client-go
 * (tools/clientcmd: loader.go, validation.go, client_config.go). Layer: config (library opc_config_yaml).
 * Reads kubeconfigs, not the files that they name. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_KUBECONFIG_H
#define CONFIG_KUBECONFIG_H

#include "config/kubeconfig_user.h"

struct kube_options {
	const char *kubeconfig; /* explicit file, must exist; NULL = search */
	const char *context;    /* NULL = current-context */
	const char *master;     /* replaces the server; NULL = none */
};

/* 0, or -EINVAL with every error in d. Free with kube_target_done (also after an error). */
int kube_target_load(const struct kube_options *o, struct kube_target *ret, struct diags *d);

/* Directory of the mounted service account: $OPC_SERVICEACCOUNT_DIR or the standard one. */
const char *kube_service_account_dir(void);
/* $KUBERNETES_SERVICE_HOST and _PORT are set, as a kubelet does for every container. */
bool kube_is_in_pod(void);
/* The same, and there is a token. */
bool kube_is_in_cluster(void);

#endif
