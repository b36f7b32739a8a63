/* run.c - `run`: find the files, then become the supervisor. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/commands/command.h"
#include "cli/local/paths.h"
#include "cli/instance/start.h"
#include "cli/view/output.h"

/* Every missing directory of the path, for us alone. */
static int make_parents(const char *path)
{
	_cleanup_free_ char *copy = xstrdup(path);

	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0700) < 0 && errno != EEXIST) {
			output_complain(NULL, TEXT(RUN_CANNOT_CREATE), copy, strerrordesc_np(errno));
			return EXIT_CODE_CONFIG;
		}
		*slash = '/';
	}
	return EXIT_CODE_OK;
}

/* Does not return but on an error. */
static int become_supervisor(const struct options *o, const char *control_socket)
{
	_cleanup_free_ char *found = o->config ? NULL : paths_find_config();
	_cleanup_free_ char *config = paths_absolute(found ? found : o->config);
	_cleanup_free_ char *state_dir = paths_absolute(o->state_dir);
	_cleanup_free_ char *kubeconfig = paths_absolute(o->kubeconfig);
	const struct start s = { config,
				 control_socket,
				 state_dir,
				 kubeconfig,
				 o->context,
				 o->master,
				 o->dry_run ? start_dry_run : NULL };

	if (found)
		output_complain(NULL, TEXT(RUN_CONFIGURATION), config);
	if (found && access(found, F_OK) != 0 && access("config.yml", F_OK) == 0)
		output_complain(NULL, "%s", TEXT(RUN_NOT_UNASKED));
	return start_supervisor(&s);
}

int command_run(const struct options *o)
{
	_cleanup_free_ char *socket = o->socket ? paths_absolute(o->socket) : paths_default_control_socket();

	if (strlen(socket) >= sizeof(((struct sockaddr_un *)0)->sun_path) - 8)
		return command_misuse(o, TEXT(RUN_LONG_SOCKET), socket);
	const int code = make_parents(socket);

	if (code != EXIT_CODE_OK)
		return code;
	return o->once ? run_once(o, socket) : become_supervisor(o, socket);
}
