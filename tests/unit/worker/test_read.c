/* Readers of other objects that are given anything at all. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/suite.h"
#include "worker/read.h"

#define T INT64_C(1790000000000)

static json_t *parse(const char *text)
{
	json_t *o = json_loads(text, JSON_DECODE_ANY, NULL);

	ck_assert_ptr_nonnull(o);
	return o;
}

TEST_LOOP(readers_take_anything, 0, 7)
{
	static const char *const texts[] = {
		"7",
		"[]",
		"\"x\"",
		"{}",
		"{\"metadata\":7,\"status\":[],\"spec\":\"\"}",
		"{\"metadata\":{\"ownerReferences\":{},\"annotations\":[]},"
		"\"status\":{\"conditions\":\"x\"},\"spec\":{\"taints\":7}}",
		"{\"metadata\":{\"ownerReferences\":[7,[],{\"controller\":\"true\"}]},"
		"\"status\":{\"conditions\":[7,{}]},\"spec\":{\"taints\":[[]]}}"
	};
	json_t *o = parse(texts[_i]);
	struct owner_facts owner;
	struct scale_facts scale;

	ck_assert(!read_controller(o, &owner));
	ck_assert(!read_scale(o, &scale));
	ck_assert_int_eq(read_node_ready(o), TRI_NO);
	ck_assert_int_eq(read_node_out_of_service(o), TRI_NO);
	ck_assert_int_eq(read_created(o), 0);
	ck_assert_int_eq(read_unavailable(o), 0);
	ck_assert_uint_eq(read_revision(o), 0);
	ck_assert(read_observed(o));
	ck_assert_int_eq(read_failure(o), 0);
	json_decref(o);
}

TEST_LOOP(since_when_it_is_unavailable, 0, 5)
{
#define SINCE ",\"lastTransitionTime\":\"2026-09-21T14:13:20Z\"}"
	static const struct {
		const char *conditions;
		int64_t since;
	} rows[] = {
		{ "{\"type\":\"Available\",\"status\":\"False\"" SINCE, T },
		{ "{\"type\":\"Progressing\",\"status\":\"False\"" SINCE, 0 },
		{ "{\"type\":\"Available\",\"status\":\"True\"" SINCE, 0 },
		{ "{\"type\":\"Available\",\"status\":\"Unknown\"" SINCE, 0 },
		{ "{\"type\":\"Available\",\"status\":\"False\",\"lastTransitionTime\":\"lately\"}", 0 },
	};
	char text[300];

	(void)snprintf(text, sizeof(text), "{\"status\":{\"conditions\":[%s]}}", rows[_i].conditions);
	json_t *o = parse(text);

	ck_assert_int_eq(read_unavailable(o), rows[_i].since);
	json_decref(o);
}

TEST_LOOP(observed_generation, 0, 5)
{
	static const struct {
		const char *text;
		bool observed;
	} rows[] = {
		{ "{\"metadata\":{\"generation\":2},\"status\":{\"observedGeneration\":2}}", true },
		{ "{\"metadata\":{\"generation\":2},\"status\":{\"observedGeneration\":1}}", false },
		{ "{\"metadata\":{\"generation\":2},\"status\":{\"observedGeneration\":\"1\"}}", false },
		{ "{\"metadata\":{\"generation\":2},\"status\":{\"observedGeneration\":\"2\"}}", true },
		{ "{\"metadata\":{\"generation\":2},\"status\":{\"observedGeneration\":\"5d9f\"}}", true },
	};
	json_t *o = parse(rows[_i].text);

	ck_assert_int_eq(read_observed(o), rows[_i].observed);
	json_decref(o);
}

TEST_LOOP(failures, 0, 5)
{
	static const struct {
		const char *text;
		long code;
	} rows[] = {
		{ "{\"kind\":\"Status\",\"status\":\"Success\"}", 0 },
		{ "{\"kind\":\"Status\",\"status\":\"Failure\",\"code\":409}", 409 },
		{ "{\"kind\":\"Status\",\"status\":\"Failure\"}", 500 },
		{ "{\"kind\":\"Status\",\"status\":\"Failure\",\"code\":200}", 500 },
		{ "{\"kind\":\"Pod\",\"status\":{\"phase\":\"Failed\"}}", 0 },
	};
	json_t *o = parse(rows[_i].text);

	ck_assert_int_eq(read_failure(o), rows[_i].code);
	json_decref(o);
}

TEST_LOOP(refusals, 0, 9)
{
	static const struct {
		const char *body, *message;
		int64_t retry_after_s;
	} rows[] = {
		{ "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"TooManyRequests\","
		  "\"message\":\"wait\\nnow\",\"details\":{\"retryAfterSeconds\":7},\"code\":429}",
		  "wait?now", 7 },
		{ "{\"kind\":\"Status\",\"details\":{\"retryAfterSeconds\":-1}}", "", 0 },
		{ "{\"kind\":\"Status\",\"details\":{\"retryAfterSeconds\":9223372036854775807}}", "",
		  INT32_MAX },
		/* The deleted object itself. */
		{ "{\"kind\":\"Pod\",\"code\":500,\"message\":\"no\"}", "", 0 },
		{ "Too many requests, please try again later.\n",
		  "Too many requests, please try again later.", 0 },
		{ " \n", "", 0 },
		{ "<html><body>login</body></html>", "", 0 },
		{ "", "", 0 },
		{ "{\"kind\":\"Stat", "", 0 },
	};
	struct refusal s;

	read_refusal(rows[_i].body, strlen(rows[_i].body), &s);
	ck_assert_str_eq(s.message, rows[_i].message);
	ck_assert_int_eq(s.retry_after_s, rows[_i].retry_after_s);
}

TEST_LOOP(targets, 0, 12)
{
	static const struct {
		const char *text, *resource, *group, *ns, *name;
	} rows[] = {
		{ "deployments.apps/shop/web", "deployments", "apps", "shop", "web" },
		{ "fleets.example.com/shop/web", "fleets", "example.com", "shop", "web" },
		{ "pods/shop/web", "pods", "", "shop", "web" },
		{ "", NULL, NULL, NULL, NULL },
		{ "pods", NULL, NULL, NULL, NULL },
		{ "pods/shop", NULL, NULL, NULL, NULL },
		{ "pods/shop/", NULL, NULL, NULL, NULL },
		{ "pods//web", NULL, NULL, NULL, NULL },
		{ "/shop/web", NULL, NULL, NULL, NULL },
		{ "pods./shop/web", NULL, NULL, NULL, NULL },
		{ ".apps/shop/web", NULL, NULL, NULL, NULL },
		{ "pods/shop/web/scale", NULL, NULL, NULL, NULL },
	};
	struct object_name t;

	ck_assert_int_eq(read_object_name(rows[_i].text, &t), rows[_i].name != NULL);
	if (!rows[_i].name)
		return;
	ck_assert(str_is(t.resource, rows[_i].resource) && str_is(t.group, rows[_i].group));
	ck_assert(str_is(t.ns, rows[_i].ns) && str_is(t.name, rows[_i].name));
}

TEST_LOOP(marks_of_anything, 0, 4)
{
	static const char *const texts[] = {
		"{\"metadata\":{\"annotations\":{\"ops-pod-cleaner.io/skip\":\"errImagePull\",\"a\":\"b\"}}}",
		"{\"metadata\":{\"annotations\":{\"ops-pod-cleaner.io/skip\":7}}}",
		"{\"metadata\":{\"annotations\":[]}}",
		"{\"metadata\":7}",
	};
	json_t *o = parse(texts[_i]);
	struct annotations m;

	read_annotations(o, &m);
	ck_assert_uint_eq(m.skip, _i == 0 ? 1u << DUTY_IMAGE_PULL : 0);
	json_decref(o);
}

SUITE("worker/read");
