/* dump.c - see dump.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/dump.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "model/guards.h"
#include "supervisor/overview.h"

#define FIELDS_MAX 48
#define NAMES_MAX  256

static const char *name_of_duty(unsigned i)
{
	return duty_name((enum duty)i);
}

static const char *name_of_guard(unsigned i)
{
	return guard_name((enum guard)i);
}

static const char *name_of_trouble(unsigned i)
{
	return trouble_desc((enum trouble)i)->name;
}

/* Numbers of the protocol that have names, by the name of their field. */
static const struct named {
	const char *field;
	const char *(*name)(unsigned i);
	unsigned max;
	bool set; /* of bits */
} names[] = {
	{ "duty", name_of_duty, DUTY__MAX, false },
	{ "duties", name_of_duty, DUTY__MAX, true },
	{ "guards", name_of_guard, GUARD__MAX, true },
	{ "trouble", name_of_trouble, TROUBLE__MAX, false },
};

static const struct named *find_named(const char *field)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i].field, field) == 0)
			return &names[i];
	return NULL;
}

/* DUTY_ALL is -1, and above every name. */
static struct log_kv named_kv(const struct named *n, uint64_t value, char text[static NAMES_MAX])
{
	size_t len = 0;

	text[0] = '\0';
	if (!n->set)
		return kv_s(n->field, value < n->max ? n->name((unsigned)value) : "all");
	for (unsigned i = 0; i < n->max && len < NAMES_MAX; i++)
		if (value >> i & 1)
			len += (size_t)snprintf(text + len, NAMES_MAX - len, "%s%s", len ? ", " : "",
						n->name(i));
	return kv_s(n->field, text);
}

static struct log_kv field_kv(const struct msg *m, const struct msg_field *f, char text[static NAMES_MAX])
{
	const struct named *n = find_named(f->name);
	const char *at = (const char *)&m->u + f->off;

	if (n)
		return named_kv(n, *(const uint64_t *)(const void *)at, text);
	switch (f->kind) {
	case KIND_U64:
		return kv_u(f->name, *(const uint64_t *)(const void *)at);
	case KIND_I64:
		return kv_i(f->name, *(const int64_t *)(const void *)at);
	case KIND_BOOL:
		return kv_u(f->name, *(const bool *)(const void *)at);
	default:
		return kv_s(f->name, at);
	}
}

/* A row of the answer, with every field of it. */
static bool log_row(struct asker *a, const struct msg *m)
{
	const struct msg_desc *d = msg_desc(m->type);
	struct log_kv kv[FIELDS_MAX] = { kv_s("row", d->name) };
	char text[NAMES_MAX]; /* a row has one set */
	size_t n = 1;

	(void)a;
	for (size_t i = 0; i < d->n && n < FIELDS_MAX; i++)
		if (strcmp(d->fields[i].name, "conn") != 0)
			kv[n++] = field_kv(m, &d->fields[i], text);
	if (m->type != MSG_CTL_END)
		(void)log_write(LOG_LEVEL_INFO, 0, "state", kv, n);
	return true;
}

void supervisor_dump(struct supervisor *s)
{
	struct asker log = { .take = log_row };

	answers_add(&s->answers, &log);
	overview_answer(s, log.conn);
	answers_remove(&s->answers, &log);
}
