/* test_exec.c - credential plugins: small scripts that do right and wrong. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "loader/exec.h"
#include "tests/suite.h"
#include "tests/unit/config/chinese.h"
#include "tests/wiped.h"

static char dir[SUITE_PATH_MAX];

static void set_up(void)
{
	suite_folder(dir);
	(void)signal(SIGPIPE, SIG_IGN); /* as the loader has it */
}

static struct kube_target target;
static char why[SENTENCE_MAX];
static int64_t expiry;

/* The plugin is a shell script with this body. */
static void set_plugin(const char *body)
{
	_cleanup_free_ char *script = xasprintf("#!/bin/sh\n%s\n", body);

	target.exec.command = suite_file(dir, "plugin", script);
	target.exec.api_version = xstrdup("client.authentication.k8s.io/v1");
	target.c.server = xstrdup("https://h:6443");
	ck_assert_int_eq(chmod(target.exec.command, 0700), 0);
}

static void runs(void)
{
	ck_assert_msg(loader_exec(&target, 5000, &expiry, why) == 0, "%s", words(why, LANGUAGE_EN));
}

static void tear_down(void)
{
	kube_target_done(&target);
}

#define ANSWER(status)                                                                                       \
	"printf '%s' "                                                                                       \
	"'{\"apiVersion\":\"client.authentication.k8s.io/"                                                   \
	"v1\",\"kind\":\"ExecCredential\",\"status\":{" status "}}'"
#define PEM(what) "-----BEGIN " what "-----\\nx\\n"

TEST(takes_a_token)
{
	set_plugin(ANSWER("\"token\":\"abc\",\"expirationTimestamp\":\"2026-11-21T10:22:48Z\""));

	runs();
	ck_assert_str_eq(target.c.token, "abc");
	ck_assert_int_eq(expiry, INT64_C(1795256568000));
}

/* What a plugin is told in env and what it prints is not left in memory that is given back. It knows the
 * secret from env alone, so that this test has no copy either. */
#define SAYS(status)                                                                                         \
	"echo "                                                                                              \
	"\"{\\\"apiVersion\\\":\\\"client.authentication.k8s.io/v1\\\",\\\"kind\\\":\\\"ExecCredential\\\"," \
	"\\\"status\\\":{" status "}}\""
TEST(what_a_plugin_says_is_wiped)
{
	static const char *const says[] = {
		SAYS("\\\"token\\\":\\\"$X\\\""),
		SAYS("\\\"clientCertificateData\\\":\\\"-----BEGIN "
		     "C-----\\\",\\\"clientKeyData\\\":\\\"-----BEGIN $X\\\""),
		"echo no JSON but $X",
		"echo $X; exit 1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(says); i++) {
		set_plugin(says[i]);
		target.exec.env = xcalloc(1, sizeof(*target.exec.env));
		target.exec.env[0].name = xstrdup("X");
		target.exec.env[0].value = xstrdup("s3cr3t");
		target.exec.n_env = 1;
		wiped_watch("s3cr3t");
		const int r = loader_exec(&target, 5000, &expiry, why);

		ck_assert_msg((r == 0) == (i < 2), "%zu: %s", i, words(why, LANGUAGE_EN));
		ck_assert_msg(wiped_missed() == 0, "%zu: left behind when it was run", i);
		kube_target_done(&target);
		ck_assert_msg(wiped_missed() == 0, "%zu: left behind in the end", i);
		wiped_watch(NULL);
	}
}

TEST(takes_a_certificate)
{
	set_plugin(ANSWER("\"clientCertificateData\":\"" PEM("CERTIFICATE") "\",\"clientKeyData\":\"" PEM(
		"PRIVATE KEY") "\""));
	runs();
	ck_assert_ptr_null(target.c.token);
	ck_assert_str_eq(target.c.cert_pem, "-----BEGIN CERTIFICATE-----\nx\n");
	ck_assert_ptr_nonnull(target.c.key_pem);
	ck_assert_int_eq(expiry, 0);
}

/* A program that is not written in Go may print all members. */
TEST(what_is_empty_is_absent)
{
	set_plugin(ANSWER("\"token\":\"abc\",\"clientCertificateData\":\"\",\"clientKeyData\":\"\""));
	runs();
	ck_assert_str_eq(target.c.token, "abc");
	ck_assert_ptr_null(target.c.cert_pem);
	kube_target_done(&target);
	set_plugin(ANSWER("\"token\":\"\",\"clientCertificateData\":\"" PEM(
		"CERTIFICATE") "\",\"clientKeyData\":\"" PEM("PRIVATE KEY") "\""));
	runs();
	ck_assert_ptr_null(target.c.token);
	ck_assert_ptr_nonnull(target.c.cert_pem);
}

TEST(tells_the_plugin_what_it_needs)
{
	set_plugin(
		"{ echo \"$1|$2|$N|$HOME\"; echo \"$KUBERNETES_EXEC_INFO\"; } > \"$(dirname \"$0\")/seen\"\n"
		"cat\n" /* stdin is empty, not ours */
		"[ -e /proc/self/fd/7 ] && exit 9\n" ANSWER("\"token\":\"t\""));
	char seen[1024] = "";

	str_list_add(&target.exec.args, "a", 1);
	str_list_add(&target.exec.args, "b; c", 4);
	target.exec.env = xcalloc(2, sizeof(*target.exec.env));
	target.exec.n_env = 2;
	target.exec.env[0] = (struct kube_env){ xstrdup("N"), xstrdup("v") };
	target.exec.env[1] = (struct kube_env){ xstrdup("HOME"), xstrdup("/over") };
	target.exec.provide_cluster_info = true;
	target.c.ca_pem = xstrdup("ABCD");
	ck_assert_int_eq(dup2(STDERR_FILENO, 7), 7); /* must not be inherited */
	runs();
	_cleanup_free_ char *path = xasprintf("%s/seen", dir);
	FILE *f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	seen[fread(seen, 1, sizeof(seen) - 1, f)] = '\0';
	(void)fclose(f);
	ck_assert_ptr_nonnull(strstr(seen, "a|b; c|v|/over\n"));
	ck_assert_ptr_nonnull(strstr(
		seen, "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\","
		      "\"spec\":{\"interactive\":false,\"cluster\":{\"server\":\"https://h:6443\","
		      "\"certificate-authority-data\":\"QUJDRA==\"}}}"));
}

static const struct {
	const char *body;
	int r;
	const char *text;
} errors[] = {
	{ "echo no login >&2; exit 3", -EIO, "failed (exit 3): no login" },
	{ "kill -9 $$", -EIO, "failed (signal 9)" },
	{ "exec sleep 60", -ETIMEDOUT, "did not end in time" },
	{ "sleep 60 & exit 0", -ETIMEDOUT, "did not end in time" }, /* a child holds the pipe */
	{ "exec >&- 2>&-; sleep 60", -ETIMEDOUT, "did not end in time" },
	{ "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", -EFBIG,
	  "more than 64 KiB" },
	{ "kill -PIPE $$; " ANSWER("\"token\":\"t\""), -EIO, "failed (signal 13)" },
	{ "echo hello", -EINVAL, "did not print JSON" },
	{ ":", -EINVAL, "did not print JSON" },
	{ "printf '%s' '{}'", -EINVAL, "did not print an ExecCredential" },
	{ "echo "
	  "'{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/"
	  "v1beta1\",\"status\":{\"token\":\"t\"}}'",
	  -EINVAL, "answered in apiVersion client.authentication.k8s.io/v1beta1" },
	{ ANSWER(""), -EINVAL, "neither a token nor a certificate" },
	{ ANSWER("\"token\":\"\",\"clientCertificateData\":\"\""), -EINVAL, "neither a token" },
	{ ANSWER("\"token\":\"a\\nb\""), -EINVAL, "with blanks" },
	{ ANSWER("\"token\":5"), -EINVAL, "neither a token" },
	{ ANSWER("\"clientCertificateData\":\"" PEM("CERTIFICATE") "\""), -EINVAL, "without its key" },
	{ ANSWER("\"clientCertificateData\":\"x\",\"clientKeyData\":\"y\""), -EINVAL, "not PEM" },
	{ ANSWER("\"token\":\"t\",\"expirationTimestamp\":\"soon\""), -EINVAL, "RFC 3339" },
};

TEST_LOOP(tells_what_went_wrong, 0, ARRAY_SIZE(errors))
{
	set_plugin(errors[_i].body);
	const uint64_t before = clock_boot_ms();
	const int limit_ms = errors[_i].r == -ETIMEDOUT ? 1000 : 10000; /* else a busy machine is heard */

	ck_assert_int_eq(loader_exec(&target, limit_ms, &expiry, why), errors[_i].r);
	ck_assert_msg(strstr(words(why, LANGUAGE_EN), errors[_i].text), "%s", words(why, LANGUAGE_EN));
	ck_assert_ptr_null(target.c.token);
	ck_assert_uint_lt(clock_boot_ms() - before, 5000);
}

/* The process whose number is in that file of dir is gone, soon. It is nobody's child here: who takes it up
 * may leave it a zombie, which is what /proc says then. */
static void ends(const char *name)
{
	_cleanup_free_ char *file = xasprintf("%s/%s", dir, name);
	char text[32] = "";
	FILE *f = fopen(file, "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), f));
	(void)fclose(f);
	const pid_t pid = (pid_t)strtol(text, NULL, 10);

	ck_assert_int_gt(pid, 1);
	for (int i = 0; i < 500; i++) {
		char state[256] = "Z";
		_cleanup_free_ char *stat_of = xasprintf("/proc/%d/stat", (int)pid);

		f = fopen(stat_of, "r");
		if (f && fgets(state, sizeof(state), f))
			memmove(state, strchr(state, ')') + 2, 2);
		if (f)
			(void)fclose(f);
		if (!f || state[0] == 'Z' || state[0] == 'X')
			return;
		(void)usleep(20000);
	}
	ck_abort_msg("%d lives on", (int)pid);
}

/* What it has started is killed with it. */
TEST(children_of_a_plugin_end_with_it)
{
	_cleanup_free_ char *body = xasprintf("sleep 60 & echo $! > %s/pid; wait", dir);

	set_plugin(body);
	ck_assert_int_eq(loader_exec(&target, 3000, &expiry, why), -ETIMEDOUT);
	ends("pid");
}

/* As an agent that a plugin starts for the next time: it holds stderr, and lives on. */
TEST(a_daemon_of_a_plugin_is_not_waited_for)
{
	set_plugin("sleep 20 >/dev/null & " ANSWER("\"token\":\"abc\""));
	runs();
	ck_assert_str_eq(target.c.token, "abc");
	tear_down();
	set_plugin("sleep 20 >/dev/null & exec >&-; sleep 0.1; echo it is broken >&2; exit 3");
	ck_assert_int_eq(loader_exec(&target, 10000, &expiry, why), -EIO);
	ck_assert_msg(strstr(words(why, LANGUAGE_EN), "it is broken"), "%s", words(why, LANGUAGE_EN));
}

/* The supervisor kills a loader that takes too long; a plugin that goes on would have a credential's code
 * running unseen. */
TEST(a_plugin_ends_with_the_loader)
{
	_cleanup_free_ char *body =
		xasprintf("echo $$ > %s/pid.new; mv %s/pid.new %s/pid; exec sleep 60", dir, dir, dir);
	_cleanup_free_ char *file = xasprintf("%s/pid", dir);

	set_plugin(body);
	const pid_t loader = fork();

	if (loader == 0)
		_exit(loader_exec(&target, 60000, &expiry, why) < 0);
	for (int i = 0; i < 500 && access(file, F_OK) < 0; i++)
		(void)usleep(20000);
	ck_assert_int_eq(kill(loader, SIGKILL), 0);
	ck_assert_int_eq(waitpid(loader, NULL, 0), loader);
	ends("pid");
}

TEST(no_such_program)
{
	target.exec.command = xstrdup("opc-no-such-plugin");
	target.exec.api_version = xstrdup("client.authentication.k8s.io/v1");
	target.exec.install_hint = xstrdup("install it from there");
	target.c.server = xstrdup("https://h");
	ck_assert_int_eq(loader_exec(&target, 1000, &expiry, why), -ENOENT);
	ck_assert_msg(strstr(words(why, LANGUAGE_EN), "no such program in PATH. install it from there"), "%s",
		      words(why, LANGUAGE_EN));
}

TEST_MAIN("loader/exec")
{
	tcase_set_timeout(t, 30);
	tcase_add_checked_fixture(t, set_up, tear_down);
}
