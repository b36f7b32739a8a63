/* decode_json.h - a Pod's JSON -> struct pod_facts, by a second, independent decoder.  Layer: kube.  Nothing
 * is allocated; strings borrow from the jansson tree. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_DECODE_JSON_H
#define KUBE_DECODE_JSON_H

#include "model/pod.h"

struct json_t;
/* A Pod object as the API server answers GET with Accept: application/json. 0, or -EBADMSG when it is no
 * object or has no metadata.name and uid; single members of a wrong type are treated as absent. */
int decode_pod_json(const struct json_t *pod, struct pod_facts *ret);

#endif
