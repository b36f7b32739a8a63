/* test_config.c - whole files: every golden/config/NAME.yml gives exactly the lines of NAME.out
 * and NAME.zh.out (OPC_GOLDEN_WRITE=1 writes them anew), and the table behind it is sound. */
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
#include "config/blob.h"
#include "config/config_print.h"
#include "config/positions.h"
#include "config/table.h"
#include "config/diag.h"
#include "config/file.h"
#include "tests/suite.h"
#include "tests/unit/config/chinese.h"
#include "tests/unit/config/loaded.h"

static void loads(const char *text)
{
	ck_assert_msg(load(text) == 0, "%s", diags.n ? diags.v[0].text : "");
}

static void complains(const char *text, const char *about)
{
	ck_assert_int_lt(load(text), 0);
	for (size_t i = 0; i < diags.n; i++)
		if (diags.v[i].error && strstr(diags.v[i].text, about))
			return;
	ck_abort_msg("%s: no error about \"%s\" but: %s", text, about, diags.n ? diags.v[0].text : "nothing");
}

/* What `config check` prints in that language, and its code. */
static char *check(const char *path, enum language l, int *ret_code)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	struct diags d = { 0 };
	struct config c;

	config_init(&c);
	const bool loaded = config_load(path, &c, &d) == 0;

	config_print_diags(path, loaded, &d, l, f);
	*ret_code = loaded ? EXIT_CODE_OK : EXIT_CODE_CONFIG;
	config_done(&c);
	diags_done(&d);
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

static void check_golden(const char *path, const char *out, enum language l)
{
	int code;
	_cleanup_free_ char *got = check(path, l, &code);

	if (getenv("OPC_GOLDEN_WRITE"))
		write_text(out, got);
	_cleanup_free_ char *want = read_text(out);
	ck_assert_str_eq(got, want);
	ck_assert_int_eq(code, strstr(got, ": ok\n") ? EXIT_CODE_OK : EXIT_CODE_CONFIG);
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
			const int stem = (int)(dot - names[i]->d_name);
			_cleanup_free_ char *en = xasprintf("%.*s.out", stem, names[i]->d_name),
					    *zh = xasprintf("%.*s.zh.out", stem, names[i]->d_name);

			check_golden(names[i]->d_name, en, LANGUAGE_EN);
			check_golden(names[i]->d_name, zh, LANGUAGE_ZH);
			files++;
		}
		free(names[i]);
	}
	free(names);
	ck_assert_int_ge(files, 5);
}

TEST(the_original_file_keeps_its_meaning)
{
	const struct settings *s = &config.settings;
	const struct duty_policy *pull = &s->policy.duty[DUTY_IMAGE_PULL],
				 *restarts = &s->policy.duty[DUTY_RESTARTS];

	ck_assert_int_eq(config_load(GOLDEN_DIR "/original.yml", &config, &diags), 0);
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
	ck_assert_str_eq(config.api_url, "https://open.feishu.cn/open-apis/bot/v2/hook/xxxx");
	ck_assert_int_eq(s->policy.mode, MODE_ENFORCE);
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
	{ "deleteFinishedPod: {reasons: [\"OutOfnvidia.com/gpu\", \"OutOf*\"]}", "deleteFinishedPod.reasons",
	  "[\"OutOfnvidia.com/gpu\", \"OutOf*\"]" },
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
	{ "errImagePull: {namespaces: 'team-*,!team-x , *-dev'}", "errImagePull.namespaces",
	  "[\"team-*\", \"!team-x\", \"*-dev\"]" },
	{ "errImagePull: {namespaces: 'label:a.b/team=x-*,!label:env=prod,label:y='}",
	  "errImagePull.namespaces", "[\"label:a.b/team=x-*\", \"!label:env=prod\", \"label:y=\"]" },
	{ "errImagePull: {namespaces: ['!x']}", "errImagePull.namespaces", "[\"!x\"]" },
	{ "excludeNamespaces: [team-*, '!team-x']", "excludeNamespaces", "[\"team-*\", \"!team-x\"]" },
	{ "mode: Observe", "mode", "observe" },
	{ "sandbox: off", "sandbox", "off" },
	{ "metricsListen: ''", "metricsListen", "\"\"" },
	{ "metricsListen: :9464", "metricsListen", "\":9464\"" },
	{ "metricsListen: '[::]:9464'", "metricsListen", "\"[::]:9464\"" },
	{ "defaultExcludeNamespaces: []", "defaultExcludeNamespaces", "[]" },
	{ "startupQuiet: 90s", "startupQuiet", "1m30s" },
};

/* The line of a key in the effective configuration. */
static char *effective(const char *path)
{
	_cleanup_free_ char *text = NULL;
	const char *dot = strchr(path, '.');
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	config_print_effective(&config, f);
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
	loads(values[_i].text);
	_cleanup_free_ char *got = effective(values[_i].path);
	ck_assert_str_eq(got, values[_i].value);
}

/* A text with one error, and that error (warnings do not count). */
static const struct {
	const char *text, *line;
} errors[] = {
	{ "[a]", "f:1:1: the file is a list, keys were expected" },
	{ "tooManyRestart:\n  duration: */3 * * * *\n", "a text that begins with '*' needs its quotes" },
	{ "deleteEvictedPod：\n  enable: true\n", "f:1:17: '：' is a full-width character: write ':'" },
	{ "errImagePull: {hours: 24h，}", "f:1:23: errImagePull.hours: unknown unit in duration" },
	{ "errImagePull: {hours: 24h，}", "f:1:26: '，' is a full-width character: write ','" },
	{ "errImagePull: {hours: 24h（x）}", "f:1:26: '（' is a full-width character: write '('" },
	{ "mode: dryrun", "f:1:7: mode: \"dryrun\" is none of enforce|observe" },
	{ "deleteEvictedPod:\n\tenable: true\n",
	  "f:2:1: not valid YAML: found character that cannot start any "
	  "token, while scanning for the next token; a tab cannot indent" },
	{ "apiVersion: v1\nkind: ConfigMap\ndata:\n  app.yml: |\n    mode: observe\n",
	  "f:4:3: the file is a whole ConfigMap, the configuration is the text of its key app.yml: take it "
	  "with "
	  "`kubectl get ConfigMap NAME -o go-template='{{index .data \"app.yml\"}}'`" },
	{ "apiVersion: v1\nkind: Pod\n",
	  "f:2:1: the file is a Pod of Kubernetes, and holds no configuration" },
	{ "tooManyRestart: {urlFile: x}",
	  "unknown key \"tooManyRestart.urlFile\": did you mean apiurlFile?" },
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
	{ "errImagePull: {mode: observe}", "unknown key \"errImagePull.mode\": did you mean mode?" },
	{ "tooManyRestart: {counts: 1e3}", "\"1e3\" is not a whole number" },
	{ "tooManyRestart: {counts: -1}", "\"-1\" is not a whole number" },
	{ "tooManyRestart: {counts: 0}", "0 is out of range: write 1 to 2147483647" },
	{ "tooManyRestart: {counts: 99999999999999999999}", "is out of range" },
	{ "tooManyRestart: {duration: '0 0 30 2 * *'}", "character 5: 30 is above 23" },
	{ "tooManyRestart: {duration: '0 0 0 30 2 ?'}", "never fires" },
	{ "tooManyRestart: {duration: '0 0 9 * * MON-FRI-SUN'}", "weekday" },
	{ "tooManyRestart: {apiurl: 'https://u:p@h/x'}", "user name or password" },
	{ "links: {page: 'ftp://h/'}", "f:1:9: links.page: it begins with neither https:// nor http://" },
	{ "links: {page: 'https://{{cluster}}/'}", "keys stand behind the host" },
	{ "links: {page: 'https://h/(x)'}", "links.page: '(' must be percent-encoded" },
	{ "links: {runbook: 'https://h/{{nmae}}'}",
	  "links.runbook: there is no {{nmae}}: write cluster, namespace," },
	{ "tooManyRestart: {enable: true}", "f:1:18: tooManyRestart.enable: there is no apiurl" },
	{ "tooManyRestart: {timeZone: ../../etc/passwd}", "not a time zone name" },
	{ "tooManyRestart: {status: 'Crash Loop'}", "letters, digits" },
	{ "tooManyRestart: {status: '*'}", "letters, digits" },
	{ "deleteFinishedPod: {phases: Running}", "Running" },
	{ "tooManyRestart: {msgtitle: ''}", "tooManyRestart.msgtitle: the text is empty" },
	{ "errImagePull: {namespaces: 'team-.*'}",
	  "is a regular expression, patterns know only '*': write team-*" },
	{ "errImagePull: {namespaces: '^team-.+$'}", "write team-*" },
	{ "errImagePull: {namespaces: 'team-?'}", "patterns know only '*'" },
	{ "errImagePull: {namespaces: ['*', \"\xef\xbc\x81team-x\"]}",
	  "f:1:35: '！' is a full-width character: write '!'" },
	{ "errImagePull: {namespaces: \"team-\xef\xbc\x8a\"}",
	  "f:1:34: '＊' is a full-width character: write '*'" },
	{ "errImagePull: {namespaces: ['!']}", "write the namespace behind the '!'" },
	{ "errImagePull: {namespaces: ['! x']}", "\"! x\" cannot be a namespace" },
	{ "errImagePull: {namespaces: ['!!x']}", "\"!!x\" cannot be a namespace" },
	{ "errImagePull: {namespaces: ['a', '!*']}", "excepts every namespace" },
	{ "errImagePull: {namespaces: ['**']}", "write \"*\"" },
	{ "errImagePull: {namespaces: [Team-*]}", "lower case letters" },
	{ "errImagePull: {namespaces: [-team*]}", "cannot be a namespace" },
	{ "errImagePull: {namespaces: [!team-x]}",
	  "while scanning a tag; a text that begins with '!' needs its quotes" },
	{ "errImagePull: {namespaces: ['team=a']}", "namespaces by label are written label:KEY=VALUE" },
	{ "errImagePull: {namespaces: ['label:team']}",
	  "write label:KEY=VALUE; label:KEY=* is for any value" },
	{ "errImagePull: {namespaces: ['label:=a']}", "write label:KEY=VALUE" },
	{ "errImagePull: {namespaces: ['label:']}", "written label:KEY=VALUE" },
	{ "errImagePull: {namespaces: ['label:team in (a)']}", "write label:KEY=VALUE" },
	{ "errImagePull: {namespaces: ['label:team=a|b']}", "write one item for each value" },
	{ "errImagePull: {namespaces: ['label:te*m=a']}", "is no label" },
	{ "excludeNamespaces: ['!payments']",
	  "excludeNamespaces: \"!payments\" alone would exclude every other namespace" },
	{ "defaultExcludeNamespaces: ['!payments', '!b*']", "alone would exclude every other namespace" },
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
	{ "leaderElection: {name: team/cleaner}", "\"team/cleaner\" cannot be the name of an object" },
	{ "leaderElection: {name: a%2f}", "cannot be the name of an object" },
	{ "leaderElection: {name: a.}", "cannot be the name of an object" },
	{ "leaderElection: {namespace: ..}", "\"..\" cannot be the name of an object" },
	{ "leaderElection: {namespace: a..b}", "cannot be the name of an object" },
	{ "clusters: [{name: a, context: x}, {name: b, context: x}]",
	  "\"a\" and \"b\" are the same cluster" },
	{ "clusters: [{context: x}]", "f:1:12: clusters[].name: missing: write ..." },
	{ "Mode: observe\nmode: enforce", "f:2:1: duplicate key \"mode\": it is already in line 1" },
	{ "deleteEvictedPod: {enable: true}\ndelteEvictedPod: {enable: true}",
	  "f:2:1: delteEvictedPod and deleteEvictedPod (line 1) are two spellings of one key: keep one" },
	{ "delteTerminatingPod: {}\nDELETETERMINATINGPOD: {}", "are two spellings of one key" },
	{ "tooManyRestart: {apiurlFile: x, apiurl: 'https://h'}",
	  "tooManyRestart.apiurlFile: apiurl is given as well: keep one" },
};

TEST_LOOP(one_error_each, 0, ARRAY_SIZE(errors))
{
	size_t wide = 0;

	complains(errors[_i].text, errors[_i].line);
	for (size_t i = 0; i < diags.n; i++)
		wide += strstr(diags.v[i].text, "full-width") != NULL; /* in a line that has another error */
	ck_assert_uint_eq(diags.errors - wide, 1);
}

/* A text that is taken, and what is said about it all the same; NULL = nothing of that kind. */
static const struct {
	const char *text, *kind, *line;
} doubts[] = {
	{ "deleteFinishedPod: {reasons: [nodelost]}", "did you mean",
	  "\"nodelost\" is taken as it stands; did you mean NodeLost?" },
	{ "tooManyRestart: {status: [CrashLoopBackof]}", "did you mean", "did you mean CrashLoopBackOff?" },
	{ "tooManyRestart: {status: [CrashLoopBackOff, Error, OOMKilled, StartError]}", "did you mean",
	  NULL },
	{ "crashLoop: {enable: true, namespaces: [all]}", "one namespace", "write \"*\" for all" },
	{ "crashLoop: {enable: true, namespaces: [allowed]}", "one namespace", NULL },
};

TEST_LOOP(what_is_hardly_meant_is_taken_and_told, 0, ARRAY_SIZE(doubts))
{
	size_t told = 0;

	loads(doubts[_i].text);
	for (size_t i = 0; i < diags.n; i++)
		if (strstr(diags.v[i].text, doubts[_i].kind)) {
			ck_assert_ptr_nonnull(doubts[_i].line);
			ck_assert_ptr_nonnull(strstr(diags.v[i].text, doubts[_i].line));
			told++;
		}
	ck_assert_uint_eq(told, doubts[_i].line != NULL);
}

/* In Chinese the same is wrong at the same place. */
TEST_LOOP(one_error_each_in_chinese, 0, ARRAY_SIZE(errors))
{
	struct diags zh = { 0 };
	struct config c;

	(void)load(errors[_i].text);
	config_init(&c);
	ck_assert_int_lt(config_load_text("f", errors[_i].text, strlen(errors[_i].text), &c, &zh), 0);
	diags_in_chinese(&zh);
	ck_assert_uint_eq(zh.n, diags.n);
	for (size_t i = 0; i < zh.n; i++) {
		ck_assert_int_eq(zh.v[i].error, diags.v[i].error);
		ck_assert_uint_eq(zh.v[i].line, diags.v[i].line);
		ck_assert_uint_eq(zh.v[i].column, diags.v[i].column);
		assert_chinese(zh.v[i].text);
	}
	config_done(&c);
	diags_done(&zh);
}

/* An input method for Chinese is met at its own place, in the line of an error or the one above. */
TEST(full_width_characters_are_found)
{
	static const struct {
		const char *text, *line;
	} cases[] = {
		{ "errImagePull: {hours: 24h，（}", "f:1:26: '，' is a full-width character: write ','" },
		{ "mode: observe # ，\nlogLevel：info\n",
		  "f:2:9: '：' is a full-width character: write ':'" },
		{ "mode: “observe”\n", "f:1:7: '“' is a full-width character: write '\"'" },
		{ "mode: x # ：\n", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t found = 0;

		ck_assert_int_lt(load(cases[i].text), 0);
		for (size_t k = 0; k < diags.n; k++) {
			found += strstr(diags.v[k].text, "full-width") != NULL;
			if (strstr(diags.v[k].text, "full-width"))
				ck_assert_str_eq(diags.v[k].text, cases[i].line);
		}
		ck_assert_msg(found == (cases[i].line != NULL), "%zu: %zu", i, found);
		diags_done(&diags);
	}
}

TEST(an_error_shows_no_secret)
{
	ck_assert_int_lt(load("tooManyRestart: {apiurl: 'ftp://TOPSECRET', secret: \"TOP\\tSECRET\"}"), 0);
	for (size_t i = 0; i < diags.n; i++)
		ck_assert_ptr_null(strstr(diags.v[i].text, "SECRET"));
	ck_assert_uint_eq(diags.errors, 2);
}

TEST(the_table_is_sound)
{
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
	ck_assert_str_eq(config.settings.schedule, "0 7 9 * * 1");
	ck_assert(!config.settings.policy.duty[DUTY_IMAGE_PULL].enable);
	ck_assert_uint_eq(config.workers_min, 0);
	ck_assert_uint_eq(config.workers, 8);
}

static void reads_back_equal(const char *text)
{
	loads(text);
	_cleanup_free_ char *first = printed(config_print_effective, &config);
	loaded_teardown();
	loaded_setup();
	ck_assert_msg(load(first) == 0, "%s\n%s", diags.n ? diags.v[0].text : "", first);
	_cleanup_free_ char *second = printed(config_print_effective, &config);
	ck_assert_str_eq(first, second);
}

TEST(what_is_in_force_reads_back_equal)
{
	reads_back_equal("errImagePull: {enable: true, namespaces: ['*', kube-system], hours: 90m}\n"
			 "tooManyRestart: {msgtitle: \"a\\\"b\\\\c: #d\", duration: '@every 6h'}\n"
			 "mode: observe\nclusters: [{name: a, context: x, workers: 3}, {name: b}]\n");
}

TEST(workers_are_a_number_or_bounds)
{
	loads("workers: 3");
	ck_assert_uint_eq(config.workers_min, 3);
	ck_assert_uint_eq(config.workers, 3);
	reads_back_equal("workers: 3");
	reads_back_equal("workers: {min: 1, max: 4}");
	ck_assert_uint_eq(config.workers_min, 1);
	ck_assert_uint_eq(config.workers, 4);
	loaded_teardown();
	loaded_setup();
	ck_assert_int_lt(load("workers: {min: 9}"), 0);
	ck_assert_ptr_nonnull(
		strstr(diags.v[diags.n - 1].text, "workers.min: 9 is above workers.max, which is 8"));
}

TEST(hides_secrets_in_what_is_in_force)
{
	loads("tooManyRestart: {apiurl: 'https://h/HIDE', secret: HIDE}");
	_cleanup_free_ char *text = printed(config_print_effective, &config);
	ck_assert_ptr_null(strstr(text, "HIDE"));
	ck_assert_ptr_nonnull(strstr(text, "apiurl: \"(hidden)\""));
}

static void help(const struct config *c, FILE *out)
{
	(void)c;
	config_print_help(out);
}

TEST(every_key_is_documented)
{
	_cleanup_free_ char *h = printed(help, NULL), *m = NULL;
	char why[SENTENCE_MAX];
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

/* -- overrides and windows: what is read, what is refused, and that a blob carries all of it -- */

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

	loads(good);
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
	ck_assert_uint_eq(p->duty[DUTY_IMAGE_PULL].causes.n, 3);
	ck_assert(!str_list_has(&p->duty[DUTY_IMAGE_PULL].causes, STR_LIT("transient")));
}

TEST_LOOP(mistakes, 0, 20)
{
	static const struct {
		const char *text, *about;
	} rows[] = {
		{ FILE_OF("- name: a\n  errImagePull: {hours: 1h}\n"), "neither namespaces nor labels" },
		{ FILE_OF("- {name: a, namespaces: [x]}\n- {name: a, namespaces: [y]}\n"),
		  "overrides[].name: two are called" },
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
		{ FILE_OF("- {name: a, labels: [a=b], mod: observe}\n"), "labels, or a duty" },
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
	loads(FILE_OF("- {name: a, namespaces: [x, y]}\n- {name: b, namespaces: [y]}\n"));
	for (size_t i = 0; i < diags.n; i++)
		if (strstr(diags.v[i].text, "override \"b\" is not used where \"a\""))
			return;
	ck_abort_msg("no warning");
}

TEST(a_duty_that_only_an_override_enables_is_enabled)
{
	loads("deleteEvictedPod: {namespaces: \"*\"}\noverrides:\n"
	      "- {name: a, namespaces: [x], deleteEvictedPod: {enable: true}}\n");
	ck_assert(policy_enables(&config.settings.policy, DUTY_EVICTED));
	ck_assert(!policy_enables(&config.settings.policy, DUTY_IMAGE_PULL));
	for (size_t i = 0; i < diags.n; i++)
		ck_assert_ptr_null(strstr(diags.v[i].text, "every duty is off"));
	complains("tooManyRestart: {namespaces: \"*\"}\noverrides:\n"
		  "- {name: a, namespaces: [x], tooManyRestart: {enable: true}}\n",
		  "there is no apiurl");
}

TEST(one_window_is_one_text)
{
	loads("errImagePull:\n  windows: 0 9 * * 1,3,5 for 8h\n");
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

	loads(good);
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
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

	loads(good);
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

TEST(overrides_in_force_read_back_equal)
{
	reads_back_equal(good);
	_cleanup_free_ char *text = printed(config_print_effective, &config);
	ck_assert_ptr_nonnull(strstr(text, "overrides:\n  - name: \"gold\"\n"));
	ck_assert_ptr_nonnull(strstr(text, "    errImagePull:\n      hours: 72h0m0s\n"));
}

/* As two clusters of one kubeconfig have it. */
TEST_MAIN("config/config")
{
	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, loaded_setup, loaded_teardown);
}
