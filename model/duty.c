/* duty.c - see duty.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/duty.h"

static const char *const names[DUTY__MAX] = {
	[DUTY_EVICTED] = "deleteEvictedPod",
	[DUTY_TERMINATING] = "deleteTerminatingPod",
	[DUTY_IMAGE_PULL] = "errImagePull",
	[DUTY_RESTARTS] = "tooManyRestart",
};

const char *duty_name(enum duty d)
{
	return d >= 0 && d < DUTY__MAX ? names[d] : "?";
}
