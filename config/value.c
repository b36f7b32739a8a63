/* value.c - see value.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/value.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/cron.h"
#include "base/duration.h"
#include "base/unicode.h"
#include "config/url.h"
#include "config/window.h"
#include "config/zone_file.h"
#include "model/namespaces.h"
#include "model/sink_types.h"

struct value {
	const struct setting *row;
	void *base;
	struct str text;
	char shown[64]; /* printable */
	struct diags *d;
	struct place at;
};

#define FAIL(v, ...) diags_error((v)->d, (v)->at, __VA_ARGS__)
#define NOTE(v, ...) diags_warn((v)->d, (v)->at, __VA_ARGS__)

static void lower(char *dst, size_t size, const char *s)
{
	size_t i = 0;

	for (; s[i] && i + 1 < size; i++)
		dst[i] = (char)(s[i] >= 'A' && s[i] <= 'Z' ? s[i] | 32 : s[i]);
	dst[i] = '\0';
}

const char *setting_nearest(const char *word, const char *const *options, size_t n)
{
	char a[64], b[64];
	const char *best = NULL;
	size_t best_distance = strlen(word) / 3 + 2;

	lower(a, sizeof(a), word);
	for (size_t i = 0; i < n; i++) {
		lower(b, sizeof(b), options[i]);
		const size_t d = str_distance(a, b);

		if (d < best_distance && d < strlen(b)) {
			best = options[i];
			best_distance = d;
		}
	}
	return best;
}

/* Options written "a|b|c": the index of text, or -1 and an error that lists them. */
static int find_option(struct value *v, struct str text, bool ignore_case)
{
	_cleanup_free_ char *all = xstrdup(v->row->unit);
	const char *options[16];
	int n = 0;

	for (char *next = all, *one; (one = strsep(&next, "|")) && n < (int)ARRAY_SIZE(options);) {
		if (ignore_case ? str_is_word(text, one) : str_is(text, one))
			return n;
		options[n++] = one;
	}
	const char *also = sink_type_also_called(v->shown), *near = NULL;

	for (int i = 0; also && i < n; i++)
		near = strcmp(options[i], also) == 0 ? also : near;
	near = near ? near : setting_nearest(v->shown, options, (size_t)n);

	if (near)
		FAIL(v, NONE_OF_NEAR, v->shown, v->row->unit, near);
	else
		FAIL(v, NONE_OF, v->shown, v->row->unit);
	return -1;
}

static int assign_bool(struct value *v)
{
	static const char *const words[2][12] = {
		{ "false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "0", "f", "F" },
		{ "true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "1", "t", "T" },
	};

	for (size_t b = 0; b < 2; b++)
		for (size_t i = 0; i < ARRAY_SIZE(words[0]); i++)
			if (str_is(v->text, words[b][i])) {
				setting_set_number(v->row, v->base, (int64_t)b);
				return 0;
			}
	return FAIL(v, NO_BOOL, v->shown);
}

static int assign_count(struct value *v)
{
	uint64_t n = 0;
	const int r = str_to_u64(v->text.p, v->text.n, &n);

	if (r == -EINVAL || (v->text.n > 1 && v->text.p[0] == '0'))
		return FAIL(v, NO_NUMBER, v->shown);
	if (r < 0 || n > (uint64_t)v->row->max || n < (uint64_t)v->row->min)
		return FAIL(v, COUNT_RANGE, v->shown, (long long)v->row->min, (long long)v->row->max);
	setting_set_number(v->row, v->base, (int64_t)n);
	return 0;
}

static int assign_duration(struct value *v)
{
	struct duration_error why;
	char sentence[SENTENCE_MAX];
	int64_t ns, ms;

	if (duration_parse(v->text.p, v->text.n, &ns, &why) < 0) {
		(void)sentence_of_duration(sentence, &why);
		return diags_put(v->d, true, v->at, sentence);
	}
	ms = ns / 1000000 + (ns > 0 && ns % 1000000 != 0);
	if (ns < 0 || ms < v->row->min || ms > v->row->max) {
		char low[DURATION_MAX], high[DURATION_MAX];

		(void)duration_format(v->row->min * 1000000, low);
		(void)duration_format(v->row->max * 1000000, high);
		return FAIL(v, RANGE, v->shown, low, high);
	}
	if (ns % 1000000 != 0)
		NOTE(v, ROUNDED, v->shown);
	setting_set_number(v->row, v->base, ms);
	return 0;
}

static bool ever_fires(const struct cron *c)
{
	return cron_next(c, NULL, INT64_C(1767225600000)) != 0; /* 2026-01-01: any start will do */
}

static int check_cron(struct value *v, const char *text)
{
	struct schedule_error why;
	struct cron c;

	if (cron_parse(text, &c, &why) < 0)
		return FAIL(v, SCHEDULE_AT, v->shown, why.pos + 1, why.why);
	if (!ever_fires(&c))
		return FAIL(v, SCHEDULE_NEVER, v->shown);
	if (c.five_fields)
		NOTE(v, FIVE_FIELDS);
	return 0;
}

static int check_url(struct value *v, const char *text)
{
	enum phrase why;
	struct url u;

	if (url_parse_as(text, v->row->unit, &u, &why) < 0)
		return FAIL(v, URL_EXAMPLE, WORD(why));
	/* Of a sink it depends on the type: config/sinks_validate.c. */
	if (strcmp(v->row->unit, URL_SINKS) != 0 && url_scheme_is(text, "http", 4) && !url_is_loopback(&u))
		NOTE(v, URL_HTTP);
	return 0;
}

static int check_proxy(struct value *v, const char *text)
{
	enum phrase why;
	struct url u;

	if (url_parse_as(text, URL_PROXIES, &u, &why) < 0)
		return FAIL(v, PROXY_EXAMPLE, WORD(why));
	return strcmp(u.path, *u.path == '/' ? "/" : "") == 0 ? 0 : FAIL(v, PROXY_FORM);
}

static int check_listen(struct value *v, const char *text)
{
	char host[64];
	uint64_t port;
	const char *colon = strrchr(text, ':');
	struct in6_addr a;
	size_t n = colon ? (size_t)(colon - text) : 0;
	bool six = n > 2 && text[0] == '[' && text[n - 1] == ']';

	if (!colon || str_to_u64(colon + 1, strlen(colon + 1), &port) < 0 || port > 65535 ||
	    n >= sizeof(host))
		return FAIL(v, LISTEN_FORM, v->shown);
	(void)snprintf(host, sizeof(host), "%.*s", (int)(six ? n - 2 : n), six ? text + 1 : text);
	if (n > 0 && strcmp(host, "localhost") != 0 && inet_pton(six ? AF_INET6 : AF_INET, host, &a) != 1)
		return FAIL(v, LISTEN_IP, v->shown);
	return 0;
}

static int check_zone(struct value *v, const char *text)
{
	return zone_is_name(text) ? 0 : FAIL(v, VALUE_IS, v->shown, WORD(PHRASE_DIAG_ZONE_NO_NAME));
}

static int check_name(struct value *v, const char *text)
{
	if (strspn(text, SETTING_NAME_CHARS) != strlen(text) || text[0] == '.' || text[0] == '-')
		return FAIL(v, NO_NAME, v->shown);
	return 0;
}

bool setting_is_object_name(const char *text)
{
	const size_t n = strlen(text), last = n > 0 ? n - 1 : 0;

	return n > 0 && n <= 253 && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-.") == n &&
	       !strchr("-.", text[0]) && !strchr("-.", text[last]) && !strstr(text, "..");
}

static int check_object_name(struct value *v, const char *text)
{
	return setting_is_object_name(text) ? 0 : FAIL(v, NO_OBJECT_NAME, v->shown);
}

/* Valid UTF-8 without control characters. */
static bool is_clean(struct str s)
{
	for (size_t i = 0; i < s.n;) {
		const size_t len = unicode_len(s.p + i, s.n - i);

		if (len == 0 || (unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
			return false;
		i += len;
	}
	return true;
}

static int assign_text(struct value *v)
{
	static int (*const check[])(struct value *, const char *) = {
		[SET_CRON] = check_cron,   [SET_URL] = check_url,
		[SET_PROXY] = check_proxy, [SET_LISTEN] = check_listen,
		[SET_ZONE] = check_zone,   [SET_PATH] = NULL,
		[SET_NAME] = check_name,   [SET_OBJECT_NAME] = check_object_name,
	};
	_cleanup_free_ char *text = xstrndup(v->text.p, v->text.n);
	char **member = setting_member(v->row, v->base);

	if (!is_clean(v->text))
		return FAIL(v, TEXT_UNCLEAN);
	if (v->text.n < (size_t)v->row->min)
		return FAIL(v, TEXT_EMPTY);
	if (v->text.n > (size_t)v->row->max)
		return FAIL(v, TEXT_LONG, v->text.n, (long long)v->row->max);
	if (v->text.n > 0 && check[v->row->kind] && check[v->row->kind](v, text) < 0)
		return -EINVAL;
	setting_clear(v->row, v->base);
	/* An empty listen address means "off", unlike an absent one; other empty texts are absent. */
	*member = v->text.n > 0 || v->row->kind == SET_LISTEN ? TAKE_PTR(text) : NULL;
	return 0;
}

/* The pattern that a regular expression of the simplest kind means: "^team-.*$" is team-*. Owned by the
 * caller. */
static char *pattern_of_regex(struct str s)
{
	char *out = xmalloc(s.n + 1), *w = out;

	for (size_t i = 0; i < s.n; i++) {
		const bool any = s.p[i] == '.' && i + 1 < s.n && strchr("*+", s.p[i + 1]);

		if (s.p[i] != '^' && s.p[i] != '$')
			*w++ = any ? '*' : s.p[i];
		i += any;
	}
	*w = '\0';
	return out;
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

static int refuse_name_char(struct value *v, struct str s)
{
	_cleanup_free_ char *pattern = pattern_of_regex(s);

	if (strlen(pattern) < s.n)
		return FAIL(v, NS_REGEX, v->shown, pattern);
	if (memchr(s.p, '?', s.n))
		return FAIL(v, NS_QUESTION, v->shown);
	return FAIL(v, NS_CHARACTERS, v->shown);
}

/* A name, or a pattern. */
static int check_namespace_text(struct value *v, struct str s)
{
	if (s.n > 63)
		return FAIL(v, NS_LONG, v->shown);
	for (size_t i = 0; i < s.n; i++)
		if ((!is_name_char(s.p[i]) && s.p[i] != '*') || (s.p[i] == '-' && (i == 0 || i == s.n - 1)))
			return refuse_name_char(v, s);
	return 0;
}

static bool is_all(struct str s)
{
	size_t i = 0;

	while (i < s.n && s.p[i] == '*')
		i++;
	return i > 0 && i == s.n;
}

static bool is_label_char(char c, const char *more)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr(more, c));
}

/* KEY=VALUE, the value with '*' for any characters. */
static int check_namespace_label(struct value *v, const struct namespace_item *i)
{
	const struct str key = i->text, value = i->value;

	if (key.n == 0 || key.p + key.n == value.p)
		return FAIL(v, LABEL_FORM, v->shown);
	for (size_t k = 0; k < key.n; k++)
		if (!is_label_char(key.p[k], "-_./"))
			return FAIL(v, LABEL_KEY, v->shown);
	for (size_t k = 0; k < value.n; k++)
		if (!is_label_char(value.p[k], "-_.*"))
			return FAIL(v, LABEL_PATTERN, v->shown);
	return value.n > 63 ? FAIL(v, LABEL_LONG, v->shown) : 0;
}

/* model/namespaces.h */
static int check_namespace(struct value *v, struct str *item)
{
	const struct namespace_item i = namespaces_item(*item);

	if (i.kind == NAMESPACE_LABEL && (v->row->flags & SETTING_NO_LABEL))
		return FAIL(v, NS_NO_LABELS, v->shown);
	if (i.kind == NAMESPACE_LABEL)
		return check_namespace_label(v, &i);
	if (memchr(i.text.p, '=', i.text.n) || str_is(i.text, "label:"))
		return FAIL(v, NS_BY_LABEL, v->shown);
	if (i.except && i.text.n == 0)
		return FAIL(v, NS_BANG, v->shown);
	if (i.except && is_all(i.text))
		return FAIL(v, NS_NOT_ALL, v->shown);
	if (is_all(i.text) && i.text.n > 1)
		return FAIL(v, NS_STAR, v->shown);
	if (is_all(i.text) && (v->row->flags & SETTING_NO_STAR))
		return FAIL(v, NS_NO_STAR);
	return check_namespace_text(v, i.text);
}

/* Kubernetes' syntax of labels, kubernetes.io/docs/concepts/overview/working-with-objects/labels. */
static int check_label(struct value *v, struct str *item)
{
	const struct str s = *item;
	const char *eq = memchr(s.p, '=', s.n);
	const size_t key = eq ? (size_t)(eq - s.p) : 0;

	if (key == 0)
		return FAIL(v, LABEL_NO_KEY, v->shown);
	for (size_t i = 0; i < s.n; i++)
		if (i != key && !is_label_char(s.p[i], i < key ? "-_./" : "-_."))
			return FAIL(v, LABEL_VALUE, v->shown);
	return s.n - key - 1 > 63 ? FAIL(v, LABEL_LONG, v->shown) : 0;
}

static int check_window(struct value *v, struct str *s)
{
	_cleanup_free_ char *spec = xstrndup(s->p, s->n);
	struct schedule_error why;
	struct window w;

	if (window_parse(spec, &w, &why) < 0)
		return FAIL(v, VALUE_IS, v->shown, why.why);
	return ever_fires(&w.cron) ? 0 : FAIL(v, SCHEDULE_NEVER, v->shown);
}

/* A kubelet may give any reason; one that is a default but for a letter or two, or for its case, was hardly
 * meant. */
static void note_near_default(struct value *v, struct str s)
{
	_cleanup_free_ char *all = xstrdup(v->row->def), *word = xstrndup(s.p, s.n);
	const char *near = NULL;

	for (char *next = all, *one; (one = strsep(&next, ","));) {
		if (str_glob(STR_C(one), s))
			return;
		if (!near && (strcasecmp(one, word) == 0 || str_distance(one, word) <= 2))
			near = one;
	}
	if (near)
		NOTE(v, REASON_NEAR, word, near);
}

/* Reasons are words in CamelCase, but for OutOf and the name of an extended resource. */
static bool is_reason_char(char c, bool pattern)
{
	return ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9') || (c && strchr("-._/", c)) ||
	       (pattern && c == '*');
}

/* "Init:" goes from *s. */
static int check_reason(struct value *v, struct str *s)
{
	if (s->n > 5 && memcmp(s->p, "Init:", 5) == 0) {
		s->p += 5;
		s->n -= 5;
		NOTE(v, INIT, v->shown);
	}
	if (v->row->unit[0] != '\0')
		return find_option(v, *s, false) < 0 ? -EINVAL : 0;
	for (size_t i = 0; i < s->n; i++)
		if (!is_reason_char(s->p[i], v->row->flags & SETTING_ANY))
			return FAIL(v, NO_REASON, v->shown);
	note_near_default(v, *s);
	return 0;
}

static int check_text(struct value *v, struct str *s)
{
	return v->row->unit[0] == '\0' || find_option(v, *s, false) >= 0 ? 0 : -EINVAL;
}

static int add_item(struct value *v, struct str_list *list)
{
	static int (*const check[])(struct value *, struct str *) = {
		[SET_NAMESPACES] = check_namespace, [SET_REASONS] = check_reason, [SET_LABELS] = check_label,
		[SET_WINDOWS] = check_window,       [SET_STRINGS] = check_text,
	};
	struct str s = str_trim(v->text, " \t");

	(void)str_copy_printable(v->shown, sizeof(v->shown), s.p, s.n);
	if (s.n == 0) {
		NOTE(v, EMPTY_ITEM);
		return 0;
	}
	if (s.n != v->text.n)
		NOTE(v, SPACES, v->shown);
	if (!is_clean(s) || s.n > 253)
		return FAIL(v, ITEM_UNCLEAN);
	if (check[v->row->kind](v, &s) < 0)
		return -EINVAL;
	if (str_list_has(list, s)) {
		NOTE(v, TWICE, v->shown);
		return 0;
	}
	if (list->n >= (size_t)v->row->max)
		return FAIL(v, ITEMS, (long long)v->row->max);
	str_list_add(list, s.p, s.n);
	return 0;
}

static int add_option(struct value *v)
{
	const struct str s = str_trim(v->text, " \t");
	int i;

	(void)str_copy_printable(v->shown, sizeof(v->shown), s.p, s.n);
	i = find_option(v, s, true);
	if (i < 0)
		return -EINVAL;
	setting_set_number(v->row, v->base, setting_get_number(v->row, v->base) | INT64_C(1) << i);
	return 0;
}

/* Take "a,b,c" apart, and add each item to the member. A window may hold commas: one text is one. */
static int add_all(struct value *v)
{
	const struct str all = v->text;
	int r = 0;

	for (size_t at = 0, n; all.n > 0 && at <= all.n && r == 0; at += n + 1) {
		const char *comma = v->row->kind == SET_WINDOWS ? NULL : memchr(all.p + at, ',', all.n - at);

		n = comma ? (size_t)(comma - all.p) - at : all.n - at;
		v->text = (struct str){ all.p + at, n };
		r = v->row->kind == SET_OPTIONS ? add_option(v)
						: add_item(v, setting_member(v->row, v->base));
	}
	return r;
}

static int assign_list(struct value *v)
{
	struct str_list *list = setting_member(v->row, v->base), before = *list;

	*list = (struct str_list){ 0 };
	int r = add_all(v);

	if (r == 0 && list->n < (size_t)v->row->min)
		r = FAIL(v, LIST_EMPTY);
	str_list_done(r < 0 ? list : &before);
	if (r < 0)
		*list = before;
	return r;
}

static int assign_options(struct value *v)
{
	const int64_t before = setting_get_number(v->row, v->base);

	setting_set_number(v->row, v->base, 0);
	const int r = add_all(v);

	if (r < 0)
		setting_set_number(v->row, v->base, before);
	return r;
}

static int assign_option(struct value *v)
{
	const int i = find_option(v, v->text, true);

	if (i < 0)
		return -EINVAL;
	setting_set_number(v->row, v->base, i);
	return 0;
}

static struct value value_of(const struct setting *row, void *base, const char *text, size_t n,
			     struct diags *d, struct place at)
{
	struct value v = { .row = row, .base = base, .text = { text, n }, .d = d, .at = at };

	(void)str_copy_printable(v.shown, sizeof(v.shown), text, n);
	return v;
}

int setting_assign(const struct setting *row, void *base, const char *text, size_t n, struct diags *d,
		   struct place at)
{
	static int (*const assign[])(struct value *) = {
		[SET_BOOL] = assign_bool,   [SET_COUNT] = assign_count,     [SET_DURATION] = assign_duration,
		[SET_ENUM] = assign_option, [SET_OPTIONS] = assign_options,
	};
	struct value v = value_of(row, base, text, n, d, at);

	if (setting_is_text(row->kind))
		return assign_text(&v);
	return setting_is_list(row->kind) ? assign_list(&v) : assign[row->kind](&v);
}

int setting_add_item(const struct setting *row, void *base, const char *text, size_t n, struct diags *d,
		     struct place at)
{
	struct value v = value_of(row, base, text, n, d, at);

	return row->kind == SET_OPTIONS ? add_option(&v) : add_item(&v, setting_member(row, base));
}
