/* test_target.c - what becomes of a kubeconfig's credential, and of the way to its server. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "tests/unit/loader/run_loader.h"

/* A token is renewed before it ends: a minute earlier, though not at every moment for one that lives shorter.
 */
static const struct {
	int lives_s;
	uint64_t from_ms, to_ms;
} tokens[] = { { 3600, 3500000, 3540000 }, { 65, 10000, 10000 }, { 30, 10000, 10000 }, { -5, 10000, 10000 } };

TEST_LOOP(a_plugins_token_is_renewed_before_it_ends, 0, ARRAY_SIZE(tokens))
{
	_cleanup_free_ char *script = path_of("plugin");
	_cleanup_free_ char *config = xasprintf(TARGET("https://127.0.0.1:1", PLUGIN("%s")), script);
	_cleanup_free_ char *text =
		xasprintf("#!/bin/sh\nprintf "
			  "'{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\","
			  "\"status\":{\"token\":\"t\",\"expirationTimestamp\":\"%%s\"}}' $(date -u -d '%+d "
			  "seconds' +%%Y-%%m-%%dT%%H:%%M:%%SZ)\n",
			  tokens[_i].lives_s);

	free(suite_file(dir, "plugin", text));
	ck_assert_int_eq(chmod(script, 0700), 0);
	free(suite_file(dir, "writer", config));
	succeeds("mode: observe\n", "writer");
	ck_assert_str_eq(run.worker[0].cluster.token, "t");
	ck_assert_msg(run.refresh_ms >= tokens[_i].from_ms && run.refresh_ms <= tokens[_i].to_ms, "%llu ms",
		      (unsigned long long)run.refresh_ms);
}

/* Of the environment's proxy. */
static size_t warnings(void)
{
	size_t n = 0;

	for (size_t i = 0; i < run.n_lines; i++)
		n += strstr(run.lines[i], "write proxy-url") != NULL;
	return n;
}

/* Of a proxy by name its addresses go beside it, and the name stays: its certificate may be of it. */
static const struct {
	const char *given, *proxy, *address;
} proxies[] = {
	{ "https://localhost:3129", "https://localhost:3129", ":3129" },
	{ "https://127.0.0.1:3129", "https://127.0.0.1:3129", NULL },
	{ "http://127.0.0.1", "http://127.0.0.1", NULL },
	{ "http://localhost", "http://localhost", ":80" },
	{ "socks5://127.0.0.1", "socks5h://127.0.0.1", NULL },
	{ "socks5://localhost", "socks5h://localhost", ":1080" },
};

TEST_LOOP(the_way_by_a_proxy, 0, ARRAY_SIZE(proxies))
{
	_cleanup_free_ char *server = xasprintf("https://h.invalid:6443', proxy-url: '%s", proxies[_i].given);
	_cleanup_free_ char *config = xasprintf(TARGET("%s", "token: t"), server);

	free(suite_file(dir, "writer", config));
	ck_assert_int_eq(setenv("HTTPS_PROXY", "http://10.0.0.1:3128", 1), 0);
	succeeds("mode: observe\n", "writer");
	ck_assert_str_eq(run.worker[0].cluster.proxy, proxies[_i].proxy);
	if (proxies[_i].address)
		ck_assert(strstr(run.worker[0].cluster.address, proxies[_i].address) != NULL);
	else
		ck_assert_ptr_null(run.worker[0].cluster.address);
	ck_assert_uint_eq(warnings(), 0);
}

/* Who knows it from kubectl learns that it does nothing here; near servers and those of NO_PROXY have none
 * there either. */
static const struct {
	const char *server, *none;
	size_t lines;
} environments[] = {
	{ "https://10.1.2.3:6443", NULL, 1 },           { "https://10.1.2.3:6443", "10.9.9.9", 1 },
	{ "https://10.1.2.3:6443", "a.b,10.1.2.3", 0 }, { "https://10.1.2.3:6443", "*", 0 },
	{ "https://127.0.0.1:6443", NULL, 0 },
};

TEST_LOOP(a_proxy_of_the_environment_is_no_silence, 0, ARRAY_SIZE(environments))
{
	_cleanup_free_ char *config = xasprintf(TARGET("%s", "token: t"), environments[_i].server);

	free(suite_file(dir, "writer", config));
	ck_assert_int_eq(setenv("HTTPS_PROXY", "http://10.0.0.1:3128", 1), 0);
	ck_assert_int_eq(environments[_i].none ? setenv("NO_PROXY", environments[_i].none, 1)
					       : unsetenv("NO_PROXY"),
			 0);
	succeeds("mode: observe\n", "writer");
	ck_assert_uint_eq(warnings(), environments[_i].lines);
}

TEST_MAIN("loader/target")
{
	tcase_set_timeout(t, 40);
	tcase_add_checked_fixture(t, set_up, run_done);
}
