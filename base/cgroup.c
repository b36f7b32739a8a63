/* cgroup.c - see cgroup.h. */
// SPDX-License-Identifier: Apache-2.0
#include "base/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"

/* CGROUP_UNLIMITED for "max" and what is no number. */
static uint64_t read_number(const char *folder, const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", folder, name);
	char text[32] = "";
	uint64_t ret;
	FILE *f = fopen(path, "re");

	if (f && !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		(void)fclose(f);
	return str_to_u64(text, strcspn(text, "\n"), &ret) == 0 ? ret : CGROUP_UNLIMITED;
}

uint64_t cgroup_room(const char *root, const char *cgroup, const char *limit, const char *usage)
{
	_cleanup_free_ char *folder = xconcat(root, cgroup, NULL);
	uint64_t ret = CGROUP_UNLIMITED;

	while (strlen(folder) >= strlen(root)) {
		const uint64_t max = read_number(folder, limit);
		const uint64_t used = usage ? read_number(folder, usage) : 0;
		char *slash = strrchr(folder, '/');

		if (max != CGROUP_UNLIMITED && used != CGROUP_UNLIMITED)
			ret = used >= max ? 0 : max - used < ret ? max - used : ret;
		if (!slash)
			break;
		*slash = '\0';
	}
	return ret;
}

/* "0::/system.slice/x.service" */
char *cgroup_own(void)
{
	char line[4096];
	char *ret = NULL;
	FILE *f = fopen("/proc/self/cgroup", "re");

	while (f && !ret && fgets(line, sizeof(line), f))
		if (strncmp(line, "0::/", 4) == 0)
			ret = xstrndup(line + 3, strcspn(line + 3, "\n"));
	if (f)
		(void)fclose(f);
	return ret ? ret : xstrdup("/");
}
