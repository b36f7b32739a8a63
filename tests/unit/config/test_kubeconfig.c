/* test_kubeconfig.c - which server and which credential; the rules of client-go, each with its file. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/diag.h"
#include "config/kubeconfig.h"
#include "config/kubeconfig_user.h"
#include "tests/suite.h"

static char dir[SUITE_PATH_MAX];
static struct kube_target target; /* what was loaded last */
static struct diags diags;

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static void set_up(void)
{
	static const char *const names[] = { "KUBECONFIG", "HOME", "KUBERNETES_SERVICE_HOST",
					     "KUBERNETES_SERVICE_PORT", "OPC_SERVICEACCOUNT_DIR" };

	suite_folder(dir);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void)unsetenv(names[i]);
}

/* A kubeconfig with one cluster, user and context, the fields of the first two given as flow mappings. */
static char *config_of(const char *name, const char *cluster, const char *user)
{
	_cleanup_free_ char *text =
		xasprintf("apiVersion: v1\nkind: Config\ncurrent-context: x\n"
			  "clusters:\n- name: c\n  cluster: {%s}\n"
			  "users:\n- name: u\n  user: {%s}\n"
			  "contexts:\n- name: x\n  context: {cluster: c, user: u, namespace: n}\n"
			  "unknown: {a: [b]}\n",
			  cluster, user);

	return suite_file(dir, name, text);
}

static void forget(void)
{
	kube_target_done(&target);
	diags_done(&diags);
}

static int load(const char *path, const char *context, const char *master)
{
	const struct kube_options o = { path, context, master };

	forget();
	return kube_target_load(&o, &target, &diags);
}

static void loads(const char *path, const char *master)
{
	ck_assert_msg(load(path, NULL, master) == 0, "%s", diags.n ? diags.v[0].text : "");
}

static void fails(const char *path, const char *context, const char *text)
{
	ck_assert_int_lt(load(path, context, NULL), 0);
	ck_assert_uint_ge(diags.errors, 1);
	ck_assert_msg(strstr(diags.v[0].text, text), "%s", diags.v[0].text);
}

TEST(reads_every_field)
{
	_cleanup_free_ char *path = config_of(
		"a",
		"server: 'https://h:6443/k8s/c/?q#f', tls-server-name: t, proxy-url: 'socks5://p:1', "
		"certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==",
		"client-certificate: c.pem, client-key: /abs/k.pem, tokenFile: sub/tok, as: admin, "
		"as-groups: [g, h]");

	loads(path, NULL);
	_cleanup_free_ char *cert = path_of("c.pem"), *token = path_of("sub/tok");
	ck_assert_str_eq(target.c.server, "https://h:6443/k8s/c");
	ck_assert_str_eq(target.c.tls_server_name, "t");
	ck_assert_str_eq(target.c.proxy, "socks5://p:1");
	ck_assert_str_eq(target.c.ca_pem, "-----BEGIN CERTIFICATE-----\n");
	ck_assert_str_eq(target.cert_file, cert);
	ck_assert_str_eq(target.key_file, "/abs/k.pem");
	ck_assert_str_eq(target.token_file, token);
	ck_assert_str_eq(target.c.impersonate_user, "admin");
	ck_assert_uint_eq(target.c.impersonate_groups.n, 2);
	ck_assert_str_eq(target.c.namespace, "n");
	ck_assert(!target.c.insecure && !target.in_cluster);
	ck_assert_uint_eq(diags.n, 0);
}

TEST(reads_json)
{
	_cleanup_free_ char *path = suite_file(dir, "a",
					       "{\"current-context\":\"x\",\"clusters\":[{\"name\":"
					       "\"c\",\"cluster\":{\"server\":\"https:\\/\\/h\"}}],"
					       "\"users\":null,\"contexts\":[{\"name\":\"x\","
					       "\"context\":{\"cluster\":\"c\",\"user\":\"\"}}]}");

	loads(path, NULL);
	ck_assert_str_eq(target.c.server, "https://h");
}

static const struct {
	const char *cluster, *user, *text;
} errors[] = {
	{ "", "", "no server found" },
	{ "server: 'https://h', certificate-authority: a, certificate-authority-data: LS0tLS1CRUdJTiA=", "",
	  "keep one" },
	{ "server: 'https://h', certificate-authority-data: '!!'", "", "not base64" },
	{ "server: 'https://h', certificate-authority-data: QUJD", "", "does not hold PEM" },
	{ "server: 'https://h', certificate-authority: a, insecure-skip-tls-verify: true", "",
	  "exclude one another" },
	{ "server: 'https://h', insecure-skip-tls-verify: maybe", "", "true or false" },
	{ "server: 'https://h', proxy-url: 'ftp://x'", "", "must begin with http://" },
	{ "server: 'https://u:p@h'", "", "user name or password" },
	{ "server: [a]", "", "a text was expected" },
	{ "server: 'https://h'", "client-certificate: a", "needs client-key" },
	{ "server: 'https://h'", "client-key: a", "needs client-certificate" },
	{ "server: 'https://h'",
	  "client-certificate: a, client-certificate-data: LS0tLS1CRUdJTiA=, client-key: k", "keep one" },
	{ "server: 'https://h'", "token: t, username: u", "only one is allowed" },
	{ "server: 'https://h'", "auth-provider: {name: gcp}", "use exec" },
	{ "server: 'https://h'", "as-groups: [a]", "needs as" },
	{ "server: 'https://h'", "as: \"a\\n\"", "as: the text holds control characters" },
	{ "server: 'https://h'", "as: a, as-groups: [\"g\\n\"]", "as-groups: the text holds control" },
	{ "server: 'https://h'", "token: \"t\\n\"", "token: the text holds control characters" },
	{ "server: 'https://h'", "as: a, as-uid: u", "as-uid is not supported" },
	{ "server: 'https://h'", "as: a, as-user-extra: {a: [b]}", "as-user-extra is not supported" },
	{ "server: 'https://h'",
	  "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}",
	  "exec.command is missing" },
	{ "server: 'https://h'", "exec: {command: x, interactiveMode: Never}", "exec.apiVersion is missing" },
	{ "server: 'https://h'", "exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}",
	  "v1alpha1\" is none of client" },
	{ "server: 'https://h'", "exec: {command: x, apiVersion: client.authentication.k8s.io/v1}",
	  "interactiveMode is missing" },
	{ "server: 'https://h'",
	  "exec: {command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always}",
	  "nobody is there" },
	{ "server: 'https://h'",
	  "exec: {command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: No}",
	  "is none of" },
	{ "server: 'https://h', server: 'https://i'", "", "duplicate key" },
	{ "server: *a", "", "found undefined alias" },
};

TEST_LOOP(tells_what_is_wrong, 0, ARRAY_SIZE(errors))
{
	_cleanup_free_ char *path = config_of("a", errors[_i].cluster, errors[_i].user);

	fails(path, NULL, errors[_i].text);
}

/* It becomes a part of paths at the API server. */
TEST(namespace_of_a_context_is_a_name)
{
	_cleanup_free_ char *path =
		suite_file(dir, "a",
			   "clusters: [{name: c, cluster: {server: 'https://h'}}]\n"
			   "current-context: x\n"
			   "contexts: [{name: x, context: {cluster: c, namespace: team/a}}]\n");

	fails(path, NULL, "namespace: \"team/a\" cannot be the name of an object");
}

TEST(exec_is_read_and_yields)
{
	static const char exec[] =
		"exec: {command: ./bin/p, apiVersion: client.authentication.k8s.io/v1beta1, args: [a, 'b "
		"c'], "
		"env: [{name: N, value: v}], provideClusterInfo: true, installHint: get it}";
	_cleanup_free_ char *a = config_of("a", "server: 'https://h'", exec), *command = path_of("./bin/p");

	loads(a, NULL);
	ck_assert_str_eq(target.exec.command, command);
	ck_assert_uint_eq(target.exec.args.n, 2);
	ck_assert_str_eq(target.exec.env[0].name, "N");
	ck_assert(target.exec.provide_cluster_info);
	/* with another credential the plugin is not run */
	_cleanup_free_ char *both = xasprintf("token: t, %s", exec);
	_cleanup_free_ char *b = config_of("b", "server: 'https://h'", both);
	loads(b, NULL);
	ck_assert_ptr_null(target.exec.command);
	ck_assert_str_eq(target.c.token, "t");
}

TEST(sends_no_credential_without_tls)
{
	_cleanup_free_ char *path = config_of("a", "server: 'http://127.0.0.1:8001'", "token: SECRET");

	loads(path, NULL);
	ck_assert_ptr_null(target.c.token);
	ck_assert_uint_eq(diags.n, 1);
	ck_assert_ptr_nonnull(strstr(diags.v[0].text, "no credential is sent"));
	ck_assert_ptr_null(strstr(diags.v[0].text, "SECRET"));
}

TEST(a_server_without_scheme)
{
	_cleanup_free_ char *plain = config_of("a", "server: 'h:8080'", ""),
			    *tls = config_of("b", "server: 'h:8443', insecure-skip-tls-verify: true", "");

	loads(plain, NULL);
	ck_assert_str_eq(target.c.server, "http://h:8080");
	loads(tls, NULL);
	ck_assert_str_eq(target.c.server, "https://h:8443");
}

/* The first file that defines a name wins whole; current-context of the first that sets it. */
TEST(merges_the_files_of_the_variable)
{
	_cleanup_free_ char *a = suite_file(dir, "a",
					    "clusters: [{name: c, cluster: {server: 'https://first'}}]\n"
					    "contexts: [{name: y, context: {cluster: c, user: u}}]\n");
	_cleanup_free_ char *b =
		suite_file(dir, "b",
			   "current-context: x\n"
			   "clusters: [{name: c, cluster: {server: 'https://second', tls-server-name: n}}]\n"
			   "users: [{name: u, user: {token: t}}]\n"
			   "contexts: [{name: x, context: {cluster: c, user: u}}]\n");
	_cleanup_free_ char *list = xasprintf("/nonexistent::%s:%s:%s", a, b, a);

	ck_assert_int_eq(setenv("KUBECONFIG", list, 1), 0);
	loads(NULL, NULL);
	ck_assert_str_eq(target.c.server, "https://first");
	ck_assert_ptr_null(target.c.tls_server_name);
	ck_assert_str_eq(target.c.token, "t");
	fails(NULL, "z", "there is no context \"z\"; there is: y, x");
	/* an explicit file merges nothing */
	fails(a, "x", "");
	ck_assert_int_eq(setenv("KUBECONFIG", "/nonexistent", 1), 0);
	fails(NULL, NULL, "none of the files in $KUBECONFIG");
}

static void make_service_account(const char *host)
{
	free(suite_file(dir, "token", "t\n"));
	ck_assert_int_eq(setenv("OPC_SERVICEACCOUNT_DIR", dir, 1), 0);
	ck_assert_int_eq(setenv("KUBERNETES_SERVICE_HOST", host, 1), 0);
	ck_assert_int_eq(setenv("KUBERNETES_SERVICE_PORT", "443", 1), 0);
}

TEST(order_of_the_sources)
{
	_cleanup_free_ char *kube = path_of(".kube");

	ck_assert_int_eq(mkdir(kube, 0700), 0);
	free(config_of(".kube/config", "server: 'https://home'", ""));
	_cleanup_free_ char *env = config_of("a", "server: 'https://env'", ""),
			    *flag = config_of("b", "server: 'https://flag'", "");
	ck_assert_int_eq(setenv("HOME", dir, 1), 0);
	loads(NULL, NULL);
	ck_assert_str_eq(target.c.server, "https://home");
	make_service_account("10.0.0.1");
	loads(NULL, NULL);
	ck_assert_str_eq(target.c.server, "https://10.0.0.1:443");
	ck_assert(target.in_cluster);
	ck_assert_int_eq(setenv("KUBECONFIG", env, 1), 0);
	loads(NULL, NULL);
	ck_assert_str_eq(target.c.server, "https://env");
	loads(flag, NULL);
	ck_assert_str_eq(target.c.server, "https://flag");
	loads(flag, "https://master");
	ck_assert_str_eq(target.c.server, "https://master");
}

TEST(in_the_cluster)
{
	make_service_account("fd00::1");
	loads(NULL, NULL);
	_cleanup_free_ char *ca = path_of("ca.crt"), *token = path_of("token");
	ck_assert_str_eq(target.c.server, "https://[fd00::1]:443");
	ck_assert_str_eq(target.ca_file, ca);
	ck_assert_str_eq(target.token_file, token);
	/* another server does not get the pod's token */
	loads(NULL, "https://other");
	ck_assert_ptr_null(target.token_file);
}

TEST(nothing_is_known)
{
	ck_assert_int_eq(setenv("HOME", dir, 1), 0);
	fails(NULL, NULL, "no API server is known: give --kubeconfig");
	fails("/nonexistent", NULL, "/nonexistent: cannot be read");
}

static const struct {
	const char *text, *plain; /* NULL = none */
} base64[] = {
	{ "", "" },
	{ "QQ==", "A" },
	{ "QUI=", "AB" },
	{ "QUJD", "ABC" },
	{ "QU\nJD\r\n", "ABC" },
	{ "QQ=", NULL },
	{ "QQ", NULL },
	{ "Q", NULL },
	{ "QQ==Q", NULL },
	{ "Q===", NULL },
	{ "QUJD-", NULL },
	{ "QQ==QQ==", NULL },
	{ "+/+/", "\xfb\xff\xbf" },
};

TEST_LOOP(decodes_base64, 0, ARRAY_SIZE(base64))
{
	size_t n = 0;
	_cleanup_free_ char *got = kube_base64_decode(base64[_i].text, strlen(base64[_i].text), &n);

	ck_assert_int_eq(got == NULL, base64[_i].plain == NULL);
	if (got) {
		ck_assert_str_eq(got, base64[_i].plain);
		ck_assert_uint_eq(n, strlen(base64[_i].plain));
	}
}

TEST_MAIN("config/kubeconfig")
{
	tcase_add_checked_fixture(t, set_up, forget);
}
