/* facts.c - see facts.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/facts.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/name_index.h"
#include "base/unicode.h"
#include "base/unpack.h"
#include "base/xalloc.h"
#include "model/sentence.h"

#define DEPTH_MAX  3u /* of facts in facts */
#define HEADER_MAX 3u /* of a map of more than 15 */

static const struct fact_desc {
	struct str key;
	enum fact_kind kind;
	bool is_list;
	const char *label[LANGUAGE__MAX];
} descs[FACT__MAX] = {
#define FACT_ROW(ID, name, KIND, en, zh, list)                                                               \
	[FACT_##ID] = { STR_OF(name), FACT_KIND_##KIND, list, { [LANGUAGE_EN] = en, [LANGUAGE_ZH] = zh } },
#define FACT(ID, name, KIND, en, zh)      FACT_ROW(ID, name, KIND, en, zh, false)
#define FACT_LIST(ID, name, KIND, en, zh) FACT_ROW(ID, name, KIND, en, zh, true)
#include "model/facts.def"
#undef FACT
#undef FACT_LIST
};

const char *fact_key(enum fact key)
{
	return descs[key].key.p;
}

enum fact_kind fact_kind(enum fact key)
{
	return descs[key].kind;
}

bool fact_is_list(enum fact key)
{
	return descs[key].is_list;
}

const char *fact_label(enum fact key, enum language l)
{
	return descs[key].label[l];
}

static struct str key_of(size_t row)
{
	return descs[row].key;
}

enum fact fact_of(struct str key)
{
	static uint16_t slots[2 * FACT__MAX];
	static struct name_index keys = { key_of, FACT__MAX, slots, 2 * FACT__MAX };

	return (enum fact)name_index_find(&keys, key);
}

static bool is_text(enum fact key)
{
	return descs[key].kind >= FACT_KIND_NAME;
}

/* -- characters -- */

/* A bit for each kind of text that the character may stand in. */
enum { IN_NAME = 1 << FACT_KIND_NAME, IN_BOTH = IN_NAME | 1 << FACT_KIND_TEXT };

static const uint8_t
	char_kinds[256] = {
		['!'] = IN_NAME,         ['#' ... '%'] = IN_NAME, ['(' ... '/'] = IN_NAME,
		['0' ... '9'] = IN_BOTH, [':' ... ';'] = IN_NAME, ['='] = IN_NAME,
		['?' ... '@'] = IN_NAME, ['A' ... 'Z'] = IN_BOTH, ['['] = IN_NAME,
		[']' ... '_'] = IN_NAME, ['a' ... 'z'] = IN_BOTH, ['{' ... '~'] = IN_NAME,
	};
_Static_assert(1 << FACT_KIND_TEXT <= UINT8_MAX, "bits of char_kinds");

static bool char_ok(enum fact_kind kind, char c)
{
	return char_kinds[(unsigned char)c] >> kind & 1;
}

static bool text_ok(enum fact_kind kind, struct str s)
{
	if (s.n == 0)
		return false;
	if (kind == FACT_KIND_SENTENCE)
		return sentence_ok(s);
	if (kind == FACT_KIND_QUOTED)
		return unicode_all_printable(s.p, s.n);
	for (size_t i = 0; i < s.n; i++)
		if (!char_ok(kind, s.p[i]))
			return false;
	return true;
}

/* -- reading -- */

static bool take_map(struct unpacker *u, unsigned depth, uint64_t *ret_count);

/* One entry; false: it is malformed. */
static bool take_entry(struct unpacker *u, unsigned depth, struct fact_value *ret)
{
	struct str key;
	uint64_t count;

	if (!unpack_text(u, &key))
		return false;
	*ret = (struct fact_value){ .key = fact_of(key) };
	if (ret->key == FACT__MAX)
		return false;
	if (descs[ret->key].kind == FACT_KIND_FACTS) {
		const uint8_t *begin = u->p;

		if (depth == DEPTH_MAX || !take_map(u, depth + 1, &count) || count == 0)
			return false;
		ret->text = (struct str){ (const char *)begin, (size_t)(u->p - begin) };
		return true;
	}
	if (is_text(ret->key))
		return unpack_text(u, &ret->text) && text_ok(descs[ret->key].kind, ret->text);
	return unpack_i64(u, &ret->number) && ret->number >= 0;
}

static bool take_map(struct unpacker *u, unsigned depth, uint64_t *ret_count)
{
	bool seen[FACT__MAX] = { false };
	struct fact_value v;

	if (!unpack_map(u, ret_count))
		return false;
	for (uint64_t i = 0; i < *ret_count; i++) {
		if (!take_entry(u, depth, &v) || (seen[v.key] && !descs[v.key].is_list))
			return false;
		seen[v.key] = true;
	}
	return true;
}

/* Behind the header of the map. */
static size_t begin(const struct facts *f, struct unpacker *ret)
{
	uint64_t count = 0;

	*ret = (struct unpacker){ f->bytes, f->bytes + f->n };
	if (f->n > 0)
		(void)unpack_map(ret, &count);
	return count;
}

bool facts_next(const struct facts *f, size_t *at, struct fact_value *ret)
{
	struct unpacker u;

	(void)begin(f, &u);
	if (*at > 0)
		u.p = f->bytes + *at;
	if (u.p == u.end || !take_entry(&u, 0, ret))
		return false;
	*at = (size_t)(u.p - f->bytes);
	return true;
}

bool facts_empty(const struct facts *f)
{
	return !f || f->n == 0;
}

bool facts_equal(const struct facts *a, const struct facts *b)
{
	return a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

struct str facts_bytes(const struct facts *f)
{
	return f->n > 0 ? (struct str){ (const char *)f->bytes, f->n } : STR_LIT("\x80");
}

int facts_read(const void *bytes, size_t n, struct facts *ret, size_t *ret_n)
{
	struct unpacker u = { bytes, (const uint8_t *)bytes + n };
	uint64_t count;

	facts_clear(ret);
	if (!take_map(&u, 0, &count))
		return -EBADMSG;
	const size_t taken = (size_t)(u.p - (const uint8_t *)bytes);

	if (taken > FACTS_MAX || (!ret_n && taken != n))
		return -EBADMSG;
	if (count > 0) {
		memcpy(ret->bytes, bytes, taken);
		ret->n = (uint16_t)taken;
	}
	if (ret_n)
		*ret_n = taken;
	return 0;
}

void fact_facts(const struct fact_value *v, struct facts *ret)
{
	facts_clear(ret);
	if (descs[v->key].kind == FACT_KIND_FACTS)
		(void)facts_read(v->text.p, v->text.n, ret, NULL);
}

/* -- writing -- */

/* An entry on its way: its key, and a number or the head of a text. */
struct entry {
	uint8_t bytes[64];
	size_t n;
};

static void put_number(struct entry *e, uint64_t v)
{
	const unsigned width = v > UINT32_MAX ? 8 : v > UINT16_MAX ? 4 : v > UINT8_MAX ? 2 : v > 0x7f ? 1 : 0;

	if (width > 0)
		e->bytes[e->n++] = (uint8_t)(width == 8   ? 0xcf
					     : width == 4 ? 0xce
					     : width == 2 ? 0xcd
							  : 0xcc);
	else
		e->bytes[e->n++] = (uint8_t)v;
	for (unsigned i = width; i-- > 0;)
		e->bytes[e->n++] = (uint8_t)(v >> 8 * i);
}

static void put_head(struct entry *e, size_t n)
{
	if (n > UINT8_MAX) {
		e->bytes[e->n++] = 0xda;
		e->bytes[e->n++] = (uint8_t)(n >> 8);
	} else if (n > 31) {
		e->bytes[e->n++] = 0xd9;
	}
	e->bytes[e->n++] = (uint8_t)(n > 31 ? n : 0xa0 | n);
}

static struct entry new_entry(enum fact key)
{
	const struct str name = descs[key].key;
	struct entry e = { .n = 0 };

	put_head(&e, name.n);
	memcpy(e.bytes + e.n, name.p, name.n);
	e.n += name.n;
	return e;
}

/* The next value: a text, a number, or a map of such. */
static bool skip_value(struct unpacker *u)
{
	const uint8_t tag = u->p < u->end ? *u->p : 0;
	struct str text;
	int64_t number;
	uint64_t count;

	if (tag >> 4 == 0x8 || tag == 0xde) {
		if (!unpack_map(u, &count))
			return false;
		while (count > 0 && unpack_text(u, &text) && skip_value(u))
			count--;
		return count == 0;
	}
	return (tag & 0xe0) == 0xa0 || (tag >= 0xd9 && tag <= 0xdb) ? unpack_text(u, &text)
								    : unpack_i64(u, &number);
}

/* Move to the first entry of that key. Keys are compared as bytes: finding each in the table would take
 * longer than everything else. False: there is none. */
static bool move_to(struct unpacker *u, const struct entry *key)
{
	struct str other;

	while (u->p < u->end) {
		if ((size_t)(u->end - u->p) > key->n && memcmp(u->p, key->bytes, key->n) == 0)
			return true;
		if (!unpack_text(u, &other) || !skip_value(u))
			return false;
	}
	return false;
}

static bool has_key(const struct facts *f, const struct entry *key)
{
	struct unpacker u;

	(void)begin(f, &u);
	return move_to(&u, key);
}

bool facts_find_in(struct str bytes, enum fact key, struct fact_value *ret)
{
	const struct entry e = new_entry(key);
	struct unpacker u = { (const uint8_t *)bytes.p, (const uint8_t *)bytes.p + bytes.n };
	uint64_t count;

	return bytes.n > 0 && unpack_map(&u, &count) && move_to(&u, &e) && take_entry(&u, 0, ret);
}

bool facts_find(const struct facts *f, enum fact key, struct fact_value *ret)
{
	return facts_find_in((struct str){ (const char *)f->bytes, f->n }, key, ret);
}

/* Bytes that one more entry may take. */
static size_t room_of(const struct facts *f, enum fact key, const struct entry *e)
{
	const size_t header = f->n == 0 ? 1 : HEADER_MAX;

	if (!descs[key].is_list && has_key(f, e))
		return 0;
	return f->n + header < FACTS_MAX ? FACTS_MAX - f->n - header : 0;
}

/* Count one entry more in the header of the map, which grows at the sixteenth. */
static void count_entry(struct facts *f)
{
	struct unpacker u;
	const size_t count = begin(f, &u) + 1;

	if (f->n == 0)
		f->n = 1;
	if (count == 16) {
		memmove(f->bytes + HEADER_MAX, f->bytes + 1, f->n - 1u);
		f->n = (uint16_t)(f->n + HEADER_MAX - 1);
	}
	if (count < 16) {
		f->bytes[0] = (uint8_t)(0x80 | count);
		return;
	}
	f->bytes[0] = 0xde;
	f->bytes[1] = (uint8_t)(count >> 8);
	f->bytes[2] = (uint8_t)count;
}

static void append(struct facts *f, const void *p, size_t n)
{
	memcpy(f->bytes + f->n, p, n);
	f->n = (uint16_t)(f->n + n);
}

static void add_number(struct facts *f, enum fact key, enum fact_kind kind, int64_t v)
{
	struct entry e = new_entry(key);
	const size_t room = room_of(f, key, &e);

	put_number(&e, (uint64_t)v);
	if (descs[key].kind != kind || e.n > room)
		return;
	count_entry(f);
	append(f, e.bytes, e.n);
}

/* A child may send facts as deep as they are read: what would be deeper in others is left out. */
static bool fits_into_others(struct str map)
{
	struct unpacker u = { (const uint8_t *)map.p, (const uint8_t *)map.p + map.n };
	uint64_t count;

	return take_map(&u, 1, &count);
}

static void add_facts(struct facts *f, enum fact key, struct str map)
{
	struct entry e = new_entry(key);
	const size_t room = room_of(f, key, &e);

	if (descs[key].kind != FACT_KIND_FACTS || e.n + map.n > room || !fits_into_others(map))
		return;
	count_entry(f);
	append(f, e.bytes, e.n);
	append(f, map.p, map.n);
}

/* Of words of others no more than `most` bytes, and no more than there is room for. */
static void add_text(struct facts *f, enum fact key, enum fact_kind kind, struct str s, size_t most)
{
	static const char mark[] = "…";
	const size_t mark_n = sizeof(mark) - 1;
	struct entry e = new_entry(key);
	const size_t head = e.n + HEADER_MAX, room = room_of(f, key, &e);
	bool cut = kind == FACT_KIND_QUOTED && s.n > most;

	if (s.n == 0 || descs[key].kind != kind || room <= head + sizeof(mark))
		return;
	if (cut)
		s.n = unicode_cut(s.p, s.n, most);
	if (s.n + (cut ? mark_n : 0) > room - head) {
		if (kind == FACT_KIND_SENTENCE)
			s.n = unicode_cut(s.p, s.n, room - head);
		else if (kind != FACT_KIND_QUOTED)
			return;
		else
			s.n = unicode_cut(s.p, s.n, room - head - mark_n);
		cut = kind == FACT_KIND_QUOTED;
	}
	put_head(&e, s.n + (cut ? mark_n : 0));
	count_entry(f);
	append(f, e.bytes, e.n);
	append(f, s.p, s.n);
	if (cut)
		append(f, mark, mark_n);
}

void facts_time(struct facts *f, enum fact key, int64_t unix_ms)
{
	if (unix_ms > 0)
		add_number(f, key, FACT_KIND_TIME, unix_ms);
}

void facts_duration(struct facts *f, enum fact key, int64_t ms)
{
	add_number(f, key, FACT_KIND_DURATION, ms > 0 ? ms : 0);
}

void facts_count(struct facts *f, enum fact key, int64_t n)
{
	if (n >= 0)
		add_number(f, key, FACT_KIND_COUNT, n);
}

void facts_name(struct facts *f, enum fact key, struct str name)
{
	char clean[FACTS_MAX];
	size_t n = name.n < sizeof(clean) ? name.n : sizeof(clean);

	for (size_t i = 0; i < n; i++)
		clean[i] = char_ok(FACT_KIND_NAME, name.p[i]) ? name.p[i] : '?';
	add_text(f, key, FACT_KIND_NAME, (struct str){ clean, n }, SIZE_MAX);
}

void facts_code(struct facts *f, enum fact key, const char *code)
{
	add_text(f, key, FACT_KIND_TEXT, STR_C(code), SIZE_MAX);
}

void facts_quoted(struct facts *f, enum fact key, struct str words)
{
	facts_quoted_within(f, key, words, SIZE_MAX);
}

void facts_quoted_within(struct facts *f, enum fact key, struct str words, size_t most)
{
	char clean[2 * FACTS_MAX];
	const size_t n = str_copy_printable(clean, sizeof(clean), words.p, words.n);

	add_text(f, key, FACT_KIND_QUOTED, (struct str){ clean, n }, most);
}

void facts_sentence(struct facts *f, enum fact key, const char *sentence)
{
	if (sentence_ok(STR_C(sentence)))
		add_text(f, key, FACT_KIND_SENTENCE, STR_C(sentence), SIZE_MAX);
}

void facts_facts(struct facts *f, enum fact key, const struct facts *about)
{
	if (!facts_empty(about))
		add_facts(f, key, facts_bytes(about));
}

struct facts *facts_dup(const struct facts *f)
{
	return f ? xmemdup(f, offsetof(struct facts, bytes) + f->n) : NULL;
}

void facts_set(struct facts *f, const struct facts *from)
{
	memmove(f, from, offsetof(struct facts, bytes) + from->n);
}

void facts_add(struct facts *f, const struct facts *from)
{
	struct fact_value v;

	for (size_t at = 0; facts_next(from, &at, &v);) {
		if (descs[v.key].kind == FACT_KIND_FACTS)
			add_facts(f, v.key, v.text);
		else if (is_text(v.key))
			add_text(f, v.key, descs[v.key].kind, v.text, SIZE_MAX);
		else
			add_number(f, v.key, descs[v.key].kind, v.number);
	}
}
