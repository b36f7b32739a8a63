/* pause.c - `pause` and `resume`. */
// SPDX-License-Identifier: Apache-2.0
#include <getopt.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "model/duty.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "cli/args.h"
#include "cli/command.h"
#include "cli/ctl.h"

struct options {
	struct msg request;
	const char *socket;
	int64_t span_ms;
	int output;
};

static void no_rows(void *ctx, const struct msg *m)
{
	(void)ctx;
	(void)m;
}

static int take_option(const struct command *self, struct options *o, int c)
{
	switch (c) {
	case 'S':
		o->socket = optarg;
		return -1;
	case 'o':
		o->output = output_parse(optarg);
		return o->output < 0 ? command_misuse(self, "-o takes table, wide or json") : -1;
	case 'f':
		return args_parse_span(optarg, &o->span_ms) < 0
			       ? command_misuse(self, "--for takes a duration such as 30m or 2h")
			       : -1;
	case 'r':
		if (strlen(optarg) > 200)
			return command_misuse(self, "--reason takes at most 200 bytes");
		msg_set(&o->request, ctl_pause.why, optarg, strlen(optarg));
		return -1;
	case 'h':
		return command_help(self);
	default:
		return command_misuse(self, "unknown option");
	}
}

/* Each argument is a duty or else a cluster. */
static int take_arguments(const struct command *self, struct options *o, int argc, char **argv)
{
	struct msg_ctl_pause *p = &o->request.u.ctl_pause;
	int64_t duty;

	for (int i = optind; i < argc; i++) {
		const bool is_duty = args_parse_duty(argv[i], &duty) == 0;

		if (strcmp(argv[i], duty_name(DUTY_RESTARTS)) == 0)
			return command_misuse(self, "%s only reports; there is nothing to pause", argv[i]);
		if ((is_duty && p->duty >= 0) || (!is_duty && p->cluster_name[0]) || strlen(argv[i]) > 63)
			return command_misuse(self, "takes one duty and one cluster at most");
		if (is_duty)
			p->duty = duty;
		else
			msg_set(&o->request, ctl_pause.cluster_name, argv[i], strlen(argv[i]));
	}
	return -1;
}

/* The name a person goes by; the instance adds the uid that the kernel tells it. */
static void set_name(struct msg *m)
{
	const struct passwd *who = getpwuid(getuid());
	const char *sudo = getenv("SUDO_USER");
	const char *name = sudo ? sudo : who ? who->pw_name : "";

	msg_set(m, ctl_pause.by, name, strlen(name));
}

static void print_done(const struct options *o)
{
	const struct msg_ctl_pause *p = &o->request.u.ctl_pause;
	const char *duty = p->duty < 0 ? "every duty" : duty_name((enum duty)p->duty);
	char until[RFC3339_MAX];

	rfc3339_format(p->until, false, until);
	if (o->output == OUTPUT_JSON)
		args_print_json(
			json_pack("{s:b, s:o, s:o, s:o, s:s}", "paused", p->on, "duty",
				  p->duty < 0 ? json_null() : json_string(duty_name((enum duty)p->duty)),
				  "cluster", p->cluster_name[0] ? json_string(p->cluster_name) : json_null(),
				  "until", args_json_time(p->until), "reason", p->why));
	else
		printf("%s: %s of %s%s%s%s\n", p->on ? "paused" : "resumed", duty,
		       p->cluster_name[0] ? "cluster " : "every cluster", p->cluster_name,
		       !p->on     ? ""
		       : p->until ? " until "
				  : " until resumed",
		       p->on && p->until ? until : "");
}

int command_pause(const struct command *self, int argc, char **argv)
{
	static const struct option longs[] = { { "control-socket", required_argument, NULL, 'S' },
					       { "output", required_argument, NULL, 'o' },
					       { "for", required_argument, NULL, 'f' },
					       { "reason", required_argument, NULL, 'r' },
					       { "help", no_argument, NULL, 'h' },
					       { 0 } };
	struct options o = { .request = { .type = MSG_CTL_PAUSE, .u.ctl_pause = { .duty = -1 } } };
	const bool on = strcmp(self->name, "pause") == 0;
	int c, code;

	while ((c = getopt_long(argc, argv, "o:", longs, NULL)) != -1) {
		if (!on && (c == 'f' || c == 'r'))
			return command_misuse(self, "takes neither --for nor --reason");
		code = take_option(self, &o, c);
		if (code >= 0)
			return code;
	}
	code = take_arguments(self, &o, argc, argv);
	if (code >= 0)
		return code;
	o.request.u.ctl_pause.on = on;
	o.request.u.ctl_pause.until = o.span_ms ? clock_wall_ms() + o.span_ms : 0;
	set_name(&o.request);
	code = ctl_ask(o.socket, &o.request, 20000, no_rows, NULL);
	if (code == EXIT_CODE_OK)
		print_done(&o);
	return code;
}
