/* wire.c - see wire.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kube/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/rfc3339.h"
#include "base/xalloc.h"

void wire_done(struct wire *w)
{
	free(w->p);
	*w = (struct wire){ 0 };
}

void wire_bytes(struct wire *w, const void *p, size_t n)
{
	if (w->n + n > w->cap) {
		w->cap = (w->n + n) * 2;
		w->p = xreallocarray(w->p, w->cap, 1);
	}
	if (n)
		memcpy(w->p + w->n, p, n);
	w->n += n;
}

void wire_varint(struct wire *w, uint64_t v)
{
	uint8_t b[10];
	size_t n = 0;

	do {
		b[n] = (uint8_t)(v & 0x7f);
		v >>= 7;
		if (v)
			b[n] |= 0x80;
		n++;
	} while (v);
	wire_bytes(w, b, n);
}

void wire_tag(struct wire *w, uint32_t field, unsigned type)
{
	wire_varint(w, (uint64_t)field << 3 | type);
}

void wire_field_varint(struct wire *w, uint32_t field, uint64_t v)
{
	wire_tag(w, field, 0);
	wire_varint(w, v);
}

void wire_field_bytes(struct wire *w, uint32_t field, const void *p, size_t n)
{
	wire_tag(w, field, 2);
	wire_varint(w, n);
	wire_bytes(w, p, n);
}

void wire_field_str(struct wire *w, uint32_t field, const char *s)
{
	wire_field_bytes(w, field, s, strlen(s));
}

void wire_field_message(struct wire *w, uint32_t field, struct wire *m)
{
	wire_field_bytes(w, field, m->p, m->n);
	wire_done(m);
}

void wire_envelope(struct wire *w, const char *api_version, const char *kind, struct wire *raw)
{
	struct wire type = { 0 };

	wire_bytes(w, "k8s", 4);
	wire_field_str(&type, 1, api_version);
	wire_field_str(&type, 2, kind);
	wire_field_message(w, 1, &type);
	wire_field_message(w, 2, raw);
	wire_field_str(w, 3, "");
	wire_field_str(w, 4, "");
}

void wire_event(struct wire *w, const char *type, const char *api_version, const char *kind, struct wire *raw)
{
	struct wire event = { 0 }, extension = { 0 }, object = { 0 };

	wire_envelope(&object, api_version, kind, raw);
	wire_field_message(&extension, 1, &object);
	wire_field_str(&event, 1, type);
	wire_field_message(&event, 2, &extension);
	const uint8_t header[4] = { (uint8_t)(event.n >> 24), (uint8_t)(event.n >> 16),
				    (uint8_t)(event.n >> 8), (uint8_t)event.n };

	wire_bytes(w, header, sizeof(header));
	wire_bytes(w, event.p, event.n);
	wire_done(&event);
}

struct dual dual_new(void)
{
	return (struct dual){ .json = json_object() };
}

void dual_done(struct dual *d)
{
	wire_done(&d->wire);
	json_decref(d->json);
	d->json = NULL;
}

void dual_str(struct dual *d, uint32_t field, const char *key, const char *s)
{
	wire_field_str(&d->wire, field, s);
	if (*s)
		json_object_set_new(d->json, key, json_string(s));
}

void dual_int(struct dual *d, uint32_t field, const char *key, int64_t v)
{
	wire_field_varint(&d->wire, field, (uint64_t)v);
	json_object_set_new(d->json, key, json_integer(v));
}

void dual_bool(struct dual *d, uint32_t field, const char *key, bool v)
{
	wire_field_varint(&d->wire, field, v);
	json_object_set_new(d->json, key, json_boolean(v));
}

void dual_time(struct dual *d, uint32_t field, const char *key, int64_t seconds)
{
	struct wire m = { 0 };
	char text[RFC3339_MAX];

	if (seconds) {
		wire_field_varint(&m, 1, (uint64_t)seconds);
		wire_field_varint(&m, 2, 0);
	}
	wire_field_message(&d->wire, field, &m);
	rfc3339_format(seconds * 1000, false, text);
	json_object_set_new(d->json, key, seconds ? json_string(text) : json_null());
}

static json_t *member(struct dual *d, const char *key, json_t *fresh)
{
	json_t *v = json_object_get(d->json, key);

	if (v) {
		json_decref(fresh);
		return v;
	}
	json_object_set_new(d->json, key, fresh);
	return fresh;
}

void dual_pair(struct dual *d, uint32_t field, const char *key, const char *k, const char *v)
{
	struct wire m = { 0 };

	wire_field_str(&m, 1, k);
	wire_field_str(&m, 2, v);
	wire_field_message(&d->wire, field, &m);
	json_object_set_new(member(d, key, json_object()), k, json_string(v));
}

void dual_add_str(struct dual *d, uint32_t field, const char *key, const char *s)
{
	wire_field_str(&d->wire, field, s);
	json_array_append_new(member(d, key, json_array()), json_string(s));
}

void dual_add_int(struct dual *d, uint32_t field, const char *key, int64_t v)
{
	wire_field_varint(&d->wire, field, (uint64_t)v);
	json_array_append_new(member(d, key, json_array()), json_integer(v));
}

void dual_message(struct dual *d, uint32_t field, const char *key, struct dual *child)
{
	wire_field_message(&d->wire, field, &child->wire);
	json_object_set_new(d->json, key, child->json);
	child->json = NULL;
}

void dual_add(struct dual *d, uint32_t field, const char *key, struct dual *child)
{
	wire_field_message(&d->wire, field, &child->wire);
	json_array_append_new(member(d, key, json_array()), child->json);
	child->json = NULL;
}

uint64_t wire_random(uint64_t *state) /* splitmix64 */
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}
