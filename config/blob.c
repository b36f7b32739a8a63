/* blob.c - settings in a sealed memfd: one msgpack map, its keys the paths of the rows that the role may see,
 * in the order of the table. Equal settings give equal bytes. The reader trusts nothing: own cursor, every
 * length is compared with the bytes left and with the row before anything is allocated. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <msgpack.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/override.h"
#include "config/table.h"

#define BLOB_MAX  (8u << 20)
#define ITEM_MAX  1024u
#define BLOB_SEAL (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static const char *const role_names[] = {
#define R(ID, name, doc) [ROLE_##ID] = name,
#include "ipc/roles.def"
#undef R
};

static bool is_visible(const struct setting *row, unsigned role)
{
	return (row->roles >> role) & 1u;
}

/* -- write -------------------------------------------------------------------------------------------------
 */

struct buffer {
	uint8_t *p;
	size_t n, room;
};

static int buffer_append(void *data, const char *p, size_t n)
{
	struct buffer *b = data;

	if (n > b->room - b->n) {
		b->room = (b->n + n) * 2;
		b->p = xreallocarray(b->p, b->room, 1);
	}
	if (n > 0) /* p may be NULL then */
		if (n > 0)
			memcpy(b->p + b->n, p, n);
	b->n += n;
	return 0;
}

static void pack_text(msgpack_packer *pk, const char *s)
{
	if (!s) {
		msgpack_pack_nil(pk);
		return;
	}
	msgpack_pack_str(pk, strlen(s));
	msgpack_pack_str_body(pk, s, strlen(s));
}

static void pack_list(msgpack_packer *pk, const struct str_list *l)
{
	msgpack_pack_array(pk, l->n);
	for (size_t i = 0; i < l->n; i++)
		pack_text(pk, l->v[i]);
}

static void pack_member(msgpack_packer *pk, const struct setting *row, const struct settings *s);

/* Each as an array: name, namespaces, labels, and the members of its duties in the order of the table. */
static void pack_overrides(msgpack_packer *pk, const struct policy *p)
{
	size_t rows = 0;

	for (const struct setting *row = settings_table; row->path; row++)
		rows += override_has(row);
	msgpack_pack_array(pk, p->n_overrides);
	for (size_t i = 0; i < p->n_overrides; i++) {
		const struct policy_override *o = &p->overrides[i];
		struct settings view;

		msgpack_pack_array(pk, 3 + rows);
		pack_text(pk, o->name);
		pack_list(pk, &o->namespaces);
		pack_list(pk, &o->labels);
		override_view(o, &view);
		for (const struct setting *row = settings_table; row->path; row++)
			if (override_has(row))
				pack_member(pk, row, &view);
	}
}

static void pack_member(msgpack_packer *pk, const struct setting *row, const struct settings *s)
{
	const void *p = setting_member_const(row, s);

	if (row->kind == SET_BOOL) {
		*(const bool *)p ? msgpack_pack_true(pk) : msgpack_pack_false(pk);
	} else if (setting_is_number(row->kind)) {
		msgpack_pack_int64(pk, setting_get_number(row, s));
	} else if (setting_is_text(row->kind)) {
		pack_text(pk, *(char *const *)p);
	} else if (setting_is_list(row->kind)) {
		pack_list(pk, p);
	} else if (row->kind == SET_OVERRIDES) {
		pack_overrides(pk, &s->policy);
	} else if (row->kind == SET_BYTES) {
		uint64_t n;

		memcpy(&n, (const char *)p + sizeof(void *), sizeof(n));
		msgpack_pack_bin(pk, n);
		msgpack_pack_bin_body(pk, *(void *const *)p, n);
	}
}

static void pack_settings(struct buffer *b, const struct settings *s, enum role role)
{
	msgpack_packer pk;
	size_t rows = 0;

	for (const struct setting *row = settings_table; row->path; row++)
		rows += is_visible(row, role);
	msgpack_packer_init(&pk, b, buffer_append);
	msgpack_pack_map(&pk, rows + 1);
	pack_text(&pk, "role");
	pack_text(&pk, role_names[role]);
	for (const struct setting *row = settings_table; row->path; row++) {
		if (!is_visible(row, role))
			continue;
		pack_text(&pk, row->path);
		pack_member(&pk, row, s);
	}
}

static int write_all(int fd, const uint8_t *p, size_t n)
{
	while (n > 0) {
		const ssize_t w = write(fd, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -errno;
		p += w;
		n -= (size_t)w;
	}
	return 0;
}

int settings_write_blob(const struct settings *s, enum role role)
{
	_cleanup_close_ int fd = memfd_create("settings", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct buffer b = { 0 };
	int r;

	if (fd < 0)
		return -errno;
	pack_settings(&b, s, role);
	r = b.n > BLOB_MAX ? -EFBIG : write_all(fd, b.p, b.n);
	explicit_bzero(b.p, b.n);
	free(b.p);
	if (r < 0)
		return r;
	if (fcntl(fd, F_ADD_SEALS, BLOB_SEAL) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* -- read --------------------------------------------------------------------------------------------------
 */

struct cursor {
	const uint8_t *p, *end;
	const char *key; /* for messages */
	char *text;
	size_t size;
};

static int bad(struct cursor *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int bad(struct cursor *c, const char *fmt, ...)
{
	va_list ap;
	const int n = snprintf(c->text, c->size, "settings blob: %s: ", c->key);

	va_start(ap, fmt);
	(void)vsnprintf(c->text + n, c->size - (size_t)n, fmt, ap);
	va_end(ap);
	return -EBADMSG;
}

static bool take(struct cursor *c, size_t n, uint64_t *ret)
{
	if ((size_t)(c->end - c->p) < n)
		return false;
	for (*ret = 0; n > 0; n--)
		*ret = *ret << 8 | *c->p++;
	return true;
}

/* Length in the header of a str, bin, array or map: `fix` is its short form (0 = none) of `mask` bits,
 * `first` the tag of its form with 1 << low bytes of length. */
static bool take_length(struct cursor *c, unsigned fix, unsigned mask, unsigned first, unsigned low,
			uint64_t *ret)
{
	uint64_t tag;

	if (!take(c, 1, &tag))
		return false;
	if (fix != 0 && (tag & ~(uint64_t)mask) == fix) {
		*ret = tag & mask;
		return true;
	}
	if (tag < first || tag > first + 2 - low)
		return false;
	return take(c, (size_t)1 << (low + (tag - first)), ret);
}

static bool take_int(struct cursor *c, int64_t *ret)
{
	uint64_t tag, v;

	if (!take(c, 1, &tag))
		return false;
	if (tag <= 0x7f || tag >= 0xe0) {
		*ret = (int8_t)tag;
		return true;
	}
	if (tag >= 0xcc && tag <= 0xcf) {
		if (!take(c, (size_t)1 << (tag - 0xcc), &v) || v > INT64_MAX)
			return false;
		*ret = (int64_t)v;
		return true;
	}
	if (tag < 0xd0 || tag > 0xd3 || !take(c, (size_t)1 << (tag - 0xd0), &v))
		return false;
	const unsigned shift = 64 - (8u << (tag - 0xd0));
	*ret = (int64_t)(v << shift) >> shift;
	return true;
}

static bool take_nil(struct cursor *c)
{
	if (c->p == c->end || *c->p != 0xc0)
		return false;
	c->p++;
	return true;
}

/* A new string, or false; no NUL inside. */
static bool take_text(struct cursor *c, uint64_t max, char **ret)
{
	uint64_t n;

	if (!take_length(c, 0xa0, 0x1f, 0xd9, 0, &n) || n > max || n > (uint64_t)(c->end - c->p) ||
	    memchr(c->p, 0, n))
		return false;
	*ret = xstrndup((const char *)c->p, n);
	c->p += n;
	return true;
}

static int expect_text(struct cursor *c, const char *want)
{
	_cleanup_free_ char *got = NULL;

	if (!take_text(c, ITEM_MAX, &got))
		return bad(c, "expected the key \"%s\"", want);
	return strcmp(got, want) == 0 ? 0 : bad(c, "key \"%.64s\" where \"%s\" was expected", got, want);
}

static int read_number(struct cursor *c, const struct setting *row, struct settings *s)
{
	int64_t v;
	uint64_t tag;

	if (row->kind == SET_BOOL) {
		if (!take(c, 1, &tag) || (tag != 0xc2 && tag != 0xc3))
			return bad(c, "not a boolean");
		v = tag == 0xc3;
	} else if (!take_int(c, &v)) {
		return bad(c, "not an integer");
	}
	if (v < row->min || v > row->max)
		return bad(c, "%lld is out of range", (long long)v);
	setting_set_number(row, s, v);
	return 0;
}

static int read_list(struct cursor *c, const struct setting *row, void *base)
{
	uint64_t n;

	if (!take_length(c, 0x90, 0x0f, 0xdc, 1, &n))
		return bad(c, "not an array");
	if (n > (uint64_t)row->max)
		return bad(c, "%llu items, at most %lld", (unsigned long long)n, (long long)row->max);
	for (; n > 0; n--) {
		_cleanup_free_ char *item = NULL;

		if (!take_text(c, ITEM_MAX, &item))
			return bad(c, "an item is not a text of at most %u bytes", ITEM_MAX);
		str_list_add(setting_member(row, base), item, strlen(item));
	}
	return 0;
}

static int read_bytes(struct cursor *c, const struct setting *row, struct settings *s)
{
	void **p = setting_member(row, s);
	uint64_t n;

	if (!take_length(c, 0, 0, 0xc4, 0, &n) || n > (uint64_t)row->max || n > (uint64_t)(c->end - c->p))
		return bad(c, "not binary data of at most %lld bytes", (long long)row->max);
	if (n > 0)
		*p = xmemdup(c->p, n);
	memcpy(p + 1, &n, sizeof(n));
	c->p += n;
	return 0;
}

static int read_member(struct cursor *c, const struct setting *row, struct settings *s);

/* What has been read belongs to the override, also when the rest is bad. */
static int read_override_duties(struct cursor *c, struct policy_override *o)
{
	struct settings view;
	int r = 0;

	override_view(o, &view);
	for (const struct setting *row = settings_table; row->path && r == 0; row++) {
		if (!override_has(row))
			continue;
		setting_clear(row, &view);
		r = read_member(c, row, &view);
	}
	override_take(o, &view);
	return r;
}

static int read_override(struct cursor *c, struct policy_override *o)
{
	const struct setting *rows = settings_override_table;
	uint64_t n, want = 3;
	int r;

	for (const struct setting *row = settings_table; row->path; row++)
		want += override_has(row);
	if (!take_length(c, 0x90, 0x0f, 0xdc, 1, &n) || n != want)
		return bad(c, "an item is not an array of %llu", (unsigned long long)want);
	if (!take_text(c, (uint64_t)rows[0].max, &o->name))
		return bad(c, "an item has no name");
	r = read_list(c, &rows[1], o);
	if (r == 0)
		r = read_list(c, &rows[2], o);
	return r < 0 ? r : read_override_duties(c, o);
}

static int read_overrides(struct cursor *c, const struct setting *row, struct settings *s)
{
	uint64_t n;
	int r = 0;

	if (!take_length(c, 0x90, 0x0f, 0xdc, 1, &n) || n > (uint64_t)row->max)
		return bad(c, "not an array of at most %lld", (long long)row->max);
	for (; n > 0 && r == 0; n--)
		r = read_override(c, override_add(&s->policy));
	return r;
}

static int read_member(struct cursor *c, const struct setting *row, struct settings *s)
{
	if (setting_is_number(row->kind))
		return read_number(c, row, s);
	if (setting_is_list(row->kind))
		return read_list(c, row, s);
	if (row->kind == SET_BYTES)
		return read_bytes(c, row, s);
	if (row->kind == SET_OVERRIDES)
		return read_overrides(c, row, s);
	if (take_nil(c))
		return 0;
	if (!take_text(c, (uint64_t)row->max, setting_member(row, s)))
		return bad(c, "not a text of at most %lld bytes", (long long)row->max);
	return 0;
}

static int read_settings(struct cursor *c, struct settings *s)
{
	_cleanup_free_ char *name = NULL;
	unsigned role = 0;
	uint64_t n, rows = 0;
	int r;

	if (!take_length(c, 0x80, 0x0f, 0xde, 1, &n))
		return bad(c, "not a map");
	r = expect_text(c, "role");
	if (r < 0)
		return r;
	if (!take_text(c, 32, &name))
		return bad(c, "no role");
	while (role < ROLE__MAX && strcmp(role_names[role], name) != 0)
		role++;
	if (role == ROLE__MAX)
		return bad(c, "unknown role \"%.32s\"", name);
	for (const struct setting *row = settings_table; row->path; row++)
		rows += is_visible(row, role);
	if (n != rows + 1)
		return bad(c, "%llu keys, %llu were expected for the %s", (unsigned long long)n,
			   (unsigned long long)rows + 1, role_names[role]);
	for (const struct setting *row = settings_table; row->path; row++) {
		if (!is_visible(row, role))
			continue;
		c->key = row->path;
		r = expect_text(c, row->path);
		if (r == 0)
			r = read_member(c, row, s);
		if (r < 0)
			return r;
	}
	c->key = "(end)";
	return c->p == c->end ? 0 : bad(c, "%zu bytes too many", (size_t)(c->end - c->p));
}

int settings_decode(const void *p, size_t n, struct settings *ret, const char **reterr)
{
	static _Thread_local char text[256];
	struct cursor c = { p, (const uint8_t *)p + n, "(header)", text, sizeof(text) };
	struct settings s;
	int r;

	settings_init(&s);
	r = read_settings(&c, &s);
	if (r < 0) {
		settings_done(&s);
		*reterr = text;
		return r;
	}
	*ret = s;
	return 0;
}

static int fail(const char **reterr, int r, const char *text)
{
	*reterr = text;
	return r;
}

int settings_read_blob(int fd, struct settings *ret, const char **reterr)
{
	_cleanup_free_ uint8_t *p = NULL;
	const int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;
	size_t n = 0;
	int r;

	if (seals < 0 || (seals & BLOB_SEAL) != BLOB_SEAL)
		return fail(reterr, -EBADMSG, "settings blob: not a sealed memfd");
	if (fstat(fd, &st) < 0)
		return fail(reterr, -errno, "settings blob: cannot be examined");
	if (st.st_size <= 0 || st.st_size > (off_t)BLOB_MAX)
		return fail(reterr, -EBADMSG, "settings blob: empty or too large");
	p = xmalloc((size_t)st.st_size);
	while (n < (size_t)st.st_size) {
		const ssize_t k = pread(fd, p + n, (size_t)st.st_size - n, (off_t)n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return fail(reterr, k < 0 ? -errno : -EBADMSG, "settings blob: cannot be read");
		n += (size_t)k;
	}
	r = settings_decode(p, n, ret, reterr);
	explicit_bzero(p, n);
	return r;
}
