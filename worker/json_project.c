/* json_project.c - see json_project.h. Grammar: RFC 8259. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/json_project.h"

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"
#include "base/unicode.h"
#include "model/fields.def"

#define DEPTH_MAX  64
#define DIGITS_MAX 18 /* always fit an int64_t */

/* -- what is wanted -- */

static const struct json_projection nothing[] = { { NULL, NULL } };

/* Of a pod everything that kube/decode_json.c reads. What is below a field, by its kind: */
#define BELOW_TEXT(field)      NULL
#define BELOW_BOOL(field)      NULL
#define BELOW_INT32(field)     NULL
#define BELOW_SECONDS(field)   NULL
#define BELOW_TIME(field)      NULL
#define BELOW_PAIR(field)      NULL
#define BELOW_ITEM(field)      NULL
#define BELOW_PRESENT(field)   NULL
#define BELOW_NUMBERS(field)   NULL
#define BELOW_CONTAINER(field) container
#define BELOW_PART(field)      field
#define BELOW_MESSAGE(field)   field
#define BELOW_EACH(field)      field
#define BELOW_ONEOF(field)     field

/* clang-format off */
#define WANTED(x, field, number, key, kind) { #key, BELOW_##kind(field) },
#define MESSAGE(message, ...) \
	static const struct json_projection message[] = { FIELDS_##message(WANTED, 0) __VA_ARGS__ { NULL, NULL } };
/* What tells a Status, whose status is a text, and what each list has. */
#define A_STATUS { "kind", NULL }, { "code", NULL }
#define A_LIST   A_STATUS, { "status", nothing }, { "metadata", meta }
/* clang-format on */

MESSAGE(waiting)
MESSAGE(running)
MESSAGE(terminated, { "message", NULL }, ) /* read of the last state */
MESSAGE(state)
#define last_state state
MESSAGE(health)
MESSAGE(allocated)
MESSAGE(container)
MESSAGE(condition)
MESSAGE(claim_status)
MESSAGE(status)
MESSAGE(volume, { "name", NULL }, ) /* steps/node.c looks for its claim */
MESSAGE(exit_codes)
MESSAGE(rule)
MESSAGE(template)
MESSAGE(claim)
MESSAGE(spec)
MESSAGE(owner)
MESSAGE(meta, { "continue", NULL }, )

const struct json_projection project_pod[] = { FIELDS_pod(WANTED, 0) A_STATUS, { NULL, NULL } };
const struct json_projection project_pods[] = { A_LIST, { "items", project_pod }, { NULL, NULL } };
const struct json_projection project_status[] = { A_STATUS, { "status", nothing }, { NULL, NULL } };
const struct json_projection project_owned[] = { A_STATUS, { "metadata", meta }, { NULL, NULL } };

static const struct json_projection named[] = { { "name", NULL }, { NULL, NULL } };
static const struct json_projection taint[] = { { "key", NULL }, { NULL, NULL } };
static const struct json_projection node_spec[] = { { "taints", taint }, { NULL, NULL } };
static const struct json_projection node_status[] = { { "conditions", condition }, { NULL, NULL } };
const struct json_projection project_node[] = {
	A_STATUS, { "metadata", named }, { "spec", node_spec }, { "status", node_status }, { NULL, NULL },
};

static const struct json_projection source[] = { { "persistentVolumeName", NULL }, { NULL, NULL } };
static const struct json_projection attached[] = { { "nodeName", NULL },
						   { "source", source },
						   { NULL, NULL } };
static const struct json_projection attachment[] = { { "spec", attached }, { NULL, NULL } };
const struct json_projection project_attachments[] = { A_LIST, { "items", attachment }, { NULL, NULL } };

static const struct json_projection set_status[] = { { "readyReplicas", NULL }, { NULL, NULL } };
static const struct json_projection set[] = { { "metadata", meta },
					      { "status", set_status },
					      { NULL, NULL } };
static const struct json_projection replicas[] = { { "replicas", NULL }, { NULL, NULL } };
/* A workload, or a list of such. */
static const struct json_projection scaled[] = { { "metadata", meta }, { "spec", replicas }, { NULL, NULL } };
const struct json_projection project_marked[] = {
	A_LIST, { "items", scaled }, { "spec", replicas }, { NULL, NULL }
};
const struct json_projection project_revisions[] = { A_LIST, { "items", set }, { NULL, NULL } };

/* -- the reader. Each function is false when it is not certain; ret NULL: only checked -- */

struct text_reader {
	const char *p, *end;
	unsigned depth;
};

/* The next character that is no white space, '\0' at the end. */
static inline char ahead(struct text_reader *c)
{
	for (; c->p < c->end; c->p++)
		if (*c->p > ' ' || (*c->p != ' ' && *c->p != '\t' && *c->p != '\n' && *c->p != '\r'))
			return *c->p;
	return '\0';
}

static inline bool take(struct text_reader *c, char what)
{
	if (ahead(c) != what)
		return false;
	c->p++;
	return true;
}

/* A character of a text that stands for itself and is one byte. */
static const bool is_plain[256] = { [' ' ... '!'] = true, ['#' ... '['] = true, [']' ... 0x7f] = true };

/* The character of \uXXXX; 0 when it is none, and for NUL and surrogates, which have rules of their own. */
static unsigned unicode(const char *hex)
{
	unsigned v = 0;

	for (size_t i = 0; i < 4; i++) {
		const char *digits = "0123456789abcdef", *d = strchr(digits, hex[i] | 0x20);

		if (!hex[i] || !d || hex[i] < '0')
			return 0;
		v = v << 4 | (unsigned)(d - digits);
	}
	return v >= 0xd800 && v <= 0xdfff ? 0 : v;
}

/* Length of the character at p, which is not plain; 0 when it may not stand in a text. */
static size_t special_len(const char *p, size_t left)
{
	if ((unsigned char)*p >= 0x80)
		return unicode_len(p, left);
	if (*p != '\\' || left < 2)
		return 0;
	if (p[1] == 'u')
		return left >= 6 && unicode(p + 2) ? 6 : 0;
	return p[1] && strchr("\"\\/bfnrt", p[1]) ? 2 : 0;
}

/* The first character from p on that is not plain, or end. Eight at a time: of each a subtraction sets the
 * top bit where the byte is below a space, a quote or a backslash, and is_plain says the same of one. */
static const char *skip_plain(const char *p, const char *end)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;

	for (; end - p >= 8; p += 8) {
		uint64_t v;

		memcpy(&v, p, sizeof(v));
		v = le64toh(v);
		const uint64_t quote = v ^ ones * '"', backslash = v ^ ones * '\\';
		const uint64_t odd = ((v - ones * ' ') | (quote - ones) | (backslash - ones) | v) & tops;

		if (odd)
			return p + __builtin_ctzll(odd) / 8;
	}
	while (p < end && is_plain[(unsigned char)*p])
		p++;
	return p;
}

/* A text as it is written, from the opening quote to the closing one. */
static bool take_raw(struct text_reader *c, struct str *ret, bool *ret_escaped)
{
	const char *p = c->p, *end = c->end;

	*ret_escaped = false;
	for (;;) {
		p = skip_plain(p, end);
		if (p == end || *p == '"')
			break;
		const size_t n = special_len(p, (size_t)(end - p));

		if (n == 0)
			return false;
		*ret_escaped |= *p == '\\';
		p += n;
	}
	if (p == end)
		return false;
	*ret = (struct str){ c->p, (size_t)(p - c->p) };
	c->p = p + 1;
	return true;
}

static bool take_string(struct text_reader *c, json_t **ret)
{
	struct str raw;
	bool escaped;

	if (!take(c, '"') || !take_raw(c, &raw, &escaped))
		return false;
	if (ret)
		*ret = escaped ? json_loadb(raw.p - 1, raw.n + 2, JSON_DECODE_ANY, NULL)
			       : json_stringn_nocheck(raw.p, raw.n);
	return !ret || *ret;
}

static bool is_digit(const struct text_reader *c)
{
	return c->p < c->end && *c->p >= '0' && *c->p <= '9';
}

/* Whole numbers of modest length. What follows one is looked at by the caller: a fraction or an exponent is
 * not what may follow a value. */
static bool take_number(struct text_reader *c, json_t **ret)
{
	const bool negative = take(c, '-');
	const char *begin = c->p;
	json_int_t v = 0;

	for (; is_digit(c) && c->p - begin < DIGITS_MAX; c->p++)
		v = v * 10 + (*c->p - '0');
	if (c->p == begin || is_digit(c) || (*begin == '0' && c->p - begin > 1))
		return false;
	if (ret)
		*ret = json_integer(negative ? -v : v);
	return !ret || *ret;
}

static bool take_word(struct text_reader *c, const char *word, json_t *means, json_t **ret)
{
	const size_t n = strlen(word);

	if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0)
		return false;
	c->p += n;
	if (ret)
		*ret = means; /* they are not counted */
	return true;
}

static bool take_value(struct text_reader *c, const struct json_projection *what, json_t **ret);

static bool take_member(struct text_reader *c, const struct json_projection *what, json_t *o)
{
	struct str key;
	bool escaped;
	json_t *v = NULL;

	if (!take(c, '"') || !take_raw(c, &key, &escaped) || !take(c, ':') || (o && escaped))
		return false;
	while (o && what && what->key && !str_is(key, what->key))
		what++;
	if (!o || (what && !what->key))
		return take_value(c, NULL, NULL);
	return take_value(c, what ? what->below : NULL, &v) &&
	       json_object_setn_new_nocheck(o, key.p, key.n, v) == 0;
}

static bool take_members(struct text_reader *c, const struct json_projection *what, json_t *o)
{
	if (take(c, '}'))
		return true;
	do {
		if (!take_member(c, what, o))
			return false;
	} while (take(c, ','));
	return take(c, '}');
}

static bool take_elements(struct text_reader *c, const struct json_projection *what, json_t *a)
{
	if (take(c, ']'))
		return true;
	do {
		json_t *v = NULL;

		if (!take_value(c, what, a ? &v : NULL) || (a && json_array_append_new(a, v) < 0))
			return false;
	} while (take(c, ','));
	return take(c, ']');
}

static bool take_container(struct text_reader *c, const struct json_projection *what, json_t **ret)
{
	const bool is_array = *c->p++ == '[';
	json_t *made = !ret ? NULL : is_array ? json_array() : json_object();
	bool ok = ++c->depth <= DEPTH_MAX && (!ret || made);

	ok = ok && (is_array ? take_elements(c, what, made) : take_members(c, what, made));
	c->depth--;
	if (!ok)
		json_decref(made);
	else if (ret)
		*ret = made;
	return ok;
}

static bool take_value(struct text_reader *c, const struct json_projection *what, json_t **ret)
{
	switch (ahead(c)) {
	case '{':
	case '[':
		return take_container(c, what, ret);
	case '"':
		return take_string(c, ret);
	case 't':
		return take_word(c, "true", json_true(), ret);
	case 'f':
		return take_word(c, "false", json_false(), ret);
	case 'n':
		return take_word(c, "null", json_null(), ret);
	default:
		return take_number(c, ret);
	}
}

static json_t *project_certain(const char *p, size_t n, const struct json_projection *what)
{
	struct text_reader c = { p, p + n, 0 };
	json_t *o = NULL;

	if (ahead(&c) != '{' || !take_container(&c, what, &o))
		return NULL;
	(void)ahead(&c);
	if (c.p == c.end)
		return o;
	json_decref(o);
	return NULL;
}

json_t *json_project_loadb(const char *p, size_t n, const struct json_projection *what, json_error_t *reterr)
{
	json_t *o = what ? project_certain(p, n, what) : NULL;

	return o ? o : json_loadb(p, n, JSON_ALLOW_NUL, reterr);
}
