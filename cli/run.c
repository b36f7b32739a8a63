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
#include "cli/command.h"
#include "cli/paths.h"

/* Every missing directory of the path, for us alone. */
static int make_parents(const char *path)
{
	_cleanup_free_ char *copy = xstrdup(path);

	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0700) < 0 && errno != EEXIST) {
			(void)fprintf(stderr, "ops-pod-cleaner: cannot create %s: %s\n", copy,
				      strerrordesc_np(errno));
			return EXIT_CODE_CONFIG;
		}
		*slash = '/';
	}
	return EXIT_CODE_OK;
}

/* Does not return but on an error. */
static int become_supervisor(const struct options *o, const char *control_socket)
{
	_cleanup_free_ char *dir = paths_libexec();
	_cleanup_free_ char *path = xasprintf("%s/supervisor", dir);
	_cleanup_free_ char *found = o->config ? NULL : paths_find_config();
	_cleanup_free_ char *config = paths_absolute(found ? found : o->config);
	_cleanup_free_ char *state_dir = paths_absolute(o->state_dir);
	_cleanup_free_ char *kubeconfig = paths_absolute(o->kubeconfig);
	const char *const given[][2] = { { "config", config },
					 { "state-dir", state_dir },
					 { "control-socket", control_socket },
					 { "kubeconfig", kubeconfig },
					 { "master", o->master } };
	char *argv[ARRAY_SIZE(given) + 2] = { xstrdup("ops-pod-cleaner") };
	size_t n = 1;

	if (found)
		(void)fprintf(stderr, "ops-pod-cleaner: configuration is %s\n", config);
	if (found && access(found, F_OK) != 0 && access("config.yml", F_OK) == 0)
		(void)fprintf(stderr,
			      "ops-pod-cleaner: root does not take ./config.yml unasked: name it with "
			      "--config ./config.yml\n");
	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		if (given[i][1])
			argv[n++] = xasprintf("--%s=%s", given[i][0], given[i][1]);
	(void)execv(path, argv);
	const int err = errno;

	for (size_t i = 0; i < n; i++)
		free(argv[i]);
	(void)fprintf(stderr, "ops-pod-cleaner: cannot start %s: %s: install the program again\n", path,
		      strerrordesc_np(err));
	return EXIT_CODE_RESOURCE;
}

int command_run(const struct options *o)
{
	_cleanup_free_ char *socket = o->socket ? paths_absolute(o->socket) : paths_default_control_socket();

	if (strlen(socket) >= sizeof(((struct sockaddr_un *)0)->sun_path) - 8)
		return command_misuse(o, "--control-socket %s is longer than a socket name may be", socket);
	const int code = make_parents(socket);

	return code == EXIT_CODE_OK ? become_supervisor(o, socket) : code;
}
