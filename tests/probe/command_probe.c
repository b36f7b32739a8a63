/* command_probe.c - `probe`, of test builds: a live, sandboxed process tries what it must not be able to do.
 */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cli/commands/command.h"
#include "cli/instance/ctl.h"

static void on_row(void *ctx, const struct msg *m)
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

int command_probe(const struct options *o)
{
	struct msg request = { .type = MSG_CTL_PROBE };
	struct msg_ctl_probe *p = &request.u.ctl_probe;
	char *const *args = o->args;
	const char *slash = o->n_args > 1 ? strchr(args[1], '/') : NULL;
	const char *number = slash ? slash + 1 : o->n_args > 1 ? args[1] : "";
	const bool is_evil = o->n_args == 4 && strcmp(args[2], "evil") == 0;

	if (o->n_args < 3 || str_to_u64(number, strlen(number), &p->number) < 0 || p->number > 255 ||
	    (slash && str_to_u64(args[1], (size_t)(slash - args[1]), &p->cluster) < 0) ||
	    p->cluster >= CLUSTERS_MAX ||
	    (o->n_args == 4 && !is_evil && str_to_i64(args[3], strlen(args[3]), &p->arg) < 0))
		return command_misuse(
			o, "needs ROLE [CLUSTER/]NUMBER NAME [ARG], or ROLE [CLUSTER/]NUMBER evil COMMAND");
	if (is_evil)
		msg_set(&request, ctl_probe.text, args[3], strlen(args[3]));
	msg_set(&request, ctl_probe.role, args[0], strlen(args[0]));
	msg_set(&request, ctl_probe.probe, args[2], strlen(args[2]));
	return ctl_ask(o->socket, &request, 20000, on_row, NULL);
}
