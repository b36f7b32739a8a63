/* test_blob.c - settings through sealed memfds: equal again, only what the role may see, damaged bytes
 * refused. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "config/blob.h"
#include "config/table.h"
#include "tests/suite.h"

static size_t text_max = 300, list_max = 40; /* of what is made up */
static uint64_t seed = 0x9e3779b97f4a7c15u;

static uint64_t rnd(uint64_t below)
{
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return seed % below;
}

static char *random_text(size_t max)
{
	const size_t n = rnd((max < text_max ? max : text_max) + 1);
	char *s = xmalloc(n + 1);

	for (size_t i = 0; i < n; i++)
		s[i] = (char)(1 + rnd(255));
	s[n] = '\0';
	return s;
}

static void fill(const struct setting *row, void *base);

static void fill_sink(struct sink_settings *s)
{
	for (const struct setting *row = settings_sink_table; row->path; row++)
		if (row->roles)
			fill(row, s);
	free(s->name);
	s->name = xstrdup("ops");
}

/* Any value that the row allows. */
static void fill(const struct setting *row, void *base)
{
	void *p = setting_member(row, base);

	if (setting_is_number(row->kind)) {
		setting_set_number(row, base, row->min + (int64_t)rnd((uint64_t)(row->max - row->min) + 1));
	} else if (setting_is_text(row->kind)) {
		*(char **)p = rnd(4) ? random_text((size_t)row->max) : NULL;
	} else if (setting_is_list(row->kind)) {
		for (uint64_t n = rnd(row->max < (int64_t)list_max ? (uint64_t)row->max : list_max); n > 0;
		     n--) {
			_cleanup_free_ char *item = random_text(253);

			str_list_add(p, item, strlen(item));
		}
	} else if (row->kind == SET_BYTES) {
		const uint64_t n = rnd(text_max * 5);
		uint8_t *bytes = n ? xcalloc(1, n) : NULL;

		for (uint64_t i = 0; i < n; i++)
			bytes[i] = (uint8_t)rnd(256);
		*(void **)p = bytes;
		memcpy((char *)p + sizeof(void *), &n, sizeof(n));
	} else if (row->kind == SET_SINKS) {
		for (uint64_t n = rnd(4); n > 0; n--)
			fill_sink(setting_append(row, base));
	}
}

static struct settings random_settings(void)
{
	struct settings s;

	settings_init(&s);
	for (const struct setting *row = settings_table; row->path; row++)
		if (row->roles)
			fill(row, &s);
	return s;
}

/* Empty texts and absent ones differ; so do lists. */
static void assert_equal(const struct setting *row, const void *a, const void *b);

static void assert_same_sinks(const struct settings *a, const struct settings *b)
{
	ck_assert_uint_eq(a->n_sinks, b->n_sinks);
	for (size_t i = 0; i < a->n_sinks; i++)
		for (const struct setting *row = settings_sink_table; row->path; row++)
			assert_equal(row, &a->sinks[i], &b->sinks[i]);
}

static void assert_equal(const struct setting *row, const void *a, const void *b)
{
	const void *p = setting_member_const(row, a), *q = setting_member_const(row, b);

	if (setting_is_number(row->kind)) {
		ck_assert_msg(setting_get_number(row, a) == setting_get_number(row, b), "%s", row->path);
	} else if (setting_is_text(row->kind)) {
		const char *x = *(char *const *)p, *y = *(char *const *)q;

		ck_assert_msg(!x == !y && (!x || strcmp(x, y) == 0), "%s", row->path);
	} else if (setting_is_list(row->kind)) {
		const struct str_list *x = p, *y = q;

		ck_assert_msg(x->n == y->n, "%s", row->path);
		for (size_t i = 0; i < x->n; i++)
			ck_assert_str_eq(x->v[i], y->v[i]);
	} else if (row->kind == SET_BYTES) {
		uint64_t n, m;

		memcpy(&n, (const char *)p + sizeof(void *), sizeof(n));
		memcpy(&m, (const char *)q + sizeof(void *), sizeof(m));
		ck_assert_msg(n == m, "%s", row->path);
		ck_assert(n == 0 || memcmp(*(void *const *)p, *(void *const *)q, n) == 0);
	} else if (row->kind == SET_SINKS) {
		assert_same_sinks(a, b);
	}
}

static const enum role roles[] = { ROLE_WATCHER, ROLE_WORKER, ROLE_REPORTER };

static void *blob_bytes(int fd, size_t *ret_n)
{
	const off_t n = lseek(fd, 0, SEEK_END);
	void *p = xmalloc((size_t)n);

	ck_assert_int_eq(pread(fd, p, (size_t)n, 0), n);
	*ret_n = (size_t)n;
	return p;
}

TEST(what_is_written_is_read)
{
	for (int i = 0; i < 300; i++) {
		const enum role role = roles[i % 3];
		struct settings s = random_settings(), back, empty;
		const int fd = settings_write_blob(&s, role), again = settings_write_blob(&s, role);
		char why[SETTINGS_ERROR_MAX] = "";
		size_t n, m;

		settings_init(&empty);
		ck_assert_int_ge(fd, 0);
		ck_assert_msg(settings_read_blob(fd, &back, why) == 0, "%s", why);
		for (const struct setting *row = settings_table; row->path; row++)
			if (row->kind != SET_SECTION && row->roles)
				assert_equal(row, row->roles & 1u << role ? &s : &empty, &back);
		void *a = blob_bytes(fd, &n), *b = blob_bytes(again, &m);
		ck_assert(n == m && memcmp(a, b, n) == 0);
		free(a);
		free(b);
		(void)close(fd);
		(void)close(again);
		settings_done(&s);
		settings_done(&back);
	}
}

static bool contains(const void *p, size_t n, const char *word)
{
	return memmem(p, n, word, strlen(word)) != NULL;
}

TEST(a_role_gets_no_more_than_its_own)
{
	struct settings s;

	settings_init(&s);
	struct sink_settings *sink = setting_append(settings_find("sinks"), &s);
	sink->name = xstrdup("ops");
	sink->url = xstrdup("https://hook/SECRETURL");
	sink->secret = xstrdup("SECRETSIGN");
	sink->url_file = xstrdup("ENDS-HERE");
	sink->top = 1;
	s.cluster.token = xstrdup("SECRETTOKEN");
	s.cluster.key_pem = xstrdup("SECRETKEY");
	s.cluster.password = xstrdup("SECRETPASSWORD");
	s.history_days = 30;
	s.give_up_ms = s.gather_ms = 60000;
	s.history_megabytes = 512;
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		const bool reporter = roles[i] == ROLE_REPORTER;
		const int fd = settings_write_blob(&s, roles[i]);
		size_t n;
		void *p = blob_bytes(fd, &n);

		ck_assert_int_eq(contains(p, n, "SECRETURL"), reporter);
		ck_assert_int_eq(contains(p, n, "SECRETSIGN"), reporter);
		ck_assert(!contains(p, n, "ENDS-HERE"));
		ck_assert_int_eq(contains(p, n, "SECRETTOKEN"), !reporter);
		ck_assert_int_eq(contains(p, n, "SECRETKEY"), !reporter);
		ck_assert_int_eq(contains(p, n, "SECRETPASSWORD"), !reporter);
		free(p);
		(void)close(fd);
	}
	const int fd = settings_write_blob(&s, ROLE_LOADER);
	size_t n;
	void *p = blob_bytes(fd, &n);
	ck_assert(!contains(p, n, "SECRET"));
	free(p);
	(void)close(fd);
	settings_done(&s);
}

TEST(is_sealed)
{
	struct settings s = random_settings();
	const int fd = settings_write_blob(&s, ROLE_WATCHER);
	char why[SETTINGS_ERROR_MAX] = "";
	struct settings back;

	ck_assert_int_lt(pwrite(fd, "x", 1, 0), 0);
	ck_assert_int_lt(ftruncate(fd, 1), 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	(void)close(fd);
	const int plain = memfd_create("plain", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ck_assert_int_eq(settings_read_blob(plain, &back, why), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(why, "sealed"));
	(void)close(plain);
	settings_done(&s);
}

/* Cut anywhere: refused. Any byte changed: refused, or read as something in range; never read past the end.
 */
TEST(damaged_bytes)
{
	text_max = 12;
	list_max = 3;
	struct settings s = random_settings(), back;
	const int fd = settings_write_blob(&s, ROLE_REPORTER);
	char why[SETTINGS_ERROR_MAX];
	size_t n;
	uint8_t *p = blob_bytes(fd, &n);

	for (size_t cut = 0; cut < n; cut++) {
		uint8_t *copy = xmemdup(p, cut);

		why[0] = '\0';
		ck_assert_int_eq(settings_decode(copy, cut, &back, why), -EBADMSG);
		ck_assert_str_ne(why, "");
		free(copy);
	}
	for (size_t i = 0; i < n; i++) {
		uint8_t *copy = xmemdup(p, n);

		copy[i] = (uint8_t)(copy[i] ^ (1 + rnd(255)));
		why[0] = '\0';
		if (settings_decode(copy, n, &back, why) == 0)
			settings_done(&back);
		ck_assert(unicode_all_printable(why, strlen(why)));
		free(copy);
	}
	uint8_t *longer = xmalloc(n + 1);
	memcpy(longer, p, n);
	longer[n] = 0xc0;
	ck_assert_int_eq(settings_decode(longer, n + 1, &back, why), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(why, "too many"));
	free(longer);
	free(p);
	(void)close(fd);
	settings_done(&s);
}

TEST(refuses_a_value_out_of_range)
{
	struct settings s, back;
	char why[SETTINGS_ERROR_MAX] = "";

	settings_init(&s);
	s.history_days = 30;
	s.give_up_ms = s.gather_ms = 60000;
	s.history_megabytes = 512;
	s.policy.duty[DUTY_RESTARTS].counts = s.policy.duty[DUTY_CRASH_LOOP].counts = 1;
	s.sandbox = 3;
	const int fd = settings_write_blob(&s, ROLE_REPORTER);
	ck_assert_int_eq(settings_read_blob(fd, &back, why), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(why, "sandbox"));
	(void)close(fd);
	settings_done(&s);
}

/* The first FIXED key whose hash differs, or NULL. */
static const char *fixed_difference(const struct settings *a, const struct settings *b)
{
	uint64_t of_a, of_b;
	const char *key;

	for (size_t i = 0; (key = settings_fixed_key(a, i, &of_a)); i++) {
		ck_assert_str_eq(settings_fixed_key(b, i, &of_b), key);
		if (of_a != of_b)
			return key;
	}
	ck_assert_ptr_null(settings_fixed_key(b, 100, &of_b));
	return NULL;
}

TEST(names_the_fixed_key_that_differs)
{
	struct settings a, b;

	settings_init(&a);
	settings_init(&b);
	ck_assert_ptr_null(fixed_difference(&a, &b));
	a.history_days = 5;
	ck_assert_ptr_null(fixed_difference(&a, &b));
	b.state_dir = xstrdup("/x");
	ck_assert_str_eq(fixed_difference(&a, &b), "stateDir");
	b.lease_name = xstrdup("other");
	ck_assert_str_eq(fixed_difference(&a, &b), "leaderElection.name");
	b.election = true;
	ck_assert_str_eq(fixed_difference(&a, &b), "leaderElection.enable");
	settings_done(&a);
	settings_done(&b);
}

TEST_MAIN("config/blob")
{
	tcase_set_timeout(t, 60);
}
