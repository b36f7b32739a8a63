/* config_clusters.h - which clusters a configuration is for, as `config check` tells it: server, context and
 * user of each, as the kubeconfigs that it names say.  Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_CONFIG_CLUSTERS_H
#define CLI_CONFIG_CLUSTERS_H

#include <jansson.h>
#include <stdio.h>

#include "config/config.h"

/* path: of the configuration. Lines for people; none where it names no cluster, no kubeconfig and no context.
 */
void config_clusters_print(const char *path, const struct config *c, FILE *out);
/* A list of {name, server, context, user, kubeconfig} and, where the workers have their own, writer with the
 * same but the name: null is what is not known here. Owned by the caller. */
json_t *config_clusters_json(const char *path, const struct config *c);

#endif
