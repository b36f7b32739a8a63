/* test_msg.c - the codec: every message of the table, both ways, and every way to be wrong. msgpack-c's
 * unpacker is the oracle. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "ipc/msg.h"
#include "tests/hostile.h"
#include "tests/suite.h"

static uint64_t rng = 1;
static uint8_t buf[2 * IPC_FRAME_MAX], again[IPC_FRAME_MAX];
static struct msg back;
static const char *field;

static uint64_t next_random(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng;
}

static void fill_text(char *dst, const struct msg_field *f, uint64_t pick)
{
	static const char name_chars[] = "abcXYZ019._:/*-";
	static const char uid_chars[] = "abcdef0123456789-";
	const char *set = f->kind == KIND_UID ? uid_chars : name_chars;
	const size_t n = pick == 0   ? (size_t)f->min
			 : pick == 1 ? f->max
				     : (size_t)f->min + next_random() % (f->max - (size_t)f->min + 1);

	for (size_t i = 0; i < n; i++)
		dst[i] = set[next_random() % strlen(set)];
	dst[n] = '\0';
}

/* Of every kind, up to what fits. */
static void fill_facts(struct facts *f, uint64_t pick)
{
	char text[FACTS_MAX];
	const size_t n = 1 + next_random() % 60;

	*f = (struct facts){ 0 };
	memset(text, 'f', sizeof(text));
	if (pick == 1)
		facts_quoted(f, FACT_WHY, (struct str){ text, sizeof(text) });
	for (uint64_t left = pick > 1 ? next_random() % 40 : 0; left > 0; left--) {
		const enum fact key = (enum fact)(next_random() % FACT__MAX);
		const int64_t v = (int64_t)(next_random() >> 1 >> next_random() % 63);

		facts_time(f, key, v);
		facts_duration(f, key, v);
		facts_count(f, key, v);
		facts_name(f, key, (struct str){ text, n });
		facts_quoted(f, key, (struct str){ text, n });
	}
}

static uint64_t pick_u64(const struct msg_field *f, uint64_t pick)
{
	const uint64_t span = f->max - (uint64_t)f->min;

	return pick == 0            ? (uint64_t)f->min
	       : pick == 1          ? f->max
	       : span == UINT64_MAX ? next_random()
				    : (uint64_t)f->min + next_random() % (span + 1);
}

static int64_t pick_i64(const struct msg_field *f, uint64_t pick)
{
	const uint64_t span = f->max - (uint64_t)f->min;

	return pick == 0   ? f->min
	       : pick == 1 ? (int64_t)f->max
			   : (int64_t)((uint64_t)f->min + next_random() % (span + 1));
}

/* pick 0: all at their minimum, 1: all at their maximum, else random. */
static struct msg make(enum msg_type type, uint64_t pick)
{
	struct msg m = { .type = type };
	const struct msg_desc *d = msg_desc(type);

	for (size_t i = 0; i < d->n; i++) {
		const struct msg_field *f = &d->fields[i];
		char *dst = (char *)&m.u + f->off;
		const uint64_t u = pick_u64(f, pick);
		const int64_t s = f->kind == KIND_I64 ? pick_i64(f, pick) : 0;

		if (f->kind == KIND_U64)
			memcpy(dst, &u, sizeof(u));
		else if (f->kind == KIND_I64)
			memcpy(dst, &s, sizeof(s));
		else if (f->kind == KIND_BOOL)
			memcpy(dst, &(bool){ pick & 1 }, sizeof(bool));
		else if (f->kind == KIND_FACTS)
			fill_facts((void *)dst, pick);
		else
			fill_text(dst, f, pick);
	}
	return m;
}

static enum role first_role(unsigned set)
{
	for (int r = 0; r < ROLE__MAX; r++)
		if (set & 1u << r)
			return (enum role)r;
	return ROLE__MAX;
}

static enum phase first_phase(unsigned set)
{
	return set & PH_RUN ? PH_RUN : set & PH_SETUP ? PH_SETUP : PH_HELLO;
}

/* Into back and field. */
static int decode(enum msg_type type, const uint8_t *bytes, size_t n)
{
	const struct msg_desc *d = msg_desc(type);

	return msg_decode(first_role(d->from), first_role(d->to), first_phase(d->phases), bytes, n, &back,
			  &field);
}

TEST_LOOP(round_trip, 0, MSG__MAX)
{
	const enum msg_type type = (enum msg_type)_i;

	for (uint64_t pick = 0; pick < 200; pick++) {
		const struct msg m = make(type, pick);
		const size_t n = msg_encode(&m, buf);

		ck_assert_int_eq(decode(type, buf, n), (int)n);
		ck_assert_uint_eq(msg_encode(&back, again), n);
		ck_assert_mem_eq(buf, again, n);
	}
}

TEST_LOOP(oracle_agrees, 0, MSG__MAX)
{
	const enum msg_type type = (enum msg_type)_i;
	const struct msg m = make(type, 7);
	const size_t n = msg_encode(&m, buf);
	msgpack_unpacked u;
	size_t off = 0;

	msgpack_unpacked_init(&u);
	ck_assert_int_eq(msgpack_unpack_next(&u, (const char *)buf, n, &off), MSGPACK_UNPACK_SUCCESS);
	ck_assert_uint_eq(off, n);
	ck_assert_int_eq(u.data.type, MSGPACK_OBJECT_ARRAY);
	ck_assert_uint_eq(u.data.via.array.size, msg_desc(type)->n + 1);
	msgpack_unpacked_destroy(&u);
}

/* Every prefix is short: none may pass, and none may be read past its end. What stands behind a message is
 * not part of it, and a byte alone is no message. */
TEST_LOOP(truncated_and_trailing, 0, MSG__MAX)
{
	const enum msg_type type = (enum msg_type)_i;
	const struct msg m = make(type, 9);
	const size_t n = msg_encode(&m, buf);

	for (size_t k = 0; k < n; k++) {
		uint8_t *exact = malloc(k ? k : 1);

		memcpy(exact, buf, k);
		ck_assert_int_eq(decode(type, exact, k), -EBADMSG);
		free(exact);
	}
	buf[n] = 0;
	ck_assert_int_eq(decode(type, buf, n + 1), (int)n);
	ck_assert_int_eq(decode(type, buf + n, 1), -EBADMSG);
	ck_assert_str_eq(field, "(header)");
}

/* Every two messages behind each other are found, each as it is alone. */
TEST_LOOP(two_behind_each_other, 0, MSG__MAX)
{
	const enum msg_type type = (enum msg_type)_i;

	for (int second = 0; second < MSG__MAX; second++) {
		const struct msg a = make(type, 3), b = make((enum msg_type)second, 4);
		const size_t n = msg_encode(&a, buf), k = msg_encode(&b, buf + n);

		if (n + k > IPC_FRAME_MAX) /* two long ones go in two datagrams */
			continue;
		ck_assert_int_eq(decode(type, buf, n + k), (int)n);
		ck_assert_int_eq(decode((enum msg_type)second, buf + n, k), (int)k);
		ck_assert_uint_eq(msg_encode(&back, again), k);
		ck_assert_mem_eq(again, buf + n, k);
	}
}

/* What decodes after any one byte changed encodes to the very same bytes: there is one form of a message. */
TEST_LOOP(canonical, 0, MSG__MAX)
{
	const enum msg_type type = (enum msg_type)_i;
	const struct msg m = make(type, 11);
	const size_t n = msg_encode(&m, buf);

	for (size_t k = 0; k < n && k < 400; k++) {
		const uint8_t old = buf[k];

		/* Each value of the header and of the first fields, then each fifth: others at the next byte.
		 */
		for (size_t v = k < 64 ? 0 : k % 5; v < 256; v += k < 64 ? 1 : 5) {
			buf[k] = (uint8_t)v;
			const int used = decode(type, buf, n);

			if (used < 0)
				continue;
			ck_assert_uint_eq(msg_encode(&back, again), (size_t)used);
			ck_assert_mem_eq(buf, again, (size_t)used);
		}
		buf[k] = old;
	}
}

TEST(roles_and_phases)
{
	const struct msg m = make(MSG_NOMINATE, 3);
	const size_t n = msg_encode(&m, buf);

	ck_assert_int_eq(msg_decode(ROLE_WATCHER, ROLE_SUPERVISOR, PH_RUN, buf, n, &back, &field), (int)n);
	ck_assert_int_eq(msg_decode(ROLE_WORKER, ROLE_SUPERVISOR, PH_RUN, buf, n, &back, &field), -EPERM);
	ck_assert_str_eq(field, "(sender)");
	ck_assert_int_eq(msg_decode(ROLE_WATCHER, ROLE_SUPERVISOR, PH_SETUP, buf, n, &back, &field), -EPERM);
	ck_assert_str_eq(field, "(phase)");
	ck_assert_int_eq(msg_decode(ROLE_SUPERVISOR, ROLE_WORKER, PH_RUN, buf, n, &back, &field), -EPERM);
	ck_assert_str_eq(field, "(receiver)");
}

/* NOMINATE with one field replaced by hand. */
/* They are numbers of SQLite, too, which has a sign. */
TEST(ids_fit_into_the_history)
{
	static const char *const names[] = { "id", "next_id", "origin" };
	size_t n = 0;

	for (int t = 0; t < MSG__MAX; t++) {
		const struct msg_desc *d = msg_desc((enum msg_type)t);

		for (size_t i = 0; i < d->n * ARRAY_SIZE(names); i++) {
			const struct msg_field *f = &d->fields[i / ARRAY_SIZE(names)];

			if (strcmp(f->name, names[i % ARRAY_SIZE(names)]) != 0)
				continue;
			ck_assert_uint_le(f->max, INT64_MAX);
			n++;
		}
	}
	ck_assert_uint_gt(n, 10);
}

TEST(bad_fields)
{
	struct msg m = make(MSG_NOMINATE, 0);

	strcpy(m.u.nominate.ns, "default");
	const size_t n = msg_encode(&m, buf);
	uint8_t *ns = memmem(buf, n, "default", 7);

	ck_assert_ptr_nonnull(ns);
	for (const char *bad = "\x01\x1f\x7f\"\\ \n\t{<"; *bad; bad++) {
		ns[3] = (uint8_t)*bad;
		ck_assert_int_eq(decode(MSG_NOMINATE, buf, n), -EBADMSG);
		ck_assert_str_eq(field, "ns");
	}
	ns[3] = 0;
	ck_assert_int_eq(decode(MSG_NOMINATE, buf, n), -EBADMSG);
	ns[3] = 'a';
	ck_assert_int_eq(decode(MSG_NOMINATE, buf, n), (int)n);
	/* [type, cluster, duty, ...] behind the header of a fixarray or an array16. */
	uint8_t *duty = buf + (buf[0] == 0xdc ? 5 : 3);

	*duty = DUTY__MAX;
	ck_assert_int_eq(decode(MSG_NOMINATE, buf, n), -EBADMSG);
	ck_assert_str_eq(field, "duty");
	*duty = 0xca; /* a float */
	ck_assert_int_eq(decode(MSG_NOMINATE, buf, n), -EBADMSG);
}

/* Of a text of lines a line feed alone is no character of its own; what is set is made so. */
TEST(lines)
{
	struct msg m = make(MSG_QUOTE, 0);
	static const char said[] = "one\n\x1b[31mtwo\n\nthree\xff\n";

	msg_set(&m, quote.text, said, sizeof(said) - 1);
	ck_assert_str_eq(m.u.quote.text, "one\n?[31mtwo\n\nthree?\n");
	const size_t n = msg_encode(&m, buf);
	uint8_t *at = memmem(buf, n, "two", 3);

	ck_assert_int_eq(decode(MSG_QUOTE, buf, n), (int)n);
	ck_assert_str_eq(back.u.quote.text, m.u.quote.text);
	for (const char *bad = "\x01\x1f\x7f\t\r\x1b"; *bad; bad++) {
		*at = (uint8_t)*bad;
		ck_assert_int_eq(decode(MSG_QUOTE, buf, n), -EBADMSG);
		ck_assert_str_eq(field, "text");
	}
}

/* However long, it is cut at the end of the field and between characters. */
TEST(lines_are_cut)
{
	struct msg m = make(MSG_QUOTE, 0);
	static char said[3 * QUOTE_TEXT_MAX];

	for (size_t i = 0; i + 4 < sizeof(said); i += 4)
		memcpy(said + i, "\xe4\xb8\xad\n", 4);
	msg_set(&m, quote.text, said, strlen(said));
	ck_assert_uint_ge(strlen(m.u.quote.text), QUOTE_TEXT_MAX - 4);
	const size_t n = msg_encode(&m, buf);

	ck_assert_int_eq(decode(MSG_QUOTE, buf, n), (int)n);
}

static bool has_field(const struct msg_desc *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->fields[i].name, name) == 0)
			return true;
	return false;
}

/* Neither a watcher nor a reporter can name replicas, but where the reporter answers an operator. */
TEST(who_may_say_what_is_restored)
{
	static const char *const names[] = { "want_target", "want_uid", "want_replicas", "by_operator",
					     "vouched" };
	unsigned said = 0;

	for (enum msg_type t = 0; t < MSG__MAX; t++)
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (msg_desc(t) && has_field(msg_desc(t), names[i])) {
				const bool answers = t == MSG_CTL_RESTORE_ROW && i < 3;

				ck_assert_msg(answers || !(msg_desc(t)->from & (R_WATCHER | R_REPORTER)),
					      "%s: %s", msg_desc(t)->name, names[i]);
				said++;
			}
	ck_assert_uint_eq(said,
			  22); /* INTENT, GRANT, CTL_DRY_RUN; CTL_RESTORE_ROW; CTL_RESTORE, by its mark */
}

/* The reporter times its own commits, in no cluster: from a message it would be a series without a label. */
TEST(what_the_reporter_times_itself_is_in_no_message)
{
	struct msg m = make(MSG_TIMING, 0);

	m.u.timing.timing = TIMING_COMMIT - 1;
	const size_t n = msg_encode(&m, buf);

	ck_assert_int_eq(decode(MSG_TIMING, buf, n), (int)n);
	/* [type, cluster, timing, ...] behind the header: a byte each */
	for (uint8_t t = TIMING_COMMIT; t < TIMING__MAX; t++) {
		buf[3] = t;
		ck_assert_int_eq(decode(MSG_TIMING, buf, n), -EBADMSG);
		ck_assert_str_eq(field, "timing");
	}
}

/* Headers that make an allocating decoder ask for gigabytes. */
TEST(hostile_headers)
{
	static const struct {
		const char *bytes;
		size_t n;
	} frames[] = { { "\xdf\x04\x00\x00\x00", 5 },
		       { "\xdd\xff\xff\xff\xff", 5 },
		       { "\xdb\xff\xff\xff\xff", 5 },
		       { "\xc1", 1 },
		       { "\x90", 1 },
		       { "\x91\xcc\x80", 3 },
		       { "\x91\xcd\xff\xff", 4 },
		       { "", 0 } };

	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
		ck_assert_int_eq(msg_decode(ROLE_WATCHER, ROLE_SUPERVISOR, PH_RUN,
					    (const uint8_t *)frames[i].bytes, frames[i].n, &back, &field),
				 -EBADMSG);
}

TEST(random_bytes)
{

	for (int i = 0; i < 200000; i++) {
		uint8_t bytes[64];
		const size_t n = next_random() % sizeof(bytes);

		for (size_t k = 0; k < n; k++)
			bytes[k] = (uint8_t)next_random();
		(void)msg_decode((enum role)(next_random() % ROLE__MAX), ROLE_SUPERVISOR, PH_RUN, bytes, n,
				 &back, &field);
	}
}

TEST(set_text_keeps_the_charset)
{
	struct msg m = { .type = MSG_NOMINATE };
	char longer[600];

	memset(longer, 'x', sizeof(longer));
	msg_set(&m, nominate.name, "a b\n<c>", 7);
	ck_assert_str_eq(m.u.nominate.name, "a-b--c-");
	struct msg ready = { .type = MSG_READY };

	msg_set(&ready, ready.sandbox, "a\nb\x1b[31m\xff", 9);
	ck_assert_str_eq(ready.u.ready.sandbox, "a?b?[31m?");
	msg_set(&ready, ready.sandbox, longer, sizeof(longer));
	ck_assert_uint_eq(strlen(ready.u.ready.sandbox), 255);
	/* Cut between characters, not inside one. */
	for (size_t i = 0; i + 2 < sizeof(longer); i += 3)
		memcpy(longer + i, "\xe9\x87\x8d", 3);
	msg_set(&ready, ready.sandbox, longer, 599);
	ck_assert_uint_eq(strlen(ready.u.ready.sandbox), 255);
	msg_set(&ready, ready.sandbox, longer + 0, 256 / 3 * 3);
	ck_assert_uint_eq(strlen(ready.u.ready.sandbox) % 3, 0);
}

/* What a sender that was taken over puts into a text is refused; what an honest one is given becomes '?'. */
TEST(text_is_printable)
{
	static const char *const bad[] = { "\xc2\x9b",         "\xd8\x9c", "\xe2\x80\x8b", "\xe2\x80\xa8",
					   "\xf3\xa0\x81\x81", "\xcd\xb8", "\xff",         "\xed\xa0\x80",
					   "\xe9\x87",         "\x1b",     "\x7f" };
	struct msg m = make(MSG_RESULT, 5);
	uint8_t bytes[IPC_FRAME_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const size_t k = strlen(bad[i]);

		msg_set(&m, result.request, "detail:xxxx", strlen("detail:") + k);
		const size_t n = msg_encode(&m, bytes);
		uint8_t *at = memmem(bytes, n, "detail:", strlen("detail:"));

		ck_assert_int_eq(decode(MSG_RESULT, bytes, n), (int)n);
		ck_assert_ptr_nonnull(at);
		memcpy(at + strlen("detail:"), bad[i], k);
		ck_assert_int_eq(decode(MSG_RESULT, bytes, n), -EBADMSG);
		ck_assert_str_eq(field, "request");
		msg_set(&m, result.request, bad[i], k);
		ck_assert_int_eq(m.u.result.request[0], '?');
		ck_assert_int_eq(decode(MSG_RESULT, bytes, msg_encode(&m, bytes)),
				 (int)msg_encode(&m, bytes));
	}
	msg_set(&m, result.request, HOSTILE, sizeof(HOSTILE) - 1);
	ck_assert(hostile_is_gone(m.u.result.request));
}

/* A text that is longer than the field of the same name in the other message. */
TEST(copied_fields_are_cut)
{
	struct msg from = { .type = MSG_SAVED }, to = make(MSG_LOAD_FIXED, 5);
	char text[253];

	memset(text, 'x', sizeof(text));
	msg_set(&from, saved.key, text, sizeof(text));
	msg_copy_fields(&to, &from);
	ck_assert_uint_eq(strlen(to.u.load_fixed.key), 63);
}

TEST(copy_fields)
{
	const struct msg n = make(MSG_NOMINATE, 5);
	struct msg i = { .type = MSG_INTENT, .u.intent.id = 42 };

	msg_copy_fields(&i, &n);
	ck_assert_uint_eq(i.u.intent.id, 42);
	ck_assert_str_eq(i.u.intent.name, n.u.nominate.name);
	ck_assert_int_eq(i.u.intent.since, n.u.nominate.since);
}

TEST_MAIN("ipc/msg")
{
	tcase_set_timeout(t, 60);
}
