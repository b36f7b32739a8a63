/* reload.c - `reload`: have the running instance load its settings again. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/exit.h"
#include "cli/command.h"
#include "cli/ctl.h"

int command_reload(const struct command *self, const struct options *o)
{
	const struct msg request = { .type = MSG_CTL_RELOAD };
	const int code = ctl_ask(o->socket, &request, 60000, NULL, NULL);

	(void)self;
	if (code == EXIT_CODE_OK)
		printf("settings are in force\n");
	return code;
}
