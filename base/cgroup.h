/* cgroup.h - limits of control groups. Source: Linux, Documentation/admin-guide/cgroup-v2.rst. Layer: base.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

#include <stdint.h>

#define CGROUP_ROOT      "/sys/fs/cgroup"
#define CGROUP_UNLIMITED UINT64_MAX

/* The path of this process in the unified hierarchy, "/" where there is none; the caller frees it. */
char *cgroup_own(void);
/* What is left below `limit` ("pids.max") of a control group and of those above it; usage: "pids.current",
 * NULL = nothing is used. cgroup: its path below root ("/system.slice/x.service"; "/" is root itself). Files
 * that cannot be read limit nothing. */
uint64_t cgroup_room(const char *root, const char *cgroup, const char *limit, const char *usage);

#endif
