/* job_kinds.h - does a pod run to completion, so that its end is worth keeping? Its controller tells: a Job,
 * a kind that the setting jobKinds names, and whatever else does not scale.  Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_JOB_KINDS_H
#define MODEL_JOB_KINDS_H

#include "base/str.h"
#include "model/pod.h"

/* job_kinds: patterns of "Kind" or "Kind.group". scales: what the API server's discovery says of a kind that
 * neither they nor model/kinds.def know. UNKNOWN: that decides, and is not known. Without a controller: NO.
 */
enum tri job_kinds_match(const struct owner_facts *o, const struct str_list *job_kinds, enum tri scales);

#endif
