/* decode.h - a pod's wire bytes -> struct pod_facts, from protobuf and, by a second independent decoder, from
 * JSON. Layer: kube.  Nothing is allocated; strings borrow from the input (JSON: from the jansson tree). */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_DECODE_H
#define KUBE_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "model/pod.h"

/* A bare Pod message (core/v1 generated.proto), as in list items. Unknown fields are skipped, fields of a
 * wrong wire type are treated as absent. 0, or -EBADMSG when the bytes are no protobuf (truncated, overlong
 * varint, length past the end). */
int decode_pod_protobuf(const uint8_t *p, size_t n, struct pod_facts *ret);

/* The object of a BOOKMARK event: only its resourceVersion and whether it ends the initial events of a
 * WatchList (annotation k8s.io/initial-events-end: "true"). Returns as above. */
struct bookmark {
	struct str rv;
	bool initial_end;
};
int decode_bookmark_protobuf(const uint8_t *p, size_t n, struct bookmark *ret);

struct json_t;
/* A Pod object as the API server answers GET with Accept: application/json. 0, or -EBADMSG when it is no
 * object or has no metadata.name and uid; single members of a wrong type are treated as absent. */
int decode_pod_json(const struct json_t *pod, struct pod_facts *ret);

#endif
