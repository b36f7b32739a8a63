/* pause.c - `pause` and `resume`. */
// SPDX-License-Identifier: Apache-2.0
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "cli/command.h"
#include "cli/ctl.h"
#include "cli/output.h"
#include "model/duties.h"

/* Each argument is a duty or else a cluster. False: there is one too many. */
static bool take_arguments(const struct options *o, struct msg *request)
{
	struct msg_ctl_pause *p = &request->u.ctl_pause;

	for (size_t i = 0; i < o->n_args; i++) {
		const int duty = options_find_duty(o->args[i]);
		const size_t n = strlen(o->args[i]);

		if ((duty >= 0 ? p->duty >= 0 : p->cluster_name[0] != '\0') || n > 63)
			return false;
		if (duty >= 0)
			p->duty = duty;
		else
			msg_set(request, ctl_pause.cluster_name, o->args[i], n);
	}
	return true;
}

/* The name of the operator; the instance adds the uid that the kernel reports. */
static void set_name(struct msg *m)
{
	const struct passwd *who = getpwuid(getuid());
	const char *sudo = getenv("SUDO_USER");
	const char *name = sudo ? sudo : who ? who->pw_name : "";

	msg_set(m, ctl_pause.by, name, strlen(name));
}

static void print_json(const struct msg_ctl_pause *p)
{
	output_json(json_pack("{s:b, s:o, s:o, s:o, s:s}", "paused", p->on, "duty",
			      p->duty < 0 ? json_null() : json_string(duty_name((enum duty)p->duty)),
			      "cluster", output_json_text(p->cluster_name), "until",
			      output_json_time(p->until), "reason", p->why));
}

static void print_text(const struct msg_ctl_pause *p)
{
	char until[RFC3339_MAX] = "resumed";

	if (p->until)
		rfc3339_format(p->until, false, until);
	printf("%s: %s of %s%s%s%s\n", p->on ? "paused" : "resumed",
	       p->duty < 0 ? "every duty" : duty_name((enum duty)p->duty),
	       p->cluster_name[0] ? "cluster " : "every cluster", p->cluster_name, p->on ? " until " : "",
	       p->on ? until : "");
}

int command_pause(const struct command *self, const struct options *o)
{
	struct msg request = { .type = MSG_CTL_PAUSE, .u.ctl_pause = { .duty = -1 } };
	struct msg_ctl_pause *p = &request.u.ctl_pause;

	for (size_t i = 0; i < o->n_args; i++)
		if (options_find_duty(o->args[i]) < 0 && duty_parse(STR_C(o->args[i])) >= 0)
			return command_misuse(self, "%s only reports; there is nothing to pause", o->args[i]);
	if (!take_arguments(o, &request))
		return command_misuse(self, "takes one duty and one cluster at most");
	p->on = strcmp(self->name, "pause") == 0;
	p->until = o->for_ms ? clock_wall_ms() + o->for_ms : 0;
	if (o->reason)
		msg_set(&request, ctl_pause.why, o->reason, strlen(o->reason));
	set_name(&request);
	const int code = ctl_ask(o->socket, &request, 20000, NULL, NULL);

	if (code == EXIT_CODE_OK && o->output == OUTPUT_JSON)
		print_json(p);
	else if (code == EXIT_CODE_OK)
		print_text(p);
	return code;
}
