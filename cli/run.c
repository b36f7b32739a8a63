/* run.c - `run`: find the files, then become the supervisor. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
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

struct run_options {
	char *config, *state_dir, *control_socket, *kubeconfig, *master;
};

static int parse(const struct command *self, int argc, char **argv, struct run_options *o)
{
	static const struct option longs[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "state-dir", required_argument, NULL, 's' },
		{ "control-socket", required_argument, NULL, 'S' },
		{ "kubeconfig", required_argument, NULL, 'k' },
		{ "master", required_argument, NULL, 'm' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	/* getopt_long_only: the original's -kubeconfig and -master work with one dash. */
	while ((c = getopt_long_only(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			o->config = paths_absolute(optarg);
			break;
		case 's':
			o->state_dir = paths_absolute(optarg);
			break;
		case 'S':
			o->control_socket = paths_absolute(optarg);
			break;
		case 'k':
			o->kubeconfig = *optarg ? paths_absolute(optarg) : xstrdup("");
			break;
		case 'm':
			o->master = xstrdup(optarg);
			break;
		case 'h':
			return command_help(self);
		default:
			return command_misuse(self, "unknown option");
		}
	}
	return optind == argc ? -1 : command_misuse(self, "unexpected argument '%s'", argv[optind]);
}

static void fill_defaults(struct run_options *o)
{
	if (!o->config) {
		_cleanup_free_ char *found = paths_find_config();

		o->config = paths_absolute(found);
		(void)fprintf(stderr, "ops-pod-cleaner: configuration is %s\n", o->config);
	}
	if (!o->control_socket)
		o->control_socket = paths_default_control_socket();
}

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

static int become_supervisor(const struct run_options *o)
{
	_cleanup_free_ char *dir = paths_libexec();
	_cleanup_free_ char *path = xasprintf("%s/supervisor", dir);
	const char *argv[12] = { "ops-pod-cleaner" };
	const char *const pairs[][2] = { { "--config", o->config },
					 { "--state-dir", o->state_dir },
					 { "--control-socket", o->control_socket },
					 { "--kubeconfig", o->kubeconfig },
					 { "--master", o->master } };
	size_t n = 1;

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		if (!pairs[i][1])
			continue;
		argv[n++] = pairs[i][0];
		argv[n++] = pairs[i][1];
	}
	(void)execv(path, (char *const *)(uintptr_t)argv);
	(void)fprintf(stderr, "ops-pod-cleaner: cannot start %s: %s: install the program again\n", path,
		      strerrordesc_np(errno));
	return EXIT_CODE_RESOURCE;
}

int command_run(const struct command *self, int argc, char **argv)
{
	struct run_options o = { 0 };
	int code = parse(self, argc, argv, &o);

	if (code < 0) {
		fill_defaults(&o);
		if (strlen(o.control_socket) >= sizeof(((struct sockaddr_un *)0)->sun_path) - 8)
			code = command_misuse(self, "--control-socket %s is longer than a socket name may be",
					      o.control_socket);
		else
			code = make_parents(o.control_socket);
		if (code == EXIT_CODE_OK)
			code = become_supervisor(&o);
	}
	free(o.config);
	free(o.state_dir);
	free(o.control_socket);
	free(o.kubeconfig);
	free(o.master);
	return code;
}
