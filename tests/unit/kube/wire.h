/* wire.h - writes test objects in both of Kubernetes' encodings at once: protobuf bytes and a jansson tree.
 * It shares no code with the decoders. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_WIRE_H
#define TESTS_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire {
	uint8_t *p;
	size_t n, cap;
};

void wire_done(struct wire *w);
void wire_bytes(struct wire *w, const void *p, size_t n);
void wire_varint(struct wire *w, uint64_t v);
void wire_tag(struct wire *w, uint32_t field, unsigned type);
void wire_field_varint(struct wire *w, uint32_t field, uint64_t v);
void wire_field_bytes(struct wire *w, uint32_t field, const void *p, size_t n);
void wire_field_str(struct wire *w, uint32_t field, const char *s);
/* Takes m over. */
void wire_field_message(struct wire *w, uint32_t field, struct wire *m);
/* "k8s\0" + Unknown around raw, which is taken over. */
void wire_envelope(struct wire *w, const char *api_version, const char *kind, struct wire *raw);
/* One watch frame around an enveloped object; raw is taken over. */
void wire_event(struct wire *w, const char *type, const char *api_version, const char *kind,
		struct wire *raw);

/* Both encodings side by side. */
struct dual {
	struct wire wire;
	json_t *json;
};
struct dual dual_new(void);
void dual_done(struct dual *d);
void dual_str(struct dual *d, uint32_t field, const char *key, const char *s);
void dual_int(struct dual *d, uint32_t field, const char *key, int64_t v);
void dual_bool(struct dual *d, uint32_t field, const char *key, bool v);
void dual_time(struct dual *d, uint32_t field, const char *key, int64_t seconds); /* 0 = zero time */
void dual_pair(struct dual *d, uint32_t field, const char *key, const char *k, const char *v);
void dual_add_str(struct dual *d, uint32_t field, const char *key, const char *s);
void dual_add_int(struct dual *d, uint32_t field, const char *key, int64_t v);
/* child is taken over: as the member `key`, or as one more of the list `key`. */
void dual_message(struct dual *d, uint32_t field, const char *key, struct dual *child);
void dual_add(struct dual *d, uint32_t field, const char *key, struct dual *child);

/* The next of a sequence that *state decides. */
uint64_t wire_random(uint64_t *state);

#endif
