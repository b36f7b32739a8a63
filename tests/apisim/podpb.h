/* Writes Pods, Statuses and their envelopes in the protobuf form of Kubernetes.
 *
 * Independent of every decoder in this tree on purpose: it is driven by a table of the full Pod schema
 * (pod_schema.def) and follows the rules of the generated Go code (k8s.io/apimachinery generated.pb.go):
 * ascending fields, values that are not pointers always written, map keys sorted.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_PODPB_H
#define APISIM_PODPB_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* Filled from the back to the front, so that a length is known when it is written. Bytes are data + at ..
 * data + cap. */
struct pb_buf {
	char *data;
	size_t cap;
	size_t at;
};

void pb_init(struct pb_buf *b, size_t room);
void pb_done(struct pb_buf *b);
size_t pb_size(const struct pb_buf *b);

/* Each prepends. */
void pb_raw(struct pb_buf *b, const void *data, size_t n);
void pb_varint(struct pb_buf *b, uint64_t v);
void pb_field_varint(struct pb_buf *b, unsigned field, uint64_t v);
void pb_field_string(struct pb_buf *b, unsigned field, const char *s);

/* Turns everything written since the size was `mark` into the length-delimited field. */
void pb_field_close(struct pb_buf *b, unsigned field, size_t mark);

/* Prepends the message of that name in pod_schema.def ("Pod", "ObjectMeta") made from the JSON object. A
 * member of the wrong type counts as absent. */
void podpb_message(struct pb_buf *b, const char *name, const json_t *obj);

/* Prepends a bare meta/v1 Status. */
void podpb_status(struct pb_buf *b, const json_t *status);

/* What stands before and after `raw_len` bytes of an object: "k8s\0" and runtime.Unknown. out holds 64 bytes;
 * returns the number written. */
size_t podpb_envelope(char out[64], const char *kind, size_t raw_len);
#define PODPB_TAIL      "\x1a\x00\x22\x00"
#define PODPB_TAIL_SIZE 4u

/* The bytes of a PodList before its first item: field `metadata`. */
void podpb_list_meta(struct pb_buf *b, const char *rv, const char *cont, int64_t remaining);

#define PODPB_FRAME_MAX 128

/* What stands before the object in a watch frame, from the big-endian length on, for an event that carries an
 * object of `kind` with raw_len bytes. Returns the number written. */
size_t podpb_frame(char out[PODPB_FRAME_MAX], const char *type, const char *kind, size_t raw_len);

#endif
