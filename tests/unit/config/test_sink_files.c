/* test_sink_files.c - what the files of a sink hold is held to what is asked of the same value in the
 * configuration, said with the name of the file and the remedy, and never shown. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/config.h"
#include "config/sink_files.h"
#include "model/phrases.h"
#include "tests/suite.h"
#include "tests/unit/config/chinese.h"
#include "tests/unit/config/loaded.h"

#define FEISHU   "https://open.feishu.cn/open-apis/bot/v2/hook/HIDE"
#define DINGTALK "https://oapi.dingtalk.com/robot/send?access_token=HIDE"

/* The file f, named by that key of a sink of that type, and the one line that is said; NULL: none. */
#define WHOLE   "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"
#define DAMAGED "-----BEGIN CERTIFICATE-----\nHIDE\n"

static const struct {
	const char *type, *key, *text;
	size_t n; /* 0 = strlen */
	bool error;
	const char *line;
} cases[] = {
	{ "feishu", "urlFile", FEISHU, 0, false, NULL },
	{ "feishu", "urlFile", "\r\n\t " FEISHU " \r\n\r\n", 0, false, NULL },
	{ "feishu", "urlFile", "", 0, true, "/f: sinks[].urlFile (a): the file is empty" },
	{ "feishu", "urlFile", " \n\t\r\n", 0, true, "the file is empty" },
	{ "feishu", "urlFile", "\xef\xbb\xbf" FEISHU, 0, true, "byte order mark: save it as UTF-8 without" },
	{ "feishu", "urlFile", "\xff\xfeh\0t\0", 6, true, "the file is UTF-16: save it as UTF-8" },
	{ "feishu", "urlFile", FEISHU "\n" FEISHU "2\n", 0, true,
	  "more than one line: leave the value alone" },
	{ "feishu", "urlFile", "HIDE\r" FEISHU, 0, true, "more than one line" },
	{ "feishu", "urlFile", "\"" FEISHU "\"\n", 0, true, "stands in quotes: in a file it has none" },
	{ "feishu", "urlFile", "open.feishu.cn/HIDE", 0, true, "does not begin with https://" },
	{ "feishu", "urlFile", "https://open.feishu.cn/open-apis/bot/HI DE", 0, true, "holds a space" },
	{ "feishu", "urlFile", DINGTALK, 0, true,
	  "oapi.dingtalk.com is the host of a DingTalk robot, not of a Feishu bot" },
	{ "feishu", "urlFile", "smtp://mail.HIDE", 0, true,
	  "the address of a Feishu bot begins with https://" },
	{ "feishu", "urlFile", "https://open.feishu.cn/HIDE", 0, false,
	  "/f: warning: sinks[].urlFile (a): the path of the address of a Feishu bot begins with "
	  "/open-apis/bot/: copy all of it" },
	{ "dingtalk", "urlFile", DINGTALK, 0, false, NULL },
	{ "dingtalk", "urlFile", "https://oapi.dingtalk.com/robot/send?x=HIDE", 0, true,
	  "the address of a DingTalk robot holds access_token=...: copy all of it" },
	{ "wecom", "urlFile", "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", 0, true,
	  "the address of a WeCom robot holds key=...: copy all of it" },
	{ "feishu", "secretFile", "HIDE\n", 0, false, NULL },
	{ "feishu", "secretFile", "\"HIDE\"", 0, false, NULL }, /* may be one */
	{ "feishu", "secretFile", "HIDE\nHIDE\n", 0, true,
	  "sinks[].secretFile (a): the file holds more than one" },
	{ "feishu", "secretFile", "HI\0DE", 5, true, "control characters" },
	{ "dingtalk", "secretFile", "SECHIDE\n", 0, false, NULL },
	{ "dingtalk", "secretFile", "HIDE\n", 0, false,
	  "/f: warning: sinks[].secretFile (a): the secret of a DingTalk robot begins with SEC" },
	{ "webhook", "caFile", WHOLE, 0, false, NULL },
	{ "webhook", "caFile", WHOLE DAMAGED, 0, false,
	  "/f: warning: sinks[].caFile (a): damaged certificates, which are left out: 1" },
	{ "webhook", "caFile", DAMAGED, 0, true, "holds no certificate that is whole" },
	{ "webhook", "caFile", "HIDE", 0, true, "sinks[].caFile (a): the file is not PEM" },
	{ "webhook", "caFile", "-----BEGIN \0HIDE", 16, true, "the file is not PEM" },
	{ "webhook", "caFile", "\n", 0, true, "the file is empty" },
};

static char dir[] = "/tmp/opc-sink-files-XXXXXX";

static void set_up(void)
{
	loaded_setup();
	(void)strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void tear_down(void)
{
	_cleanup_free_ char *f = xasprintf("%s/f", dir);

	(void)unlink(f);
	(void)rmdir(f);
	(void)rmdir(dir);
	loaded_teardown();
}

static char *write_f(const char *text, size_t n, mode_t mode)
{
	char *path = xasprintf("%s/f", dir);
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text, 1, n, f), n);
	(void)fclose(f);
	ck_assert_int_eq(chmod(path, mode), 0);
	return path;
}

/* What is said of the files alone, of the one sink that there is. */
static int check_files(const char *type, const char *key, enum language l)
{
	const bool is_url = strcmp(key, "urlFile") == 0;
	_cleanup_free_ char *text = xasprintf("sinks: [{name: a, type: %s, %s: f%s}]\n", type, key,
					      is_url ? "" : ", url: 'https://127.0.0.1/send?access_token=x'");
	_cleanup_free_ char *path = xasprintf("%s/config.yml", dir);

	ck_assert_int_eq(config_load_text(path, text, strlen(text), &config, &diags), 0);
	diags_done(&diags);
	const int r = config_check_sink_files(path, &config, &diags);

	if (l == LANGUAGE_ZH)
		diags_in_chinese(&diags);
	return r;
}

static void write_case(int i)
{
	free(write_f(cases[i].text, cases[i].n ? cases[i].n : strlen(cases[i].text), 0600));
}

TEST_LOOP(a_file_is_held_to_what_is_asked_of_its_value, 0, ARRAY_SIZE(cases))
{
	write_case(_i);
	ck_assert_int_eq(check_files(cases[_i].type, cases[_i].key, LANGUAGE_EN),
			 cases[_i].error ? -EINVAL : 0);
	ck_assert_uint_eq(diags.n, cases[_i].line != NULL);
	for (size_t i = 0; i < diags.n; i++) {
		ck_assert(diags.v[i].error == cases[_i].error);
		ck_assert_msg(strstr(diags.v[i].text, cases[_i].line), "%s", diags.v[i].text);
		ck_assert_msg(!strstr(diags.v[i].text, "HIDE"), "%s", diags.v[i].text);
	}
}

TEST_LOOP(it_is_said_in_chinese_too, 0, ARRAY_SIZE(cases))
{
	write_case(_i);
	(void)check_files(cases[_i].type, cases[_i].key, LANGUAGE_ZH);
	ck_assert_uint_eq(diags.n, cases[_i].line != NULL);
	for (size_t i = 0; i < diags.n; i++)
		assert_chinese(diags.v[i].text);
}

/* That of the original has its own keys. */
TEST(the_bot_of_the_report_has_files_too)
{
	const char *text = "tooManyRestart: {enable: true, namespaces: a, apiurlFile: f}\n";
	_cleanup_free_ char *path = xasprintf("%s/config.yml", dir);

	free(write_f(DINGTALK, strlen(DINGTALK), 0600));
	ck_assert_int_eq(config_load_text(path, text, strlen(text), &config, &diags), 0);
	ck_assert_int_eq(config_check_sink_files(path, &config, &diags), -EINVAL);
	ck_assert_ptr_nonnull(strstr(diags.v[diags.n - 1].text, "/f: tooManyRestart.apiurlFile: oapi.ding"));
}

/* What may be otherwise on the machine where it runs is a warning. */
TEST(one_that_is_open_to_others_or_writable_is_a_warning)
{
	free(write_f(FEISHU, strlen(FEISHU), 0644));
	ck_assert_int_eq(check_files("feishu", "urlFile", LANGUAGE_EN), 0);
	ck_assert_uint_eq(diags.n, 1);
	ck_assert_ptr_nonnull(
		strstr(diags.v[0].text, "/f: warning: holds a secret that other users can read"));
	diags_done(&diags);
	free(write_f(FEISHU, strlen(FEISHU), 0660));
	config_done(&config);
	config_init(&config);
	ck_assert_int_eq(check_files("feishu", "urlFile", LANGUAGE_EN), 0);
	ck_assert_uint_eq(diags.n, 1);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text, "chmod go-w it first: check it as the user"));
}

/* Root reads all, the service does not. */
TEST(one_that_is_closed_to_the_user_of_the_service_is_a_warning)
{
	_cleanup_free_ char *passwd =
				    suite_file(dir, "passwd", "ops-pod-cleaner:x:4711:4712::/:/bin/false\n"),
			    *f = NULL;

	if (geteuid() != 0)
		return;
	ck_assert_int_eq(setenv("OPC_PASSWD", passwd, 1), 0);
	f = write_f(FEISHU, strlen(FEISHU), 0600);
	ck_assert_int_eq(check_files("feishu", "urlFile", LANGUAGE_EN), 0);
	ck_assert_uint_eq(diags.n, 1);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text,
				     "user ops-pod-cleaner, who runs the service, cannot read it: "
				     "chgrp ops-pod-cleaner and chmod 0640 it"));
	for (int own = 0; own < 2; own++) {
		diags_done(&diags);
		config_done(&config);
		config_init(&config);
		ck_assert_int_eq(chown(f, own ? 4711 : 0, own ? 0 : 4712), 0);
		ck_assert_int_eq(chmod(f, own ? 0400 : 0640), 0);
		(void)check_files("feishu", "urlFile", LANGUAGE_EN);
		for (size_t i = 0; i < diags.n; i++)
			ck_assert_msg(!strstr(diags.v[i].text, "cannot read it"), "%s", diags.v[i].text);
	}
	(void)unlink(passwd);
}

TEST(a_folder_is_no_file)
{
	_cleanup_free_ char *f = xasprintf("%s/f", dir);

	ck_assert_int_eq(mkdir(f, 0700), 0);
	ck_assert_int_eq(check_files("feishu", "urlFile", LANGUAGE_EN), -EINVAL);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text, "/f: sinks[].urlFile (a): is a directory, not a"));
}

/* It is said where the configuration names it, once. */
TEST(one_that_is_missing_is_said_by_the_configuration)
{
	ck_assert_int_eq(check_files("feishu", "urlFile", LANGUAGE_EN), 0);
	ck_assert_uint_eq(diags.n, 0);
}

TEST_MAIN("config/sink_files")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
}
