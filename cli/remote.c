/* remote.c - the small commands that ask the running instance: reload, probe, and `explain NS/NAME`. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "cli/command.h"
#include "cli/ctl.h"
#include "cli/explain.h"

static const struct option socket_options[] = { { "control-socket", required_argument, NULL, 'S' },
						{ "help", no_argument, NULL, 'h' },
						{ 0 } };

static void no_rows(void *ctx, const struct msg *m)
{
	(void)ctx;
	(void)m;
}

/* Takes --control-socket and --help. Returns -1 to go on, else an exit code. */
static int parse_socket(const struct command *self, int argc, char **argv, const char **ret_socket)
{
	int c;

	while ((c = getopt_long(argc, argv, "", socket_options, NULL)) != -1) {
		if (c == 'h')
			return command_help(self);
		if (c != 'S')
			return command_misuse(self, "unknown option");
		*ret_socket = optarg;
	}
	return -1;
}

int command_reload(const struct command *self, int argc, char **argv)
{
	const struct msg request = { .type = MSG_CTL_RELOAD };
	const char *socket = NULL;
	int code = parse_socket(self, argc, argv, &socket);

	if (code >= 0)
		return code;
	if (optind != argc)
		return command_misuse(self, "unexpected argument '%s'", argv[optind]);
	code = ctl_ask(socket, &request, 60000, no_rows, NULL);
	if (code == EXIT_CODE_OK)
		printf("settings are in force\n");
	return code;
}

static void on_probe_row(void *ctx, const struct msg *m)
{
	const int64_t r = m->u.ctl_probe_row.result;

	(void)ctx;
	if (m->type != MSG_CTL_PROBE_ROW)
		return;
	if (r == 0)
		printf("worked\n");
	else if (r <= -1000)
		printf("killed by SIG%s\n", sigabbrev_np((int)-r - 1000));
	else
		printf("denied: %s\n", strerrorname_np((int)-r));
}

int command_probe(const struct command *self, int argc, char **argv)
{
	struct msg request = { .type = MSG_CTL_PROBE };
	const char *socket = NULL;
	uint64_t slot = 0;
	const int code = parse_socket(self, argc, argv, &socket);
	char **args = argv + optind;
	const int n = argc - optind;

	if (code >= 0)
		return code;
	if (n < 3 || n > 4 || str_to_u64(args[1], strlen(args[1]), &slot) < 0 || slot > 255 ||
	    (n == 4 && str_to_i64(args[3], strlen(args[3]), &request.u.ctl_probe.arg) < 0))
		return command_misuse(self, "needs ROLE SLOT NAME [ARG]");
	request.u.ctl_probe.number = slot;
	msg_set(&request, ctl_probe.role, args[0], strlen(args[0]));
	msg_set(&request, ctl_probe.probe, args[2], strlen(args[2]));
	return ctl_ask(socket, &request, 20000, on_probe_row, NULL);
}

/* A workload is answered pod by pod. */
struct asked {
	struct explain *into;
	const char *ns;
	char pod[254];
};

static void on_explain_row(void *ctx, const struct msg *m)
{
	const struct msg_ctl_explain_row *r = &m->u.ctl_explain_row;
	struct asked *a = ctx;

	if (m->type != MSG_CTL_EXPLAIN_ROW)
		return;
	if (strcmp(a->pod, r->pod) != 0) {
		_cleanup_free_ char *object = xasprintf("%s/%s", a->ns, r->pod);

		explain_begin(a->into, object);
		(void)snprintf(a->pod, sizeof(a->pod), "%s", r->pod);
	}
	explain_add(a->into, &(struct explain_row){ .duty = (enum duty)r->duty,
						    .verdict = (enum verdict_kind)r->verdict,
						    .reason = r->reason,
						    .until_ms = r->until,
						    .evidence = r->evidence,
						    .rule = r->rule[0] ? r->rule : NULL,
						    .holds = (enum tri)r->holds });
}

int explain_live(const struct command *self, const char *socket, const char *cluster, const char *object,
		 bool rules, struct explain *into)
{
	struct msg request = { .type = MSG_CTL_EXPLAIN };
	struct asked a = { .into = into, .ns = request.u.ctl_explain.ns };
	const char *slash = strchr(object, '/');

	if (!slash || slash == object || slash[1] == '\0' || strlen(object) > 300)
		return command_misuse(self, "names a pod or workload as NAMESPACE/NAME");
	msg_set(&request, ctl_explain.ns, object, (size_t)(slash - object));
	msg_set(&request, ctl_explain.name, slash + 1, strlen(slash + 1));
	if (cluster)
		msg_set(&request, ctl_explain.cluster_name, cluster, strlen(cluster));
	request.u.ctl_explain.rules = rules;
	explain_begin(into, object);
	return ctl_ask(socket, &request, 10000, on_explain_row, &a);
}
