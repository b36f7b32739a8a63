/* main.c - ops-pod-cleaner: the table of commands. */
// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/str.h"
#include "build_id.h"
#include "cli/command.h"

#define SOCKET_HELP "  --control-socket PATH  socket of the instance to ask\n"
#define OUTPUT_HELP "  -o, --output FORMAT    table (default), wide or json\n"

static const struct command commands[] = {
	{ "run", "[options]", "watch the clusters and do the duties, in the foreground",
	  "  --config FILE          configuration (root: /etc/ops-pod-cleaner/config.yml; else the XDG "
	  "folder; else ./config.yml)\n"
	  "  --state-dir DIR        history and digests (root: /var/lib/ops-pod-cleaner; else the XDG "
	  "folder)\n"
	  "  --control-socket PATH  where `status` and the like ask (root: "
	  "/run/ops-pod-cleaner/control.sock)\n"
	  "  --kubeconfig FILE      cluster and credential, before $KUBECONFIG, in-cluster and "
	  "~/.kube/config\n"
	  "  --master URL           API server, instead of the kubeconfig's\n"
	  "\n"
	  "SIGTERM drains and ends, a second one ends at once. SIGHUP loads the settings again.\n",
	  command_run, false },
	{ "status", "[options]", "show the processes, the clusters and their figures",
	  SOCKET_HELP OUTPUT_HELP, command_status, false },
	{ "history", "[options]", "show what was done and why",
	  "  --since WHEN           a duration (2h) or an RFC 3339 time\n"
	  "  --limit N              the newest N (200)\n"
	  "  --duty DUTY            only deleteEvictedPod, deleteTerminatingPod or errImagePull\n"
	  "  -n, --namespace NS     only this namespace\n"
	  "  --outcome OUTCOME      only done, gone, refused, conflict, forbidden, failed, unconfirmed, "
	  "announced or open\n"
	  "  --target TARGET        only what was written to KIND.GROUP/NAMESPACE/NAME\n"
	  "  --refusals             also what was due but forbidden by a guard\n" SOCKET_HELP OUTPUT_HELP,
	  command_history, false },
	{ "show", "ID [options]", "show all about one action: evidence, what was sent, what was answered",
	  SOCKET_HELP OUTPUT_HELP, command_show, false },
	{ "plan", "[options]", "say what would be done now, what later, what is held, and why",
	  "  -n, --namespace NS     only this namespace\n"
	  "  --duty DUTY            only deleteEvictedPod, deleteTerminatingPod or errImagePull\n"
	  "  --cluster NAME         only this cluster\n" SOCKET_HELP OUTPUT_HELP "\n"
	  "The watchers judge as they always do; for what is due now a worker reads and judges live and "
	  "stops\n"
	  "before the write.\n",
	  command_plan, false },
	{ "pause", "[DUTY] [CLUSTER] [options]", "do nothing until resumed; survives restarts",
	  "  --for DURATION         resume by itself after this time (2h)\n"
	  "  --reason TEXT          why, shown in status\n" SOCKET_HELP OUTPUT_HELP "\n"
	  "Without DUTY and CLUSTER everything pauses. A restore is done even then.\n",
	  command_pause, false },
	{ "resume", "[DUTY] [CLUSTER] [options]", "end every pause within this duty and cluster",
	  SOCKET_HELP OUTPUT_HELP, command_pause, false },
	{ "restore", "WORKLOAD | --since WHEN | ID... [options]",
	  "put back the replicas that a scale-down took",
	  "  WORKLOAD               NAMESPACE/NAME, KIND/NAMESPACE/NAME, or the target as `history` shows "
	  "it\n"
	  "  --since WHEN           every workload scaled down since: a duration (2h) or an RFC 3339 time\n"
	  "  ID                     the number of an action in `history`\n"
	  "  --dry-run              only say what would be done\n"
	  "  -y, --yes              do not ask\n" SOCKET_HELP OUTPUT_HELP "\n"
	  "Done only where the workload is the same one (uid), is still at 0, and nobody else has scaled it "
	  "since.\n",
	  command_restore, false },
	{ "undo", "", "say why a deleted pod cannot come back", "", command_undo, false },
	{ "explain", "NAMESPACE/NAME | -f FILE [options]",
	  "say for every duty why a pod or workload is (not) acted on",
	  "  --rules                every check in order with its facts, and which one decided\n"
	  "  --watch                again whenever the answer changes, until interrupted\n"
	  "  --cluster NAME         which cluster of the running instance (the first)\n"
	  "  -f, --file FILE        judge the pods of a file (YAML or JSON, - for stdin), without a cluster\n"
	  "  --config FILE          with -f: the configuration to judge by\n"
	  "  --now TIME             with -f: the time to judge at (RFC 3339)\n"
	  "  --failing-since TIME   with -f: when the pull failure was first seen\n" SOCKET_HELP OUTPUT_HELP,
	  command_explain, false },
	{ "reload", "[options]", "load the settings again; all processes take them or none does", SOCKET_HELP,
	  command_reload, false },
	{ "config", "check FILE | print FILE | help",
	  "check a configuration file, print it with all defaults, list all keys",
	  "  check FILE             FILE: ok, or every error as FILE:LINE:COLUMN: message; exit 78\n"
	  "  print FILE             the settings in force, defaults included, secrets hidden\n"
	  "  help                   every key with its type, default, range and meaning\n",
	  command_config, false },
	{ "cron", "next SPEC [options]", "print the next times of a schedule",
	  "  --from TIME            begin after this RFC 3339 time (now)\n"
	  "  --count N              how many (5)\n"
	  "  --timezone ZONE        an IANA name such as Asia/Shanghai (UTC)\n",
	  command_cron, false },
	{ "probe", "ROLE SLOT NAME [ARG]", "test builds: let a live process try a forbidden thing",
	  SOCKET_HELP, command_probe, true },
	{ "man", "", "print the manual page", "", command_man, true },
	{ "version", "", "print the version", "", command_version, false },
};

const struct command *command_at(size_t i)
{
	return i < ARRAY_SIZE(commands) ? &commands[i] : NULL;
}

int command_help(const struct command *self)
{
	printf("usage: ops-pod-cleaner %s %s\n\n%s.\n%s%s", self->name, self->usage, self->summary,
	       self->help[0] ? "\n" : "", self->help);
	return EXIT_CODE_OK;
}

int command_misuse(const struct command *self, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)fprintf(stderr, "ops-pod-cleaner %s: ", self->name);
	(void)vfprintf(stderr, fmt, ap);
	(void)fprintf(stderr, "; see `ops-pod-cleaner %s --help`\n", self->name);
	va_end(ap);
	return EXIT_CODE_USAGE;
}

int output_parse(const char *name)
{
	static const char *const names[] = { "table", "wide", "json" };

	for (int i = 0; i < (int)ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

int command_version(const struct command *self, int argc, char **argv)
{
	(void)self;
	(void)argc;
	(void)argv;
	printf("ops-pod-cleaner %s (%s)\n", OPC_VERSION, OPC_REVISION);
	return EXIT_CODE_OK;
}

static int help(FILE *out, int code)
{
	(void)fprintf(
		out,
		"usage: ops-pod-cleaner COMMAND [options]\n\n"
		"A Kubernetes janitor: deletes evicted pods, force-deletes pods stuck in Terminating where "
		"that is\n"
		"safe, scales to zero what cannot pull its image, and reports what restarts too often.\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!commands[i].hidden)
			(void)fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
	(void)fprintf(out, "\n`ops-pod-cleaner COMMAND --help` lists the options of one.\n");
	return code;
}

static int unknown(const char *name)
{
	const char *best = NULL;
	size_t best_distance = 4;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const size_t d = str_distance(name, commands[i].name);

		if (d < best_distance) {
			best_distance = d;
			best = commands[i].name;
		}
	}
	(void)fprintf(stderr, "ops-pod-cleaner: unknown command '%s'%s%s%s; see `ops-pod-cleaner --help`\n",
		      name, best ? ", did you mean '" : "", best ? best : "", best ? "'" : "");
	return EXIT_CODE_USAGE;
}

int main(int argc, char **argv)
{
	static const char *const aliases[][2] = { { "--version", "version" }, { "--help-config", "config" } };
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!name)
		return help(stderr, EXIT_CODE_USAGE);
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
		return help(stdout, EXIT_CODE_OK);
	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
		if (strcmp(name, aliases[i][0]) == 0)
			name = aliases[i][1];
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(name, commands[i].name) == 0)
			return commands[i].run(&commands[i], argc - 1, argv + 1);
	return unknown(name);
}
