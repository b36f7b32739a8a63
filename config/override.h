/* override.h - items of `overrides`: complete policies of the duties, made from the policy itself and the
 * keys that differ.  Layer: config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_OVERRIDE_H
#define CONFIG_OVERRIDE_H

#include "config/structs.h"

/* Append one without name, namespaces and labels whose duties are copies of the policy's. The pointer is
 * valid until the next call. */
struct policy_override *override_add(struct policy *policy);
/* Rows of settings.def are for struct settings: the override's duties in such a one, and back. The two share
 * what the members hold; only one of them may be released. */
void override_view(const struct policy_override *o, struct settings *ret);
void override_take(struct policy_override *o, const struct settings *view);

#endif
