/* Picking members out of an answer: it finds what jansson finds, refuses what jansson refuses, and leaves out
 * nothing that the decoder of pods asks for. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fnv.h"
#include "model/pod.h"
#include "base/xalloc.h"
#include "kube/decode_json.h"
#include "tests/suite.h"
#include "tests/unit/kube/random_pod.h"
#include "worker/json_project.h"
#include "worker/read.h"

/* -- what is asked of a tree: this stands in front of jansson's function of that name -- */

static uint64_t asked;

static void note(const void *p, size_t n)
{
	asked = fnv_bytes(asked, p, n);
}

json_t *json_object_get(const json_t *o, const char *key)
{
	json_t *v = json_object_getn(o, key, strlen(key));
	const int type = v ? (int)json_typeof(v) : -1;
	const json_int_t number = json_integer_value(v);

	note(key, strlen(key));
	note(&type, sizeof(type));
	note(&number, sizeof(number));
	if (json_is_string(v))
		note(json_string_value(v), json_string_length(v));
	return v;
}

static uint64_t asked_of_pod(const json_t *pod)
{
	static struct pod_facts facts;

	asked = FNV_START;
	ck_assert_int_eq(decode_pod_json(pod, &facts), 0);
	return asked;
}

TEST(nothing_that_is_decoded_is_missing)
{
	for (uint64_t seed = 1; seed <= 500; seed++) {
		struct dual pod = random_pod(seed);
		_cleanup_free_ char *text = json_dumps(pod.json, seed % 2 ? JSON_COMPACT : JSON_INDENT(2));
		json_t *picked = json_project_loadb(text, strlen(text), project_pod, NULL);

		ck_assert_ptr_nonnull(picked);
		ck_assert_msg(asked_of_pod(pod.json) == asked_of_pod(picked), "seed %llu",
			      (unsigned long long)seed);
		json_decref(picked);
		dual_done(&pod);
	}
}

/* Nor of a pod as a real kubelet wrote it. */
TEST(nothing_of_a_kept_pod_is_missing)
{
	static char text[1 << 16];
	glob_t kept;

	ck_assert_int_eq(glob(GOLDEN_DIR "/*.json", 0, NULL, &kept), 0);
	ck_assert_uint_gt(kept.gl_pathc, 50);
	for (size_t i = 0; i < kept.gl_pathc; i++) {
		FILE *f = fopen(kept.gl_pathv[i], "re");
		const size_t n = fread(text, 1, sizeof(text), f);
		json_t *whole = json_loadb(text, n, 0, NULL),
		       *picked = json_project_loadb(text, n, project_pod, NULL);

		ck_assert(whole && picked);
		ck_assert_msg(asked_of_pod(whole) == asked_of_pod(picked), "%s", kept.gl_pathv[i]);
		json_decref(whole);
		json_decref(picked);
		(void)fclose(f);
	}
	globfree(&kept);
}

/* -- the same as jansson -- */

/* The same choice, made on the whole tree. */
static void prune(json_t *v, const struct json_projection *what)
{
	const struct json_projection *row;
	const char *key;
	json_t *below;
	size_t i;
	void *next;

	if (!what)
		return;
	json_array_foreach (v, i, below)
		prune(below, what);
	json_object_foreach_safe (v, next, key, below) {
		for (row = what; row->key && strcmp(row->key, key) != 0; row++)
			;
		if (row->key)
			prune(below, row->below);
		else
			json_object_del(v, key);
	}
}

static void check_same(const char *text, size_t n, const struct json_projection *what)
{
	json_error_t error;
	json_t *whole = json_loadb(text, n, JSON_ALLOW_NUL, &error),
	       *picked = json_project_loadb(text, n, what, &error);

	prune(whole, what);
	prune(picked, what); /* what it left to jansson is whole */
	ck_assert_msg(!whole == !picked, "%s only by jansson: %.*s", whole ? "read" : "refused", (int)n,
		      text);
	ck_assert_msg(!whole || json_equal(whole, picked), "not the same: %.*s", (int)(n < 1000 ? n : 1000),
		      text);
	json_decref(whole);
	json_decref(picked);
}

static const char list[] =
	"{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"abc\"},\"items\":[\n"
	"{\"metadata\":{\"name\":\"a\\u0041\\\"\\\\\\/"
	"\\b\\f\\n\\r\\t\\u00e9\\u20AC\",\"uid\":\"\xc3\xa9\xe2\x82\xac\","
	"\"managedFields\":[{\"fieldsV1\":{\"f:a\":{\"k:{\\\"b\\\":1}\":{}}},\"n\":[0,-1,-0,12]}],"
	"\"deletionGracePeriodSeconds\":30,\"labels\":{\"a\":\"b\",\"c\":\"\"}},\r\n\t"
	"\"spec\":{\"volumes\":[{\"name\":\"v\",\"ephemeral\":{}},{\"emptyDir\":{}},3,null],\"containers\":[{"
	"}]},"
	"\"status\":{\"phase\":\"Failed\",\"conditions\":[{\"type\":\"Ready\",\"message\":\"\\u001f\"}],"
	"\"containerStatuses\":[{\"ready\":true,\"started\":false,\"lastState\":null,\"x\":[true,[],{}]}]}}]}"
	" ";

TEST(a_list)
{
	json_t *o = json_project_loadb(list, strlen(list), project_pods, NULL);
	const json_t *pod = json_array_get(json_object_get(o, "items"), 0);

	ck_assert(str_is(READ_TEXT(pod, "metadata", "name"), "aA\"\\/\b\f\n\r\t\xc3\xa9\xe2\x82\xac"));
	ck_assert(str_is(READ_TEXT(o, "metadata", "continue"), "abc"));
	ck_assert_ptr_null(READ_AT(pod, "metadata", "managedFields"));
	ck_assert_uint_eq(json_array_size(READ_AT(pod, "spec", "volumes")), 4);
	json_decref(o);
	check_same(list, strlen(list), project_pods);
}

/* Bytes changed, left out, put in, and the end cut off: in what is wanted, and in what is passed over. */
TEST(broken_texts)
{
	static const char odd[] = "\"\\{}[]:,0123456789-+.eEu tfn\x01\x1f\x7f\x80\xc3\xe2\xed\xf4";
	uint64_t seed = 1;
	char text[sizeof(list) + 2];

	for (size_t n = 0; n < strlen(list); n++) {
		check_same(list, n, project_pods);
		check_same(list, n, project_status);
	}
	for (unsigned i = 0; i < 20000; i++) {
		const size_t n = strlen(list), at = wire_random(&seed) % n;
		const char c = odd[wire_random(&seed) % sizeof(odd)]; /* its NUL too */
		const uint64_t how = wire_random(&seed) % 3;          /* 0: put in, 1: change, 2: leave out */

		memcpy(text, list, at);
		text[at] = c;
		memcpy(text + at + (how < 2), list + at + (how > 0), n - at - (how > 0));
		check_same(text, n + (how == 0) - (how == 2), i % 4 ? project_pods : project_status);
	}
}

TEST_LOOP(odd_texts, 0, 2 * 43)
{
	static const char *const cases[] = {
		"",
		" ",
		"[]",
		"{}",
		"{} {}",
		"{},",
		"\"a\"",
		"null",
		"{\"a\":\"\\ud83d\\ude00\",\"kind\":\"\\ud83d\\ude00\"}",
		"{\"kind\":\"\\ud83d\"}",
		"{\"a\":\"\\ud83d\"}",
		"{\"a\":\"\\u0000\"}",
		"{\"\\u0000\":1}",
		"{\"\\u006bind\":\"Status\",\"code\":404}",
		"{\"kind\":\"Pod\",\"kind\":\"Status\"}",
		"{\"code\":1.5}",
		"{\"code\":1e3,\"a\":1E400}",
		"{\"a\":1e400}",
		"{\"code\":9223372036854775807}",
		"{\"code\":-9223372036854775808}",
		"{\"a\":9223372036854775808}",
		"{\"code\":999999999999999999}",
		"{\"a\":01}",
		"{\"a\":-}",
		"{\"a\":- 1}",
		"{\"a\":+1}",
		"{\"a\":truex}",
		"{\"a\":True}",
		"{\"a\":nul}",
		"{\"a\":[1,]}",
		"{\"a\":1,}",
		"{\"a\" 1}",
		"{a:1}",
		"{'a':1}",
		"{\"a\":\"\\x41\"}",
		"{\"a\":\"\\u00g0\"}",
		"{\"a\":\"\t\"}",
		"{\"a\":\"\xc0\x80\"}",
		"{\"a\":\"\xed\xa0\x80\"}",
		"{\"a\":\"\xf4\x90\x80\x80\"}",
		"\xef\xbb\xbf{}",
		"{\"status\":{\"status\":\"Failure\"},\"kind\":\"Pod\",\"code\":{\"a\":1}}",
		"{\"status\":\"Failure\",\"kind\":\"Status\",\"code\":409,\"details\":{}}",
	};

	check_same(cases[_i % (int)ARRAY_SIZE(cases)], strlen(cases[_i % (int)ARRAY_SIZE(cases)]),
		   _i < (int)ARRAY_SIZE(cases) ? project_pod : project_status);
	ck_assert_int_eq(ARRAY_SIZE(cases), 43);
}

/* Each byte and each pair, wherever it stands among those that are looked at together. */
TEST(every_byte_everywhere)
{
	static const char before[] = "{\"kind\":\"";

	for (unsigned byte = 0; byte < 256; byte++)
		for (size_t at = 0; at < 18; at++)
			for (size_t left = 1; left < 12; left++) {
				char text[64];
				const size_t n = sizeof(before) - 1;

				memcpy(text, before, n);
				memset(text + n, 'a', at + left);
				text[n + at] = (char)byte;
				text[n + at + left - 1] = left % 3 ? 'a' : (char)(byte + left);
				memcpy(text + n + at + left, "\"}", 2);
				check_same(text, n + at + left + 2, project_status);
			}
}

/* Deeper than it goes itself, and deeper than jansson does. */
TEST_LOOP(deep_texts, 0, 5)
{
	static const size_t depths[] = { 60, 70, 2040, 2060, 100000 };
	const size_t depth = depths[_i];
	_cleanup_free_ char *text = xmalloc(2 * depth + 6);

	memcpy(text, "{\"a\":", 5);
	memset(text + 5, '[', depth);
	memset(text + 5 + depth, ']', depth);
	text[5 + 2 * depth] = '}';
	check_same(text, 2 * depth + 6, project_pod);
}

/* The lists and objects of the other steps, with what their steps read and more. */
TEST_LOOP(other_objects, 0, 4)
{
	static const struct {
		const struct json_projection *what;
		const char *text, *left;
	} cases[] = {
		{ project_node,
		  "{'kind':'Node','metadata':{'name':'n','uid':'u'},'spec':{'podCIDR':'c','taints':[{'key':'"
		  "k','effect':"
		  "'e'}]},'status':{'images':[{'names':['a']}],'conditions':[{'type':'Ready','status':'True',"
		  "'reason':'r'}]}}",
		  "{'kind':'Node','metadata':{'name':'n'},'spec':{'taints':[{'key':'k'}]},'status':{'"
		  "conditions':[{'type':"
		  "'Ready','status':'True'}]}}" },
		{ project_attachments,
		  "{'kind':'VolumeAttachmentList','metadata':{'continue':'c'},'items':[{'metadata':{'name':'"
		  "a'},'spec':{"
		  "'attacher':'a','nodeName':'n','source':{'persistentVolumeName':'p'}},'status':{'attached':"
		  "true}}]}",
		  "{'kind':'VolumeAttachmentList','metadata':{'continue':'c'},'items':[{'spec':{'nodeName':'"
		  "n','source':{"
		  "'persistentVolumeName':'p'}}}]}" },
		{ project_revisions,
		  "{'kind':'ReplicaSetList','metadata':{},'items':[{'metadata':{'uid':'u','generation':1},'"
		  "spec':{'a':1},"
		  "'status':{'replicas':2,'readyReplicas':1}}]}",
		  "{'kind':'ReplicaSetList','metadata':{},'items':[{'metadata':{'uid':'u'},'status':{'"
		  "readyReplicas':1}}]}" },
		{ project_status, "{'kind':'Pod','metadata':{},'status':{'phase':'x'}}",
		  "{'kind':'Pod','status':{}}" },
	};
	_cleanup_free_ char *text = xstrdup(cases[_i].text), *left = xstrdup(cases[_i].left);

	for (char *c = text; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	for (char *c = left; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	json_t *picked = json_project_loadb(text, strlen(text), cases[_i].what, NULL),
	       *wanted = json_loads(left, 0, NULL);

	ck_assert_int_eq(json_equal(picked, wanted), 1);
	check_same(text, strlen(text), cases[_i].what);
	json_decref(picked);
	json_decref(wanted);
}

TEST_MAIN("worker/json_project")
{
	tcase_set_timeout(t, 60);
}
