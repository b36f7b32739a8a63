/* test_json.c - messages as JSON: the names of all fields, times, enums by name, what is not known is null.
 */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/view/json.h"
#include "tests/suite.h"

static const char *text_at(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

TEST(a_row_of_the_plan)
{
	const struct msg_ctl_plan_row row = { .conn = 7,
					      .cluster = 3,
					      .duty = DUTY_EVICTED,
					      .ns = "shop",
					      .name = "web-1",
					      .rv = "9",
					      .action = ACTION_DELETE,
					      .verdict = VERDICT_ACT,
					      .since = 1000 };
	json_auto_t *o = json_of(MSG_CTL_PLAN_ROW, &row);

	ck_assert_str_eq(text_at(o, "duty"), duty_name(DUTY_EVICTED));
	ck_assert_str_eq(text_at(o, "action"), action_desc(ACTION_DELETE)->name);
	ck_assert_str_eq(text_at(o, "verdict"), "act");
	ck_assert_str_eq(text_at(o, "kind"), "Pod");
	ck_assert_str_eq(text_at(o, "namespace"), "shop");
	ck_assert_str_eq(text_at(o, "name"), "web-1");
	ck_assert_str_eq(text_at(o, "resourceVersion"), "9");
	ck_assert_str_eq(text_at(o, "since"), "1970-01-01T00:00:01.000Z");
	ck_assert(json_is_null(json_object_get(o, "until")));
	ck_assert_ptr_null(json_object_get(o, "conn"));
	ck_assert_ptr_null(json_object_get(o, "cluster"));
	ck_assert_ptr_null(json_object_get(o, "ns"));
}

TEST(what_is_not_known_is_null)
{
	const struct msg_ctl_history_row row = { .outcome = OUTCOME_OPEN, .replicas = -1, .observe = true };
	const struct msg_pause pause = { .duty = -1, .on = true };
	json_auto_t *o = json_of(MSG_CTL_HISTORY_ROW, &row), *p = json_of(MSG_PAUSE, &pause);

	ck_assert_str_eq(text_at(o, "outcome"), "open");
	ck_assert_str_eq(text_at(o, "mode"), "observe");
	ck_assert(json_is_null(json_object_get(o, "replicas")));
	ck_assert(json_is_null(json_object_get(o, "startedAt")));
	ck_assert(json_is_null(json_object_get(o, "endedAt")));
	ck_assert(json_is_null(json_object_get(p, "duty")));
	ck_assert(json_is_null(json_object_get(p, "cluster")));
	ck_assert(json_is_true(json_object_get(p, "paused")));
}

TEST(a_set_is_a_list_of_names)
{
	const struct msg_ctl_supervisor s = { .duties = 1u << DUTY_EVICTED | 1u << DUTY_FINISHED };
	json_auto_t *o = json_of(MSG_CTL_SUPERVISOR, &s);
	const json_t *duties = json_object_get(o, "duties");

	ck_assert_uint_eq(json_array_size(duties), 2);
	ck_assert_str_eq(json_string_value(json_array_get(duties, DUTY_EVICTED < DUTY_FINISHED ? 0 : 1)),
			 duty_name(DUTY_EVICTED));
}

static bool has_field(const struct msg_desc *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->fields[i].name, name) == 0)
			return true;
	return false;
}

/* No two fields of a message have one name. */
TEST(every_field_has_its_own_name)
{
	static const char *const out[] = { "conn", "cluster", "mac", "valid_until", "finishes" };
	struct msg m;

	memset(&m, 0, sizeof(m));
	for (enum msg_type t = 0; t < MSG__MAX; t++) {
		const struct msg_desc *d = msg_desc(t);
		size_t wanted = d->n + (has_field(d, "ns") && !has_field(d, "kind"));
		json_auto_t *o = json_of(t, &m.u);

		for (size_t k = 0; k < ARRAY_SIZE(out); k++)
			wanted -= has_field(d, out[k]);
		ck_assert_msg(json_object_size(o) == wanted, "%s", d->name);
	}
}

TEST(columns_are_shown_as_fields)
{
	static const struct {
		const char *column, *text, *key, *json;
	} cases[] = {
		{ "intent_at", "1000", "startedAt", "\"1970-01-01T00:00:01.000Z\"" },
		{ "ended_at", "0", "endedAt", NULL },
		{ "observe", "0", "mode", "\"enforce\"" },
		{ "duty", "0", "duty", NULL },
		{ "outcome", "-1", "outcome", "\"open\"" },
		{ "replicas_before", "0", "replicas", "0" },
		{ "retry_ms", "0", "retryMs", NULL },
		{ "http", "200", "http", "200" },
		{ "nominated_for", "7", "nominatedFor", "\"7\"" },
		{ "id", "x", "id", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *key = NULL;
		int64_t time;
		json_auto_t *v = json_of_column(cases[i].column, cases[i].text, &key, &time);
		_cleanup_free_ char *text = v ? json_dumps(v, JSON_ENCODE_ANY) : NULL;

		ck_assert_str_eq(key, cases[i].key);
		ck_assert_int_eq(time, i == 0 ? 1000 : 0);
		if (strcmp(cases[i].column, "duty") == 0)
			ck_assert_str_eq(json_string_value(v), duty_name(0));
		else if (cases[i].json)
			ck_assert_str_eq(text, cases[i].json);
		else
			ck_assert_ptr_null(v);
	}
}

SUITE("cli/json");
