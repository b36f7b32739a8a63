/* config_namespaces.h - what the lists of namespaces of a configuration mean, for `config check`: in words,
 * and which namespaces of a cluster. Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_LOCAL_CONFIG_NAMESPACES_H
#define CLI_LOCAL_CONFIG_NAMESPACES_H

#include <jansson.h>
#include <stdio.h>

#include "model/policy.h"

/* The namespaces in a file, as `kubectl get namespaces -o json` (or -o yaml) prints them; "-" is standard
 * input. NULL after a message on stderr. */
json_t *config_namespaces_load(const char *path);
/* cluster: such a list, or NULL. Lines for people; and for machines, owned by the caller. */
void config_namespaces_print(const struct policy *p, const json_t *cluster, FILE *out);
json_t *config_namespaces_json(const struct policy *p, const json_t *cluster);

#endif
