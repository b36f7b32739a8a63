/* test_loader.c - the loader as a process: what it sends for which files, and how it ends. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "config/blob.h"
#include "ipc/msg.h"
#include "model/language.h"
#include "model/sentence.h"
#include "text/facts_text.h"
#include "model/news.h"
#include "model/sink_types.h"
#include "tests/unit/loader/run_loader.h"

TEST(the_original_file)
{
	run_original();
	ck_assert_int_eq(run.code, 0);
	ck_assert(run.end && run.ok && run.errors == 0);
	ck_assert_uint_eq(run.tree.clusters, 1);
	ck_assert_uint_eq(run.refresh_ms, 50000); /* a token file */
	ck_assert(!run.tree.observe && run.tree.duties & 1 << DUTY_EVICTED);
	ck_assert_str_eq(run.tree.config, GOLDEN_DIR "/original.yml");
	ck_assert(run.clusters[0].loaded);
	ck_assert_str_eq(run.clusters[0].server, "https://127.0.0.1:6443");
	ck_assert(strcmp(run.clusters[0].context, "x") == 0 && strcmp(run.clusters[0].user, "u") == 0);
	ck_assert_ptr_nonnull(strstr(run.clusters[0].kubeconfig, "/reader"));
	ck_assert_str_eq(run.clusters[0].writer, "");
	ck_assert_ptr_nonnull(strstr(run.clusters[0].namespaces, "default"));
	ck_assert_str_eq(run.clusters[0].cluster_name, "default");
	ck_assert_uint_eq(run.clusters[0].workers, 8);
	ck_assert_str_eq(run.watcher[0].cluster.server, "https://127.0.0.1:6443");
	ck_assert_ptr_null(run.watcher[0].cluster.address);
	ck_assert_str_eq(run.watcher[0].cluster.token, "READERTOKEN");
	ck_assert_str_eq(run.watcher[0].cluster.ca_pem,
			 "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n");
	ck_assert_str_eq(run.worker[0].cluster.token, "READERTOKEN");
	ck_assert_str_eq(run.worker[0].policy.duty[DUTY_EVICTED].namespaces.v[0], "default");
	ck_assert_uint_eq(run.watcher[0].n_sinks, 0);
	ck_assert_ptr_null(run.reporter.cluster.token);
	ck_assert_uint_eq(run.reporter.n_sinks, 0); /* its duty is off */
	ck_assert_str_eq(run.reporter.cluster_names.v[0], "default");
	ck_assert_str_eq(settings_cluster_title(&run.reporter, "default"), "x");
}

/* What others could read is said of the file, and the work goes on. In a pod it is nobody else's. */
TEST(a_secret_that_others_can_read_is_said)
{
	_cleanup_free_ char *token = path_of("token");
	static const mode_t modes[] = { 0600, 0604 };

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		bool said = false;

		ck_assert_int_eq(chmod(token, modes[i]), 0);
		run_original();
		ck_assert_int_eq(run.code, 0);
		for (size_t n = 0; n < run.n_lines; n++)
			said = said || (strstr(run.lines[n], "/token: ") &&
					strstr(run.lines[n], "other users can read"));
		ck_assert(said == (modes[i] == 0604));
	}
}

TEST(two_clusters_and_a_writer)
{
	succeeds("deleteEvictedPod: {enable: true, namespaces: default, includeJobs: false}\nmode: observe\n"
		 "workers: 3\nclusters:\n- {name: east, kubeconfig: reader, writerKubeconfig: writer}\n"
		 "- {name: west, kubeconfig: writer, workers: 1}\nstateDir: state\n",
		 NULL);
	ck_assert(run.tree.clusters == 2 && run.tree.observe);
	ck_assert(run.clusters[0].workers == 3 && run.clusters[1].workers == 1);
	ck_assert_str_eq(run.watcher[0].cluster.token, "READERTOKEN");
	ck_assert_str_eq(run.worker[0].cluster.token, "WRITERTOKEN");
	ck_assert_ptr_nonnull(strstr(run.clusters[0].writer, "/writer"));
	ck_assert_str_eq(run.watcher[1].cluster.token, "WRITERTOKEN");
	ck_assert_str_eq(run.watcher[1].cluster.name, "west");
	ck_assert_uint_eq(run.reporter.cluster_names.n, 2);
	ck_assert_str_eq(settings_cluster_title(&run.reporter, "west"), "west");
	_cleanup_free_ char *state = path_of("state"), *history = path_of("state/history");
	ck_assert_str_eq(run.tree.state_dir, state);       /* beside the file */
	ck_assert_str_eq(run.reporter.state_dir, history); /* all that the reporter may open */
}

/* A watcher that has the workers' credential, under whatever name, can do what they may. */
TEST(one_credential_for_both_is_said)
{
	static const struct {
		const char *text;
		bool shared;
		const char *token; /* the workers' */
	} cases[] = {
		{ "kubeconfig: reader\n", true, "READERTOKEN" },
		{ "kubeconfig: reader\nwriterKubeconfig: reader\n", true, "READERTOKEN" },
		{ "kubeconfig: reader\nwriterKubeconfig: writer\n", false, "WRITERTOKEN" },
		{ "clusters:\n- {name: a, kubeconfig: reader}\n", true, "READERTOKEN" },
		{ "clusters:\n- {name: a, kubeconfig: reader, writerKubeconfig: writer}\n", false,
		  "WRITERTOKEN" },
		/* That of the only cluster is not that of several. */
		{ "writerKubeconfig: writer\nclusters:\n- {name: a, kubeconfig: reader}\n", true,
		  "READERTOKEN" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		succeeds(cases[i].text, NULL);
		ck_assert_msg(run.watcher[0].cluster.shared == cases[i].shared, "%s", cases[i].text);
		ck_assert(run.worker[0].cluster.shared == cases[i].shared);
		ck_assert_str_eq(run.watcher[0].cluster.token, "READERTOKEN");
		ck_assert_str_eq(run.worker[0].cluster.token, cases[i].token);
	}
}

/* Twice what all duties that work may do together, and some; without a budget for one there is no limit. */
TEST(the_supervisors_own_limit)
{
	succeeds("delteEvictedPod: {enable: true, namespaces: a, maxPerMinute: 3, maxPerDay: 100}\n"
		 "errImagePull: {enable: true, namespaces: a, maxPerHour: 7, maxPerDay: 5}\n"
		 "delteTerminatingPod: {enable: false, namespaces: a}\n",
		 "reader");
	ck_assert_uint_eq(run.tree.writes_per_minute, 2 * (3 + 5) + 10);
	ck_assert_uint_eq(run.tree.writes_per_hour, 2 * (100 + 5) + 10);
	succeeds("delteEvictedPod: {enable: true, namespaces: a, maxPerMinute: 3}\n", "reader");
	ck_assert_uint_eq(run.tree.writes_per_minute, 16);
	ck_assert_uint_eq(run.tree.writes_per_hour, 0);
}

static struct msg_load_fixed fixed_of(const char *text, const char *key)
{
	struct msg_load_fixed found = { 0 };

	succeeds(text, "reader");
	for (size_t i = 0; i < run.n_fixed; i++)
		if (strcmp(run.fixed[i].key, key) == 0)
			found = run.fixed[i];
	ck_assert_str_eq(found.key, key);
	return found;
}

/* leaderElection.name reaches the watcher alone; the supervisor must know when it changes. */
TEST(what_a_restart_alone_changes_is_said)
{
	const uint64_t
		a = fixed_of("leaderElection: {name: a}\nstateDir: state\n", "leaderElection.name").value,
		same = fixed_of("leaderElection: {name: a}\nstateDir: state\nworkers: 3\n",
				"leaderElection.name")
			       .value,
		other = fixed_of("leaderElection: {name: b}\nstateDir: state\n", "leaderElection.name").value;

	ck_assert_uint_eq(a, same);
	ck_assert_uint_ne(a, other);
}

TEST(equal_files_give_equal_bytes)
{
	char a[8192], b[8192];

	run_original();
	const ssize_t n = pread(run.reporter_fd, a, sizeof(a), 0);
	run_original();
	ck_assert_int_gt(n, 100);
	ck_assert_int_eq(pread(run.reporter_fd, b, sizeof(b), 0), n);
	ck_assert_int_eq(memcmp(a, b, (size_t)n), 0);
}

TEST(webhook_from_files_and_zone)
{
	free(suite_file(dir, "hook", "https://localhost:1/HOOK\n"));
	free(suite_file(dir, "sign", "SIGN\n"));
	succeeds("tooManyRestart: {enable: true, namespaces: a, apiurlFile: hook, secretFile: sign, "
		 "duration: 'CRON_TZ=Asia/Tokyo 0 7 9 * * 1'}\n",
		 "reader");
	ck_assert_str_eq(run.reporter.sinks->url, "https://localhost:1/HOOK");
	ck_assert_str_eq(run.reporter.sinks->secret, "SIGN");
	ck_assert_ptr_nonnull(strstr(run.reporter.sinks->address, ":1"));
	ck_assert_str_eq(run.reporter.time_zone, "Asia/Tokyo");
	ck_assert_uint_gt(run.reporter.zone_size, 100);
}

/* timeZone holds for the report too, unless that has one of its own. */
TEST(one_time_zone_for_all)
{
	free(suite_file(dir, "hook", "https://localhost:1/HOOK\n"));
	succeeds("timeZone: Asia/Tokyo\ntooManyRestart: {enable: true, namespaces: a, apiurlFile: hook}\n",
		 "reader");
	ck_assert_str_eq(run.reporter.time_zone, "Asia/Tokyo");
	ck_assert_uint_gt(run.reporter.zone_size, 100);
	succeeds("timeZone: Asia/Tokyo\ntooManyRestart: {enable: true, namespaces: a, apiurlFile: hook, "
		 "timeZone: "
		 "UTC}\n",
		 "reader");
	ck_assert_uint_eq(run.reporter.zone_size, 0);
}

TEST(in_a_pod)
{
	free(suite_file(dir, "namespace", "janitors"));
	ck_assert_int_eq(setenv("OPC_SERVICEACCOUNT_DIR", dir, 1), 0);
	ck_assert_int_eq(setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1), 0);
	ck_assert_int_eq(setenv("KUBERNETES_SERVICE_PORT", "443", 1), 0);
	ck_assert_int_eq(setenv("POD_NAME", "me-0", 1), 0);
	ck_assert_int_eq(setenv("RUNTIME_DIRECTORY", "/run/ops-pod-cleaner@shop", 1), 0);
	succeeds("sandbox: require\n", NULL);
	ck_assert_str_eq(run.reporter.cluster_title, "shop"); /* the instance's, as there is no context */
	ck_assert_ptr_nonnull(strstr(run.clusters[0].kubeconfig, "service account"));
	ck_assert_str_eq(run.watcher[0].cluster.server, "https://10.0.0.1:443");
	ck_assert_str_eq(run.watcher[0].cluster.token, "READERTOKEN");
	ck_assert_str_eq(run.worker[0].policy.own_namespace, "janitors");
	ck_assert_str_eq(run.worker[0].policy.own_pod, "me-0");
	ck_assert_uint_eq(run.reporter.sandbox, SANDBOX_REQUIRE);
}

/* What is broken in the whole, and the line that says so. */
static const struct {
	const char *config, *file, *text; /* text of FILE, NULL = removed */
	const char *line;
} errors[] = {
	{ "workers: many\n", "token", "t", "config.yml:1:10: workers: \"many\"" },
};

/* What is wrong with the chat stops nothing else: no file yet, an address that is none, no secret to it. */
static const struct {
	const char *hook, *sign; /* texts of the files, NULL = missing */
	const char *problem;
} sinks[] = {
	{ NULL, NULL, "tooManyRestart.apiurl: " },
	{ "ftp://x", "SIGN", "does not begin with https" },
	{ "", "SIGN", "the file is empty" },
	{ "https://localhost:1/HOOK", NULL, "tooManyRestart.secret: " },
};

static bool said(const char *line)
{
	for (size_t i = 0; i < run.n_lines; i++)
		if (strstr(run.lines[i], line))
			return true;
	return false;
}

/* Break a file of set_up() (text NULL: remove it). */
static void spoil(const char *name, const char *text)
{
	_cleanup_free_ char *file = path_of(name);

	(void)unlink(file);
	if (text)
		free(suite_file(dir, name, text));
}

static const struct sink_settings *sink(const char *name)
{
	for (size_t i = 0; i < run.reporter.n_sinks; i++)
		if (strcmp(run.reporter.sinks[i].name, name) == 0)
			return &run.reporter.sinks[i];
	ck_abort_msg("there is no sink %s", name);
}

static bool has_problem(const char *name, const char *words)
{
	char *problem = sentence_text(sink(name)->problem, LANGUAGE_EN);
	const bool found = strstr(problem, words) != NULL;

	free(problem);
	return found;
}

TEST_LOOP(a_chat_that_cannot_be_reached_is_the_reporters_trouble, 0, ARRAY_SIZE(sinks))
{
	spoil("hook", sinks[_i].hook);
	spoil("sign", sinks[_i].sign);
	succeeds("tooManyRestart: {enable: true, namespaces: a, apiurlFile: hook, secretFile: sign}\n",
		 "reader");
	ck_assert(has_problem(run.reporter.sinks->name, sinks[_i].problem));
	ck_assert_ptr_null(run.reporter.sinks->url);
	ck_assert_uint_eq(run.refresh_ms, 30000);
	ck_assert_uint_eq(run.n_clusters, 1);
}

TEST_LOOP(tells_what_is_broken, 0, ARRAY_SIZE(errors))
{
	spoil(errors[_i].file, errors[_i].text);
	run_text(errors[_i].config, "reader");
	ck_assert_int_eq(run.code, EXIT_CODE_CONFIG);
	ck_assert(run.end && !run.ok);
	ck_assert_uint_ge(run.errors, 1);
	ck_assert_msg(said(errors[_i].line), "%s", run.lines[0]);
	ck_assert_uint_eq(run.n_clusters, 0);
}

/* What it says has no language before it is read. */
TEST(an_error_is_told_in_the_language_of_who_reads)
{
	run_text("workers: many\n", "reader");
	ck_assert_int_eq(run.code, EXIT_CODE_CONFIG);
	ck_assert_uint_eq(run.errors, 1);
	ck_assert(said("1:10: workers: \"many\" is not a whole number"));
	_cleanup_free_ char *zh = facts_render_in(&run.last, LANGUAGE_ZH);

	ck_assert_msg(strstr(zh, "1:10: workers: \"many\" 不是十进制整数"), "%s", zh);
}

#define OF_THE_SYSTEM "-----BEGIN CERTIFICATE-----\nMAFF\n-----END CERTIFICATE-----\n"

/* Whoever names no CA has the system's: SSL_CERT_FILE, as for OpenSSL and Go. A plain or an insecure
 * connection has no use for it. */
TEST(who_names_no_authority_trusts_the_system)
{
	static const struct {
		const char *cluster, *ca;
	} rows[] = {
		{ "server: 'https://127.0.0.1:1'", OF_THE_SYSTEM },
		{ "server: 'http://127.0.0.1:1'", NULL },
		{ "server: 'https://127.0.0.1:1', insecure-skip-tls-verify: true", NULL },
	};
	_cleanup_free_ char *bundle = suite_file(dir, "bundle", OF_THE_SYSTEM);

	ck_assert_int_eq(setenv("SSL_CERT_FILE", bundle, 1), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text =
			xasprintf("{current-context: x, clusters: [{name: c, cluster: {%s}}], users: [{name: "
				  "u, user: {}}], "
				  "contexts: [{name: x, context: {cluster: c, user: u}}]}\n",
				  rows[i].cluster);

		spoil("reader", text);
		succeeds("mode: observe\n", "reader");
		ck_assert_pstr_eq(run.watcher[0].cluster.ca_pem, rows[i].ca);
		ck_assert_pstr_eq(run.worker[0].cluster.ca_pem, rows[i].ca);
		ck_assert_ptr_null(run.watcher[0].system_ca);
	}
	ck_assert_int_eq(unsetenv("SSL_CERT_FILE"), 0);
}

TEST(sinks_share_the_certificates_of_the_system)
{
	_cleanup_free_ char *bundle = suite_file(dir, "bundle", OF_THE_SYSTEM);

	ck_assert_int_eq(setenv("SSL_CERT_FILE", bundle, 1), 0);
	succeeds("sinks: [{name: b, type: wecom, url: 'http://127.0.0.1:2/B'}]\n", "reader");
	ck_assert_ptr_null(run.reporter.system_ca);
	succeeds("sinks: [{name: b, type: wecom, url: 'https://127.0.0.1:2/B', caFile: ca.crt}]\n", "reader");
	ck_assert_ptr_null(run.reporter.system_ca);
	succeeds("sinks: [{name: b, type: wecom, url: 'https://127.0.0.1:2/B'}, "
		 "{name: c, type: wecom, url: 'https://127.0.0.1:2/C'}]\n",
		 "reader");
	ck_assert_pstr_eq(run.reporter.system_ca, OF_THE_SYSTEM);
	ck_assert_ptr_null(run.reporter.sinks[0].ca_pem);
	spoil("bundle", "no certificates\n");
	succeeds("sinks: [{name: b, type: wecom, url: 'https://127.0.0.1:2/B'}]\n", "reader");
	ck_assert_pstr_ne(run.reporter.system_ca, "no certificates\n");
	ck_assert_int_eq(unsetenv("SSL_CERT_FILE"), 0);
}

/* What is broken about one cluster, and the line that says so. */
static const struct {
	const char *file, *text;
	const char *line;
} bad_clusters[] = {
	{ "token", NULL, "token: token: cannot be read" },
	{ "token", " \n", "empty or holds more than a token" },
	{ "token", "a b\n", "empty or holds more than a token" },
	{ "ca.crt", "x", "the file is not PEM" },
	{ "reader", "a: [", "not valid YAML" },
	{ "reader", NULL, "cannot be read: No such file" },
	{ "reader", "{current-context: y, contexts: []}", "there is no context \"y\"" },
	{ "reader", TARGET("https://no-such.invalid", "token: t"), "cannot be resolved" },
	{ "reader", TARGET("https://127.0.0.1:1", PLUGIN("/no/p")), "the plugin \"/no/p\" cannot be run" },
	{ "reader", TARGET("https://127.0.0.1:1", PLUGIN("'false'")), "failed (exit 1)" },
	{ "reader",
	  "{current-context: x, clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}], contexts: "
	  "[{name: x, context: {cluster: c, "
	  "namespace: a234567890123456789012345678901234567890123456789012345678901234}}]}",
	  "its settings cannot be used" },
};

#define TWO_CLUSTERS "clusters:\n- {name: bad, kubeconfig: reader}\n- {name: good, kubeconfig: writer}\n"

TEST_LOOP(a_bad_cluster_leaves_the_others, 0, ARRAY_SIZE(bad_clusters))
{
	spoil(bad_clusters[_i].file, bad_clusters[_i].text);
	succeeds("mode: observe\n" TWO_CLUSTERS, NULL);
	ck_assert(run.end && run.ok);
	ck_assert_uint_eq(run.n_clusters, 2);
	ck_assert(!run.clusters[0].loaded && run.clusters[1].loaded);
	ck_assert_msg(said(bad_clusters[_i].line), "%s", run.lines[0]);
	ck_assert_ptr_nonnull(strstr(run.problem[0], bad_clusters[_i].line));
	ck_assert_str_eq(run.problem[1], "");
	ck_assert_ptr_nonnull(strstr(run.clusters[0].kubeconfig, "/reader"));
	ck_assert_ptr_null(run.watcher[0].cluster.server);
	ck_assert_str_eq(run.watcher[1].cluster.token, "WRITERTOKEN");
	ck_assert_str_eq(run.worker[1].cluster.token, "WRITERTOKEN");
	ck_assert_uint_eq(run.reporter.cluster_names.n, 2);
}

/* It takes its own time alone, and its plugin ends with it. */
TEST(a_plugin_that_hangs_costs_its_own_cluster)
{
	_cleanup_free_ char *here = path_of("here"), *script = path_of("plugin");
	_cleanup_free_ char *text = xasprintf("#!/bin/sh\necho $$ >%s\nexec sleep 1000\n", here);
	_cleanup_free_ char *config = xasprintf(TARGET("https://127.0.0.1:1", PLUGIN("%s")), script);
	char pid[16] = "";

	free(suite_file(dir, "plugin", text));
	ck_assert_int_eq(chmod(script, 0700), 0);
	spoil("reader", config);
	limit_ms = 4000;
	succeeds("mode: observe\n" TWO_CLUSTERS, NULL);
	ck_assert(!run.clusters[0].loaded && run.clusters[1].loaded);
	ck_assert_ptr_nonnull(strstr(run.problem[0], "did not end in time"));
	_cleanup_close_ int fd = open(here, O_RDONLY);
	ck_assert_int_gt(read(fd, pid, sizeof(pid) - 1), 0);
	for (int i = 0; i < 1000 && kill((pid_t)strtol(pid, NULL, 10), 0) == 0; i++)
		(void)usleep(10000);
	ck_assert_int_eq(kill((pid_t)strtol(pid, NULL, 10), 0), -1);
}

/* What a plugin does to the process that runs it, and how that is told. */
static const struct {
	const char *does, *line;
} ends[] = {
	{ "kill -STOP $PPID; exec sleep 1000", "not loaded within 4.0 s" },
	{ "kill -ABRT $PPID", "ended by SIGABRT" },
};

TEST_LOOP(what_hangs_or_crashes_costs_its_own_cluster, 0, ARRAY_SIZE(ends))
{
	_cleanup_free_ char *script = path_of("plugin");
	_cleanup_free_ char *text = xasprintf("#!/bin/sh\n%s\n", ends[_i].does);
	_cleanup_free_ char *config = xasprintf(TARGET("https://127.0.0.1:1", PLUGIN("%s")), script);

	free(suite_file(dir, "plugin", text));
	ck_assert_int_eq(chmod(script, 0700), 0);
	spoil("reader", config);
	limit_ms = 4000;
	succeeds("mode: observe\n" TWO_CLUSTERS, NULL);
	ck_assert(!run.clusters[0].loaded && run.clusters[1].loaded);
	ck_assert_msg(strstr(run.problem[0], ends[_i].line) != NULL, "%s", run.problem[0]);
	ck_assert_uint_eq(run.clusters[0].workers, 8);
	ck_assert_str_eq(run.worker[1].cluster.token, "WRITERTOKEN");
}

/* Policy: as the file says now. Credential: as it was. */
TEST(what_is_in_force_stays_where_a_cluster_cannot_be_loaded)
{
	keep = true;
	succeeds("mode: enforce\n" TWO_CLUSTERS, NULL);
	ck_assert(run.clusters[0].loaded);
	keep = false;
	spoil("reader", NULL);
	succeeds("mode: observe\n" TWO_CLUSTERS, NULL);
	ck_assert(!run.clusters[0].loaded && run.kept[0] && !run.kept[1]);
	ck_assert_str_eq(run.watcher[0].cluster.token, "READERTOKEN");
	ck_assert_str_eq(run.watcher[0].cluster.ca_pem,
			 "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n");
	ck_assert_str_eq(run.worker[0].cluster.server, "https://127.0.0.1:6443");
	ck_assert_int_eq((int)run.worker[0].policy.mode, (int)MODE_OBSERVE);
	ck_assert_str_eq(run.watcher[1].cluster.token, "WRITERTOKEN");
	for (enum role r = 0; r < ROLE__MAX; r++)
		in_force[r] = in_force[r] > 0 ? close(in_force[r]) : 0;
}

/* A lack of descriptors passes, wherever it is met: 78 would keep the service down. */
TEST(no_lack_of_descriptors_ends_with_78)
{
	int code = -1;

	for (descriptors = 4; descriptors < 40 && !run.clusters[0].loaded; descriptors++) {
		run_original();
		code = run.code;
		ck_assert_int_ne(code, EXIT_CODE_CONFIG);
	}
	ck_assert_int_eq(code, 0);
}

/* -- what the command line says -- */

static void with(const char *const args[], const char *text, const char *kubeconfig)
{
	more = args;
	run_text(text, kubeconfig);
	more = NULL;
}

TEST(what_the_command_line_sets_holds_in_overrides_too)
{
	static const char *const sets[] = { "--set=mode=observe", "--set=tooManyRestart.enable=false",
					    "--set=plansOnly=true", "--set=metricsListen=", NULL };
	const char *text = "mode: enforce\ntooManyRestart: {enable: true, namespaces: a, apiurl: "
			   "'https://no-such.invalid/x'}\noverrides:\n- {name: o, namespaces: b}\n";

	with(sets, text, "reader");
	ck_assert_msg(run.code == 0, "%s", run.lines[0]);
	ck_assert(run.tree.observe);
	ck_assert(!(run.tree.duties & 1 << DUTY_RESTARTS));
	ck_assert(run.watcher[0].policy.plans_only && run.n_watched == 0); /* it ends before a file changes */
	ck_assert(!run.watcher[0].policy.overrides[0].duty[DUTY_RESTARTS].enable);
	ck_assert_int_eq((int)run.worker[0].policy.mode, (int)MODE_OBSERVE);
	ck_assert_str_eq(run.reporter.metrics_listen, "");
	ck_assert(!said("no report until it does"));
	succeeds(text, "reader");
	ck_assert(!run.tree.observe && !run.watcher[0].policy.plans_only);
}

TEST(the_context_of_the_command_line_beats_the_file)
{
	static const char *const args[] = { "--context=elsewhere", NULL };
	static const char *const wrong[] = { "--set=mod=observe", NULL };

	with(args, "context: x\nmode: observe\n", "reader");
	ck_assert(!run.clusters[0].loaded && said("there is no context \"elsewhere\""));
	ck_assert_str_eq(settings_cluster_title(&run.reporter, "default"), "default");
	with(args, "mode: observe\n" TWO_CLUSTERS, NULL);
	ck_assert_int_eq(run.code, EXIT_CODE_CONFIG);
	ck_assert(said("--context: names one cluster"));
	with(wrong, "mode: observe\n", "reader");
	ck_assert_int_eq(run.code, EXIT_CODE_CONFIG);
	ck_assert(said("--set mod=observe: KEY=VALUE"));
}

TEST(a_webhook_that_does_not_resolve_is_a_warning)
{
	succeeds("tooManyRestart: {enable: true, namespaces: a, apiurl: 'https://no-such.invalid/x'}\n",
		 "reader");
	ck_assert_uint_eq(run.errors, 0);
	ck_assert(said("the sink is told nothing until that is well"));
	ck_assert_uint_eq(run.refresh_ms, 30000);
}

/* -- sinks -- */

#define REPORTS                                                                                              \
	"tooManyRestart: {enable: true, namespaces: a, apiurlFile: hook, secretFile: sign, msgtitle: "       \
	"重启过多}\n"

/* Told everything, unless the whole says otherwise; in the language of its title. */
TEST(the_bot_of_the_report_is_the_first_sink)
{
	free(suite_file(dir, "hook", "https://localhost:1/HOOK\n"));
	free(suite_file(dir, "sign", "SIGN\n"));
	succeeds(REPORTS "sinks: [{name: b, type: wecom, url: 'http://127.0.0.1:2/B', language: en}]\n",
		 "reader");
	const struct sink_settings *s = run.reporter.sinks;

	ck_assert_uint_eq(run.reporter.n_sinks, 2);
	ck_assert_uint_eq(run.reporter.language, LANGUAGE_ZH);
	ck_assert_str_eq(s->name, "feishu");
	ck_assert_uint_eq(s->type, SINK_FEISHU);
	ck_assert_str_eq(s->url, "https://localhost:1/HOOK");
	ck_assert_str_eq(s->secret, "SIGN");
	ck_assert_ptr_nonnull(strstr(s->address, ":1"));
	ck_assert_uint_eq(s->news, (1 << NEWS__MAX) - 1);
	ck_assert_uint_eq(s->language, LANGUAGE_ZH);
	ck_assert_uint_eq(s->top, 20);
	ck_assert_ptr_null(s->problem);
	ck_assert_str_eq(s[1].name, "b");
	ck_assert_uint_eq(s[1].language, LANGUAGE_EN);
	ck_assert_ptr_null(s[1].address);
	ck_assert_uint_eq(run.reporter.remind_ms, 86400000);
	ck_assert_uint_eq(run.reporter.give_up_ms, 86400000);
	succeeds(REPORTS "tell: {actions: false}\nlanguage: en\n", "reader");
	ck_assert_uint_eq(run.reporter.sinks->news, 1 << NEWS_ATTENTION | 1 << NEWS_REPORT);
	ck_assert_uint_eq(run.reporter.sinks->language, LANGUAGE_EN);
	succeeds("tooManyRestart: {enable: false, apiurlFile: hook}\n", "reader");
	ck_assert_uint_eq(run.reporter.n_sinks, 0);
}

/* What is wrong with one is its own problem; the others are told. */
TEST(each_sink_has_its_own_problem)
{
	free(suite_file(dir, "slack", "https://hooks.slack.com/services/HIDE"));
	free(suite_file(dir, "nopem", "x"));
	free(suite_file(dir, "pem", "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"));
	free(suite_file(dir, "good", "https://localhost:9/GOOD\n"));
	succeeds("sinks:\n"
		 "- {name: missing, type: feishu, urlFile: nowhere}\n"
		 "- {name: wrong, type: dingtalk, urlFile: slack, secret: s}\n"
		 "- {name: unsigned, type: dingtalk, urlFile: good, secretFile: nowhere}\n"
		 "- {name: untrusted, type: webhook, urlFile: good, caFile: nopem}\n"
		 "- {name: mute, type: webhook, url: 'https://no-such.invalid/HIDE'}\n"
		 "- {name: cut-off, type: webhook, urlFile: good, proxy: 'socks5h://no-such.invalid'}\n"
		 "- {name: good, type: webhook, urlFile: good, caFile: pem}\n"
		 "- {name: near, type: webhook, url: 'https://no-such.invalid/x', proxy: "
		 "'http://localhost:8'}\n",
		 "reader");
	ck_assert(has_problem("missing", "url: "));
	ck_assert(has_problem("missing", "/nowhere: cannot be read"));
	ck_assert(has_problem("wrong", "hooks.slack.com is the host of a Slack webhook"));
	ck_assert_ptr_null(strstr(sink("wrong")->problem, "HIDE"));
	ck_assert(has_problem("unsigned", "secret: "));
	ck_assert_ptr_null(sink("unsigned")->url);
	ck_assert(has_problem("untrusted", "is not PEM"));
	ck_assert_ptr_null(sink("untrusted")->url);
	ck_assert(has_problem("mute", "url: the name \"no-such.invalid\" cannot be resolved"));
	ck_assert_ptr_null(sink("mute")->address);
	ck_assert(has_problem("cut-off", "proxy: the name"));
	ck_assert_ptr_null(sink("good")->problem);
	ck_assert_ptr_nonnull(strstr(sink("good")->address, ":9"));
	ck_assert_str_eq(sink("good")->ca_pem,
			 "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----");
	ck_assert_ptr_null(sink("near")->problem);
	ck_assert_ptr_nonnull(strstr(sink("near")->address, ":8"));
	ck_assert_uint_eq(run.errors, 0);
	ck_assert(said("sinks[].url (mute): the name"));
	ck_assert_uint_eq(run.refresh_ms, 30000);
	ck_assert_uint_eq(run.n_clusters, 1);
}

/* -- files that change -- */

static const char mounted[] =
	"kubeconfig: reader\ntooManyRestart: {enable: true, namespaces: a, apiurlFile: url}\n"
	"sinks: [{name: a, type: webhook, urlFile: url, secretFile: yet-to-come, caFile: its-ca}]\n";

TEST(every_file_that_was_read_is_watched)
{
	free(suite_file(dir, "url", "https://127.0.0.1/x\n"));
	succeeds(mounted, NULL);
	ck_assert(watches("config.yml") && watches("reader") && watches("token") && watches("ca.crt") &&
		  watches("url") && watches("yet-to-come") && watches("its-ca"));
	ck_assert_int_gt(run.watch_fd, 0);
}

/* Whoever corrects it shall not have to wait. */
TEST(a_refused_file_is_watched_too)
{
	run_text("nonsense: 1\n", "reader");
	ck_assert_int_eq(run.code, EXIT_CODE_CONFIG);
	ck_assert(watches("config.yml"));
	ck_assert_int_gt(run.watch_fd, 0);
}

/* -- in a pod -- */

/* A volume never belongs to the user of a pod, but a folder in it may. */
TEST(a_volume_serves_as_state_directory)
{
	_cleanup_free_ char *state = path_of("state"), *own = path_of("state/ops-pod-cleaner"),
			    *history = path_of("state/ops-pod-cleaner/history");
	const mode_t old = umask(022);

	if (geteuid() != 0)
		return; /* only root makes folders of others */
	ck_assert_int_eq(mkdir(state, 0700), 0);
	ck_assert_int_eq(chown(state, 0, POD_GROUP), 0);
	ck_assert_int_eq(chmod(state, 02775), 0);
	ck_assert_int_eq(chmod(dir, 0755), 0);
	as_pod = true;
	succeeds("stateDir: state\nkubeconfig: writer\n", NULL);
	ck_assert_str_eq(run.tree.state_dir, own);
	ck_assert_str_eq(run.reporter.state_dir, history);
	ck_assert_int_eq(chown(state, POD_USER, POD_GROUP), 0);
	succeeds("stateDir: state\nkubeconfig: writer\n", NULL);
	ck_assert_str_eq(run.tree.state_dir, state); /* ours: as everywhere */
	(void)umask(old);
}

TEST(metrics_are_for_the_machine_alone_but_in_a_pod)
{
	/* Each with what the rows before it have set. An instance of the template unit has a port of its own.
	 */
	static const struct {
		const char *variable, *value, *config, *listen;
	} rows[] = { { "OPC_NONE", "", "", "127.0.0.1:9464" },
		     { "KUBERNETES_SERVICE_HOST", "10.0.0.1", "",
		       "127.0.0.1:9464" }, /* one of the two alone */
		     { "RUNTIME_DIRECTORY", "/run/ops-pod-cleaner@shop", "", "127.0.0.1:9506" },
		     { "KUBERNETES_SERVICE_PORT", "443", "", "0.0.0.0:9464" },
		     { "KUBERNETES_SERVICE_HOST", "fd00::1", "", "[::]:9464" },
		     { "OPC_NONE", "", "metricsListen: '127.0.0.1:1'\n", "127.0.0.1:1" },
		     { "OPC_NONE", "", "metricsListen: ''\n", "" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		ck_assert_int_eq(setenv(rows[i].variable, rows[i].value, 1), 0);
		succeeds(rows[i].config, "reader");
		ck_assert_str_eq(run.reporter.metrics_listen, rows[i].listen);
	}
}

TEST_MAIN("loader/loader")
{
	tcase_set_timeout(t, 40);
	tcase_add_checked_fixture(t, set_up, run_done);
}
