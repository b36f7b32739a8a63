/* test_facts.c - facts: what was put in comes out, and nothing else is read from bytes that nobody vouches
 * for. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "model/facts.h"
#include "tests/suite.h"

static struct facts f;

static void setup(void)
{
	f = (struct facts){ 0 };
}

static int reread(void)
{
	const struct str bytes = facts_bytes(&f);
	struct facts again;
	const int r = facts_read(bytes.p, bytes.n, &again, NULL);

	ck_assert(r < 0 || facts_equal(&f, &again));
	return r;
}

static struct fact_value get(enum fact key)
{
	struct fact_value v = { .key = FACT__MAX };

	ck_assert(facts_find(&f, key, &v));
	return v;
}

TEST(none_is_an_empty_map)
{
	const struct str bytes = facts_bytes(&f);
	size_t at = 0;
	struct fact_value v;

	ck_assert(facts_empty(&f) && facts_empty(NULL));
	ck_assert_uint_eq(bytes.n, 1);
	ck_assert_int_eq((unsigned char)bytes.p[0], 0x80);
	ck_assert_int_eq(reread(), 0);
	ck_assert(!facts_next(&f, &at, &v));
}

TEST(values_come_out_as_they_were_put_in)
{
	static const int64_t numbers[] = { 0,     127,   128,        255,        256,
					   65535, 65536, 4294967295, 4294967296, INT64_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		setup();
		facts_count(&f, FACT_SEEN, numbers[i]);
		facts_time(&f, FACT_SETTLED, numbers[i]);
		facts_name(&f, FACT_NODE, STR_LIT("node-1"));
		ck_assert_int_eq(get(FACT_SEEN).number, numbers[i]);
		if (numbers[i] > 0)
			ck_assert_int_eq(get(FACT_SETTLED).number, numbers[i]);
		ck_assert(str_is(get(FACT_NODE).text, "node-1"));
		ck_assert_int_eq(reread(), 0);
	}
}

TEST(what_is_not_known_adds_nothing)
{
	facts_time(&f, FACT_SETTLED, 0);
	facts_time(&f, FACT_SETTLED, -1);
	facts_count(&f, FACT_SEEN, -1);
	facts_name(&f, FACT_NODE, (struct str){ NULL, 0 });
	facts_quoted(&f, FACT_WHY, STR_LIT(""));
	facts_name(&f, FACT_SEEN, STR_LIT("x")); /* of another kind */
	ck_assert(facts_empty(&f));
}

/* Whatever stands before it, words that look like a key among them. */
TEST(a_key_keeps_its_value_behind_any_other)
{
	char words[400];

	memset(words, 'x', sizeof(words));
	facts_quoted(&f, FACT_WHY, STR_LIT("\xa4node\xa1z"));
	facts_time(&f, FACT_SETTLED, INT64_MAX);
	facts_count(&f, FACT_SEEN, 200);
	facts_quoted(&f, FACT_MESSAGE, (struct str){ words, sizeof(words) });
	facts_name(&f, FACT_NODE, STR_LIT("a"));
	facts_name(&f, FACT_NODE, STR_LIT("b"));
	facts_count(&f, FACT_SEEN, 3);
	ck_assert(str_is(get(FACT_NODE).text, "a"));
	ck_assert_int_eq(get(FACT_SEEN).number, 200);
	ck_assert_int_eq(reread(), 0);
}

/* What one thing of several lacks, in what lacks something. */
TEST(facts_hold_facts)
{
	struct facts one = { 0 }, two = { 0 }, back;
	struct fact_value v;
	size_t at = 0;

	facts_name(&one, FACT_CLUSTER, STR_LIT("a"));
	facts_facts(&two, FACT_BECAUSE, &one);
	facts_facts(&f, FACT_EACH, &one);
	facts_facts(&f, FACT_EACH, &two);
	facts_facts(&f, FACT_EACH, &(const struct facts){ 0 });
	facts_facts(&f, FACT_BECAUSE, &two);
	facts_facts(&f, FACT_BECAUSE, &one); /* has one */
	ck_assert_int_eq(reread(), 0);
	ck_assert(facts_next(&f, &at, &v) && v.key == FACT_EACH);
	fact_facts(&v, &back);
	ck_assert(facts_equal(&back, &one));
	ck_assert(facts_next(&f, &at, &v) && v.key == FACT_EACH);
	fact_facts(&v, &back);
	ck_assert(facts_equal(&back, &two));
	fact_facts(&(const struct fact_value){ .key = FACT_NODE }, &back);
	ck_assert(facts_empty(&back));
	ck_assert(facts_next(&f, &at, &v) && v.key == FACT_BECAUSE && !facts_next(&f, &at, &v));
}

/* What would be four deep is left out, and so is, whole, what has no room. */
TEST(facts_in_facts_are_bounded)
{
	struct facts in = { 0 }, around;

	facts_name(&in, FACT_NODE, STR_LIT("n"));
	for (int depth = 1; depth <= 4; depth++) {
		around = (struct facts){ 0 };
		facts_facts(&around, FACT_BECAUSE, &in);
		f = around;
		ck_assert_int_eq(reread(), 0);
		ck_assert_int_eq(facts_empty(&around), depth > 3);
		in = around;
	}
	setup();
	in = (struct facts){ 0 };
	facts_quoted(&in, FACT_WHY, (struct str){ (const char[200]){ [0 ... 199] = 'x' }, 200 });
	for (int i = 0; i < 6; i++)
		facts_facts(&f, FACT_EACH, &in);
	ck_assert_uint_gt(f.n, 800);
	ck_assert_int_eq(reread(), 0);
}

TEST(a_key_keeps_its_first_value_and_a_list_all)
{
	facts_name(&f, FACT_NODE, STR_LIT("a"));
	facts_name(&f, FACT_NODE, STR_LIT("b"));
	for (int i = 0; i < 40; i++)
		facts_name(&f, FACT_OWNER, STR_LIT("again"));
	ck_assert(str_is(get(FACT_NODE).text, "a"));
	struct fact_value v;
	size_t n = 0;

	for (size_t at = 0; facts_next(&f, &at, &v);)
		n++;
	ck_assert_uint_eq(n, 41);
	ck_assert_int_eq(reread(), 0);
}

TEST(names_and_words_are_made_printable)
{
	facts_name(&f, FACT_NODE, STR_LIT("a b\n\"c"));
	facts_quoted(&f, FACT_WHY, STR_LIT("a\n\x1b[31mb \xe9\x87\x8d"));
	ck_assert(str_is(get(FACT_NODE).text, "a?b??c"));
	ck_assert(str_is(get(FACT_WHY).text, "a??[31mb \xe9\x87\x8d"));
	ck_assert_int_eq(reread(), 0);
}

TEST(long_words_are_cut_between_characters)
{
	char words[3 * FACTS_MAX];

	for (size_t i = 0; i < sizeof(words); i += 3)
		memcpy(words + i, "\xe9\x87\x8d", 3);
	for (size_t shift = 0; shift < 3; shift++) {
		setup();
		facts_quoted(&f, FACT_WHY, (struct str){ words, sizeof(words) - 3 * shift });
		const struct str s = get(FACT_WHY).text;

		ck_assert_uint_gt(s.n, FACTS_MAX - 30);
		ck_assert_mem_eq(s.p + s.n - 3, "\xe2\x80\xa6", 3);
		ck_assert_int_eq(reread(), 0);
		facts_name(&f, FACT_NODE, STR_LIT("no-room")); /* left out */
		ck_assert_int_eq(reread(), 0);
	}
}

TEST(added_facts_are_copied_as_far_as_they_fit)
{
	struct facts more = { 0 };

	facts_name(&more, FACT_NODE, STR_LIT("b"));
	facts_count(&more, FACT_SEEN, 3);
	facts_name(&f, FACT_NODE, STR_LIT("a"));
	facts_add(&f, &more);
	ck_assert(str_is(get(FACT_NODE).text, "a"));
	ck_assert_int_eq(get(FACT_SEEN).number, 3);
	struct facts *copy = facts_dup(&f);

	ck_assert(facts_equal(copy, &f));
	free(copy);
	ck_assert_ptr_null(facts_dup(NULL));
}

static const struct {
	const char *bytes;
	size_t n;
} hostile[] = {
#define H(s)                                                                                                 \
	{                                                                                                    \
		s, sizeof(s) - 1                                                                             \
	}
	H(""),                     /* nothing */
	H("\x90"),                 /* an array */
	H("\x81"),                 /* no entry */
	H("\x81\xa4seen"),         /* no value */
	H("\x81\xa4seen\xff"),     /* negative */
	H("\x81\xa4seen\xcc\x07"), /* not in its shortest form */
	H("\x81\xa4seen\xa1x"),    /* a text */
	H("\x81\xa4node\x01"),     /* a number */
	H("\x81\xa4node\xa0"),     /* empty */
	H("\x81\xa4node\xa3"       /* a blank */
	  "a b"),
	H("\x81\xa3why\xa1\x1b"),               /* not printable */
	H("\x81\xa3why\xa1\xff"),               /* not UTF-8 */
	H("\x81\xa4nope\x01"),                  /* no such key */
	H("\x82\xa4node\xa1x\xa4node\xa1y"),    /* twice */
	H("\x81\xa4node\xa1x\x00"),             /* something behind it */
	H("\xde\x00\x01\xa4node\xa1x"),         /* a header that is too long */
	H("\xdf\xff\xff\xff\xff\xa4node\xa1x"), /* more entries than bytes */
};

TEST_LOOP(hostile_bytes_are_refused, 0, ARRAY_SIZE(hostile))
{
	char *exact = malloc(hostile[_i].n > 0 ? hostile[_i].n : 1);

	memcpy(exact, hostile[_i].bytes, hostile[_i].n);
	facts_quoted(&f, FACT_WHY, STR_LIT("before"));
	ck_assert_int_eq(facts_read(exact, hostile[_i].n, &f, NULL), -EBADMSG);
	ck_assert(facts_empty(&f));
	free(exact);
}

/* Exact copies: AddressSanitizer sees a byte read behind them. */
TEST_LOOP(a_fact_is_looked_for_in_hostile_bytes, 0, ARRAY_SIZE(hostile))
{
	char *exact = malloc(hostile[_i].n > 0 ? hostile[_i].n : 1);
	const struct str bytes = { exact, hostile[_i].n };
	struct fact_value v;

	memcpy(exact, hostile[_i].bytes, hostile[_i].n);
	ck_assert(!facts_find_in(bytes, FACT_RESOURCE_VERSION, &v));
	if (facts_find_in(bytes, FACT_WHY, &v))
		ck_assert(v.text.p >= exact && v.text.p + v.text.n <= exact + bytes.n);
	free(exact);
}

TEST(more_bytes_than_fit_are_refused)
{
	char bytes[2 * FACTS_MAX] = "\x81\xa3why\xda";
	const size_t head = strlen(bytes) + 2, n = FACTS_MAX;

	bytes[head - 2] = (char)(n >> 8);
	bytes[head - 1] = (char)n;
	memset(bytes + head, 'x', n);
	ck_assert_int_eq(facts_read(bytes, head + n, &f, NULL), -EBADMSG);
}

TEST(what_stands_behind_is_left)
{
	size_t n = 0;

	ck_assert_int_eq(facts_read("\x81\xa4seen\x07rest", 11, &f, &n), 0);
	ck_assert_uint_eq(n, 7);
	ck_assert_int_eq(get(FACT_SEEN).number, 7);
}

TEST(keys_are_names_of_json)
{
	for (enum fact k = 0; k < FACT__MAX; k++) {
		ck_assert_uint_lt(strlen(fact_key(k)), 32);
		ck_assert_uint_eq(
			strspn(fact_key(k), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"),
			strlen(fact_key(k)));
		for (enum fact other = 0; other < k; other++)
			ck_assert_str_ne(fact_key(k), fact_key(other));
		ck_assert_int_eq(!*fact_label(k, LANGUAGE_EN), !*fact_label(k, LANGUAGE_ZH));
	}
}

TEST_MAIN("model/facts")
{
	tcase_add_checked_fixture(t, setup, NULL);
}
