/* What kube-apiserver adds to objects that are created. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_DEFAULTS_H
#define APISIM_DEFAULTS_H

#include "tests/apisim/kinds.h"

#include <jansson.h>

/* A new tree from the one sent (released): name from generateName, uid, creationTimestamp, generation,
 * namespace, and for pods and workloads the defaults that clients read. Status as a create leaves it. */
json_t *defaults_create(const struct kind *kind, json_t *tree, const char *ns);

#endif
