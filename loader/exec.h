/* exec.h - exec plugins of a kubeconfig (client.authentication.k8s.io).  Process: loader. */
// SPDX-License-Identifier: Apache-2.0
#ifndef LOADER_EXEC_H
#define LOADER_EXEC_H

#include "config/kubeconfig.h"
#include "loader/loader.h"

/* Another one where its answer might be another, as client-go tells its plugins apart; not 0. */
uint64_t loader_exec_hash(const struct kube_target *t);

/* Run the plugin and put what it says into t->c. 0, or negative errno with a sentence
 * in why that goes on behind "the plugin NAME". *ret_expiry is
 * Unix ms, 0 when it names none. timeout_ms bounds it. */
int loader_exec(struct kube_target *t, int timeout_ms, int64_t *ret_expiry, char why[static SENTENCE_MAX]);

#endif
