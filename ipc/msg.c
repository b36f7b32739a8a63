/* msg.c - see msg.h. One table of fields per message; every function here is a loop over it. */
// SPDX-License-Identifier: Apache-2.0
#include "ipc/msg.h"

#include <errno.h>
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "base/unpack.h"

#define F_DESC(S, KIND, f, min, max, doc) { #f, KIND_##KIND, offsetof(struct S, f), min, max, doc },
#define M(ID, name, from, to, phases, doc)                                                                   \
	static const struct msg_field name##_fields[] = { MSG_##name##_FIELDS(F_DESC, msg_##name) };
MSG_LIST(M)
#undef M

static const struct msg_desc descs[MSG__MAX] = {
#define M(ID, name, from, to, phases, doc)                                                                   \
	{ #ID, from, to, phases, name##_fields, ARRAY_SIZE(name##_fields), sizeof(struct msg_##name), doc },
	MSG_LIST(M)
#undef M
};

/* Every message fits a frame even if all its strings and facts are full: header 3, type 2, integer 9, string
 * 3 + length. */
#define F_SIZE_U64(max)                   9u
#define F_SIZE_I64(max)                   9u
#define F_SIZE_BOOL(max)                  1u
#define F_SIZE_STR(max)                   (3u + (max))
#define F_SIZE_LINES(max)                 (3u + (max))
#define F_SIZE_NAME(max)                  (3u + (max))
#define F_SIZE_UID(max)                   (3u + (max))
#define F_SIZE_FACTS(max)                 (max)
#define F_SIZE(S, KIND, f, min, max, doc) +F_SIZE_##KIND(max)
#define M(ID, name, from, to, phases, doc)                                                                   \
	_Static_assert(5u MSG_##name##_FIELDS(F_SIZE, ) <= IPC_FRAME_MAX, #ID " does not fit a frame");
MSG_LIST(M)
#undef M

static const char *const role_names[ROLE__MAX] = {
#define R(ID, name, doc) name,
#include "ipc/roles.def"
#undef R
};

const struct msg_desc *msg_desc(enum msg_type type)
{
	return (unsigned)type < MSG__MAX ? &descs[type] : NULL;
}

struct msg *msg_dup(const struct msg *m)
{
	return xmemdup(m, offsetof(struct msg, u) + msg_desc(m->type)->size);
}

const char *role_name(enum role role)
{
	return (unsigned)role < ROLE__MAX ? role_names[role] : "?";
}

bool sandbox_is_weak(const char *text)
{
	return strncmp(text, "no ", 3) == 0 || strstr(text, ",no ") || strcmp(text, "off") == 0 ||
	       strcmp(text, "built out") == 0;
}

int role_parse(const char *name)
{
	for (int i = 0; i < ROLE__MAX; i++)
		if (strcmp(role_names[i], name) == 0)
			return i;
	return -1;
}

static char *member(struct msg *m, const struct msg_field *f)
{
	return (char *)&m->u + f->off;
}

static const char *const_member(const struct msg *m, const struct msg_field *f)
{
	return (const char *)&m->u + f->off;
}

static uint64_t get_u64_member(const struct msg *m, const struct msg_field *f)
{
	uint64_t v;

	memcpy(&v, const_member(m, f), sizeof(v));
	return v;
}

/* The field of that name and kind, or NULL. Looked for from `first` on and around: what two messages share
 * stands in the same order. */
static const struct msg_field *find_field(const struct msg_desc *d, enum field_kind kind, const char *name,
					  size_t first)
{
	for (size_t i = 0, k = first; i < d->n; i++, k++) {
		if (k >= d->n)
			k = 0;
		const struct msg_field *f = &d->fields[k];

		if (f->kind == kind && *f->name == *name && strcmp(f->name, name) == 0)
			return f;
	}
	return NULL;
}

/* -- characters -- */

/* A bit for each kind of text that the character may stand in. In STR all that is printable may. */
enum { IN_NAME = 1 << KIND_NAME, IN_ALL = IN_NAME | 1 << KIND_UID };

static const unsigned char_kinds[256] = {
	['*'] = IN_NAME, ['-'] = IN_ALL,         ['.' ... '/'] = IN_NAME, ['0' ... '9'] = IN_ALL,
	[':'] = IN_NAME, ['A' ... 'Z'] = IN_ALL, ['_'] = IN_NAME,         ['a' ... 'z'] = IN_ALL,
};

static bool char_ok(enum field_kind kind, unsigned char c)
{
	return char_kinds[c] >> kind & 1;
}

/* The line that *rest begins with, without its end, is taken off; whether it had one. */
static bool take_line(struct str *rest, struct str *ret)
{
	const char *feed = memchr(rest->p, '\n', rest->n);
	const size_t n = feed ? (size_t)(feed - rest->p) : rest->n, taken = n + (feed != NULL);

	*ret = (struct str){ rest->p, n };
	*rest = (struct str){ rest->p + taken, rest->n - taken };
	return feed != NULL;
}

static bool lines_ok(const char *s, size_t n)
{
	struct str rest = { s, n }, line;
	bool ok = true;

	while (ok && rest.n > 0) {
		(void)take_line(&rest, &line);
		ok = unicode_all_printable(line.p, line.n);
	}
	return ok;
}

/* Each of them as a STR. */
static void set_lines(char *field, size_t size, const char *s, size_t n)
{
	struct str rest = { s, n }, line;
	size_t at = 0;

	field[0] = '\0';
	while (rest.n > 0 && at + 1 < size) {
		const bool ended = take_line(&rest, &line);

		at += str_copy_printable(field + at, size - at, line.p, line.n);
		if (ended && at + 1 < size)
			field[at++] = '\n';
		field[at] = '\0';
	}
}

static bool text_ok(enum field_kind kind, const char *s, size_t n)
{
	if (kind == KIND_STR)
		return unicode_all_printable(s, n);
	if (kind == KIND_LINES)
		return lines_ok(s, n);
	for (size_t i = 0; i < n; i++)
		if (!char_ok(kind, (unsigned char)s[i]))
			return false;
	return true;
}

void msg_set_text(struct msg *m, char *field, size_t size, const char *s, size_t n)
{
	const struct msg_desc *d = msg_desc(m->type);
	const size_t off = (size_t)(field - (char *)&m->u);
	enum field_kind kind = KIND_STR;

	for (size_t i = 0; d && i < d->n; i++)
		if (d->fields[i].off == off)
			kind = d->fields[i].kind;
	if (kind == KIND_FACTS)
		abort(); /* it is no text */
	if (kind == KIND_STR) {
		(void)str_copy_printable(field, size, s, n);
		return;
	}
	if (kind == KIND_LINES) {
		set_lines(field, size, s, n);
		return;
	}
	if (n > size - 1)
		n = size - 1;
	for (size_t i = 0; i < n; i++)
		field[i] = char_ok(kind, (unsigned char)s[i]) ? s[i] : '-';
	field[n] = '\0';
}

/* -- encode -- */

struct frame {
	uint8_t *buf;
	size_t n;
};

static int frame_write(void *data, const char *buf, size_t len)
{
	struct frame *f = data;

	if (len > IPC_FRAME_MAX - f->n)
		abort(); /* the static asserts above are wrong */
	memcpy(f->buf + f->n, buf, len);
	f->n += len;
	return 0;
}

static void encode_text(msgpack_packer *pk, const struct msg_field *f, const char *s)
{
	const size_t n = strnlen(s, f->max + 1);

	if (n > f->max || n < (size_t)f->min || !text_ok(f->kind, s, n))
		abort();
	(void)msgpack_pack_str_with_body(pk, s, n);
}

/* They are a msgpack map already. */
static void encode_facts(msgpack_packer *pk, const struct facts *facts)
{
	const struct str bytes = facts_bytes(facts);

	(void)pk->callback(pk->data, bytes.p, bytes.n);
}

static void encode_field(msgpack_packer *pk, const struct msg *m, const struct msg_field *f)
{
	const uint64_t u = f->kind == KIND_U64 || f->kind == KIND_I64 ? get_u64_member(m, f) : 0;
	const int64_t i = (int64_t)u;

	switch (f->kind) {
	case KIND_U64:
		if (u < (uint64_t)f->min || u > f->max)
			abort();
		(void)msgpack_pack_uint64(pk, u);
		break;
	case KIND_I64:
		if (i < f->min || (i >= 0 && (uint64_t)i > f->max))
			abort();
		(void)msgpack_pack_int64(pk, i);
		break;
	case KIND_BOOL:
		(void)(*(const bool *)const_member(m, f) ? msgpack_pack_true(pk) : msgpack_pack_false(pk));
		break;
	case KIND_STR:
	case KIND_LINES:
	case KIND_NAME:
	case KIND_UID:
		encode_text(pk, f, const_member(m, f));
		break;
	case KIND_FACTS:
		encode_facts(pk, (const void *)const_member(m, f));
		break;
	}
}

size_t msg_encode(const struct msg *m, uint8_t buf[static IPC_FRAME_MAX])
{
	const struct msg_desc *d = msg_desc(m->type);
	struct frame frame = { .buf = buf };
	msgpack_packer pk;

	if (!d)
		abort();
	msgpack_packer_init(&pk, &frame, frame_write);
	(void)msgpack_pack_array(&pk, d->n + 1);
	(void)msgpack_pack_uint64(&pk, (uint64_t)m->type);
	for (size_t i = 0; i < d->n; i++)
		encode_field(&pk, m, &d->fields[i]);
	return frame.n;
}

/* -- decode -- */

static bool take_text(struct unpacker *u, const struct msg_field *f, char *dst)
{
	struct str s;

	if (!unpack_text(u, &s) || s.n < (uint64_t)f->min || s.n > f->max || !text_ok(f->kind, s.p, s.n))
		return false;
	memcpy(dst, s.p, s.n);
	dst[s.n] = '\0';
	return true;
}

static bool take_facts(struct unpacker *u, struct facts *dst)
{
	size_t n;

	if (facts_read(u->p, (size_t)(u->end - u->p), dst, &n) < 0)
		return false;
	u->p += n;
	return true;
}

static bool take_field(struct unpacker *p, const struct msg_field *f, char *dst)
{
	uint64_t u;
	int64_t i;
	bool b;

	switch (f->kind) {
	case KIND_U64:
		if (!unpack_u64(p, &u) || u < (uint64_t)f->min || u > f->max)
			return false;
		memcpy(dst, &u, sizeof(u));
		return true;
	case KIND_I64:
		if (!unpack_i64(p, &i) || i < f->min || (i >= 0 && (uint64_t)i > f->max))
			return false;
		memcpy(dst, &i, sizeof(i));
		return true;
	case KIND_BOOL:
		if (!unpack_bool(p, &b))
			return false;
		memcpy(dst, &b, sizeof(b));
		return true;
	case KIND_STR:
	case KIND_LINES:
	case KIND_NAME:
	case KIND_UID:
		return take_text(p, f, dst);
	case KIND_FACTS:
		return take_facts(p, (void *)dst);
	}
	return false;
}

int msg_decode(enum role from, enum role to, enum phase phase, const uint8_t *buf, size_t len,
	       struct msg *ret, const char **reterr_field)
{
	struct unpacker u = { buf, buf + len };
	uint64_t count, type;

	*reterr_field = "(header)";
	if (len > IPC_FRAME_MAX || !unpack_array(&u, &count) || !unpack_u64(&u, &type) || type >= MSG__MAX)
		return -EBADMSG;
	const struct msg_desc *d = &descs[type];

	*reterr_field = "(count)";
	if (count != d->n + 1)
		return -EBADMSG;
	*reterr_field = "(sender)";
	if (from != ROLE_SUPERVISOR && !(d->from & 1u << from))
		return -EPERM;
	*reterr_field = "(receiver)";
	if (to != ROLE_SUPERVISOR && !(d->to & 1u << to))
		return -EPERM;
	*reterr_field = "(phase)";
	if (!(d->phases & (unsigned)phase))
		return -EPERM;
	ret->type = (enum msg_type)type;
	for (size_t i = 0; i < d->n; i++) {
		if (!take_field(&u, &d->fields[i], member(ret, &d->fields[i]))) {
			*reterr_field = d->fields[i].name;
			return -EBADMSG;
		}
	}
	*reterr_field = NULL;
	return (int)(u.p - buf);
}

/* -- forwarding -- */

enum role msg_receiver(enum msg_type type)
{
	const unsigned to = msg_desc(type)->to;
	unsigned role = 0;

	if (to & R_SUPERVISOR)
		return ROLE_SUPERVISOR;
	while (role < ROLE__MAX && to != 1u << role)
		role++;
	return (enum role)role;
}

uint64_t msg_get_u64(const struct msg *m, const char *name, uint64_t otherwise)
{
	const struct msg_field *f = find_field(msg_desc(m->type), KIND_U64, name, 0);

	return f ? get_u64_member(m, f) : otherwise;
}

void msg_set_u64(struct msg *m, const char *name, uint64_t value)
{
	const struct msg_field *f = find_field(msg_desc(m->type), KIND_U64, name, 0);

	if (f)
		memcpy(member(m, f), &value, sizeof(value));
}

const char *msg_cluster_name(const struct msg *m)
{
	const struct msg_field *f = find_field(msg_desc(m->type), KIND_NAME, "cluster_name", 0);

	return f ? const_member(m, f) : "";
}

/* -- between messages -- */

static void copy_field(struct msg *dst, const struct msg_field *to, const struct msg *src,
		       const struct msg_field *f)
{
	const bool text = field_is_text(f->kind);
	const char *from = const_member(src, f);
	const size_t size = f->kind == KIND_BOOL ? sizeof(bool) : sizeof(uint64_t);
	const size_t n = text ? unicode_cut(from, strnlen(from, f->max), to->max) : size;

	if (f->kind == KIND_FACTS) {
		facts_set((struct facts *)(void *)member(dst, to), (const struct facts *)(const void *)from);
		return;
	}

	memcpy(member(dst, to), from, n);
	if (text)
		member(dst, to)[n] = '\0';
}

void msg_copy_fields(struct msg *dst, const struct msg *src)
{
	const struct msg_desc *to = msg_desc(dst->type), *from = msg_desc(src->type);
	size_t next = 0;

	for (size_t i = 0; i < to->n; i++) {
		const struct msg_field *f = find_field(from, to->fields[i].kind, to->fields[i].name, next);

		if (!f)
			continue;
		copy_field(dst, &to->fields[i], src, f);
		next = (size_t)(f - from->fields) + 1;
	}
}

void history_row_facts(const struct msg_ctl_history_row *r, struct facts *ret)
{
	*ret = r->evidence;
	facts_add(ret, &r->detail);
	facts_time(ret, FACT_SETTLED, r->settled_at);
	if (r->seen > 1)
		facts_count(ret, FACT_SEEN, (int64_t)r->seen);
}

/* -- kept -- */

struct msg_packed {
	size_t n;
	uint8_t bytes[];
};

struct msg_packed *msg_pack(const struct msg *m)
{
	uint8_t buf[IPC_FRAME_MAX];
	const size_t n = msg_encode(m, buf);
	struct msg_packed *p = xmalloc(sizeof(*p) + n);

	p->n = n;
	memcpy(p->bytes, buf, n);
	return p;
}

void msg_unpack(const struct msg_packed *p, struct msg *ret)
{
	const char *field;

	if (msg_decode(ROLE_SUPERVISOR, ROLE_SUPERVISOR, PH_RUN, p->bytes, p->n, ret, &field) < 0)
		abort(); /* we have written it */
}

size_t msg_packed_size(const struct msg_packed *p)
{
	return p ? sizeof(*p) + p->n : 0;
}

bool history_row_acted(const struct msg_ctl_history_row *r)
{
	return r->outcome >= 0 &&
	       ((OUTCOMES_WRITTEN | UINT64_C(1) << OUTCOME_ANNOUNCED) >> r->outcome & 1) != 0;
}
