/* test_config.c - whole files: every golden/config/NAME.yml gives exactly the lines of NAME.out
 * (OPC_GOLDEN_WRITE=1 writes them anew), and the table behind it is sound. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "config/config_print.h"
#include "config/config_validate.h"
#include "config/diag.h"
#include "config/file.h"
#include "tests/suite.h"

/* What config_check prints, and its code. */
static char *check(const char *path, int *ret_code)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	*ret_code = config_check(path, f);
	(void)fclose(f);
	return text;
}

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = xcalloc(1, 1 << 16);

	if (f) {
		text[fread(text, 1, (1 << 16) - 1, f)] = '\0';
		(void)fclose(f);
	}
	return text;
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	(void)fputs(text, f);
	(void)fclose(f);
}

TEST(golden_files)
{
	struct dirent **names;
	int files = 0;

	ck_assert_int_eq(chdir(GOLDEN_DIR), 0);
	const int n = scandir(".", &names, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char *dot = strrchr(names[i]->d_name, '.');

		if (dot && strcmp(dot, ".yml") == 0) {
			_cleanup_free_ char *out =
				xasprintf("%.*s.out", (int)(dot - names[i]->d_name), names[i]->d_name);
			int code;
			_cleanup_free_ char *got = check(names[i]->d_name, &code);

			if (getenv("OPC_GOLDEN_WRITE"))
				write_text(out, got);
			_cleanup_free_ char *want = read_text(out);
			ck_assert_str_eq(got, want);
			ck_assert_int_eq(code, strstr(got, ": ok\n") ? EXIT_CODE_OK : EXIT_CODE_CONFIG);
			files++;
		}
		free(names[i]);
	}
	free(names);
	ck_assert_int_ge(files, 5);
}

static int load(const char *text, struct config *c, struct diags *d)
{
	config_init(c);
	*d = (struct diags){ 0 };
	return config_load_text("f", text, strlen(text), c, d);
}

TEST(the_original_file_keeps_its_meaning)
{
	struct config c;
	struct diags d = { 0 };

	config_init(&c);
	ck_assert_int_eq(config_load(GOLDEN_DIR "/original.yml", &c, &d), 0);
	const struct settings *s = &c.settings;
	const struct duty_policy *pull = &s->policy.duty[DUTY_IMAGE_PULL],
				 *restarts = &s->policy.duty[DUTY_RESTARTS];

	ck_assert(pull->enable && !restarts->enable);
	ck_assert(s->policy.duty[DUTY_EVICTED].enable && s->policy.duty[DUTY_TERMINATING].enable);
	ck_assert_int_eq(pull->hours_ms, 5000);
	ck_assert_int_eq(restarts->hours_ms, 1000);
	ck_assert_int_eq(s->policy.duty[DUTY_TERMINATING].hours_ms, 120000);
	ck_assert_uint_eq(pull->namespaces.n, 1);
	ck_assert_str_eq(pull->namespaces.v[0], "default");
	ck_assert_uint_eq(restarts->status.n, 4);
	ck_assert_str_eq(restarts->status.v[3], "RunContainerError");
	ck_assert_int_eq(restarts->counts, 2);
	ck_assert_str_eq(s->schedule, "*/3 * * * * *");
	ck_assert_str_eq(s->msg_title, "pod重启次数过多");
	ck_assert_str_eq(s->api_url, "https://open.feishu.cn/open-apis/bot/v2/hook/xxxx");
	ck_assert_int_eq(s->policy.mode, MODE_ENFORCE);
	config_done(&c);
	diags_done(&d);
}

/* A text that is taken, and one member it sets. */
static const struct {
	const char *text, *path, *value;
} values[] = {
	{ "errImagePull: {ENABLE: True}", "errImagePull.enable", "true" },
	{ "ERRIMAGEPULL: {enable: 'on'}", "errImagePull.enable", "true" },
	{ "errImagePull: {enable: \"1\"}", "errImagePull.enable", "true" },
	{ "errImagePull: {enable: false}", "errImagePull.enable", "false" },
	{ "delteEvictedPod: {includeJobs: yes}", "deleteEvictedPod.includeJobs", "true" },
	{ "deleteFinishedPod: {reasons: '*'}", "deleteFinishedPod.reasons", "[\"*\"]" },
	{ "deleteFinishedPod: {reasons: [OutOfephemeral-storage]}", "deleteFinishedPod.reasons",
	  "[\"OutOfephemeral-storage\"]" },
	{ "deleteFinishedPod: {phases: 'Failed, Succeeded'}", "deleteFinishedPod.phases",
	  "[\"Failed\", \"Succeeded\"]" },
	{ "errImagePull: {hours: 1h30m}", "errImagePull.hours", "1h30m0s" },
	{ "errImagePull: {hours: 1500us}", "errImagePull.hours", "2ms" },
	{ "tooManyRestart: {counts: \"7\"}", "tooManyRestart.counts", "7" },
	{ "tooManyRestart: {msgtitle: 123}", "tooManyRestart.msgtitle", "\"123\"" },
	{ "tooManyRestart: {status: [OOMKilled]}", "tooManyRestart.status", "[\"OOMKilled\"]" },
	{ "tooManyRestart: {status: 'Init:Error,Error'}", "tooManyRestart.status", "[\"Error\"]" },
	{ "errImagePull: {namespaces: 'a, b,,a'}", "errImagePull.namespaces", "[\"a\", \"b\"]" },
	{ "errImagePull: {namespaces: []}", "errImagePull.namespaces", "[]" },
	{ "errImagePull: {namespaces: ''}", "errImagePull.namespaces", "[]" },
	{ "mode: Observe", "mode", "observe" },
	{ "sandbox: off", "sandbox", "off" },
	{ "metricsListen: ''", "metricsListen", "\"\"" },
	{ "metricsListen: :9464", "metricsListen", "\":9464\"" },
	{ "metricsListen: '[::]:9464'", "metricsListen", "\"[::]:9464\"" },
	{ "defaultExcludeNamespaces: []", "defaultExcludeNamespaces", "[]" },
	{ "startupQuiet: 90s", "startupQuiet", "1m30s" },
};

/* The line of a key in the effective configuration. */
static char *effective(const struct config *c, const char *path)
{
	_cleanup_free_ char *text = NULL;
	const char *dot = strchr(path, '.');
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	config_print_effective(c, f);
	(void)fclose(f);
	_cleanup_free_ char *section = dot ? xasprintf("%.*s:\n", (int)(dot - path), path) : xstrdup("");
	_cleanup_free_ char *key = xasprintf("\n%s%s: ", dot ? "  " : "", dot ? dot + 1 : path);
	const char *at = strstr(text, section);

	ck_assert_ptr_nonnull(at);
	at = strstr(at, key);
	ck_assert_ptr_nonnull(at);
	at += strlen(key);
	return xstrndup(at, strcspn(at, "\n"));
}

TEST_LOOP(takes_values, 0, ARRAY_SIZE(values))
{
	struct config c;
	struct diags d;

	ck_assert_msg(load(values[_i].text, &c, &d) == 0, "%s", d.n ? d.v[0].text : "");
	_cleanup_free_ char *got = effective(&c, values[_i].path);
	ck_assert_str_eq(got, values[_i].value);
	config_done(&c);
	diags_done(&d);
}

/* A text with one error, and that error (warnings do not count). */
static const struct {
	const char *text, *line;
} errors[] = {
	{ "[a]", "f:1:1: the file is a list, keys were expected" },
	{ "text", "f:1:1: the file is a text, keys were expected" },
	{ "errImagePull: 5", "f:1:1: errImagePull is a text, a mapping of keys was expected" },
	{ "errImagePull:", "f:1:1: errImagePull is nothing, a mapping of keys was expected" },
	{ "errImagePull: {hours: }",
	  "f:1:16: errImagePull.hours has no value: write one, or remove the line" },
	{ "errImagePull: {hours: {a: b}}", "f:1:23: errImagePull.hours is a mapping" },
	{ "errImagePull: {status: []}", "f:1:24: errImagePull.status: the list is empty" },
	{ "errImagePull: {status: ','}", "errImagePull.status: the list is empty" },
	{ "errImagePull: {status: CrashLoopBackOff}", "is none of ErrImagePull|" },
	{ "errImagePull: {enable: y}", "\"y\" is neither true nor false" },
	{ "errImagePull: {hours: 999999h}", "out of range: write 0s to 87600h0m0s" },
	{ "errImagePull: {hours: 9999999999h}", "out of range" },
	{ "errImagePull: {mode: observe}", "mode stands at the top of the file" },
	{ "tooManyRestart: {counts: 1e3}", "\"1e3\" is not a whole number" },
	{ "tooManyRestart: {counts: -1}", "\"-1\" is not a whole number" },
	{ "tooManyRestart: {counts: 0}", "0 is out of range: write 1 to 2147483647" },
	{ "tooManyRestart: {counts: 99999999999999999999}", "is out of range" },
	{ "tooManyRestart: {duration: '0 0 30 2 * *'}", "character 5: 30 is above 23" },
	{ "tooManyRestart: {duration: '0 0 0 30 2 ?'}", "never fires" },
	{ "tooManyRestart: {duration: '0 0 9 * * MON-FRI-SUN'}", "weekday" },
	{ "tooManyRestart: {apiurl: 'https://u:p@h/x'}", "user name or password" },
	{ "tooManyRestart: {enable: true}", "f:1:18: tooManyRestart is enabled but has no apiurl" },
	{ "tooManyRestart: {timeZone: ../../etc/passwd}", "not a time zone name" },
	{ "tooManyRestart: {status: 'Crash Loop'}", "letters only" },
	{ "tooManyRestart: {status: '*'}", "letters only" },
	{ "deleteFinishedPod: {phases: Running}", "Running" },
	{ "tooManyRestart: {msgtitle: ''}", "tooManyRestart.msgtitle: the text is empty" },
	{ "errImagePull: {namespaces: 'team-*'}", "patterns are not supported" },
	{ "errImagePull: {namespaces: -a}", "cannot be a namespace" },
	{ "errImagePull: {namespaces: [[a]]}", "an item is a list, a text was expected" },
	{ "defaultExcludeNamespaces: '*'", "\"*\" is not possible here" },
	{ "metricsListen: example.com:80", "write an IP address" },
	{ "metricsListen: 127.0.0.1:99999", "is not ADDRESS:PORT" },
	{ "mode: enforced", "did you mean enforce?" },
	{ "workers: 0", "out of range: write 1 to 64" },
	{ "clusters: []", "f:1:11: clusters is empty, a list of mappings" },
	{ "clusters: {name: a}", "clusters is a mapping, a list" },
	{ "clusters: [{name: a/b}]", "\"a/b\" is not a name" },
	{ "clusters: [{name: a, context: x}, {name: b, context: x}]",
	  "\"a\" and \"b\" are the same cluster" },
	{ "clusters: [{context: x}]", "a cluster without a name" },
	{ "dryrun: true", "f:1:1: unknown key \"dryrun\": remove it" },
	{ "Mode: observe\nmode: enforce", "f:2:1: duplicate key \"mode\": it is already in line 1" },
	{ "deleteEvictedPod: {enable: true}\ndelteEvictedPod: {enable: true}",
	  "f:2:1: delteEvictedPod and deleteEvictedPod (line 1) are two spellings of one key: keep one" },
	{ "delteTerminatingPod: {}\nDELETETERMINATINGPOD: {}", "are two spellings of one key" },
	{ "tooManyRestart: {apiurlFile: x, apiurl: 'https://h'}", "apiurl and apiurlFile are both given" },
};

TEST_LOOP(one_error_each, 0, ARRAY_SIZE(errors))
{
	struct config c;
	struct diags d;
	const char *got = NULL;

	ck_assert_int_lt(load(errors[_i].text, &c, &d), 0);
	ck_assert_uint_eq(d.errors, 1);
	for (size_t i = 0; i < d.n; i++)
		if (d.v[i].error)
			got = d.v[i].text;
	ck_assert_msg(strstr(got, errors[_i].line), "%s: %s", errors[_i].text, got);
	config_done(&c);
	diags_done(&d);
}

TEST(an_error_shows_no_secret)
{
	struct config c;
	struct diags d;

	ck_assert_int_lt(
		load("tooManyRestart: {apiurl: 'ftp://TOPSECRET', secret: \"TOP\\tSECRET\"}", &c, &d), 0);
	for (size_t i = 0; i < d.n; i++)
		ck_assert_ptr_null(strstr(d.v[i].text, "SECRET"));
	ck_assert_uint_eq(d.errors, 2);
	config_done(&c);
	diags_done(&d);
}

TEST(the_table_is_sound)
{
	struct config c;
	size_t n = 0;

	for (const struct setting *a = settings_table; a->path; a++, n++) {
		ck_assert_uint_gt(strlen(a->doc), 3);
		ck_assert(a->size > 0);
		for (const struct setting *b = settings_table; b < a; b++)
			ck_assert_str_ne(a->path, b->path);
		if (a->flags &
		    SETTING_SECRET) /* a secret goes to the reporter or to those who act, not to both */
			ck_assert((a->roles & R_REPORTER) == 0 || a->roles == R_REPORTER);
	}
	ck_assert_uint_le(n, POSITIONS_MAX);
	config_init(&c); /* aborts when a default does not parse */
	ck_assert_str_eq(c.settings.schedule, "0 7 9 * * 1");
	ck_assert(!c.settings.policy.duty[DUTY_IMAGE_PULL].enable);
	ck_assert_uint_eq(c.workers, 2);
	config_done(&c);
}

static char *printed(void (*print)(const struct config *, FILE *), const struct config *c)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	print(c, f);
	(void)fclose(f);
	return text;
}

TEST(what_is_in_force_reads_back_equal)
{
	static const char text[] =
		"errImagePull: {enable: true, namespaces: ['*', kube-system], hours: 90m}\n"
		"tooManyRestart: {msgtitle: \"a\\\"b\\\\c: #d\", duration: '@every 6h'}\n"
		"mode: observe\nclusters: [{name: a, context: x, workers: 3}, {name: b}]\n";
	struct config c, back;
	struct diags d;

	ck_assert_int_eq(load(text, &c, &d), 0);
	diags_done(&d);
	_cleanup_free_ char *first = printed(config_print_effective, &c);
	ck_assert_msg(load(first, &back, &d) == 0, "%s\n%s", d.n ? d.v[0].text : "", first);
	_cleanup_free_ char *second = printed(config_print_effective, &back);
	ck_assert_str_eq(first, second);
	diags_done(&d);
	config_done(&c);
	config_done(&back);
}

TEST(hides_secrets_in_what_is_in_force)
{
	struct config c;
	struct diags d;

	ck_assert_int_eq(load("tooManyRestart: {apiurl: 'https://h/HIDE', secret: HIDE}", &c, &d), 0);
	_cleanup_free_ char *text = printed(config_print_effective, &c);
	ck_assert_ptr_null(strstr(text, "HIDE"));
	ck_assert_ptr_nonnull(strstr(text, "apiurl: \"(hidden)\""));
	config_done(&c);
	diags_done(&d);
}

static void help(const struct config *c, FILE *out)
{
	(void)c;
	config_print_help(out);
}

TEST(every_key_is_documented)
{
	_cleanup_free_ char *h = printed(help, NULL), *m = NULL;
	char why[FILE_ERROR_MAX];
	size_t n;

	ck_assert_msg(file_read(DOCS_PAGE, 1 << 20, &m, &n, why) == 0, "%s", why);

	for (const struct setting *row = settings_table; row->path; row++) {
		const char *dot = strrchr(row->path, '.');
		_cleanup_free_ char *cell = xasprintf("`%s`", dot ? dot + 1 : row->path);

		if (row->flags & SETTING_DERIVED) {
			ck_assert_msg(!strstr(h, row->path), "%s", row->path);
			continue;
		}
		ck_assert_msg(strstr(h, row->path), "%s", row->path);
		ck_assert_msg(row->kind == SET_SECTION ? strstr(m, row->path) : strstr(m, cell), "%s",
			      row->path);
	}
}

SUITE("config/config");
