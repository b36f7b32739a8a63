/* admission_suspend.h - what the admission policy says of suspensions, in CEL: variables and demands over
 * what admission.c defines.  Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_ADMISSION_SUSPEND_H
#define CLI_ADMISSION_SUSPEND_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A variable by its name, or a demand by its message. */
struct suspension_text {
	const char *name;
	/* Write its expression; after_ms: how long the Job must have run, or the CronJob not have succeeded.
	 */
	void (*put)(FILE *f, int64_t after_ms);
};

/* NULL behind the last. */
const struct suspension_text *suspension_variable(size_t i);
const struct suspension_text *suspension_demand(size_t i);

#endif
