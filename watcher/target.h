/* target.h - what of the settings says where and what to watch.  Layer: watcher.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_TARGET_H
#define WATCHER_TARGET_H

#include "config/settings.h"

/* The namespaces to be content with when the cluster-wide list is forbidden: those that the duties name, or
 * the credential's own. Added to ret. */
void target_namespaces(const struct settings *s, struct str_list *ret);
/* Namespace of the Lease: as configured, else the own one, else the credential's, else "default". Borrowed.
 */
const char *target_lease_namespace(const struct settings *s);
/* The same names, in any order. */
bool target_same_list(const struct str_list *a, const struct str_list *b);

#endif
