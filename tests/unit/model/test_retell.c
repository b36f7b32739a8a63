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
#include "model/phrases_evidence.def"
#undef PHRASE
};

static void told(const char *en, const char *zh)
{
	_cleanup_free_ char *is = retell_dup(en, LANGUAGE_ZH);

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
			_cleanup_free_ char *is = retell_dup(en, LANGUAGE_ZH);

			ck_assert_msg(strcmp(is, zh) == 0, "%s: \"%s\" is told as \"%s\"", rows[i].id, en,
				      is);
		}
}

/* What is empty leaves the literals. */
TEST(every_row_is_told_of_nothing)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *en = fill(rows[i].en, "", "0");
		_cleanup_free_ char *is = retell_dup(en, LANGUAGE_ZH);

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
	_cleanup_free_ char *is = retell_dup("marked; \x01\xff x", LANGUAGE_EN);

	ck_assert_str_eq(is, "marked; \x01\xff x");
	ck_assert_ptr_null(retell_dup(NULL, LANGUAGE_ZH));
}

TEST(a_number_is_digits)
{
	told("-3 restarts, threshold 5", "重启 -3 次，阈值 5");
	told("three restarts, threshold 5", "three restarts, threshold 5");
	told("- restarts, threshold 5", "- restarts, threshold 5");
}

/* Every size: what is there is the beginning of the whole, in whole characters. */
TEST(never_half_a_character)
{
	static const char text[] = "node n1 is not Ready; its mark was taken away; 节点";
	_cleanup_free_ char *whole = retell_dup(text, LANGUAGE_ZH);
	const size_t n = strlen(whole);

	for (size_t size = 1; size <= n + 1; size++) {
		_cleanup_free_ char *out = xmalloc(size);

		ck_assert_uint_eq(retell(text, LANGUAGE_ZH, out, size), n);
		ck_assert_uint_lt(strlen(out), size);
		ck_assert_int_eq(strncmp(out, whole, strlen(out)), 0);
		ck_assert_uint_ne((unsigned char)whole[strlen(out)] & 0xc0, 0x80);
		ck_assert_uint_gt(strlen(out) + 4, size - 1);
	}
	ck_assert_uint_eq(retell(text, LANGUAGE_ZH, NULL, 0), n);
}

/* Pieces of rows and bytes of chance, one behind the other. */
TEST(anything_may_stand_in_it)
{
	unsigned seed = 1;

	for (int round = 0; round < 3000; round++) {
		char text[200], out[64];
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
		_cleanup_free_ char *whole = retell_dup(text, LANGUAGE_ZH);

		ck_assert_uint_eq(retell(text, LANGUAGE_ZH, out, sizeof(out)), strlen(whole));
		ck_assert_uint_lt(strlen(out), sizeof(out));
	}
}

SUITE("model/retell");
