/* config_clusters.h - which clusters a configuration is for, as `config check` tells it: server, context and
 * user of each, as the kubeconfigs that it names say.  Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_LOCAL_CONFIG_CLUSTERS_H
#define CLI_LOCAL_CONFIG_CLUSTERS_H

#include <jansson.h>
#include <stdio.h>

#include "config/config.h"
#include "config/diag.h"

/* Look at the kubeconfigs that c names, in place of the process that will read them: not at the files that
 * they name, at no plugin, at no server. A list of {name, server, context, user, kubeconfig} and, where the
 * workers have their own, writer with the same but the name: null is what is not known here. Owned by the
 * caller. path: of the configuration. To d: what a kubeconfig holds is an error; that it is closed to us
 * here, or to the service, a warning; that it is missing has been said when c was loaded. */
json_t *config_clusters_look(const char *path, const struct config *c, struct diags *d);
/* Such a list as lines for people; none where c names no cluster, no kubeconfig and no context. */
void config_clusters_print(const struct config *c, const json_t *clusters, FILE *out);

#endif
