/* test_trust.c - which certificates of the system are handed on, and what is none of them. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/trust.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "tests/suite.h"

#define BEGIN "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"

static char dir[SUITE_PATH_MAX];

static void set_up(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	suite_folder(dir);
	ck_assert_int_eq(unsetenv("SSL_CERT_FILE"), 0);
}

/* What a cluster without a CA of its own is given; the caller frees it. */
static char *given(void)
{
	struct cluster_settings c = { .server = (char[]){ "https://127.0.0.1:1" } };

	trust_complete_cluster(&c);
	return c.ca_pem;
}

static char *write_bundle(const char *text, size_t n)
{
	char *path = xasprintf("%s/bundle", dir);
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text, 1, n, f), n);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(chmod(path, 0644), 0);
	ck_assert_int_eq(setenv("SSL_CERT_FILE", path, 1), 0);
	return path;
}

/* What is refused leaves those of the system, as if nobody had named it. */
TEST(what_is_no_bundle_is_not_handed_on)
{
	static const struct {
		const char *text;
		size_t n; /* the rest of it is blanks */
		mode_t mode;
		bool taken;
	} rows[] = {
		{ BEGIN, sizeof(BEGIN) - 1, 0644, true },
		{ BEGIN, SYSTEM_CA_MAX, 0644, true },
		{ BEGIN, SYSTEM_CA_MAX + 1, 0644, false },
		{ BEGIN, sizeof(BEGIN), 0644, false }, /* with its NUL: what stands behind would be lost */
		{ BEGIN, sizeof(BEGIN) - 1, 0666, false },
		{ "no certificates\n", 16, 0644, false },
		{ "", 0, 0644, false },
	};
	_cleanup_free_ char *of_the_system = given();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = xmalloc(rows[i].n + sizeof(BEGIN)), *path = NULL, *got = NULL;

		memset(text, ' ', rows[i].n + sizeof(BEGIN));
		memcpy(text, rows[i].text, strlen(rows[i].text) + (rows[i].n == sizeof(BEGIN)));
		path = write_bundle(text, rows[i].n);
		ck_assert_int_eq(chmod(path, rows[i].mode), 0);
		text[rows[i].n] = '\0';
		got = given();
		ck_assert_msg((got && strcmp(got, text) == 0) == rows[i].taken, "row %zu", i);
		if (!rows[i].taken)
			ck_assert_pstr_eq(got, of_the_system);
	}
}

/* What trust_complete_cluster writes to the log; the caller frees it. */
static char *said(void)
{
	_cleanup_free_ char *path = xasprintf("%s/said", dir);
	const int before = dup(STDERR_FILENO), to = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char *ret = xcalloc(1, 4096);

	ck_assert(before >= 0 && to >= 0);
	log_set_level(LOG_LEVEL_WARN);
	(void)dup2(to, STDERR_FILENO);
	free(given());
	(void)dup2(before, STDERR_FILENO);
	ck_assert_int_ge(pread(to, ret, 4095, 0), 0);
	(void)close(before);
	(void)close(to);
	return ret;
}

TEST(what_is_no_bundle_is_said)
{
	_cleanup_free_ char *none = said(), *path = write_bundle("no certificates\n", 16), *bad = said(),
			    *again = write_bundle(BEGIN, sizeof(BEGIN) - 1), *good = said();

	ck_assert_str_eq(none, "");
	ck_assert_msg(strstr(bad, "SSL_CERT_FILE") && strstr(bad, path) && strstr(bad, "is not PEM"), "%s",
		      bad);
	ck_assert_str_eq(good, "");
	ck_assert_str_eq(path, again);
}

/* A certificate that the operator has named is not widened by all that the system trusts. */
TEST(who_names_one_keeps_it)
{
	_cleanup_free_ char *path = write_bundle(BEGIN, sizeof(BEGIN) - 1);
	struct cluster_settings c = { .server = (char[]){ "https://127.0.0.1:1" },
				      .ca_pem = (char[]){ "own" } };

	ck_assert_ptr_nonnull(path);
	trust_complete_cluster(&c);
	ck_assert_str_eq(c.ca_pem, "own");
}

/* One of them is enough, whichever it is. */
TEST_LOOP(a_sink_that_needs_it_is_found, 0, 3)
{
	_cleanup_free_ char *path = write_bundle(BEGIN, sizeof(BEGIN) - 1);
	struct sink_settings sinks[3] = { { .url = (char[]){ "http://127.0.0.1:2" } },
					  { .url = (char[]){ "https://127.0.0.1:2" },
					    .ca_pem = (char[]){ "own" } },
					  { .problem = (char[]){ "no address" } } };
	struct settings s = { .sinks = sinks, .n_sinks = 3 };

	ck_assert_ptr_nonnull(path);
	trust_complete_sinks(&s);
	ck_assert_ptr_null(s.system_ca);
	sinks[_i] = (struct sink_settings){ .url = (char[]){ "https://127.0.0.1:3" } };
	trust_complete_sinks(&s);
	ck_assert_str_eq(s.system_ca, BEGIN);
	free(s.system_ca);
}

TEST_MAIN("loader/trust")
{
	tcase_add_checked_fixture(t, set_up, NULL);
}
