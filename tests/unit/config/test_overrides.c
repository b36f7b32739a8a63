/* overrides and windows in the file: what is read, what is refused, and that a blob carries all of it. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/blob.h"
#include "config/config_print.h"
#include "config/diag.h"
#include "tests/suite.h"

static struct config config;
static struct diags diags;

static void setup(void)
{
	config_init(&config);
}

static void teardown(void)
{
	config_done(&config);
	diags_done(&diags);
}

static int load(const char *text)
{
	return config_load_text("f.yml", text, strlen(text), &config, &diags);
}

static void complains(const char *text, const char *about)
{
	ck_assert_int_lt(load(text), 0);
	for (size_t i = 0; i < diags.n; i++)
		if (diags.v[i].error && strstr(diags.v[i].text, about))
			return;
	ck_abort_msg("no error about \"%s\" but: %s", about, diags.n ? diags.v[0].text : "nothing");
}

#define FILE_OF(overrides)                                                                                   \
	"errImagePull:\n  enable: true\n  namespaces: \"*\"\n  hours: 24h\noverrides:\n" overrides           \
	"deleteEvictedPod:\n  enable: true\n  namespaces: [shop]\n"

static const char good[] = FILE_OF("- name: gold\n  namespaces: [shop, bank]\n  labels: [tier=gold, a.b/c=]\n"
				   "  errImagePull:\n    hours: 72h\n    causes: [permanent, auth]\n"
				   "    windows:\n    - \"0 9 * * 1,3 for 8h\"\n"
				   "  delteEvictedPod:\n    includeJobs: true\n"
				   "- labels: tier=silver\n  errImagePull: {enable: false}\n");

TEST(what_an_item_does_not_name_is_as_in_the_file)
{
	const struct policy *p = &config.settings.policy;
	const struct policy_override *gold, *silver;

	ck_assert_int_eq(load(good), 0);
	ck_assert_uint_eq(p->n_overrides, 2);
	gold = &p->overrides[0];
	silver = &p->overrides[1];
	ck_assert_str_eq(gold->name, "gold");
	ck_assert_str_eq(silver->name, "override 2");
	ck_assert_uint_eq(gold->labels.n, 2);
	ck_assert_str_eq(gold->labels.v[1], "a.b/c=");
	ck_assert(str_list_has(&gold->namespaces, STR_LIT("bank")));
	ck_assert_int_eq(gold->duty[DUTY_IMAGE_PULL].hours_ms, INT64_C(72) * 3600000);
	ck_assert(gold->duty[DUTY_IMAGE_PULL].enable);
	ck_assert_uint_eq(gold->duty[DUTY_IMAGE_PULL].causes.n, 2);
	ck_assert_uint_eq(gold->duty[DUTY_IMAGE_PULL].status.n, 2);
	ck_assert_uint_eq(gold->duty[DUTY_IMAGE_PULL].windows.n, 1);
	ck_assert_str_eq(gold->duty[DUTY_IMAGE_PULL].windows.v[0], "0 9 * * 1,3 for 8h");
	/* also of sections that stand below it */
	ck_assert(gold->duty[DUTY_EVICTED].enable);
	ck_assert(gold->duty[DUTY_EVICTED].include_jobs);
	ck_assert(!silver->duty[DUTY_IMAGE_PULL].enable);
	ck_assert(!silver->duty[DUTY_EVICTED].include_jobs);
	ck_assert_int_eq(p->duty[DUTY_IMAGE_PULL].hours_ms, INT64_C(24) * 3600000);
	ck_assert_uint_eq(p->duty[DUTY_IMAGE_PULL].causes.n, 1);
}

TEST_LOOP(mistakes, 0, 19)
{
	static const struct {
		const char *text, *about;
	} rows[] = {
		{ FILE_OF("- name: a\n  errImagePull: {hours: 1h}\n"), "neither namespaces nor labels" },
		{ FILE_OF("- {name: a, namespaces: [x]}\n- {name: a, namespaces: [y]}\n"), "two overrides" },
		{ FILE_OF("- {name: a, namespaces: ['*']}\n"), "not possible here" },
		{ FILE_OF("- {name: a, labels: [tier]}\n"), "key=value" },
		{ FILE_OF("- {name: a, labels: ['=x']}\n"), "key=value" },
		{ FILE_OF("- {name: a, labels: ['a=b=c']}\n"), "letters, digits" },
		{ FILE_OF("- {name: a, labels: ['a b=c']}\n"), "letters, digits" },
		{ FILE_OF("- {name: a, labels: [a=b], errImagePull: {maxPerDay: 3}}\n"),
		  "holds for all pods" },
		{ FILE_OF("- {name: a, labels: [a=b], errImagePull: {namespaces: [x]}}\n"),
		  "holds for all pods" },
		{ FILE_OF("- {name: a, labels: [a=b], errImagePull: {hour: 3h}}\n"), "did you mean hours" },
		{ FILE_OF("- {name: a, labels: [a=b], errImagePull: {hours: 3}}\n"), "errImagePull.hours" },
		{ FILE_OF("- {name: a, labels: [a=b], errImagePull: x}\n"), "a mapping of keys" },
		{ FILE_OF("- {name: a, labels: [a=b], breaker: {workloads: 1}}\n"), "unknown key" },
		{ FILE_OF("- {name: a, labels: [a=b], color: red}\n"), "unknown key" },
		{ FILE_OF("- a\n"), "a mapping was expected" },
		{ FILE_OF("  a: b\n"), "a list of mappings was expected" },
		{ "overrides: []\n", "is empty" },
		{ "errImagePull:\n  windows: [\"0 9 * * 1-5\"]\n", "errImagePull.windows" },
		{ "errImagePull:\n  windows: [\"@every 1h for 5m\"]\n", "errImagePull.windows" },
	};

	complains(rows[_i].text, rows[_i].about);
}

TEST(too_many)
{
	char text[4096] = "overrides:\n";

	for (int i = 0; i <= OVERRIDES_MAX; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
			       "- {name: n%d, namespaces: [ns%d]}\n", i, i);
	complains(text, "more than 31 overrides");
	ck_assert_uint_eq(config.settings.policy.n_overrides, OVERRIDES_MAX);
}

TEST(one_that_is_never_used_is_told)
{
	ck_assert_int_eq(load(FILE_OF("- {name: a, namespaces: [x, y]}\n- {name: b, namespaces: [y]}\n")), 0);
	for (size_t i = 0; i < diags.n; i++)
		if (strstr(diags.v[i].text, "override \"b\" is not used where \"a\""))
			return;
	ck_abort_msg("no warning");
}

TEST(a_duty_that_only_an_override_enables_is_enabled)
{
	ck_assert_int_eq(load("deleteEvictedPod: {namespaces: \"*\"}\noverrides:\n"
			      "- {name: a, namespaces: [x], deleteEvictedPod: {enable: true}}\n"),
			 0);
	ck_assert(policy_enables(&config.settings.policy, DUTY_EVICTED));
	ck_assert(!policy_enables(&config.settings.policy, DUTY_IMAGE_PULL));
	for (size_t i = 0; i < diags.n; i++)
		ck_assert_ptr_null(strstr(diags.v[i].text, "every duty is off"));
	complains("tooManyRestart: {namespaces: \"*\"}\noverrides:\n"
		  "- {name: a, namespaces: [x], tooManyRestart: {enable: true}}\n",
		  "has no apiurl");
}

TEST(one_window_is_one_text)
{
	ck_assert_int_eq(load("errImagePull:\n  windows: 0 9 * * 1,3,5 for 8h\n"), 0);
	ck_assert_uint_eq(config.settings.policy.duty[DUTY_IMAGE_PULL].windows.n, 1);
}

static void same_duty(const struct duty_policy *a, const struct duty_policy *b)
{
	ck_assert_int_eq(a->enable, b->enable);
	ck_assert_int_eq(a->hours_ms, b->hours_ms);
	ck_assert_int_eq(a->include_jobs, b->include_jobs);
	ck_assert_uint_eq(a->causes.n, b->causes.n);
	ck_assert_uint_eq(a->windows.n, b->windows.n);
	ck_assert_uint_eq(a->namespaces.n, b->namespaces.n);
	for (size_t i = 0; i < a->causes.n; i++)
		ck_assert_str_eq(a->causes.v[i], b->causes.v[i]);
}

TEST(a_blob_carries_them)
{
	static const enum role roles[] = { ROLE_WATCHER, ROLE_WORKER, ROLE_REPORTER };

	ck_assert_int_eq(load(good), 0);
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		const struct policy *a = &config.settings.policy;
		const int fd = settings_write_blob(&config.settings, roles[i]);
		struct settings s;
		char why[SETTINGS_ERROR_MAX] = "";

		ck_assert_int_ge(fd, 0);
		ck_assert_msg(settings_read_blob(fd, &s, why) == 0, "%s", why);
		ck_assert_uint_eq(s.policy.n_overrides, 2);
		for (size_t k = 0; k < 2; k++) {
			const struct policy_override *x = &a->overrides[k], *y = &s.policy.overrides[k];

			ck_assert_str_eq(x->name, y->name);
			ck_assert_uint_eq(x->labels.n, y->labels.n);
			ck_assert_uint_eq(x->namespaces.n, y->namespaces.n);
			for (size_t d = 0; d < DUTY__MAX; d++)
				same_duty(&x->duty[d], &y->duty[d]);
		}
		settings_done(&s);
		(void)close(fd);
	}
}

/* A blob that was cut or changed anywhere is refused or means something; it harms nothing. */
TEST(a_damaged_blob)
{
	uint8_t bytes[65536];
	struct settings s;
	char why[SETTINGS_ERROR_MAX];
	ssize_t n;
	int fd;

	ck_assert_int_eq(load(good), 0);
	fd = settings_write_blob(&config.settings, ROLE_WATCHER);
	n = pread(fd, bytes, sizeof(bytes), 0);
	(void)close(fd);
	ck_assert_int_gt(n, 1000);
	ck_assert_int_lt(n, (ssize_t)sizeof(bytes));
	for (size_t i = 0; i < (size_t)n; i++) {
		const uint8_t old = bytes[i];

		ck_assert_int_lt(settings_decode(bytes, i, &s, why), 0);
		for (unsigned k = 0; k < 3; k++) {
			bytes[i] = (uint8_t)(k == 0 ? 0xff : k == 1 ? 0 : old ^ 0x10);
			if (settings_decode(bytes, (size_t)n, &s, why) == 0)
				settings_done(&s);
		}
		bytes[i] = old;
	}
}

/* What is printed as in force reads back to the same print. */
TEST(the_print_reads_back)
{
	char *first = NULL, *second = NULL;
	size_t n1, n2;
	FILE *out = open_memstream(&first, &n1);
	struct config again;

	ck_assert_int_eq(load(good), 0);
	config_print_effective(&config, out);
	(void)fclose(out);
	ck_assert_ptr_nonnull(strstr(first, "overrides:\n  - name: \"gold\"\n"));
	ck_assert_ptr_nonnull(strstr(first, "    errImagePull:\n      hours: 72h0m0s\n"));
	config_init(&again);
	ck_assert_int_eq(config_load_text("again.yml", first, n1, &again, &diags), 0);
	out = open_memstream(&second, &n2);
	config_print_effective(&again, out);
	(void)fclose(out);
	ck_assert_str_eq(first, second);
	config_done(&again);
	free(first);
	free(second);
}

TEST_MAIN("config/overrides")
{
	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
}
