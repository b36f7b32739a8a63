/* test_retell.c - evidence in the language of who reads it, whatever stands in it. */
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "model/phrases.h"
#include "model/retell.h"
#include "tests/suite.h"

static const struct {
	const char *id, *en, *zh;
} rows[] = {
#define PHRASE(ID, en, zh) { #ID, en, zh },
#include "model/phrases_details.def"
#include "model/phrases_evidence.def"
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
		p += 1 + strspn(p + 1, ".*lhzjt");
		_cleanup_free_ char *again = ret;

		ret = xconcat(again, *p++ == 's' ? text : number, NULL);
	}
	return ret;
}

static bool is_tail(const char *row)
{
	return strchr(",: ", *row);
}

TEST(every_row_is_told)
{
	static const char *const texts[] = { "x", "7", "threshold", "(seen", "节点 a-1.b" };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (size_t j = 0; j < ARRAY_SIZE(texts); j++) {
			_cleanup_free_ char *tail_en = fill(rows[i].en, texts[j], "42");
			_cleanup_free_ char *tail_zh = fill(rows[i].zh, texts[j], "42");
			const char *before = is_tail(rows[i].en) ? "Z" : "";
			_cleanup_free_ char *en = xconcat(before, tail_en, NULL);
			_cleanup_free_ char *zh = xconcat(before, tail_zh, NULL);
			_cleanup_free_ char *is = retell(en, LANGUAGE_ZH);

			ck_assert_msg(strcmp(is, zh) == 0, "%s: \"%s\" is told as \"%s\"", rows[i].id, en,
				      is);
		}
}

/* What is empty leaves the literals. */
TEST(every_row_is_told_of_nothing)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *en = fill(rows[i].en, "", "0");
		_cleanup_free_ char *is = retell(en, LANGUAGE_ZH);

		ck_assert_msg(is_tail(rows[i].en) || strcmp(is, en) != 0, "%s", rows[i].id);
	}
}

/* What retell() relies on. */
TEST(a_row_can_be_read_back)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned n = is_tail(rows[i].en);

		ck_assert_msg(!strstr(rows[i].en, "; ") && !strstr(rows[i].en, "%%"), "%s", rows[i].id);
		for (const char *p = strchr(rows[i].en, '%'); p; p = strchr(p, '%'), n++) {
			p += 1 + strspn(p + 1, ".*lhzjt");
			ck_assert_msg(strchr("sdu", *p) && *++p != '%', "%s: two texts follow each other",
				      rows[i].id);
		}
		ck_assert_msg(n <= 8, "%s takes too much", rows[i].id);
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
	told("fails since 2026-01-02T03:04:05Z at most: it was Available until then",
	     "最早从 2026-01-02T03:04:05Z 开始失败：在那之前是 Available");
	told("deployments.apps/shop/web: nothing is scaled up there",
	     "deployments.apps/shop/web: 不在此处扩容");
	told("Deployment web: it serves", "Deployment web: 它正在提供服务");
}

/* Names that are words of ours stay names. */
/* As status and attention show them. */
TEST(particulars_of_a_trouble)
{
	told("pods of all namespaces: Failed to connect to 10.0.0.1 port 6443 after 0 ms: Couldn't connect "
	     "to server",
	     "所有命名空间的 pods：无法连接 10.0.0.1 端口 6443（0 毫秒后）：连接不上服务器");
	told("/etc/kc: there is no context \"b\"; there is: a, c", "/etc/kc: 没有 context \"b\"；现有：a, c");
	told("/etc/kc:3:5: \"u\": a token and a user name are both given: only one is allowed",
	     "/etc/kc:3:5: \"u\": token 与用户名同时存在：只能有一个");
	told("/run/token: token: cannot be read: No such file or directory",
	     "/run/token: token: 无法读取：没有那个文件或目录");
	told("ops: the proxy: HTTP status 407; all: Could not resolve host: x",
	     "ops: 代理：HTTP 状态码 407；all: 无法解析主机名：x");
	told("the watcher: hung: no heartbeat for 8 s", "watcher：无响应：8 秒没有心跳");
	told("3 due, but blocked: breaker 3", "3 个已到期但被阻止：breaker 3");
}

TEST(what_is_not_ours_stays)
{
	told("container marked running", "容器 marked 运行中");
	told("namespace unknown may not be read", "没有读取命名空间 unknown 的权限");
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
	told("-3 restarts, threshold 5", "重启 -3 次，阈值 5");
	told("three restarts, threshold 5", "three restarts, threshold 5");
	told("- restarts, threshold 5", "- restarts, threshold 5");
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

SUITE("model/retell");
