/* test_sinks.c - what each type of sink is sent, what fits, and what its answers mean. */
// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "reporter/sinks/sink.h"
#include "tests/hostile.h"
#include "tests/suite.h"
#include "tests/unit/reporter/sink_document.h"

#define NOW_MS 1700000000000
#define EN     LANGUAGE_EN
/* For "%.*s": the beginning, in whole characters. */
#define SHOWN(s) (int)unicode_cut(s, strlen(s), 300), s

/* The limit of its owner, of the body or of what it calls content. */
static const struct {
	uint64_t type;
	const char *url, *secret;
	size_t owners_limit;
	/* What no text of the cluster may bring into a body of form 0. */
	const char *never[8];
} types[] = {
	{ SINK_FEISHU,
	  "https://open.feishu.cn/open-apis/bot/v2/hook/s3cr3t",
	  "demo-secret",
	  20 * 1024,
	  { "<at id=all", "<at id=evil", "](", "<font", "~~", "<a ", "**b**" } },
	{ SINK_DINGTALK,
	  "https://oapi.dingtalk.com/robot/send?access_token=s3cr3t",
	  "SECdemo",
	  20 * 1024,
	  { "](", "<", "~~", "**b**" } },
	{ SINK_WECOM,
	  "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=s3cr3t",
	  NULL,
	  4096,
	  { "](", "<@evil", "<@all", "<a ", "**b**", "<font color=\"x" } },
	{ SINK_SLACK,
	  "https://hooks.slack.com/services/T/B/s3cr3t",
	  NULL,
	  12 * 1024,
	  { "<!", "<http", "<@", "*b*", "~~" } },
	{ SINK_TEAMS,
	  "https://x.logic.azure.com/workflows/s3cr3t",
	  NULL,
	  28 * 1024,
	  { "<at>evil", "<at>all" } },
	{ SINK_WEBHOOK, "https://hooks.example.com/pods", "hook-secret", 256 * 1024, { NULL } },
};
#define N_TYPES (sizeof(types) / sizeof(types[0]))

static const struct sink_ops *ops_of(size_t i)
{
	return sink_ops_of(types[i].type);
}

static const char *name_of(size_t i)
{
	return sink_type_desc((enum sink_type)types[i].type)->name;
}

static struct sink_settings settings_of(size_t i)
{
	return sink_of_type(types[i].type, types[i].url, types[i].secret, EN);
}

static char *body_of(size_t i, const struct document *d, unsigned form, uint64_t *ret_left_out)
{
	const struct sink_settings s = settings_of(i);
	struct sink_request rq;

	sink_compose(&s, d, form, NOW_MS, &rq, ret_left_out);
	char *body = xstrdup(rq.body);

	sink_request_done(&rq);
	return body;
}

/* Every string in it, and the object that it is in. */
typedef void string_fn(void *ctx, const json_t *in, const char *key, const char *s);
static void each_string(const json_t *j, string_fn *fn, void *ctx)
{
	const char *k;
	json_t *v;
	size_t i;

	json_array_foreach (j, i, v)
		each_string(v, fn, ctx);
	json_object_foreach ((json_t *)(uintptr_t)j, k, v) {
		if (json_is_string(v))
			fn(ctx, j, k, json_string_value(v));
		each_string(v, fn, ctx);
	}
}

/* -- golden bodies -- */

static json_t *request_json(const struct sink_request *rq)
{
	json_t *headers = json_array(), *body = json_loads(rq->body, 0, NULL);

	ck_assert_ptr_nonnull(body);
	for (size_t i = 0; i < rq->headers.n; i++)
		(void)json_array_append_new(headers, json_string(rq->headers.v[i]));
	return json_pack("{s:s, s:o, s:o}", "path", rq->path, "headers", headers, "body", body);
}

static char *sample(size_t t)
{
	json_t *all = json_object();

	for (enum language l = 0; l < LANGUAGE__MAX; l++) {
		struct sink_settings s = settings_of(t);
		json_t *forms = json_array();
		struct document d;

		str_list_add(&s.mentions, "all", 3);
		sink_document(&d, l);
		d.is_repeat = l == LANGUAGE_ZH;
		for (unsigned form = 0; form < sink_forms(ops_of(t)); form++) {
			struct sink_request rq;
			uint64_t left_out;

			sink_compose(&s, &d, form, NOW_MS, &rq, &left_out);
			ck_assert_uint_eq(left_out, 0);
			(void)json_array_append_new(forms, request_json(&rq));
			sink_request_done(&rq);
		}
		(void)json_object_set_new(all, language_name(l), forms);
		document_done(&d);
		str_list_done(&s.mentions);
	}
	char *text = json_dumps(all, JSON_INDENT(2) | JSON_PRESERVE_ORDER);

	json_decref(all);
	return text;
}

TEST_LOOP(bodies_are_the_golden_ones, 0, N_TYPES)
{
	char path[256], *got = sample((size_t)_i), *want = calloc(1, 65536);

	(void)snprintf(path, sizeof(path), "%s/%s.json", SINKS_DIR, name_of((size_t)_i));
	FILE *f = fopen(path, getenv("OPC_GOLDEN_WRITE") ? "w+" : "r");

	ck_assert_msg(f && want, "%s", path);
	if (getenv("OPC_GOLDEN_WRITE"))
		(void)fprintf(f, "%s\n", got);
	rewind(f);
	const size_t n = fread(want, 1, 65535, f);

	(void)fclose(f);
	ck_assert_uint_gt(n, 0);
	want[n - 1] = '\0'; /* the line's end */
	ck_assert_str_eq(got, want);
	free(got);
	free(want);
}

/* -- whatever is told -- */

static uint64_t seed;
static uint64_t rnd(uint64_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (seed >> 33) % below;
}

static const char *text(char *buffer, size_t max)
{
	static const char *const pieces[] = {
		"<at id=all></at>",
		"<at id=evil></at>",
		"[x](http://y)",
		"**b**",
		"*b*",
		"~~x~~",
		"`c`",
		"<font color=\"x\">",
		"<!channel>",
		"<http://y|z>",
		"<@evil>",
		"<@all>",
		"<at>evil</at>",
		"<a href='x'>",
		"\"",
		"\\",
		"\\*",
		"重启",
		"😀",
		"web-1",
		" ",
		"\x01",
		"\xff",
		HOSTILE,
		"&lt;",
		"- ",
		"# ",
		"> ",
		"_i_",
		"@all ",
		"<at>all</at>",
	};
	const size_t want = rnd(4) == 0 ? rnd(max) : rnd(60);
	size_t n = 0;

	while (n < want && n < 8000) {
		const char *p = pieces[rnd(sizeof(pieces) / sizeof(pieces[0]))];

		memcpy(buffer + n, p, strlen(p));
		n += strlen(p);
	}
	buffer[n] = '\0';
	return buffer;
}

static void random_entry(struct section *s, char *b)
{
	struct entry *e = section_add_entry(s, text(b, 3000));

	for (uint64_t n = rnd(4); n > 0; n--)
		document_add(&e->lines, text(b, 7000));
	if (rnd(2))
		document_set(&e->command, text(b, 500));
	for (uint64_t n = rnd(3); n > 0; n--)
		document_add(&e->mentions, rnd(3) == 0 ? "all" : text(b, 100));
	if (rnd(3) == 0)
		entry_add_link(e, rnd(2) ? "page" : "runbook",
			       rnd(2) ? "https://h/?a=b&c=%20_*" : text(b, 200));
	for (uint64_t n = rnd(3); n > 0; n--)
		entry_add_fact(e, rnd(2) ? "namespace" : "cause", text(b, 3000));
}

static void random_document(struct document *d)
{
	char *b = calloc(1, 8192);

	ck_assert_ptr_nonnull(b);
	document_init(d, (enum news)rnd(NEWS__MAX), (enum language)rnd(LANGUAGE__MAX), 1764000000000);
	d->tone = (enum tone)rnd(TONE__MAX);
	d->is_repeat = rnd(2);
	(void)snprintf(b, 8192, "TITLE");
	document_set(&d->title, b);
	if (rnd(3) == 0) {
		memcpy(b, "TITLE", 5);
		(void)text(b + 5, 4000);
		document_set(&d->title, b);
	}
	for (uint64_t n = rnd(rnd(5) == 0 ? 60 : 4); n > 0; n--)
		document_add(&d->lines, text(b, 3000));
	for (uint64_t n = rnd(rnd(5) == 0 ? 80 : 4); n > 0; n--) {
		struct section *s = document_add_section(d, text(b, 2000));

		for (uint64_t k = rnd(rnd(5) == 0 ? 300 : 12); k > 0; k--)
			random_entry(s, b);
		s->more = rnd(3) ? 0 : rnd(100);
	}
	if (rnd(2))
		document_set(&d->footer, text(b, 2000));
	free(b);
}

struct found {
	size_t type;
	bool title;
};

static bool is(const json_t *j, const char *key, const char *value)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s && strcmp(s, value) == 0;
}

/* Does its owner look for marks in it? */
static bool is_markup(uint64_t type, const json_t *in, const char *key)
{
	switch (type) {
	case SINK_FEISHU:
		return is(in, "tag", "markdown");
	case SINK_SLACK:
		return strcmp(key, "text") == 0 && !is(in, "type", "plain_text");
	case SINK_TEAMS:
		return is(in, "type", "TextBlock");
	case SINK_WEBHOOK:
		return false;
	default:
		return strcmp(key, "text") == 0 || strcmp(key, "content") == 0;
	}
}

/* Without what is code, where nothing is a mark; the back quote itself is one everywhere else. */
static char *without_code(const char *s)
{
	char *ret = xmalloc(strlen(s) + 1), *w = ret;
	bool code = false;

	for (; *s; s++) {
		code = code != (*s == '`');
		if (!code && *s != '`')
			*w++ = *s;
	}
	*w = '\0';
	ck_assert(!code);
	return ret;
}

static void check_marks(size_t t, const char *s)
{
	char *marked = without_code(s);

	for (size_t i = 0; i < 8 && types[t].never[i]; i++)
		ck_assert_msg(!strstr(marked, types[t].never[i]), "%s: %s in %.*s", name_of(t),
			      types[t].never[i], SHOWN(marked));
	free(marked);
}

static void check_string(void *ctx, const json_t *in, const char *key, const char *s)
{
	struct found *f = ctx;
	const uint64_t type = types[f->type].type;

	f->title = f->title || strstr(s, "TITLE");
	ck_assert(hostile_is_gone(s));
	if (type == SINK_WECOM && strcmp(key, "content") == 0)
		ck_assert_uint_le(strlen(s), types[f->type].owners_limit);
	if (type == SINK_SLACK && strcmp(key, "text") == 0)
		ck_assert_uint_le(strlen(s), 3000);
	if (is_markup(type, in, key))
		check_marks(f->type, s);
}

/* In Teams only a TextBlock is markdown: none holds a text of the cluster. */
static void check_blocks(const json_t *j)
{
	const json_t *body = json_object_get(
		json_object_get(json_array_get(json_object_get(j, "attachments"), 0), "content"), "body");
	json_t *v;
	size_t i;

	json_array_foreach (body, i, v)
		if (strcmp(json_string_value(json_object_get(v, "type")), "TextBlock") == 0)
			ck_assert_ptr_nonnull(strchr(json_string_value(json_object_get(v, "text")), '@'));
}

static void check_body(size_t t, const struct document *d, unsigned form)
{
	struct found f = { .type = t };
	uint64_t left_out;
	char *body = body_of(t, d, form, &left_out);
	json_t *j = json_loads(body, 0, NULL);

	ck_assert_ptr_nonnull(j); /* jansson refuses invalid UTF-8 */
	if (types[t].type != SINK_WECOM)
		ck_assert_uint_le(strlen(body), types[t].owners_limit);
	each_string(j, check_string, &f);
	ck_assert_ptr_null(strstr(body, "\"isAtAll\":true")); /* only the operator wakes all */
	ck_assert_ptr_null(strstr(body, "\"user_id\":\"all\""));
	ck_assert_msg(f.title, "%s: no title in %.*s", name_of(t), SHOWN(body));
	if (types[t].type == SINK_SLACK)
		ck_assert_uint_le(json_array_size(json_object_get(j, "blocks")), 50);
	if (types[t].type == SINK_TEAMS)
		check_blocks(j);
	json_decref(j);
	free(body);
}

/* Those that are no chat. */
static void check_others(const struct document *d)
{
	static const uint64_t others[] = { SINK_ALERTMANAGER, SINK_EMAIL };

	for (size_t i = 0; i < 2; i++) {
		const struct sink_settings s = sink_of_type(others[i], "https://h/x", NULL, EN);
		struct sink_request rq;
		uint64_t left_out;

		sink_compose(&s, d, 0, NOW_MS, &rq, &left_out);
		ck_assert_uint_le(strlen(rq.body), sink_ops_of(others[i])->size_max);
		sink_request_done(&rq);
	}
}

/* -- what has no room is counted -- */

static size_t count_of(const char *haystack, const char *needle)
{
	size_t n = 0;

	for (const char *s = strstr(haystack, needle); s; s = strstr(s + 1, needle))
		n++;
	return n;
}

TEST_LOOP(what_has_no_room_is_counted, 0, N_TYPES)
{
	const size_t per_section[] = { 3000, 40, 0 };
	uint64_t left_out;
	struct document d;
	char more[64];

	document_init(&d, NEWS_REPORT, EN, NOW_MS);
	document_set(&d.title, "t");
	for (size_t i = 0; i < 3; i++) {
		struct section *s = document_add_section(&d, i == 0 ? "long" : "short");

		for (size_t k = 0; k < per_section[i]; k++) {
			struct entry *e = section_add_entry(s, "ENTRY of a namespace, which is a workload");

			document_add(&e->lines,
				     "restarted 12 times, OOMKilled, on 3 nodes, since the last report");
		}
	}
	char *body = body_of((size_t)_i, &d, 0, &left_out);
	const size_t shown = count_of(body, "ENTRY");

	ck_assert_uint_gt(left_out, 0);
	ck_assert_uint_eq(shown + left_out, 3040);
	/* the longest section gives way first */
	(void)snprintf(more, sizeof(more),
		       types[_i].type == SINK_WEBHOOK ? "\"more\":%" PRIu64 "" : "and %" PRIu64 " more",
		       left_out > 2980 ? (3000 - shown / 2 - shown % 2) : left_out);
	ck_assert_msg(strstr(body, more), "%s not in %s", more, body);
	/* and no room is wasted */
	ck_assert_uint_gt(shown, types[_i].type == SINK_WECOM ? 20 : 60);
	document_done(&d);
	free(body);
}

/* As many as say what they are about, not more of which the end, and the count, is cut. */
TEST_LOOP(an_entry_that_is_shown_says_what_it_is, 0, N_TYPES)
{
	uint64_t left_out;
	struct document d;

	document_init(&d, NEWS_REPORT, EN, NOW_MS);
	document_set(&d.title, "t");
	struct section *s = document_add_section(&d, "long");

	for (size_t k = 0; k < 3000; k++)
		(void)section_add_entry(s, "ENTRY of prod-shanghai-01 payments-production/"
					   "payment-gateway-service (Deployment): 12 restarts");
	char *body = body_of((size_t)_i, &d, 0, &left_out);
	const size_t shown = count_of(body, "ENTRY");

	ck_assert_uint_gt(shown, 20);
	ck_assert_uint_gt(left_out, 0);
	ck_assert_uint_eq(count_of(body, "12 restarts"), shown);
	/* one more has no room */
	if (ops_of((size_t)_i)->string_max == 0)
		ck_assert_uint_gt(strlen(body) + strlen(body) / shown, ops_of((size_t)_i)->size_max);
	document_done(&d);
	free(body);
}

/* Half a command, copied into a terminal, is another command. */
TEST_LOOP(commands_are_whole_or_not_there, 0, N_TYPES)
{
	const bool whole = ops_of((size_t)_i)->whole;
	char command[1000] = "COMMAND", *body;
	uint64_t left_out;
	struct document d;

	memset(command + 7, 'x', 900);
	document_init(&d, NEWS_ACTIONS, EN, NOW_MS);
	struct entry *e = section_add_entry(document_add_section(&d, ""), "e");

	document_set(&e->command, command);
	body = body_of((size_t)_i, &d, 0, &left_out);
	ck_assert_int_eq(strstr(body, "COMMAND") != NULL, whole);
	ck_assert_int_eq(strstr(body, command) != NULL, whole);
	free(body);
	document_set(&e->command, "kubectl -n a scale deployment/web --replicas=3");
	body = body_of((size_t)_i, &d, 0, &left_out);
	ck_assert_ptr_nonnull(strstr(body, "kubectl -n a scale deployment/web --replicas=3"));
	free(body);
	document_done(&d);
}

/* What ends the code that it stands in would be a mark, and tags are read in code, too. */
TEST_LOOP(a_command_does_not_leave_its_code, 0, N_TYPES)
{
	static const struct {
		const char *command, *mark;
	} cases[] = {
		{ "echo `[x](y) *b* `", "](y)" },
		{ "echo `[x](y) *b* `", "*b*" },
		{ "echo <at id=all>", "<at" },
		{ "echo <!channel", "<!" },
		{ "echo a>b", "a>b" },
	};

	if (types[_i].type == SINK_TEAMS || types[_i].type == SINK_WEBHOOK)
		return; /* which look for no marks in it */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct document d;
		uint64_t left_out;

		document_init(&d, NEWS_ACTIONS, EN, NOW_MS);
		struct entry *e = section_add_entry(document_add_section(&d, ""), "e");

		document_set(&e->command, cases[i].command);
		char *body = body_of((size_t)_i, &d, 0, &left_out);

		ck_assert_msg(!strstr(body, cases[i].mark), "%s: %s", cases[i].command, body);
		free(body);
		document_done(&d);
	}
}

/* -- signatures -- */

TEST(signatures_are_the_documented_ones)
{
	static const struct {
		uint64_t type;
		const char *secret, *url;
		const char *in_body, *path, *header;
	} rows[] = {
		{ SINK_FEISHU, "demo-secret", "https://h/hook",
		  "{\"timestamp\":\"1700000000\",\"sign\":\"mYHw2R2SOm8Rw/sne3lQdmz4sOfntKR+1P/8RKKTwmA=\",",
		  "/hook", NULL },
		{ SINK_DINGTALK, "SECdemo", "https://h/robot/send?access_token=T", "{\"msgtype\"",
		  "/robot/"
		  "send?access_token=T&timestamp=1700000000000&sign="
		  "lOvVf9TQCVugV68mGbSZCg0gzOl1SVjxWi1MyVZCUuA%3D",
		  NULL },
		{ SINK_WEBHOOK, "", "https://h", "{\"apiVersion\":\"ops-pod-cleaner.io/v1\"", "/",
		  "X-Ops-Pod-Cleaner-Timestamp: 1700000000" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct sink_settings s = sink_of_type(rows[i].type, rows[i].url, rows[i].secret, EN);
		struct sink_request rq;
		uint64_t left_out;
		struct document d;

		document_init(&d, NEWS_REPORT, EN, NOW_MS);
		sink_compose(&s, &d, 0, NOW_MS, &rq, &left_out);
		ck_assert_int_eq(strncmp(rq.body, rows[i].in_body, strlen(rows[i].in_body)), 0);
		ck_assert_str_eq(rq.path, rows[i].path);
		ck_assert_uint_eq(rq.headers.n, rows[i].header ? 1 : 0);
		if (rows[i].header)
			ck_assert_str_eq(rq.headers.v[0], rows[i].header);
		sink_request_done(&rq);
		document_done(&d);
	}
}

/* A message about one thing has buttons where the chat has them; those of several stay with their entries. */
TEST_LOOP(links_of_the_only_entry_are_buttons, 0, N_TYPES)
{
	static const char url[] = "https://grafana.example.com/d/shop";
	const size_t k = (size_t)_i;
	const bool has_buttons = ops_of(k)->has_buttons;

	for (size_t n = 1; n <= 2; n++) {
		struct document d;
		uint64_t left_out;

		document_init(&d, NEWS_ACTIONS, EN, NOW_MS);
		struct section *s = document_add_section(&d, "Scaled");

		(void)section_add_entry(s, "without");
		for (size_t i = 0; i < n; i++)
			entry_add_link(section_add_entry(s, "web"), "page", url);
		_cleanup_free_ char *body = body_of(k, &d, 0, &left_out);
		const bool button =
			strstr(body, "\"tag\":\"button\"") || strstr(body, "Action.OpenUrl\",\"title\"");

		ck_assert_msg(strstr(body, url) != NULL, "%s", body);
		ck_assert_msg(button == (has_buttons && n == 1), "%s", body);
		ck_assert_msg(!button || !strstr(strstr(body, url) + 1, url), "%s", body);
		document_done(&d);
	}
}

/* RFC 4231, test case 2. */
TEST(hmac_is_the_one_of_the_rfc)
{
	char hex[SINK_HEX_MAX];

	sink_hmac_hex("Jefe", "what do ya want for nothing?", hex);
	ck_assert_str_eq(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

/* The last one: it takes longer than all the others. */
TEST_LOOP(any_document_fits_and_brings_no_marks, 0, 45)
{
	struct document d;

	seed = (uint64_t)_i * 7919 + 3;
	random_document(&d);
	for (size_t t = 0; t < N_TYPES; t++)
		for (unsigned form = 0; form < sink_forms(ops_of(t)); form++)
			check_body(t, &d, form);
	check_others(&d);
	document_done(&d);
}

TEST_MAIN("reporter/sinks")
{
	tcase_set_timeout(t, 120);
}
