/* config_told.h - what `config check` tells of a configuration: which clusters it is for, where its duties
 * work, and when its schedules fire. Process: cli. What is returned is owned by the caller. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_LOCAL_CONFIG_TOLD_H
#define CLI_LOCAL_CONFIG_TOLD_H

#include <jansson.h>

#include "config/config.h"
#include "config/cron.h"
#include "config/diag.h"
#include "config/zone.h"

/* Look at the kubeconfigs that c names, in place of the process that will read them: not at the files that
 * they name, at no plugin, at no server. A list of {name, server, context, user, kubeconfig} and, where the
 * workers have their own, writer with the same but the name: null is what is not known here. path: of the
 * configuration. To d: what a kubeconfig holds is an error; that it is closed to us here, or to the service,
 * a warning; that it is missing has been said when c was loaded. */
json_t *config_clusters_look(const char *path, const struct config *c, struct diags *d);
/* The namespaces in a file, as `kubectl get namespaces -o json` (or -o yaml) prints them; "-" is standard
 * input. NULL after a message on stderr. */
json_t *config_namespaces_load(const char *path);
/* By duty {meaning, namespaces}: in words, and which of `cluster`, such a list, where it is not NULL. */
json_t *config_namespaces_json(const struct policy *p, const json_t *cluster, enum language l);
/* Of every duty that is enabled: the next three reports, and the next three openings of each window, after
 * now_ms. A list of {key, schedule, zone, next}. */
json_t *schedule_json(const struct config *c, int64_t now_ms);
/* All of it for people, on stdout. clusters: config_clusters_look(). */
void config_told_print(const struct config *c, const json_t *clusters, const json_t *cluster);

/* The next n times of a schedule after from_ms, fewer where there are no more, as a list in the local time of
 * the zone (NULL: UTC) with its offset: "2026-11-21T09:00:00+08:00". */
json_t *schedule_times(const struct cron *cron, const struct zone *zone, int64_t from_ms, int64_t n);

#endif
