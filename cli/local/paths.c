/* paths.c - see paths.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/local/paths.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"

static char *below_home(const char *variable, const char *fallback, const char *rest)
{
	const char *dir = str_env(variable), *home = str_env("HOME");

	if (dir)
		return xasprintf("%s/%s", dir, rest);
	return home ? xasprintf("%s/%s/%s", home, fallback, rest)
		    : xasprintf("/tmp/ops-pod-cleaner-%u/%s", (unsigned)geteuid(), rest);
}

char *paths_default_control_socket(void)
{
	const char *run = str_env("XDG_RUNTIME_DIR");

	if (geteuid() == 0)
		return xstrdup("/run/ops-pod-cleaner/control.sock");
	return run ? xasprintf("%s/ops-pod-cleaner/control.sock", run)
		   : below_home("XDG_STATE_HOME", ".local/state", "ops-pod-cleaner/control.sock");
}

char *paths_find_config(void)
{
	char *path = geteuid() == 0 ? xstrdup("/etc/ops-pod-cleaner/config.yml")
				    : below_home("XDG_CONFIG_HOME", ".config", "ops-pod-cleaner/config.yml");

	/* Whoever owns the folder that root stands in does not decide what root does. */
	if (geteuid() == 0 || access(path, F_OK) == 0 || access("config.yml", F_OK) != 0)
		return path;
	free(path);
	return xstrdup("config.yml");
}

char *paths_absolute(const char *path)
{
	_cleanup_free_ char *cwd = NULL;

	if (!path || path[0] == '/' || path[0] == '\0')
		return path ? xstrdup(path) : NULL;
	cwd = getcwd(NULL, 0);
	return xasprintf("%s/%s", cwd ? cwd : "", path);
}

char *paths_libexec(void)
{
	const char *given = str_env("OPC_LIBEXEC_DIR");
	char self[4096];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (given)
		return xstrdup(given);
	if (n <= 0)
		return xstrdup("/usr/libexec/ops-pod-cleaner");
	self[n] = '\0';
	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(self, '/');

		if (slash)
			*slash = '\0';
	}
	return xasprintf("%s/libexec/ops-pod-cleaner", self);
}
