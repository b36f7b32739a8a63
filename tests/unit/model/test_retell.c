/* test_retell.c - evidence in the language of who reads it, whatever stands in it. */
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "model/phrases.h"
#include "model/retell.h"
#include "tests/english.h"
#include "tests/suite.h"

static const struct {
	const char *id, *en, *zh;
} rows[] = {
#define PHRASE(ID, en, zh) { #ID, en, zh },
#include "model/phrases_details.def"
#include "model/phrases_evidence.def"
#include "model/phrases_answers.def"
#include "model/phrases_config.def"
#undef PHRASE
};

static void told(const char *en, const char *zh)
{
	_cleanup_free_ char *is = retell(en, LANGUAGE_ZH);

	ck_assert_str_eq(is, zh);
}

/* A row with these put in for its texts and numbers, which all languages take in the same order. */
static char *fill(const char *format, const char *text, const char *number)
{
	char *ret = xstrdup("");

	for (const char *p = format; *p;) {
		const size_t literal = strcspn(p, "%");
		_cleanup_free_ char *before = ret;

		ret = xasprintf("%s%.*s", before, (int)literal, p);
		p += literal;
		if (*p != '%')
			continue;
		p += 1 + strspn(p + 1, ".*0123456789lhzjt");
		_cleanup_free_ char *again = ret;

		ret = xconcat(again, *p++ == 's' ? text : number, NULL);
	}
	return ret;
}

static bool is_tail(const char *row)
{
	return strchr(",: ", *row);
}

/* A piece of a diagnostic, "; did you mean ", which others make a sentence of. */
static bool is_piece(const char *row)
{
	const size_t n = strlen(row);

	return n < 2 || row[n - 1] == ' ' || *row == ';' || (*row == ' ' && row[1] != '(');
}

/* Of a diagnostic another row may say the same. */
static bool is_diagnostic(const char *id)
{
	return strncmp(id, "DIAG_", 5) == 0;
}

TEST_LOOP(every_row_is_told, 0, (int)ARRAY_SIZE(rows))
{
	static const char *const texts[] = { "x", "7", "threshold", "(seen", "节点 a-1.b" };
	const char *en = rows[_i].en;

	for (size_t j = 0; !is_piece(en) && j < (is_diagnostic(rows[_i].id) ? 1 : ARRAY_SIZE(texts)); j++) {
		_cleanup_free_ char *tail_en = fill(en, texts[j], "42");
		_cleanup_free_ char *tail_zh = fill(rows[_i].zh, texts[j], "42");
		const char *before = is_tail(en) ? "Z" : "";
		_cleanup_free_ char *all = xconcat(before, tail_en, NULL);
		_cleanup_free_ char *zh = xconcat(before, tail_zh, NULL);
		_cleanup_free_ char *is = retell(all, LANGUAGE_ZH);

		ck_assert_msg(strcmp(is, zh) == 0, "%s: \"%s\" is told as \"%s\"", rows[_i].id, all, is);
	}
}

/* What is empty leaves the literals. */
TEST(every_row_is_told_of_nothing)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *en = fill(rows[i].en, "", "0");
		_cleanup_free_ char *is = retell(en, LANGUAGE_ZH);

		ck_assert_msg(is_tail(rows[i].en) || is_piece(rows[i].en) || strcmp(is, en) != 0, "%s",
			      rows[i].id);
	}
}

/* Its sentences, "; " behind each but the last, by what they take: T a text, or several at once, N a number.
 */
static void shape_of(const char *row, const char *between, char ret[static 64])
{
	size_t n = 0;

	for (const char *p = row; *p && n < 62;) {
		const char *after = p + (*p == '%' ? 1 + strspn(p + 1, ".*0123456789lhzjt") : 0);

		if (*p == '%' && (*after != 's' || n == 0 || p[-1] != 's' || ret[n - 1] != 'T'))
			ret[n++] = *after == 's' ? 'T' : 'N';
		else if (strncmp(p, between, strlen(between)) == 0)
			ret[n++] = ';';
		p = after + 1;
	}
	ret[n] = '\0';
}

/* What retell() relies on. */
TEST(a_row_can_be_read_back)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char en[64], zh[64];
		size_t n = is_tail(rows[i].en);

		shape_of(rows[i].en, "; ", en);
		shape_of(rows[i].zh, "；", zh);
		ck_assert_msg(strcmp(en, zh) == 0, "%s: %s in English, %s in Chinese", rows[i].id, en, zh);
		ck_assert_msg(!strstr(rows[i].en, "%%") && !strstr(rows[i].zh, "; "), "%s", rows[i].id);
		for (const char *p = en; *p; p++) {
			n = *p == ';' ? 0 : n + 1;
			ck_assert_msg(n <= 8, "%s takes too much", rows[i].id);
		}
	}
}

TEST(sentences_one_behind_the_other)
{
	told("phase Failed, reason Evicted, since 3d4h; half-deleted for 2m",
	     "阶段 Failed，原因 Evicted，已持续 3d4h；处于半删除状态已 2m");
	told("phase Failed, reason OutOfcpu, since 2026-01-02T03:04:05Z (2h ago, threshold 1h) (seen 3 "
	     "times)",
	     "阶段 Failed，原因 OutOfcpu，自 2026-01-02T03:04:05Z（距今 2h，阈值 1h）（出现 3 次）");
	told("container app: ErrImagePull for 2d (threshold 1d), cause permanent; 2 of 2 pods of the "
	     "revision fail, 0 Ready",
	     "容器 app: ErrImagePull 已持续 2d（阈值 1d），原因类别 永久性；该版本的 Pod 有 2/2 个失败，0 个 "
	     "Ready");
}

/* A text in a text, and a name before one. */
TEST(sentences_in_sentences)
{
	told("its pod template was changed since", "其 Pod 模板此后已修改");
}

/* As status and attention show them. */
TEST(particulars_of_a_trouble)
{
	told("/etc/kc: there is no context \"b\"; there is: a, c", "/etc/kc: 没有 context \"b\"；现有：a, c");
	told("/etc/kc:3:5: u: a token and a user name are both given: only one is allowed",
	     "/etc/kc:3:5: u: token 与用户名同时存在：只能有一个");
	told("/run/token: token: cannot be read: No such file or directory",
	     "/run/token: token: 无法读取：No such file or directory");
	told("ops: the proxy: HTTP status 407; all: Could not resolve host: x",
	     "ops: 代理：HTTP 状态码 407; all: Could not resolve host: x");
	told("the watcher: hung: no heartbeat for 8 s", "watcher：无响应：8 秒没有心跳");
	told("3 due, but blocked: breaker 3", "3 个已到期但被阻止：breaker 3");
	told("/var/lib/opc/history.db: is larger than historyMegabytes allows; raise that to 64, or move the "
	     "file away",
	     "/var/lib/opc/history.db: 超过 historyMegabytes；请调大到 64，或移走该文件");
}

/* A reload that is refused is a trouble whose particulars are a diagnostic of the configuration. */
TEST(a_diagnostic_of_the_configuration)
{
	told("/etc/opc.yml:3:1: unknown key \"wokers\": did you mean workers?",
	     "/etc/opc.yml:3:1: 未知的配置项 \"wokers\"：是否想写 workers？");
	told("/etc/opc.yml:3:1: unknown key \"x\": remove it; `ops-pod-cleaner config help` lists all keys",
	     "/etc/opc.yml:3:1: 未知的配置项 \"x\"：请删除；`ops-pod-cleaner config help` 列出所有配置项");
	told("/etc/opc.yml:9:5: tooManyRestart.duration: schedule \"0 0 25 * * *\", character 5: 25 is above "
	     "23, the largest hour",
	     "/etc/opc.yml:9:5: tooManyRestart.duration: 定时表达式 \"0 0 25 * * *\" 第 5 个字符：25 "
	     "大于上限 "
	     "23（字段：时）");
	told("/etc/opc.yml:2:1: workers is a list, a text was expected",
	     "/etc/opc.yml:2:1: workers 是列表，应为文本");
	told("/etc/opc.yml:5:1: errImagePull.hours: missing unit in duration \"24\"; write for example 90s, "
	     "30m "
	     "or 24h",
	     "/etc/opc.yml:5:1: errImagePull.hours: 时长缺少单位 \"24\"；例如 90s、30m 或 24h");
	told("/etc/opc.yml:7:3: not valid YAML: did not find expected ',' or ']', while parsing a flow "
	     "sequence",
	     "/etc/opc.yml:7:3: 不是合法的 YAML：did not find expected ',' or ']', while parsing a flow "
	     "sequence");
	told("/etc/opc.yml:7:3: \"enforec\" is none of observe, enforce; did you mean enforce?",
	     "/etc/opc.yml:7:3: \"enforec\" 不是以下之一：observe, enforce；是否想写 enforce？");
	told("clusters[].name: two are called \"empty\"", "clusters[].name: 有两个都叫 \"empty\"");
}

/* One or more of each that writes some. */
static const char *const written[] = {
	/* what stops an action in the watcher */
	"31 workloads began to fail together (limit 30); 20 pull from registry.example; 12 fail only on node "
	"a-1; 3 by a transient cause",
	"31 workloads began to fail together (limit 30 %)",
	"by ada: release",
	"by root",
	"the API server has been silent for five minutes: the cache is stale",
	"the first list of namespaces, whose labels the configuration asks for, is not complete yet",
	"the API server does not say: HTTP status 500",
	/* the supervisor, and what it asks the history to keep */
	"every worker that held this lease died",
	"it does not carry the supervisor's signature: it was written by another version, or not by this "
	"program at all",
	"an operator takes back action 7 of 2026-01-02T03:04:05Z (ErrImagePull): deployments.apps/s/web had "
	"3 replicas",
	"the reporter: sandbox violation (SIGSYS): a library made a call that is not allowed",
	"the watcher: bad message from watcher: pods",
	"the worker: hung: a lease took longer than 30 s",
	/* the API server */
	"pods of all namespaces: the list holds more than 60000 pods: raise maxPods, and the memory it takes",
	"pods of shop: the watch ended with 500 InternalError: etcd",
	"pods of all namespaces: the API server answered 401: the credential is not accepted",
	"opc-2 keeps the Lease kube-system/opc",
	/* credentials and connections */
	"/etc/kc, context a-1: the plugin \"aws\" gave a certificate without its key, or the reverse",
	"/etc/kc, context a-1: the plugin \"aws\" cannot be run: there is no such program in PATH. ",
	"cluster b waits: not loaded within 2.0 s: a name server or a plugin does not answer",
	"/var/run/secrets: certificate-authority: cannot be read: x",
	"not an http or https URL: ftp://x",
	"ops: the server offers no TLS (STARTTLS), and nothing is sent without",
	"ops: (a text that contains the address)",
	"mail: (a text that contains the secret)",
	/* the state directory */
	"/var/lib/opc: another instance uses this state directory; stop it, or give this one its own "
	"stateDir",
};

TEST_LOOP(nothing_is_left_in_english, 0, (int)ARRAY_SIZE(written))
{
	english_told(written[_i]);
}

TEST(words_of_english_are_seen)
{
	ck_assert_ptr_nonnull(english_left("节点 a-1 is drained"));
	ck_assert_ptr_nonnull(english_left("no such pod"));
	ck_assert_ptr_null(english_left("get pods: 500 kube-system/opc is/was Evicted"));
}

TEST(what_is_not_ours_stays)
{
	told("waiting: try again", "waiting: try again");
	told("the request ended on node a b", "the request ended on node a b");
	told("node unknown does not exist", "节点 unknown 不存在");
	told("get pods: 500 etcd: leader changed; try again",
	     "get pods: 500 etcd: leader changed; try again");
	told("", "");
	told("; ; ", "; ; ");
}

TEST(english_stays_byte_for_byte)
{
	_cleanup_free_ char *is = retell("marked; \x01\xff x", LANGUAGE_EN);

	ck_assert_str_eq(is, "marked; \x01\xff x");
	ck_assert_ptr_null(retell(NULL, LANGUAGE_ZH));
}

TEST(a_number_is_digits)
{
	told("x: -3 of 5 spent", "x：已用 -3/5");
	told("x: three of 5 spent", "x: three of 5 spent");
	told("x: - of 5 spent", "x: - of 5 spent");
}

/* Pieces of rows and bytes of chance, one behind the other. */
TEST(anything_may_stand_in_it)
{
	unsigned seed = 1;

	for (int round = 0; round < 3000; round++) {
		char text[200];
		size_t n = 0;

		while (n < 160) {
			const char *row = rows[(size_t)rand_r(&seed) % ARRAY_SIZE(rows)].en;
			const size_t from = (size_t)rand_r(&seed) % (strlen(row) + 1);

			if (rand_r(&seed) % 3 == 0)
				text[n++] = (char)(1 + rand_r(&seed) % 255);
			else
				n += str_copy_printable(text + n, 36, row + from, strlen(row + from));
		}
		text[n] = '\0';
		_cleanup_free_ char *whole = retell(text, LANGUAGE_ZH);

		ck_assert_uint_lt(strlen(whole),
				  100 * sizeof(text)); /* and no byte is read or written elsewhere */
	}
}

/* Beside other tests it takes longer than the four seconds that a case is given. */
TEST_MAIN("model/retell")
{
	tcase_set_timeout(t, 60);
}
