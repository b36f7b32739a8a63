/* annotations.c - see annotations.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/annotations.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/rfc3339.h"

#define NS_PER_MS 1000000
#define BLANKS    " \t"

const char *annotations_mark_key(enum mark_part part)
{
	static const char *const keys[MARK__MAX] = {
		[MARK_BY] = ANNOTATION_PREFIX "scaled-down-by",
		[MARK_ACTION] = ANNOTATION_PREFIX "scaled-down-action",
		[MARK_HISTORY] = ANNOTATION_PREFIX "scaled-down-history",
		[MARK_AT] = ANNOTATION_PREFIX "scaled-down-at",
		[MARK_WHY] = ANNOTATION_PREFIX "scaled-down-why",
		[MARK_FROM] = ANNOTATION_PREFIX "scaled-down-from",
		[MARK_UNDO] = ANNOTATION_PREFIX "scaled-down-undo",
		[MARK_TEMPLATE] = ANNOTATION_PREFIX "scaled-down-template",
	};

	return keys[part];
}

/* The text before the next comma; *rest is what follows it. */
static struct str next_word(struct str *rest)
{
	return str_trim(str_cut(rest, ','), BLANKS);
}

static int duty_of(struct str word)
{
	for (enum duty d = 0; d < DUTY__MAX; d++)
		if (str_is(word, duty_name(d)))
			return (int)d;
	return -1;
}

static void add_ignore(struct annotations *m, struct str value)
{
	if (str_is(value, "true"))
		m->ignore = true;
}

static void add_skip(struct annotations *m, struct str value)
{
	do {
		const int d = duty_of(next_word(&value));

		m->skip |= (uint8_t)(d < 0 ? ANNOTATIONS_SKIP_ALL : 1u << d);
	} while (value.n > 0);
}

static void add_extend(struct annotations *m, struct str value)
{
	int64_t ns;

	value = str_trim(value, BLANKS);
	if (duration_parse(value.p, value.n, &ns, NULL) < 0 || ns < 0)
		m->skip = ANNOTATIONS_SKIP_ALL;
	else
		m->extend_ms = ns / NS_PER_MS;
}

/* Only we write this one; what can not be read was never announced, and is announced again. */
static void add_announced(struct annotations *m, struct str value)
{
	do {
		const struct str word = next_word(&value);
		const char *eq = word.n ? memchr(word.p, '=', word.n) : NULL;
		const size_t n = eq ? (size_t)(eq - word.p) : 0;
		const int d = duty_of((struct str){ word.p, n });
		int64_t at;

		if (d >= 0 && rfc3339_parse(eq + 1, word.n - n - 1, &at) == 0 && at > 0)
			m->announced[d] = at;
	} while (value.n > 0);
}

bool annotations_add(struct annotations *m, struct str key, struct str value)
{
	static const struct {
		struct str key;
		void (*add)(struct annotations *m, struct str value);
	} rows[] = {
		{ { ANNOTATION_IGNORE, sizeof(ANNOTATION_IGNORE) - 1 }, add_ignore },
		{ { ANNOTATION_SKIP, sizeof(ANNOTATION_SKIP) - 1 }, add_skip },
		{ { ANNOTATION_EXTEND, sizeof(ANNOTATION_EXTEND) - 1 }, add_extend },
		{ { ANNOTATION_ANNOUNCED, sizeof(ANNOTATION_ANNOUNCED) - 1 }, add_announced },
	};

	if (key.n < sizeof(ANNOTATION_PREFIX) ||
	    memcmp(key.p, ANNOTATION_PREFIX, sizeof(ANNOTATION_PREFIX) - 1) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (str_eq(key, rows[i].key)) {
			rows[i].add(m, value);
			return true;
		}
	return false;
}

bool annotations_any(const struct annotations *m)
{
	if (m->skip || m->extend_ms)
		return true;
	for (size_t d = 0; d < DUTY__MAX; d++)
		if (m->announced[d])
			return true;
	return false;
}

void annotations_announced_format(const struct annotations *m, enum duty d, int64_t at_ms,
				  char ret[static ANNOTATIONS_ANNOUNCED_MAX])
{
	char text[RFC3339_MAX];
	size_t n = 0;

	ret[0] = '\0';
	for (enum duty i = 0; i < DUTY__MAX; i++) {
		const int64_t at = i == d ? at_ms : m->announced[i];

		if (at <= 0)
			continue;
		rfc3339_format(at, false, text);
		n += (size_t)snprintf(ret + n, ANNOTATIONS_ANNOUNCED_MAX - n, "%s%s=%s", n ? "," : "",
				      duty_name(i), text);
	}
}
