/* probe.h - test builds: a live, sandboxed process tries what it must not be able to do. The same probes
 * succeed with the sandbox off, so the test cannot be empty. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_PROBE_H
#define TESTS_PROBE_H

#include <stddef.h>
#include <stdint.h>

/* Try the named thing; arg is a port or a pid where it needs one. 0 = it worked, negative errno = denied; a
 * denial may also be SIGSYS. -EINVAL: no such probe. */
int probe_run(const char *name, int64_t arg);
/* Names, NULL at the end of the table. */
const char *probe_name(size_t i);

#endif
