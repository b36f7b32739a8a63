/* test_cluster.c - a cluster of the configuration, loaded in the process that calls: files, plugin,
 * addresses, and the credential of the workers. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/cluster.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "tests/suite.h"

#define WHOLE   "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"
#define DAMAGED "-----BEGIN CERTIFICATE-----\nMIIxx\n-----END CERTIFICATE-----\n"

static char dir[SUITE_PATH_MAX];
static struct loader_options options;
static struct loader loader;
static struct loaded_cluster cluster;

static void setup(void)
{
	static char path[SUITE_PATH_MAX + 16];

	suite_folder(dir);
	(void)snprintf(path, sizeof(path), "%s/config.yml", dir);
	options = (struct loader_options){ .config = path };
	loader = (struct loader){ .options = &options, .watches.fd = -1 };
	loader.until_ms = clock_boot_ms() + 20000;
	ck_assert_int_eq(unsetenv("HTTPS_PROXY") | unsetenv("https_proxy") | unsetenv("KUBECONFIG"), 0);
}

static void teardown(void)
{
	loaded_cluster_done(&cluster);
	config_done(&loader.config);
	diags_done(&loader.diags);
}

/* A kubeconfig of that name with one context; the two are the fields of its cluster and its user. */
static void write_kubeconfig(const char *name, const char *fields, const char *user)
{
	_cleanup_free_ char *text = xasprintf("clusters: [{name: c, cluster: {%s}}]\n"
					      "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
					      "current-context: x\n"
					      "users: [{name: u, user: {%s}}]\n",
					      fields, user);

	free(suite_file(dir, name, text));
}

/* Load the only cluster of this configuration. */
static bool load(const char *config)
{
	config_init(&loader.config);
	ck_assert_int_eq(
		config_load_text(options.config, config, strlen(config), &loader.config, &loader.diags), 0);
	diags_done(&loader.diags);
	loaded_cluster_init(&loader, 0, &cluster);
	return loader_load_cluster(&loader, 0, &cluster);
}

static void complains(const char *text)
{
	for (size_t i = 0; i < loader.diags.n; i++)
		if (strstr(loader.diags.v[i].text, text))
			return;
	ck_abort_msg("nothing about \"%s\" but: %s", text,
		     loader.diags.n ? loader.diags.v[0].text : "nothing");
}

TEST(files_are_read_and_soon_read_again)
{
	free(suite_file(dir, "ca", WHOLE));
	free(suite_file(dir, "token", " secret\n"));
	write_kubeconfig("kc", "server: 'https://127.0.0.1:6443', certificate-authority: ca",
			 "tokenFile: token");
	ck_assert_msg(load("kubeconfig: kc\n"), "%s", loader.diags.n ? loader.diags.v[0].text : "");
	ck_assert_str_eq(cluster.name, "default");
	ck_assert_uint_eq(cluster.workers, 8);
	ck_assert_uint_eq(cluster.workers_min, 0);
	ck_assert_str_eq(cluster.reader.c.token, "secret");
	ck_assert_str_eq(cluster.reader.c.ca_pem, WHOLE);
	ck_assert_ptr_null(cluster.reader.c.address); /* the server is an address */
	ck_assert(cluster.shared && !cluster.own_writer && !loader.lasting);
	ck_assert_uint_eq(loader.refresh_ms, 50000); /* as client-go reads a token file */
}

static const struct {
	const char *fields, *user, *line;
	bool lasting;
} broken[] = {
	{ "server: 'https://127.0.0.1', certificate-authority: none", "",
	  "certificate-authority: cannot be read", true },
	{ "server: 'https://127.0.0.1', certificate-authority: text", "",
	  "certificate-authority: the file is not PEM", true },
	{ "server: 'https://127.0.0.1'", "tokenFile: none", "token: cannot be read", true },
	{ "server: 'https://127.0.0.1'", "tokenFile: two", "token: the file is empty or holds more", true },
	{ "server: 'https://no-such-host.invalid'", "token: t",
	  "server: the name \"no-such-host.invalid\" cannot", false },
	{ "server: 'https://127.0.0.1', proxy-url: 'http://no-such-host.invalid:1'", "token: t",
	  "proxy-url: the name \"no-such-host.invalid\" cannot", false },
	{ "server: 'https://127.0.0.1', proxy-url: 'http://'", "token: t", "proxy-url: the URL has no host",
	  true },
	{ "server: 'https://127.0.0.1'",
	  "exec: {command: /none, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}",
	  "the plugin \"/none\" cannot be run", true },
};

TEST_LOOP(each_error_names_its_key, 0, ARRAY_SIZE(broken))
{
	free(suite_file(dir, "text", "no certificate"));
	free(suite_file(dir, "two", "a b"));
	write_kubeconfig("kc", broken[_i].fields, broken[_i].user);
	ck_assert(!load("kubeconfig: kc\n"));
	complains(broken[_i].line);
	ck_assert_int_eq(loader.lasting, broken[_i].lasting);
}

/* The file wins while it can be read. */
TEST(a_token_beside_its_file_is_the_fallback)
{
	write_kubeconfig("kc", "server: 'https://127.0.0.1'", "tokenFile: none, token: old");
	ck_assert(load("kubeconfig: kc\n"));
	ck_assert_str_eq(cluster.reader.c.token, "old");
	complains("warning: token: cannot be read: No such file or directory; the token beside it is used");
}

/* As with client-go, which says of the second that it cannot load them. */
TEST(a_damaged_certificate_hinders_no_other)
{
	free(suite_file(dir, "ca", DAMAGED WHOLE));
	write_kubeconfig("kc", "server: 'https://127.0.0.1', certificate-authority: ca", "token: t");
	ck_assert(load("kubeconfig: kc\n"));
	ck_assert_str_eq(cluster.reader.c.ca_pem, WHOLE);
	complains("/ca: warning: certificate-authority: damaged certificates, which are left out: 1");
}

TEST(an_authority_of_damaged_certificates_alone_is_none)
{
	free(suite_file(dir, "ca", DAMAGED));
	write_kubeconfig("kc", "server: 'https://127.0.0.1', certificate-authority: ca", "token: t");
	ck_assert(!load("kubeconfig: kc\n"));
	complains("/ca: certificate-authority: holds no certificate that is whole");
}

TEST(a_proxy_by_its_address_has_no_other)
{
	write_kubeconfig("kc", "server: 'https://h:6443', proxy-url: 'socks5://127.0.0.1'", "token: t");
	ck_assert(load("kubeconfig: kc\n"));
	ck_assert_str_eq(cluster.reader.c.proxy, "socks5h://127.0.0.1");
	ck_assert_str_eq(cluster.reader.c.server, "https://h:6443"); /* the proxy looks it up */
	ck_assert_ptr_null(cluster.reader.c.address);
}

TEST(a_proxy_without_a_port_has_that_of_its_scheme)
{
	write_kubeconfig("kc", "server: 'https://h:6443', proxy-url: 'socks5://localhost'", "token: t");
	ck_assert(load("kubeconfig: kc\n"));
	ck_assert_str_eq(cluster.reader.c.proxy, "socks5h://localhost");
	ck_assert_ptr_nonnull(strstr(cluster.reader.c.address, ":1080"));
}

#define PKCS8 "-----BEGIN ENCRYPTED PRIVATE KEY-----\nx\n"
static const char *const locked[] = {
	"client-certificate: cert, client-key: pkcs8",
	"client-certificate: cert, client-key: rsa",
	/* the one of PKCS #8 */
	("client-certificate: cert, client-key-data: "
	 "LS0tLS1CRUdJTiBFTkNSWVBURUQgUFJJVkFURSBLRVktLS0tLQp4Cg=="),
	"exec: {command: ./plugin, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}",
};

/* Nobody is there to type it, and the processes that use it have no terminal. */
TEST_LOOP(a_key_that_needs_a_password_is_an_error, 0, ARRAY_SIZE(locked))
{
	_cleanup_free_ char *script =
		suite_file(dir, "plugin",
			   "#!/bin/sh\necho '{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": "
			   "\"ExecCredential\", \"status\": {\"clientCertificateData\": \"-----BEGIN "
			   "CERTIFICATE-----\", "
			   "\"clientKeyData\": \"-----BEGIN ENCRYPTED PRIVATE KEY-----\"}}'\n");

	ck_assert_int_eq(chmod(script, 0755), 0);
	free(suite_file(dir, "cert", "-----BEGIN CERTIFICATE-----\nx\n"));
	free(suite_file(dir, "pkcs8", PKCS8));
	free(suite_file(dir, "rsa",
			"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: x\n\nx\n"));
	write_kubeconfig("kc", "server: 'https://127.0.0.1'", locked[_i]);
	ck_assert(!load("kubeconfig: kc\n"));
	complains("client-key: the key needs a password");
	ck_assert(loader.lasting);
}

TEST(a_proxy_of_https_keeps_its_name)
{
	write_kubeconfig("kc", "server: 'https://h', proxy-url: 'https://localhost:8443'", "token: t");
	ck_assert(load("kubeconfig: kc\n"));
	ck_assert_str_eq(cluster.reader.c.proxy, "https://localhost:8443");
	ck_assert_ptr_nonnull(strstr(cluster.reader.c.address, ":8443"));
}

static const struct {
	const char *user;
	bool shared;
} writers[] = { { "token: w", false }, { "token: r", true }, { "token: r, as: other", true } };

/* Whoever has the watcher's credential can do what the workers may. */
TEST_LOOP(workers_with_a_kubeconfig_of_their_own, 0, ARRAY_SIZE(writers))
{
	write_kubeconfig("r", "server: 'https://127.0.0.1'", "token: r");
	write_kubeconfig("w", "server: 'https://127.0.0.1'", writers[_i].user);
	ck_assert(load("clusters: [{name: a, kubeconfig: r, writerKubeconfig: w, workers: 7}]\n"));
	ck_assert(cluster.own_writer && cluster.shared == writers[_i].shared);
	ck_assert_str_eq(cluster.name, "a");
	ck_assert_uint_eq(cluster.workers, 7);
	ck_assert_uint_eq(cluster.workers_min, 7);
}

TEST(watcher_and_workers_have_one_server)
{
	write_kubeconfig("r", "server: 'https://127.0.0.1'", "token: r");
	write_kubeconfig("w", "server: 'https://127.0.0.2'", "token: w");
	ck_assert(!load("clusters: [{name: a, kubeconfig: r, writerKubeconfig: w}]\n"));
	complains("cluster \"a\": the watcher's API server https://127.0.0.1 and the workers' "
		  "https://127.0.0.2");
	ck_assert(loader.lasting);
}

/* An answer of a plugin says when it ends: a minute earlier it is asked again, though never at every moment.
 */
TEST(a_plugin_is_asked_again_before_its_token_ends)
{
	_cleanup_free_ char *script =
		suite_file(dir, "plugin",
			   "#!/bin/sh\necho '{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": "
			   "\"ExecCredential\", \"status\": {\"token\": \"p\", \"expirationTimestamp\": "
			   "\"2001-01-01T00:00:00Z\"}}'\n");

	ck_assert_int_eq(chmod(script, 0755), 0);
	write_kubeconfig("kc", "server: 'https://127.0.0.1'",
			 "exec: {command: ./plugin, apiVersion: client.authentication.k8s.io/v1, "
			 "interactiveMode: Never}");
	ck_assert_msg(load("kubeconfig: kc\n"), "%s", loader.diags.n ? loader.diags.v[0].text : "");
	ck_assert_str_eq(cluster.reader.c.token, "p");
	ck_assert_uint_eq(loader.refresh_ms, 10000);
}

TEST_MAIN("loader/cluster")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
