/* commands.c - the table of command.h. */
// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "build_id.h"
#include "cli/commands/command.h"
#include "cli/instance/ctl.h"
#include "cli/view/output.h"

/* Options that mean the same to several commands. */
#define USE(ID, help)                                                                                        \
	{                                                                                                    \
		OPTION_##ID, help                                                                            \
	}
#define ASKS   USE(SOCKET, "socket of the instance to ask")
#define PRINTS USE(OUTPUT, "print as ")
#define SHOWS  ASKS, PRINTS, USE(UTC, "times in UTC on a terminal, too")
/* Several replicas as one: for kubectl-ops_pod_cleaner. */
#define JOINS                                                                                                \
	USE(ANSWERS, "print the answers for another replica to show"),                                       \
		USE(WITH_ANSWERS, "also show the answers of others, from stdin"),                            \
		USE(TERMINAL, "print as on a terminal of this width")
#define ONLY_NAMESPACE USE(NAMESPACE, "only this namespace; may be repeated")
#define ONLY_CLUSTER   USE(CLUSTER, "only this cluster; may be repeated")
#define ONLY_DUTY      USE(DUTY, "only ")

static int run_log_level(const struct options *o);
static int run_reload(const struct options *o);
static int run_version(const struct options *o);

static const struct command commands[] = {
	{ .name = "run",
	  .usage = "[options]",
	  .summary = "watch the clusters and do the duties, in the foreground",
	  .options = { { OPTION_CONFIG, "configuration (root: /etc/ops-pod-cleaner/config.yml; else the XDG "
					"folder; else ./config.yml)" },
		       { OPTION_STATE_DIR,
			 "history and digests (root: /var/lib/ops-pod-cleaner; else the XDG folder)" },
		       { OPTION_SOCKET,
			 "where `status` and the like ask (root: /run/ops-pod-cleaner/control.sock)" },
		       { OPTION_KUBECONFIG,
			 "cluster and credential, before $KUBECONFIG, in-cluster and ~/.kube/config" },
		       { OPTION_CONTEXT,
			 "context of the kubeconfig, before `context` and its current-context" },
		       { OPTION_MASTER, "API server, instead of the kubeconfig's" },
		       { OPTION_ONCE, "one round: list, act within the budgets, end; exit with 1 when "
				      "something failed or is left" },
		       { OPTION_DRY_RUN, "as if the configuration said mode: observe" } },
	  .notes = "SIGTERM drains and ends (SIGINT and SIGQUIT, too), a second one ends at once.\n"
		   "SIGHUP reloads the settings, SIGUSR1 dumps the state to the log.\n",
	  .one_dash = true, /* the original's -kubeconfig and -master */
	  .run = command_run },
	{ .name = "status",
	  .usage = "[options]",
	  .summary = "show health and problems, the clusters and the processes",
	  .options = { { OPTION_QUIET, "print nothing: the exit code alone tells" },
		       ONLY_CLUSTER,
		       SHOWS,
		       JOINS },
	  .notes = "The first line says `running`, `degraded` when there is trouble, or `blind` when\n"
		   "no cluster is reachable, and `PAUSED` while anything is paused. Exit code 0; 1\n"
		   "with trouble or a pause, 69 when nobody answers.\n",
	  .run = command_status },
	{ .name = "history",
	  .usage = "[options]",
	  .summary = "show the actions, and why they were done",
	  .options = { { OPTION_SINCE, "a duration (2h) or an RFC 3339 time" },
		       { OPTION_LIMIT, "the newest N (200)" },
		       ONLY_DUTY,
		       ONLY_NAMESPACE,
		       ONLY_CLUSTER,
		       { OPTION_OUTCOME, "only " },
		       { OPTION_TARGET, "only writes to KIND.GROUP/NAMESPACE/NAME" },
		       { OPTION_REFUSALS, "also refusals: pods that were due, but forbidden by a rule" },
		       { OPTION_SUMMARY, "how many, and how they ended, by duty" },
		       { OPTION_BY, "the same, by " },
		       { OPTION_FOLLOW, "also new actions, until interrupted; with json an object a line" },
		       SHOWS,
		       JOINS },
	  .run = command_history },
	{ .name = "show",
	  .usage = "ID [options]",
	  .summary = "show all about one action: its evidence, the request and the answer",
	  .options = { SHOWS },
	  .max_args = 1,
	  .run = command_show },
	{ .name = "plan",
	  .usage = "[options]",
	  .summary = "show the pods that are due now, due later or blocked, and why",
	  .options = { ONLY_NAMESPACE,
		       ONLY_DUTY,
		       ONLY_CLUSTER,
		       { OPTION_DETAILED_EXITCODE, "exit with 2 when something is due, now or once a guard "
						   "lets it; with 0 when nothing is" },
		       { OPTION_KUBECONFIG, "ask no instance: judge this cluster, as `run` would" },
		       { OPTION_CONTEXT, "the same, with this context of the kubeconfig" },
		       { OPTION_CONFIG, "the same, with this configuration; without it the defaults judge" },
		       SHOWS,
		       JOINS },
	  .notes = "The watchers judge as they always do. A worker reads each pod that is due now,\n"
		   "judges it live, and stops before the write. The newest refusal of the last day\n"
		   "is shown beside it.\n"
		   "An unreachable cluster is named on stderr, and the others are shown; the\n"
		   "exit code is that of the first of them: 75 while its first list is not complete\n"
		   "or rights forbid a part of it, 69 when nobody watches it.\n"
		   "With --kubeconfig, --context or --config no instance need run: the same\n"
		   "processes list, judge and end. Nothing is written to the cluster, and nothing\n"
		   "stays on this machine.\n",
	  .run = command_plan },
	{ .name = "pause",
	  .usage = "[DUTY] [CLUSTER] [options]",
	  .summary = "pause actions until resumed; survives restarts",
	  .options = { { OPTION_FOR, "resume by itself after this time (2h)" },
		       { OPTION_REASON, "why, shown in status" },
		       SHOWS },
	  .notes = "Without DUTY and CLUSTER everything pauses. A restore is done even then.\n",
	  .max_args = 2,
	  .run = command_pause },
	{ .name = "resume",
	  .usage = "[DUTY] [CLUSTER] [options]",
	  .summary = "end every pause within this duty and cluster",
	  .options = { SHOWS },
	  .max_args = 2,
	  .run = command_pause },
	{ .name = "restore",
	  .usage = "WORKLOAD | ID...| --since WHEN | --list [options]",
	  .summary = "put back the replicas that a scale-down took",
	  .options = { { OPTION_LIST, "only say what is at 0 and bears the mark of a scale-down" },
		       { OPTION_NAMESPACE, "with --list, workloads of this namespace; may be repeated" },
		       { OPTION_SINCE,
			 "every workload scaled down since: a duration (2h) or an RFC 3339 time" },
		       ONLY_CLUSTER,
		       { OPTION_DRY_RUN, "print the changes without making them" },
		       { OPTION_YES, "do not ask" },
		       SHOWS,
		       JOINS },
	  .notes = "WORKLOAD is NAMESPACE/NAME, KIND/NAMESPACE/NAME (deploy, sts), or the target as\n"
		   "`history` shows it; ID is the number of an action there. Done only where the\n"
		   "workload is the same one (uid), is still at 0, and nobody else has scaled it\n"
		   "since. What the history does not know of is put back as the mark on the\n"
		   "workload says (--list). Exit code 1 when none was put back, or one was not\n"
		   "for another reason than NotZeroAnymore.\n",
	  .max_args = 100000,
	  .run = command_restore },
	{ .name = "explain",
	  .usage = "[KIND/][NS/]NAME [-n NS] | -f FILE [options]",
	  .summary = "say for every duty why a pod or workload is acted on, or why not",
	  .options = { { OPTION_RULES, "every check in order with its facts, and which one decided" },
		       { OPTION_WATCH, "again whenever the answer changes, until interrupted" },
		       { OPTION_NAMESPACE, "the namespace of [KIND/]NAME" },
		       { OPTION_CLUSTER, "only this cluster; may be repeated" },
		       { OPTION_FILE,
			 "judge the pods of a file (YAML or JSON, - for stdin), without a cluster" },
		       { OPTION_CONFIG, "with -f: the configuration to judge by" },
		       { OPTION_NOW, "with -f: the time to judge at (RFC 3339)" },
		       { OPTION_FAILING_SINCE, "with -f: when the pull failure was first seen" },
		       SHOWS },
	  .notes = "KIND is pod, or that of a workload, as kubectl takes it (deploy, sts, jobs).\n"
		   "A worker reads a pod that is due by the cache and judges it live; its verdict\n"
		   "counts, `unclear` when none answers. The newest refusal of the last day is\n"
		   "shown beside it.\n",
	  .max_args = 1,
	  .run = command_explain },
	{ .name = "report",
	  .usage = "[preview | send] [options]",
	  .summary = "show the report as of now, or as a sink would get it; test a sink",
	  .options = { { OPTION_SINK, "with preview: as this sink of `sinks` gets it (the first); with "
				      "send: where to" },
		       { OPTION_TEST, "with send: a message that says it is a test" },
		       ONLY_CLUSTER,
		       { OPTION_FORM, "print as " },
		       ASKS },
	  .notes = "  report                   the report as of now\n"
		   "  report -o html > FILE    the same as a page for a browser\n"
		   "  report preview           the message to the sink, to the byte; with -o the\n"
		   "                           same for people, in its language\n"
		   "  report send --sink NAME --test\n"
		   "                           a test message through the sink's usual path; prints\n"
		   "                           its answer, and the remedy when it was refused\n"
		   "Exit code 0, 69 sink not reached, 75 try again, 77 secret refused, 78 its\n"
		   "settings are wrong.\n",
	  .max_args = 1,
	  .run = command_report },
	{ .name = "log-level",
	  .usage = "debug | info | warn | error [options]",
	  .summary = "change the log level for a while",
	  .options = { { OPTION_FOR, "duration (10m), 24h at most" }, ASKS, PRINTS },
	  .notes = "For all processes, also those that are started meanwhile. For good: logLevel.\n",
	  .max_args = 1,
	  .run = run_log_level },
	{ .name = "reload",
	  .usage = "[options]",
	  .summary = "reload the configuration; all processes take it or none does",
	  .options = { ASKS, PRINTS },
	  .run = run_reload },
	{ .name = "config",
	  .usage = "check FILE | print FILE | help | schema",
	  .summary = "check a configuration, print it with all defaults, list all keys",
	  .options = { { OPTION_CONFIG, "with check and print: FILE, as for `run`" },
		       { OPTION_STRICT, "with check: a warning is an error" },
		       { OPTION_NAMESPACES,
			 "with check: which of a cluster's namespaces each duty works in; FILE is "
			 "what `kubectl get namespaces -o json` prints" },
		       PRINTS },
	  .notes = "  check FILE   FILE: ok, which clusters, where each duty works, the next runs;\n"
		   "               or every error as FILE:LINE:COLUMN: message; exit 78\n"
		   "  print FILE   the settings in force, defaults included, secrets hidden\n"
		   "  help         every key with its type, default, range and meaning\n"
		   "  schema       the same as a JSON Schema, for editors\n"
		   "FILE may be - for standard input.\n",
	  .max_args = 2,
	  .run = command_config },
	{ .name = "cron",
	  .usage = "next SPEC [options]",
	  .summary = "print the next times of a schedule",
	  .options = { { OPTION_FROM, "begin after this RFC 3339 time (now)" },
		       { OPTION_COUNT, "how many (5)" },
		       { OPTION_TIME_ZONE, "an IANA name such as Asia/Shanghai (this machine's)" },
		       PRINTS },
	  .max_args = 2,
	  .run = command_cron },
	{ .name = "completion",
	  .usage = "bash | zsh | fish",
	  .summary = "print the shell completion of this program",
	  .notes = "  bash   eval \"$(ops-pod-cleaner completion bash)\" in ~/.bashrc\n"
		   "  zsh    ops-pod-cleaner completion zsh > DIR/_ops-pod-cleaner, DIR of $fpath\n"
		   "  fish   ops-pod-cleaner completion fish | source\n",
	  .max_args = 1,
	  .run = command_completion },
	{ .name = "names",
	  .usage = "clusters | namespaces | sinks | actions",
	  .summary = "print what the running instance knows, a line each: for shells that complete",
	  .options = { ASKS },
	  .max_args = 1,
	  .run = command_names,
	  .hidden = true },
	{ .name = "rbac",
	  .usage = "[options]",
	  .summary = "print, or check, the rights that a configuration needs",
	  .options = { { OPTION_CONFIG, "the configuration (found as by `run`)" },
		       { OPTION_NAMESPACE, "bind the roles in this namespace only; once for each" },
		       { OPTION_ADMISSION,
			 "instead the admission policy that holds the workers to the duties" },
		       { OPTION_CHECK, "instead ask the API server, and name missing rights; exit with 1 "
				       "when there are any" },
		       { OPTION_KUBECONFIG, "with --check: the credential, before the configuration's" },
		       { OPTION_CONTEXT, "with --check: the context of the kubeconfig" },
		       { OPTION_KINDS, "further kinds that have a scale: RESOURCE.GROUP,..." },
		       { OPTION_WEBHOOK_ANNOTATIONS,
			 "with --admission: annotations that webhooks may change on written objects, by the "
			 "beginnings of their keys: example.com/,..." },
		       { OPTION_WRITER, "the workers' user, instead of the service account" },
		       { OPTION_KUBECONFIG_FOR,
			 "instead a script that makes a kubeconfig for: reader or writer" },
		       PRINTS },
	  .notes = "Asks no server but with --check. Print it again when the configuration\n"
		   "changes: its namespaces and thresholds stand in the policy, which needs\n"
		   "Kubernetes 1.30.\n",
	  .run = command_rbac },
#if defined(OPC_PROBES)
	{ .name = "probe",
	  .usage = "ROLE [CLUSTER/]NUMBER NAME [ARG]",
	  .summary = "test builds: let a live process try a forbidden thing, or turn it against the others",
	  .options = { ASKS },
	  .max_args = 4,
	  .run = command_probe,
	  .hidden = true },
#endif
	{ .name = "version",
	  .usage = "[options]",
	  .summary = "print the version",
	  .options = { PRINTS },
	  .run = run_version },
};

const struct command *command_at(size_t i)
{
	return i < ARRAY_SIZE(commands) ? &commands[i] : NULL;
}

int command_misuse(const struct options *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *what = xvasprintf(fmt, ap), *see = xasprintf(TEXT(SEE_HELP), o->command);

	va_end(ap);
	output_complain(o->command, "%s%s", what, see);
	return EXIT_CODE_USAGE;
}

#define LOG_LEVEL_MS         (INT64_C(10) * 60 * 1000)
#define LOG_LEVEL_LONGEST_MS (INT64_C(24) * 60 * 60 * 1000)

static int run_log_level(const struct options *o)
{
	struct msg request = { .type = MSG_CTL_LOG_LEVEL };
	const int64_t for_ms = o->for_ms ? o->for_ms : LOG_LEVEL_MS;
	const int level = o->n_args ? log_parse_level(o->args[0]) : -1;
	const struct table_view view = options_view(o);
	char span[32];

	if (level < 0)
		return command_misuse(o, "%s", TEXT(TAKES_LEVELS));
	if (for_ms > LOG_LEVEL_LONGEST_MS)
		return command_misuse(o, "%s", TEXT(FOR_TOO_LONG));
	request.u.ctl_log_level.level = (uint64_t)level;
	request.u.ctl_log_level.for_ms = (uint64_t)for_ms;
	const int code = ctl_ask(o->socket, &request, 10000, NULL, NULL);

	if (code == EXIT_CODE_OK && o->output == OUTPUT_JSON)
		output_json(json_pack("{s:s, s:I}", "logLevel", o->args[0], "seconds",
				      (json_int_t)(for_ms / 1000)));
	else if (code == EXIT_CODE_OK)
		table_text(stdout, &view, TEXT(LOGGING), o->args[0], table_span(for_ms, span));
	return code;
}

static int run_reload(const struct options *o)
{
	const struct msg request = { .type = MSG_CTL_RELOAD };
	const int code = ctl_ask(o->socket, &request, 60000, NULL, NULL);

	if (code == EXIT_CODE_OK && o->output == OUTPUT_JSON)
		output_json(json_pack("{s:b}", "inForce", 1));
	else if (code == EXIT_CODE_OK)
		puts(TEXT(IN_FORCE));
	return code;
}

#if defined(OPC_PROBES)
#define TEST_BUILD "\nTEST-BUILD"
#else
#define TEST_BUILD ""
#endif

static int run_version(const struct options *o)
{
	if (o->output == OUTPUT_JSON)
		output_json(json_pack("{s:s, s:s}", "version", OPC_VERSION, "revision", OPC_REVISION));
	else
		printf("ops-pod-cleaner %s (%s)" TEST_BUILD "\n", OPC_VERSION, OPC_REVISION);
	return EXIT_CODE_OK;
}
