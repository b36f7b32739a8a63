/* decode_protobuf.h - a Pod's protobuf bytes -> struct pod_facts.  Layer: kube.  Nothing is allocated;
 * strings borrow from the input. */
// SPDX-License-Identifier: Apache-2.0
#ifndef KUBE_DECODE_PROTOBUF_H
#define KUBE_DECODE_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "model/pod.h"

/* A bare Pod message (core/v1 generated.proto), as in list items. Unknown fields are skipped, fields of a
 * wrong wire type are treated as absent. 0, or -EBADMSG when the bytes are no protobuf (truncated, overlong
 * varint, length past the end). */
int decode_pod_protobuf(const uint8_t *p, size_t n, struct pod_facts *ret);
/* Of an object of any kind only what its metadata says. */
int decode_metadata_protobuf(const uint8_t *p, size_t n, struct pod_facts *ret);

#endif
