/* template_hash.h - has somebody corrected a workload? A hash of what people correct in its pod template.
 * Layer: worker.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_TEMPLATE_HASH_H
#define WORKER_TEMPLATE_HASH_H

#include <jansson.h>

#define TEMPLATE_HASH_MAX 17

/* Sixteen hex digits of spec.template of a workload: its labels and annotations, and of its containers and
 * volumes what decides what runs, listed in template_hash.c. Not the whole of it: an API server of a later
 * version fills new defaults into templates that nobody has touched. Empty when it has no template. */
void template_hash(const json_t *workload, char ret[static TEMPLATE_HASH_MAX]);

#endif
