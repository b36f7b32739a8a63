// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/podpb.h"
#include "model/fields.def"
#include "tests/apisim/text.h"
#include "tests/apisim/util.h"

#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 48, SLOTS = 128 };

struct message;

struct field {
	const char *name; /* NULL: inline */
	size_t name_size;
	unsigned number;
	bool pointer, list, map;
	char type;
	const char *message_name;
	const struct message *message;
};

struct message {
	const char *name;
	struct field fields[FIELDS_MAX];
	size_t count;
	uint8_t slots[SLOTS]; /* of a table of names: a field's index and one, 0: none */
};

struct schema_row {
	const char *name; /* NULL: inline */
	unsigned number;
	const char *type;
};

#define M(message, fields)    static const struct schema_row rows_##message[] = { fields{ 0 } };
#define F(name, number, type) { #name, number, #type },
#define I(number, type)       { NULL, number, #type },
#include "tests/apisim/pod_schema.def"
#undef M
#undef F
#undef I

static const struct {
	const char *name;
	const struct schema_row *rows;
} schema[] = {
#define M(message, fields) { #message, rows_##message },
#include "tests/apisim/pod_schema.def"
#undef M
};

/* What the decoders read stands here, under the same number. */
#define M(message, fields)                                                                                   \
	struct schema_##message {                                                                            \
		fields                                                                                       \
	};
#define F(name, number, type) char number_of_##name[number];
#define I(number, type)
#include "tests/apisim/pod_schema.def"
#define CHECK(message, fact, number, key, kind)                                                              \
	_Static_assert(sizeof(((struct schema_##message *)0)->number_of_##key) == (number),                  \
		       #message "." #key);
/* clang-format off */
FIELDS_pod(CHECK, Pod)
FIELDS_meta(CHECK, ObjectMeta)
FIELDS_owner(CHECK, OwnerReference)
FIELDS_spec(CHECK, PodSpec)
FIELDS_volume(CHECK, VolumeSource)
FIELDS_status(CHECK, PodStatus)
FIELDS_condition(CHECK, PodCondition)
FIELDS_container(CHECK, ContainerStatus)
FIELDS_state(CHECK, ContainerState)
FIELDS_waiting(CHECK, ContainerStateWaiting)
FIELDS_running(CHECK, ContainerStateRunning)
FIELDS_terminated(CHECK, ContainerStateTerminated)
FIELDS_last(CHECK, ContainerStateTerminated)
FIELDS_template(CHECK, Container)
FIELDS_rule(CHECK, ContainerRestartRule)
FIELDS_exit_codes(CHECK, ContainerRestartRuleOnExitCodes)
FIELDS_claim(CHECK, PodResourceClaim)
FIELDS_claim_status(CHECK, PodResourceClaimStatus)
FIELDS_claim_status(CHECK, PodExtendedResourceClaimStatus)
FIELDS_allocated(CHECK, ResourceStatus)
FIELDS_health(CHECK, ResourceHealth)
	/* clang-format on */

	static struct message *messages;

/* Where the search for a name begins. */
static size_t slot_of(const char *name, size_t size)
{
	const unsigned char first = (unsigned char)name[0], middle = (unsigned char)name[size / 2],
			    last = (unsigned char)name[size - (size > 0)];

	return (size * 5 + first * 3u + middle * 11u + last * 31u) % SLOTS;
}

static const struct field *field_of(const struct message *m, const char *name, size_t size)
{
	for (size_t at = slot_of(name, size); m->slots[at]; at = (at + 1) % SLOTS) {
		const struct field *f = &m->fields[m->slots[at] - 1];

		if (f->name_size == size && !memcmp(f->name, name, size))
			return f;
	}
	return NULL;
}

static void schema_add_slot(struct message *m)
{
	const struct field *f = &m->fields[m->count - 1];
	size_t at = slot_of(f->name, f->name_size);

	while (m->slots[at])
		at = (at + 1) % SLOTS;
	m->slots[at] = (uint8_t)m->count;
}

static void schema_add_field(struct message *m, const struct schema_row *row)
{
	struct field *f = &m->fields[m->count++];
	const char *p = row->type;

	if (m->count > FIELDS_MAX)
		util_die(70, "pod_schema.def: message %s", m->name);
	f->number = row->number;
	for (; *p && strchr("*[{", *p); p++) {
		f->pointer |= *p == '*';
		f->list |= *p == '[';
		f->map |= *p == '{';
	}
	f->type = *p;
	f->message_name = *p == '@' ? p + 1 : NULL;
	if (row->name) {
		f->name = row->name;
		f->name_size = strlen(row->name);
		schema_add_slot(m);
	}
}

static const struct message *schema_find(const char *name)
{
	for (size_t i = 0; i < sizeof(schema) / sizeof(schema[0]); i++)
		if (!strcmp(messages[i].name, name))
			return &messages[i];
	util_die(70, "pod_schema.def: no message %s", name);
}

static void schema_load(void)
{
	size_t n = sizeof(schema) / sizeof(schema[0]);

	messages = util_alloc(n * sizeof(*messages));
	for (size_t i = 0; i < n; i++) {
		messages[i].name = schema[i].name;
		for (const struct schema_row *row = schema[i].rows; row->type; row++)
			schema_add_field(&messages[i], row);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < messages[i].count; j++)
			if (messages[i].fields[j].message_name)
				messages[i].fields[j].message =
					schema_find(messages[i].fields[j].message_name);
}

void pb_init(struct pb_buf *b, size_t room)
{
	*b = (struct pb_buf){ .data = util_alloc_raw(room), .cap = room, .at = room };
}

void pb_done(struct pb_buf *b)
{
	free(b->data);
	*b = (struct pb_buf){ 0 };
}

size_t pb_size(const struct pb_buf *b)
{
	return b->cap - b->at;
}

static void pb_need(struct pb_buf *b, size_t n)
{
	size_t used = pb_size(b), cap = b->cap;
	char *data;

	if (b->at >= n)
		return;
	while (cap - used < n)
		cap = cap ? cap * 2 : 64;
	data = util_alloc_raw(cap);
	memcpy(data + cap - used, b->data + b->at, used);
	free(b->data);
	*b = (struct pb_buf){ .data = data, .cap = cap, .at = cap - used };
}

void pb_raw(struct pb_buf *b, const void *data, size_t n)
{
	if (!n)
		return;
	pb_need(b, n);
	b->at -= n;
	memcpy(b->data + b->at, data, n);
}

static size_t varint_put(char *out, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		out[n++] = (char)((v & 0x7f) | 0x80);
	out[n++] = (char)v;
	return n;
}

void pb_varint(struct pb_buf *b, uint64_t v)
{
	char tmp[10];

	if (v < 0x80 && b->at)
		b->data[--b->at] = (char)v;
	else
		pb_raw(b, tmp, varint_put(tmp, v));
}

void pb_field_varint(struct pb_buf *b, unsigned field, uint64_t v)
{
	pb_varint(b, v);
	pb_varint(b, field << 3);
}

void pb_field_close(struct pb_buf *b, unsigned field, size_t mark)
{
	pb_varint(b, pb_size(b) - mark);
	pb_varint(b, field << 3 | 2);
}

static void pb_field_bytes(struct pb_buf *b, unsigned field, const char *s, size_t n)
{
	size_t mark = pb_size(b);

	pb_raw(b, s, n);
	pb_field_close(b, field, mark);
}

void pb_field_string(struct pb_buf *b, unsigned field, const char *s)
{
	pb_field_bytes(b, field, s ? s : "", s ? strlen(s) : 0);
}

static void put_message(struct pb_buf *b, const struct message *m, const json_t *obj);

/* The content of a Time: empty for the zero time. */
static void put_time(struct pb_buf *b, const json_t *v)
{
	const char *s = json_string_value(v);
	int64_t t;

	if (!s || !util_time_parse(s, &t))
		return;
	pb_field_varint(b, 2, 0);
	pb_field_varint(b, 1, (uint64_t)t);
}

static void put_int_or_string(struct pb_buf *b, const json_t *v)
{
	pb_field_string(b, 3, json_string_value(v));
	pb_field_varint(b, 2, (uint64_t)json_integer_value(v));
	pb_field_varint(b, 1, json_is_string(v));
}

static void put_quantity(struct pb_buf *b, const json_t *v)
{
	char number[32];
	const char *s = json_string_value(v);

	if (!s && json_is_integer(v)) {
		snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(v));
		s = number;
	}
	pb_field_string(b, 1, s ? s : "0");
}

static void put_fields_v1(struct pb_buf *b, const json_t *v)
{
	struct text t = { 0 };

	if (v)
		text_json(&t, v);
	pb_field_bytes(b, 1, t.data, t.size);
	text_done(&t);
}

/* One value of the field, tag included; v may be NULL or of another type, which writes the zero value. */
static void put_value(struct pb_buf *b, const struct field *f, unsigned number, const json_t *v)
{
	size_t mark = pb_size(b);

	switch (f->type) {
	case 's':
		pb_field_bytes(b, number, json_string_value(v), json_string_length(v));
		return;
	case 'i':
		pb_field_varint(b, number, (uint64_t)json_integer_value(v));
		return;
	case 'b':
		pb_field_varint(b, number, json_is_true(v));
		return;
	case 't':
		put_time(b, v);
		break;
	case 'q':
		put_quantity(b, v);
		break;
	case 'o':
		put_int_or_string(b, v);
		break;
	case 'f':
		put_fields_v1(b, v);
		break;
	default:
		put_message(b, f->message, v);
	}
	pb_field_close(b, number, mark);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_map(struct pb_buf *b, const struct field *f, const json_t *v)
{
	size_t n = json_object_size(v), i = 0;
	const char **keys = util_alloc(n * sizeof(*keys));
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)v, key, value)
		keys[i++] = key;
	qsort(keys, n, sizeof(*keys), by_name);
	while (i-- > 0) {
		size_t mark = pb_size(b);

		put_value(b, f, 2, json_object_get(v, keys[i]));
		pb_field_string(b, 1, keys[i]);
		pb_field_close(b, f->number, mark);
	}
	free(keys);
}

static bool inline_present(const struct message *m, const json_t *obj)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)obj, key, value) {
		if (field_of(m, key, strlen(key)))
			return true;
	}
	for (size_t i = 0; i < m->count; i++)
		if (!m->fields[i].name && inline_present(m->fields[i].message, obj))
			return true;
	return false;
}

static void put_field(struct pb_buf *b, const struct field *f, const json_t *v)
{
	if (f->list) {
		for (size_t i = json_array_size(v); i-- > 0;)
			put_value(b, f, f->number, json_array_get(v, i));
	} else if (f->map) {
		if (json_is_object(v))
			put_map(b, f, v);
	} else if (!f->pointer || (f->name ? v != NULL : inline_present(f->message, v))) {
		put_value(b, f, f->number, v);
	}
}

/* Objects have few of the members that they may have: each is looked up among the fields, not each field
 * among them. */
static void put_message(struct pb_buf *b, const struct message *m, const json_t *obj)
{
	const json_t *values[FIELDS_MAX] = { 0 };
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)obj, key, value) {
		const struct field *f = field_of(m, key, strlen(key));

		if (f && !json_is_null(value))
			values[f - m->fields] = value;
	}
	for (size_t i = m->count; i-- > 0;)
		put_field(b, &m->fields[i], m->fields[i].name ? values[i] : obj);
}

void podpb_message(struct pb_buf *b, const char *name, const json_t *obj)
{
	if (!messages)
		schema_load();
	put_message(b, strcmp(name, "Pod") ? schema_find(name) : &messages[0], obj);
}

static void put_status_details(struct pb_buf *b, const json_t *d)
{
	json_t *causes = json_object_get(d, "causes");
	size_t mark = pb_size(b);

	pb_field_string(b, 6, util_str(d, "uid"));
	pb_field_varint(b, 5, (uint64_t)json_integer_value(json_object_get(d, "retryAfterSeconds")));
	for (size_t i = json_array_size(causes); i-- > 0;) {
		json_t *c = json_array_get(causes, i);
		size_t inner = pb_size(b);

		pb_field_string(b, 3, util_str(c, "field"));
		pb_field_string(b, 2, util_str(c, "message"));
		pb_field_string(b, 1, util_str(c, "reason"));
		pb_field_close(b, 4, inner);
	}
	pb_field_string(b, 3, util_str(d, "kind"));
	pb_field_string(b, 2, util_str(d, "group"));
	pb_field_string(b, 1, util_str(d, "name"));
	pb_field_close(b, 5, mark);
}

void podpb_list_meta(struct pb_buf *b, const char *rv, const char *cont, int64_t remaining)
{
	size_t mark = pb_size(b);

	if (remaining >= 0)
		pb_field_varint(b, 4, (uint64_t)remaining);
	pb_field_string(b, 3, cont);
	pb_field_string(b, 2, rv);
	pb_field_string(b, 1, "");
	pb_field_close(b, 1, mark);
}

void podpb_status(struct pb_buf *b, const json_t *status)
{
	json_t *details = json_object_get(status, "details");

	pb_field_varint(b, 6, (uint64_t)json_integer_value(json_object_get(status, "code")));
	if (details)
		put_status_details(b, details);
	pb_field_string(b, 4, util_str(status, "reason"));
	pb_field_string(b, 3, util_str(status, "message"));
	pb_field_string(b, 2, util_str(status, "status"));
	podpb_list_meta(b, "", util_str(json_object_get(status, "metadata"), "continue"), -1);
}

size_t podpb_envelope(char out[64], const char *kind, size_t raw_len)
{
	size_t n = 4, len = strlen(kind);

	memcpy(out, "k8s\0", 4);
	out[n++] = 0x0a;
	out[n++] = (char)(4 + 2 + len);
	memcpy(out + n, "\x0a\x02v1\x12", 5);
	n += 5;
	out[n++] = (char)len;
	memcpy(out + n, kind, len);
	n += len;
	out[n++] = 0x12;
	return n + varint_put(out + n, raw_len);
}

size_t podpb_frame(char out[PODPB_FRAME_MAX], const char *type, const char *kind, size_t raw_len)
{
	char envelope[64], len[10];
	size_t head = podpb_envelope(envelope, kind, raw_len), object = head + raw_len + PODPB_TAIL_SIZE;
	size_t extension = 1 + varint_put(len, object) + object, type_len = strlen(type), n = 4;
	size_t frame = 2 + type_len + 1 + varint_put(len, extension) + extension;

	for (size_t i = 0; i < 4; i++)
		out[i] = (char)(frame >> (24 - 8 * i) & 255);
	out[n++] = 0x0a;
	out[n++] = (char)type_len;
	memcpy(out + n, type, type_len);
	n += type_len;
	out[n++] = 0x12;
	n += varint_put(out + n, extension);
	out[n++] = 0x0a;
	n += varint_put(out + n, object);
	memcpy(out + n, envelope, head);
	return n + head;
}
