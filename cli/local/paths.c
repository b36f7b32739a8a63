/* paths.c - see paths.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/local/paths.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "config/diag.h"

static char *below_home(const char *variable, const char *fallback, const char *rest)
{
	const char *dir = str_env(variable), *home = str_env("HOME");

	if (dir)
		return xasprintf("%s/%s", dir, rest);
	return home ? xasprintf("%s/%s/%s", home, fallback, rest)
		    : xasprintf("/tmp/ops-pod-cleaner-%u/%s", (unsigned)geteuid(), rest);
}

#define SYSTEM_FOLDER "/run/ops-pod-cleaner"
#define CONTROL_NAME  "/control.sock"
#define READER_NAME   "/read.sock"

char *paths_default_control_socket(void)
{
	const char *run = str_env("XDG_RUNTIME_DIR");

	if (geteuid() == 0)
		return xstrdup(SYSTEM_FOLDER CONTROL_NAME);
	return run ? xasprintf("%s/ops-pod-cleaner/control.sock", run)
		   : below_home("XDG_STATE_HOME", ".local/state", "ops-pod-cleaner/control.sock");
}

bool paths_is_of_system(const char *socket)
{
	const size_t n = strlen(SYSTEM_FOLDER);

	return strncmp(socket, SYSTEM_FOLDER, n) == 0 && (socket[n] == '/' || socket[n] == '@');
}

/* Beside a control.sock; NULL: it has another name. */
static char *reader_beside(const char *socket)
{
	const char *slash = strrchr(socket, '/');

	return slash && strcmp(slash, CONTROL_NAME) == 0
		       ? xasprintf("%.*s" READER_NAME, (int)(slash - socket), socket)
		       : NULL;
}

void paths_control_sockets(const char *named, char *ret[static PATHS_SOCKETS + 1])
{
	size_t n = 0;

	memset(ret, 0, (PATHS_SOCKETS + 1) * sizeof(*ret));
	ret[n++] = named ? xstrdup(named) : paths_default_control_socket();
	if (!named && geteuid() != 0)
		ret[n++] = xstrdup(SYSTEM_FOLDER CONTROL_NAME);
	ret[n] = reader_beside(ret[n - 1]);
}

char *paths_socket_of_template(void)
{
	glob_t found = { 0 };
	char *socket = NULL;

	if (glob(SYSTEM_FOLDER "@*", GLOB_ONLYDIR, NULL, &found) == 0 && found.gl_pathc > 0)
		socket = xconcat(found.gl_pathv[0], CONTROL_NAME, NULL);
	globfree(&found);
	return socket;
}

char *paths_find_config(const char *named)
{
	if (named)
		return xstrdup(named);
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

int paths_load_config(const char *path, struct config *ret)
{
	struct diags d = { 0 };

	config_init(ret);
	const int r = config_load(path, ret, &d);

	if (r < 0)
		config_print_diags(path, false, &d, language_of_environment(), stderr);
	diags_done(&d);
	return r < 0 ? EXIT_CODE_CONFIG : EXIT_CODE_OK;
}
