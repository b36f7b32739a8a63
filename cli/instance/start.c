/* start.c - see start.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/instance/start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/local/paths.h"
#include "cli/view/output.h"

const char *const start_dry_run[] = { "mode=observe", NULL };

void start_private(const char *ret[static START_PRIVATE_MAX], bool without_kubeconfig, bool without_context)
{
	static const char *const always[] = {
		"plansOnly=true",
		"mode=observe",
		"leaderElection.enable=false",
		"tooManyRestart.enable=false",
		"metricsListen=",
		"startupQuiet=0s",
	};
	size_t n = 0;

	while (n < ARRAY_SIZE(always)) {
		ret[n] = always[n];
		n++;
	}
	if (without_kubeconfig)
		ret[n++] = "writerKubeconfig=";
	if (without_context)
		ret[n++] = "writerContext=";
	ret[n] = NULL;
}

int start_supervisor(const struct start *s)
{
	_cleanup_free_ char *dir = paths_libexec();
	_cleanup_free_ char *path = xasprintf("%s/supervisor", dir);
	const char *const given[][2] = { { "config", s->config },         { "state-dir", s->state_dir },
					 { "control-socket", s->socket }, { "kubeconfig", s->kubeconfig },
					 { "context", s->context },       { "master", s->master } };
	char **argv = xcalloc(1, sizeof(*argv));
	size_t n = 0;

	argv[n++] = xstrdup("ops-pod-cleaner");
	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		if (!given[i][1])
			continue;
		argv = xreallocarray(argv, n + 2, sizeof(*argv));
		argv[n++] = xasprintf("--%s=%s", given[i][0], given[i][1]);
	}
	for (size_t i = 0; s->set && s->set[i]; i++) {
		argv = xreallocarray(argv, n + 2, sizeof(*argv));
		argv[n++] = xasprintf("--set=%s", s->set[i]);
	}
	argv[n] = NULL;
	(void)execv(path, argv);
	const int err = errno;

	while (n > 0)
		free(argv[--n]);
	free(argv);
	output_complain(NULL, TEXT(RUN_CANNOT_START), path, strerrordesc_np(err));
	return EXIT_CODE_RESOURCE;
}
