/* blob.c - see blob.h. One msgpack map, its keys the paths of the rows
 * that the role may see, in the order of the table. The reader trusts
 * nothing: every length is compared with the bytes left and with the row before anything is allocated. */
// SPDX-License-Identifier: Apache-2.0
#include "config/blob.h"

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
#include "config/settings.h"
#include "config/table.h"
#include "base/unpack.h"

#define BLOB_MAX  (8u << 20)
#define ITEM_MAX  1024u
#define BLOB_SEAL (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static bool is_visible(const struct setting *row, enum role role)
{
	return (row->roles >> role) & 1u;
}

static size_t count_rows(enum role role)
{
	size_t n = 0;

	for (const struct setting *row = settings_table; row->path; row++)
		n += is_visible(row, role);
	return n;
}

/* The next member of an item that the blob holds: all of an override; of a sink what the reporter, who alone
 * gets them, may see. */
static const struct setting *next_of_item(enum setting_kind kind, size_t *i)
{
	const struct setting *row;

	do
		row = setting_next(kind, i);
	while (row && kind == SET_SINKS && !is_visible(row, ROLE_REPORTER));
	return row;
}

static size_t count_of_item(enum setting_kind kind)
{
	size_t n = 0, i = 0;

	while (next_of_item(kind, &i))
		n++;
	return n;
}

/* -- write -- */

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

static void pack_member(msgpack_packer *pk, const struct setting *row, const void *base);

/* Each as an array of its members, in the order of the tables. */
static void pack_items(msgpack_packer *pk, const struct setting *row, const void *base)
{
	const struct setting_items items = setting_items(row, base);
	const struct setting *key;

	msgpack_pack_array(pk, items.n);
	for (size_t n = 0; n < items.n; n++) {
		msgpack_pack_array(pk, count_of_item(row->kind));
		for (size_t i = 0; (key = next_of_item(row->kind, &i));)
			pack_member(pk, key, setting_item(row, &items, n));
	}
}

static void pack_member(msgpack_packer *pk, const struct setting *row, const void *base)
{
	const void *p = setting_member_const(row, base);

	if (row->kind == SET_BOOL) {
		*(const bool *)p ? msgpack_pack_true(pk) : msgpack_pack_false(pk);
	} else if (setting_is_number(row->kind)) {
		msgpack_pack_int64(pk, setting_get_number(row, base));
	} else if (setting_is_text(row->kind)) {
		pack_text(pk, *(char *const *)p);
	} else if (setting_is_list(row->kind)) {
		pack_list(pk, p);
	} else if (setting_item_table(row->kind)) {
		pack_items(pk, row, base);
	} else if (row->kind == SET_BYTES) {
		uint64_t n;

		memcpy(&n, (const char *)p + sizeof(void *), sizeof(n));
		msgpack_pack_bin(pk, n);
		if (n > 0) /* there may be no bytes else */
			msgpack_pack_bin_body(pk, *(void *const *)p, n);
	}
}

static void pack_settings(msgpack_sbuffer *b, const struct settings *s, enum role role)
{
	msgpack_packer pk;

	msgpack_packer_init(&pk, b, msgpack_sbuffer_write);
	msgpack_pack_map(&pk, count_rows(role) + 1);
	pack_text(&pk, "role");
	pack_text(&pk, role_name(role));
	for (const struct setting *row = settings_table; row->path; row++) {
		if (!is_visible(row, role))
			continue;
		pack_text(&pk, row->path);
		pack_member(&pk, row, s);
	}
}

int settings_write_blob(const struct settings *s, enum role role)
{
	_cleanup_close_ int fd = memfd_create("settings", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	msgpack_sbuffer b;
	int r = 0;

	if (fd < 0)
		return -errno;
	msgpack_sbuffer_init(&b);
	pack_settings(&b, s, role);
	if (b.size > BLOB_MAX)
		r = -EFBIG;
	else if (write(fd, b.data, b.size) !=
		 (ssize_t)b.size) /* memory takes all of it while there is some */
		r = -ENOSPC;
	explicit_bzero(b.data, b.size);
	msgpack_sbuffer_destroy(&b);
	if (r < 0)
		return r;
	if (fcntl(fd, F_ADD_SEALS, BLOB_SEAL) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* -- read -- */

struct reader {
	struct unpacker u;
	const char *key; /* for messages */
	char *text;      /* of SETTINGS_ERROR_MAX bytes */
};

static int bad(struct reader *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int bad(struct reader *c, const char *fmt, ...)
{
	va_list ap;
	const int n = snprintf(c->text, SETTINGS_ERROR_MAX, "settings blob: %s: ", c->key);

	va_start(ap, fmt);
	(void)vsnprintf(c->text + n, SETTINGS_ERROR_MAX - (size_t)n, fmt, ap);
	va_end(ap);
	(void)str_copy_printable(c->text, SETTINGS_ERROR_MAX, c->text, strlen(c->text));
	return -EBADMSG;
}

/* A new string, or false; no NUL inside. */
static bool take_text(struct reader *r, uint64_t max, char **ret)
{
	struct str s;

	if (!unpack_text(&r->u, &s) || s.n > max || memchr(s.p, 0, s.n))
		return false;
	*ret = xstrndup(s.p, s.n);
	return true;
}

static int expect_text(struct reader *c, const char *want)
{
	_cleanup_free_ char *got = NULL;

	if (!take_text(c, ITEM_MAX, &got))
		return bad(c, "expected the key \"%s\"", want);
	return strcmp(got, want) == 0 ? 0 : bad(c, "key \"%.64s\" where \"%s\" was expected", got, want);
}

static int read_number(struct reader *c, const struct setting *row, void *base)
{
	int64_t v;
	bool b;

	if (row->kind == SET_BOOL) {
		if (!unpack_bool(&c->u, &b))
			return bad(c, "not a boolean");
		v = b;
	} else if (!unpack_i64(&c->u, &v)) {
		return bad(c, "not an integer");
	}
	if (v < row->min || v > row->max)
		return bad(c, "%lld is out of range", (long long)v);
	setting_set_number(row, base, v);
	return 0;
}

static int read_list(struct reader *c, const struct setting *row, void *base)
{
	uint64_t n;

	if (!unpack_array(&c->u, &n))
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

static int read_bytes(struct reader *c, const struct setting *row, void *base)
{
	void **p = setting_member(row, base);
	struct str b;

	if (!unpack_bytes(&c->u, &b) || b.n > (uint64_t)row->max)
		return bad(c, "not binary data of at most %lld bytes", (long long)row->max);
	if (b.n > 0)
		*p = xmemdup(b.p, b.n);
	memcpy(p + 1, &(uint64_t){ b.n }, sizeof(uint64_t));
	return 0;
}

static int read_member(struct reader *c, const struct setting *row, void *base);

static int read_item(struct reader *c, enum setting_kind kind, void *item)
{
	const struct setting *key, *name = setting_item_table(kind); /* the first key of all */
	const size_t want = count_of_item(kind);
	uint64_t n;
	int r = 0;

	if (!unpack_array(&c->u, &n) || n != want)
		return bad(c, "an item is not an array of %zu", want);
	for (size_t i = 0; r == 0 && (key = next_of_item(kind, &i));) {
		setting_clear(key, item);
		r = read_member(c, key, item);
	}
	return r == 0 && !*(char **)setting_member(name, item) ? bad(c, "an item has no name") : r;
}

static int read_items(struct reader *c, const struct setting *row, void *base)
{
	uint64_t n;
	int r = 0;

	if (!unpack_array(&c->u, &n) || n > (uint64_t)row->max)
		return bad(c, "not an array of at most %lld", (long long)row->max);
	for (; n > 0 && r == 0; n--)
		r = read_item(c, row->kind, setting_append(row, base));
	return r;
}

static int read_member(struct reader *c, const struct setting *row, void *base)
{
	if (setting_is_number(row->kind))
		return read_number(c, row, base);
	if (setting_is_list(row->kind))
		return read_list(c, row, base);
	if (row->kind == SET_BYTES)
		return read_bytes(c, row, base);
	if (setting_item_table(row->kind))
		return read_items(c, row, base);
	if (unpack_nil(&c->u))
		return 0;
	if (!take_text(c, (uint64_t)row->max, setting_member(row, base)))
		return bad(c, "not a text of at most %lld bytes", (long long)row->max);
	return 0;
}

static int read_settings(struct reader *c, struct settings *s)
{
	_cleanup_free_ char *name = NULL;
	uint64_t n;
	int r;

	if (!unpack_map(&c->u, &n))
		return bad(c, "not a map");
	r = expect_text(c, "role");
	if (r < 0)
		return r;
	if (!take_text(c, 32, &name))
		return bad(c, "no role");
	const int parsed = role_parse(name);

	if (parsed < 0)
		return bad(c, "unknown role \"%.32s\"", name);
	const enum role role = (enum role)parsed;

	if (n != count_rows(role) + 1)
		return bad(c, "%llu keys, %zu were expected for the %s", (unsigned long long)n,
			   count_rows(role) + 1, role_name(role));
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
	return c->u.p == c->u.end ? 0 : bad(c, "%zu bytes too many", (size_t)(c->u.end - c->u.p));
}

int settings_decode(const void *p, size_t n, struct settings *ret, char reterr[static SETTINGS_ERROR_MAX])
{
	struct reader c = { .u = { p, (const uint8_t *)p + n }, .key = "(header)", .text = reterr };
	struct settings s;

	settings_init(&s);
	const int r = read_settings(&c, &s);

	if (r < 0)
		settings_done(&s);
	else
		*ret = s;
	return r;
}

int settings_read_blob(int fd, struct settings *ret, char reterr[static SETTINGS_ERROR_MAX])
{
	struct reader c = { .key = "(file)", .text = reterr };
	_cleanup_free_ uint8_t *p = NULL;
	const int seals = fcntl(fd, F_GET_SEALS);
	const off_t size = lseek(fd, 0, SEEK_END); /* in the sandbox nothing may be asked about files */
	int r;

	if (seals < 0 || (seals & BLOB_SEAL) != BLOB_SEAL)
		return bad(&c, "not a sealed memfd");
	if (size <= 0 || size > (off_t)BLOB_MAX)
		return bad(&c, "empty or too large");
	p = xmalloc((size_t)size);
	if (pread(fd, p, (size_t)size, 0) != size) /* memory gives all of it */
		return bad(&c, "cannot be read");
	r = settings_decode(p, (size_t)size, ret, reterr);
	explicit_bzero(p, (size_t)size);
	return r;
}
