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

TEST_MAIN("loader/target")
{
	tcase_set_timeout(t, 40);
	tcase_add_checked_fixture(t, set_up, run_done);
}
