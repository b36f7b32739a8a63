/* test_exec.c - credential plugins: small scripts that do right and wrong. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "loader/exec.h"
#include "loader/resolve.h"
#include "tests/suite.h"

static char dir[SUITE_PATH_MAX];

static void set_up(void)
{
	suite_folder(dir);
}

/* A target whose plugin is a shell script with this body. */
static struct kube_target target_of(const char *body)
{
	struct kube_target t = { 0 };
	FILE *f;

	t.exec.command = xasprintf("%s/plugin", dir);
	t.exec.api_version = xstrdup("client.authentication.k8s.io/v1");
	t.c.server = xstrdup("https://h:6443");
	f = fopen(t.exec.command, "we");
	ck_assert_ptr_nonnull(f);
	(void)fprintf(f, "#!/bin/sh\n%s\n", body);
	(void)fclose(f);
	ck_assert_int_eq(chmod(t.exec.command, 0700), 0);
	return t;
}

#define ANSWER(status)                                                                                       \
	"printf '%s' "                                                                                       \
	"'{\"apiVersion\":\"client.authentication.k8s.io/"                                                   \
	"v1\",\"kind\":\"ExecCredential\",\"status\":{" status "}}'"
#define PEM(what) "-----BEGIN " what "-----\\nx\\n"

TEST(takes_a_token)
{
	struct kube_target t =
		target_of(ANSWER("\"token\":\"abc\",\"expirationTimestamp\":\"2026-11-21T10:22:48Z\""));
	char why[LOADER_ERROR_MAX] = "";
	int64_t expiry;

	ck_assert_msg(loader_exec(&t, 5000, &expiry, why) == 0, "%s", why);
	ck_assert_str_eq(t.c.token, "abc");
	ck_assert_int_eq(expiry, INT64_C(1795256568000));
	kube_target_done(&t);
}

TEST(takes_a_certificate)
{
	struct kube_target t = target_of(ANSWER("\"clientCertificateData\":\"" PEM(
		"CERTIFICATE") "\",\"clientKeyData\":\"" PEM("PRIVATE KEY") "\""));
	char why[LOADER_ERROR_MAX] = "";
	int64_t expiry;

	ck_assert_msg(loader_exec(&t, 5000, &expiry, why) == 0, "%s", why);
	ck_assert_ptr_null(t.c.token);
	ck_assert_str_eq(t.c.cert_pem, "-----BEGIN CERTIFICATE-----\nx\n");
	ck_assert_ptr_nonnull(t.c.key_pem);
	ck_assert_int_eq(expiry, 0);
	kube_target_done(&t);
}

TEST(tells_the_plugin_what_it_needs)
{
	struct kube_target t = target_of(
		"{ echo \"$1|$2|$N|$HOME\"; echo \"$KUBERNETES_EXEC_INFO\"; } > \"$(dirname \"$0\")/seen\"\n"
		"cat\n" /* stdin is empty, not ours */
		"[ -e /proc/self/fd/7 ] && exit 9\n" ANSWER("\"token\":\"t\""));
	char why[LOADER_ERROR_MAX] = "", seen[1024] = "";
	int64_t expiry;

	str_list_add(&t.exec.args, "a", 1);
	str_list_add(&t.exec.args, "b; c", 4);
	t.exec.env = xcalloc(2, sizeof(*t.exec.env));
	t.exec.n_env = 2;
	t.exec.env[0] = (struct kube_env){ xstrdup("N"), xstrdup("v") };
	t.exec.env[1] = (struct kube_env){ xstrdup("HOME"), xstrdup("/over") };
	t.exec.provide_cluster_info = true;
	t.c.ca_pem = xstrdup("ABCD");
	ck_assert_int_eq(dup2(STDERR_FILENO, 7), 7); /* must not be inherited */
	ck_assert_msg(loader_exec(&t, 5000, &expiry, why) == 0, "%s", why);
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
	kube_target_done(&t);
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
	{ "echo hello", -EINVAL, "did not print JSON" },
	{ ":", -EINVAL, "did not print JSON" },
	{ "printf '%s' '{}'", -EINVAL, "did not print an ExecCredential" },
	{ "echo "
	  "'{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/"
	  "v1beta1\",\"status\":{\"token\":\"t\"}}'",
	  -EINVAL, "answered in apiVersion client.authentication.k8s.io/v1beta1" },
	{ ANSWER(""), -EINVAL, "neither a token nor a certificate" },
	{ ANSWER("\"token\":\"\""), -EINVAL, "empty token" },
	{ ANSWER("\"token\":\"a\\nb\""), -EINVAL, "with blanks" },
	{ ANSWER("\"token\":5"), -EINVAL, "neither a token" },
	{ ANSWER("\"clientCertificateData\":\"" PEM("CERTIFICATE") "\""), -EINVAL, "without its key" },
	{ ANSWER("\"clientCertificateData\":\"x\",\"clientKeyData\":\"y\""), -EINVAL, "not PEM" },
	{ ANSWER("\"token\":\"t\",\"expirationTimestamp\":\"soon\""), -EINVAL, "RFC 3339" },
};

TEST_LOOP(tells_what_went_wrong, 0, ARRAY_SIZE(errors))
{
	struct kube_target t = target_of(errors[_i].body);
	const uint64_t before = clock_boot_ms();
	char why[LOADER_ERROR_MAX] = "";
	int64_t expiry;

	ck_assert_int_eq(loader_exec(&t, 1000, &expiry, why), errors[_i].r);
	ck_assert_msg(strstr(why, errors[_i].text), "%s", why);
	ck_assert_ptr_null(t.c.token);
	ck_assert_uint_lt(clock_boot_ms() - before, 5000);
	kube_target_done(&t);
}

TEST(no_such_program)
{
	struct kube_target t = { 0 };
	char why[LOADER_ERROR_MAX] = "";
	int64_t expiry;

	t.exec.command = xstrdup("opc-no-such-plugin");
	t.exec.api_version = xstrdup("client.authentication.k8s.io/v1");
	t.exec.install_hint = xstrdup("install it from there");
	t.c.server = xstrdup("https://h");
	ck_assert_int_eq(loader_exec(&t, 1000, &expiry, why), -ENOENT);
	ck_assert_msg(strstr(why, "no such program in PATH. install it from there"), "%s", why);
	kube_target_done(&t);
}

TEST(resolves_names)
{
	char why[LOADER_ERROR_MAX] = "", *address = NULL;

	ck_assert_msg(loader_resolve("localhost", 6443, &address, why) == 0, "%s", why);
	ck_assert(strcmp(address, "127.0.0.1:6443") == 0 || strcmp(address, "[::1]:6443") == 0);
	free(address);
	ck_assert_int_eq(loader_resolve("no-such-host.invalid", 1, &address, why), -EAGAIN);
	ck_assert_ptr_nonnull(strstr(why, "\"no-such-host.invalid\" cannot be resolved"));
}

TEST_MAIN("loader/exec")
{
	tcase_set_timeout(t, 30);
	tcase_add_checked_fixture(t, set_up, NULL);
}
