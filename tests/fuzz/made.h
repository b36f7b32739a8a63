/* made.h - any valid message of the table, made of the bytes of an input: what a process that was taken over
 * may say. Layer: tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_FUZZ_MADE_H
#define TESTS_FUZZ_MADE_H

#include <string.h>

#include "base/cleanup.h"
#include "ipc/msg.h"

struct made {
	const uint8_t *p;
	size_t n;
	const char *const *texts; /* of which names, uids and sentences are; 8 of them */
	/* A better value for a field of that name, by this byte. False and NULL: any. Both may be NULL. */
	bool (*number)(const struct msg_field *f, uint8_t b, uint64_t *ret);
	const char *(*text)(const struct msg_field *f, uint8_t b);
};

static inline uint8_t made_next(struct made *m)
{
	if (m->n == 0)
		return 0;
	m->n--;
	return *m->p++;
}

static inline uint64_t made_number(struct made *m, const struct msg_field *f)
{
	const uint8_t b = made_next(m);
	const uint64_t min = (uint64_t)f->min;
	uint64_t v = b < 160 ? min + b % 8 : b < 224 ? f->max - b % 4 : min;

	if (strcmp(f->name, "cluster") == 0 && b < 240)
		v = 0;
	if (m->number && m->number(f, b, &v))
		return v;
	if (f->kind == KIND_BOOL)
		return b & 1;
	return v > f->max && (f->kind == KIND_U64 || v <= INT64_MAX) ? f->max : v;
}

/* Of 255 it is as long as it may be. */
static inline void made_text(struct made *m, struct msg *msg, const struct msg_field *f, char *dst)
{
	const uint8_t b = made_next(m);
	const char *given = m->text ? m->text(f, b) : NULL, *text = given ? given : m->texts[b % 8];
	char longest[2048];

	if (f->min > 0 && !*text)
		text = "x";
	if (b == 255 && !given && f->max < sizeof(longest)) {
		memset(longest, 'm', f->max);
		longest[f->max] = '\0';
		text = longest;
	}
	if (f->kind != KIND_FACTS) {
		msg_set_text(msg, dst, (size_t)f->max + 1, text, strlen(text));
		return;
	}
	*(struct facts *)(void *)dst = (struct facts){ 0 };
	facts_quoted((void *)dst, FACT_WHY, STR_C(text));
}

static inline void made_fill(struct made *m, struct msg *msg)
{
	const struct msg_desc *d = msg_desc(msg->type);

	for (size_t i = 0; i < d->n; i++) {
		const struct msg_field *f = &d->fields[i];
		char *dst = (char *)&msg->u + f->off;

		if (f->kind == KIND_BOOL)
			*(bool *)dst = made_number(m, f);
		else if (f->kind == KIND_U64 || f->kind == KIND_I64)
			*(uint64_t *)(void *)dst = made_number(m, f);
		else
			made_text(m, msg, f, dst);
	}
}

static inline bool made_may(enum msg_type type, enum role from, unsigned to)
{
	const struct msg_desc *d = msg_desc(type);

	return (d->from >> from & 1) && (d->to & to) && (d->phases & PH_RUN);
}

struct made_types {
	unsigned to, n;
	enum msg_type types[MSG__MAX];
};

/* Some message that this role may send to one of those while all run, each as likely. False: there is none.
 */
static inline bool made_message(struct made *m, enum role from, unsigned to, struct msg *ret)
{
	static struct made_types all[ROLE__MAX]; /* for those that were asked for last */
	struct made_types *list = &all[from];

	if (list->to != to) {
		list->to = to;
		list->n = 0;
		for (enum msg_type t = 0; t < MSG__MAX; t++)
			if (made_may(t, from, to))
				list->types[list->n++] = t;
	}
	if (list->n == 0)
		return false;
	*ret = (struct msg){ .type = list->types[made_next(m) % list->n] };
	made_fill(m, ret);
	return true;
}

#endif
