/* kubeconfig_check.h - the kubeconfigs that a configuration names, looked at in place of the process that
 * will read them. Layer: config (library opc_config_yaml). Reads kubeconfigs, not the files that they name;
 * runs no plugin, asks no server. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_KUBECONFIG_CHECK_H
#define CONFIG_KUBECONFIG_CHECK_H

#include "config/clusters.h"
#include "config/diag.h"

/* What is wrong with them, path being the configuration's: what one holds is an error; that it is closed to
 * us here, or to the service, only a warning; that it is missing has been said when c was loaded. What is not
 * named is not looked for. 0, or -EINVAL after an error. */
int config_check_kubeconfigs(const char *path, const struct config *c, struct diags *d);

#endif
