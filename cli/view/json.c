/* json.c - see json.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/view/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "model/guards.h"
#include "model/reasons.h"
#include "text/facts_json.h"
#include "text/facts_text.h"

enum shape {
	PLAIN,
	LEFT_OUT,
	TIME,      /* Unix ms; 0: null */
	COUNTED,   /* negative: null */
	NAMED,     /* name_of(value) */
	NAMED_SET, /* bits: a list of names */
	OPTIONAL,  /* "" or 0: null */
	SENTENCE,  /* facts as a text in English */
};

static const char *duty_or_all(int64_t d)
{
	return d < 0 ? NULL : duty_name((enum duty)d);
}

static const char *action_of(int64_t a)
{
	return a < ACTION__MAX ? action_desc((enum action_kind)a)->name : NULL;
}

static const char *outcome_of(int64_t o)
{
	return outcome_name((enum outcome)o);
}

static const char *verdict_of(int64_t v)
{
	return verdict_kind_name((enum verdict_kind)v);
}

static const char *trouble_of(int64_t t)
{
	return trouble_desc((enum trouble)t)->name;
}

static const char *quote_of(int64_t q)
{
	return q < QUOTE__MAX ? quote_key((enum quote_kind)q) : NULL;
}

const char *json_mode(int64_t observe)
{
	return observe ? "observe" : "enforce";
}

static const char *guard_of(int64_t g)
{
	return g < GUARD__MAX ? guard_desc((enum guard)g)->name : NULL;
}

static const char *duty_at_bit(int64_t d)
{
	return d < DUTY__MAX ? duty_name((enum duty)d) : NULL;
}

/* Fields whose name or value is not simply that of the message, in every message that has them. */
static const struct field_shape {
	const char *field, *key; /* key NULL: in camel case */
	enum shape shape;
	const char *(*name_of)(int64_t value);
} shapes[] = {
	{ "conn", NULL, LEFT_OUT, NULL },
	{ "cluster", NULL, LEFT_OUT, NULL },
	{ "cluster_name", "cluster", OPTIONAL, NULL },
	{ "ns", "namespace", PLAIN, NULL },
	{ "rv", "resourceVersion", PLAIN, NULL },
	{ "why", "reason", SENTENCE, NULL },
	{ "particulars", "detail", SENTENCE, NULL },
	{ "error", NULL, SENTENCE, NULL },
	{ "unseen", NULL, SENTENCE, NULL },
	{ "blocked_by", NULL, SENTENCE, NULL },
	{ "problem", NULL, SENTENCE, NULL },
	{ "note", NULL, SENTENCE, NULL },
	{ "rss_kb", "rssKB", PLAIN, NULL },
	{ "shared", "sharedCredential", PLAIN, NULL },
	{ "mac", NULL, LEFT_OUT, NULL },
	{ "valid_until", NULL, LEFT_OUT, NULL },
	{ "on", "paused", PLAIN, NULL },
	{ "finishes", NULL, LEFT_OUT, NULL },
	{ "duty", NULL, NAMED, duty_or_all },
	{ "action", NULL, NAMED, action_of },
	{ "outcome", NULL, NAMED, outcome_of },
	{ "verdict", NULL, NAMED, verdict_of },
	{ "trouble", NULL, NAMED, trouble_of },
	{ "observe", "mode", NAMED, json_mode },
	{ "quote", NULL, NAMED, quote_of },
	{ "duties", NULL, NAMED_SET, duty_at_bit },
	{ "guards", NULL, NAMED_SET, guard_of },
	{ "at", NULL, TIME, NULL },
	{ "since", NULL, TIME, NULL },
	{ "until", NULL, TIME, NULL },
	{ "started", "startedAt", TIME, NULL },
	{ "intent_at", "startedAt", TIME, NULL },
	{ "result_at", "endedAt", TIME, NULL },
	{ "ended_at", NULL, TIME, NULL },
	{ "settled_at", NULL, TIME, NULL },
	{ "recorded_at", NULL, TIME, NULL },
	{ "others_pulled_at", NULL, TIME, NULL },
	{ "last_event", "lastEventAt", TIME, NULL },
	{ "next", "nextLoad", TIME, NULL },
	{ "oldest", "oldestAt", TIME, NULL },
	{ "delivered", "deliveredAt", TIME, NULL },
	{ "down", "downSince", TIME, NULL },
	{ "replicas", NULL, COUNTED, NULL },
	{ "replicas_before", "replicas", COUNTED, NULL },
};

static const struct field_shape *shape_of(const char *field)
{
	static const struct field_shape plain = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		if (strcmp(shapes[i].field, field) == 0)
			return &shapes[i];
	return &plain;
}

/* "exit_code" -> "exitCode". Owned by the caller. */
static char *key_of(const struct field_shape *s, const char *field)
{
	char *key = xstrdup(s->key ? s->key : field);
	size_t n = 0;

	for (const char *from = key; *from; from++)
		key[n++] = *from == '_' && from[1] ? (char)(*++from - 'a' + 'A') : *from;
	key[n] = '\0';
	return key;
}

json_t *json_time(int64_t ms)
{
	char buf[RFC3339_MAX];

	rfc3339_format(ms, true, buf);
	return ms == 0 ? json_null() : json_string(buf);
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

static json_t *names_of(const struct field_shape *s, uint64_t bits)
{
	json_t *names = json_array();
	const char *name;

	for (int64_t i = 0; (name = s->name_of(i)); i++)
		if (bits >> i & 1)
			json_array_append_new(names, json_string(name));
	return names;
}

static json_t *number(const struct field_shape *s, int64_t v)
{
	switch (s->shape) {
	case TIME:
		return json_time(v);
	case NAMED:
		return text_or_null(s->name_of(v));
	case NAMED_SET:
		return names_of(s, (uint64_t)v);
	case COUNTED:
		return v < 0 ? json_null() : json_integer(v);
	default:
		return json_integer(v);
	}
}

static json_t *sentence_of(const struct facts *f)
{
	_cleanup_free_ char *text = facts_render(f, NULL);

	return json_string(text);
}

static json_t *value_of(const struct msg_field *f, const struct field_shape *s, const char *at)
{
	int64_t v = 0;

	switch (f->kind) {
	case KIND_U64:
	case KIND_I64:
		memcpy(&v, at, sizeof(v));
		return number(s, v);
	case KIND_FACTS:
		return s->shape == SENTENCE ? sentence_of((const void *)at) : facts_json((const void *)at);
	case KIND_BOOL:
		v = *(const bool *)at;
		return s->shape == NAMED ? number(s, v) : json_boolean(v);
	default:
		return s->shape == OPTIONAL && !*at ? json_null() : json_string(at);
	}
}

json_t *json_of(enum msg_type type, const void *message)
{
	const struct msg_desc *d = msg_desc(type);
	json_t *object = json_object();

	for (size_t i = 0; i < d->n; i++) {
		const struct msg_field *f = &d->fields[i];
		const struct field_shape *s = shape_of(f->name);

		if (s->shape == LEFT_OUT)
			continue;
		_cleanup_free_ char *key = key_of(s, f->name);

		json_object_set_new(object, key, value_of(f, s, (const char *)message + f->off));
		if (strcmp(f->name, "ns") == 0)
			json_object_set_new(object, "kind", json_string("Pod"));
	}
	return object;
}

static const char *type_of(const struct msg_field *f, enum shape shape)
{
	static const char *const shapes_say[] = {
		[TIME] = "time",       [COUNTED] = "number",  [NAMED] = "name",
		[NAMED_SET] = "names", [OPTIONAL] = "string", [SENTENCE] = "string"
	};
	static const char *const kinds_say[] = {
		[KIND_U64] = "number", [KIND_I64] = "number",   [KIND_BOOL] = "boolean",
		[KIND_STR] = "string", [KIND_LINES] = "string", [KIND_NAME] = "string",
		[KIND_UID] = "string", [KIND_FACTS] = "facts",
	};

	return shape == PLAIN ? kinds_say[f->kind] : shapes_say[shape];
}

bool json_member_next(enum msg_type type, size_t *at, struct json_member *ret)
{
	const struct msg_desc *d = msg_desc(type);

	while (*at < d->n) {
		const struct msg_field *f = &d->fields[(*at)++];
		const struct field_shape *s = shape_of(f->name);

		if (s->shape == LEFT_OUT)
			continue;
		*ret = (struct json_member){ key_of(s, f->name), type_of(f, s->shape), f->doc,
					     s->shape == TIME || s->shape == COUNTED || s->shape == NAMED ||
						     s->shape == OPTIONAL };
		return true;
	}
	return false;
}

json_t *json_explain_reason(json_t *object)
{
	const char *code = json_string_value(json_object_get(object, "reason"));
	const struct reason_desc *desc = reason_find(code ? code : "");

	json_object_set_new(object, "sentence", json_string(desc->text[LANGUAGE_EN].sentence));
	json_object_set_new(object, "remedy", json_string(desc->text[LANGUAGE_EN].remedy));
	return object;
}

json_t *json_of_quotes(const struct msg_ctl_quote_row *rows, size_t n, uint64_t id)
{
	json_t *all = json_array();

	for (size_t i = 0; i < n; i++) {
		if (rows[i].id != id)
			continue;
		json_t *one = json_of(MSG_CTL_QUOTE_ROW, &rows[i]);

		(void)json_object_del(one, "id");
		(void)json_object_del(one, "number");
		json_array_append_new(all, one);
	}
	return all;
}

/* Is it a number in a message that has such a field? */
static bool is_number(const char *field)
{
	for (enum msg_type t = 0; t < MSG__MAX; t++)
		for (size_t i = 0; i < msg_desc(t)->n; i++)
			if (strcmp(msg_desc(t)->fields[i].name, field) == 0)
				return msg_desc(t)->fields[i].kind <= KIND_BOOL;
	return false;
}

json_t *json_of_column(const char *column, const char *text, char **ret_key, int64_t *ret_time)
{
	const struct field_shape *s = shape_of(column);
	int64_t v;

	*ret_key = key_of(s, column);
	*ret_time = 0;
	if ((s->shape == PLAIN || s->shape == OPTIONAL) && !is_number(column))
		return json_string(text);
	if (str_to_i64(text, strlen(text), &v) < 0 || (v == 0 && (s->shape == PLAIN || s->shape == TIME)))
		return NULL;
	*ret_time = s->shape == TIME ? v : 0;
	return number(s, v);
}
