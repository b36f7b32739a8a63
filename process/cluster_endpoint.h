/* cluster_endpoint.h - the API server of a cluster, as its settings describe it.  Layer: process. */
// SPDX-License-Identifier: Apache-2.0
#ifndef PROCESS_CLUSTER_ENDPOINT_H
#define PROCESS_CLUSTER_ENDPOINT_H

#include "config/settings.h"
#include "http/client.h"

/* What *ret points to belongs to the settings and to the caller's user_agent. */
void cluster_endpoint(const struct cluster_settings *c, const char *user_agent, struct http_endpoint *ret);

#endif
