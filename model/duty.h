/* duty.h - the four duties, in the order they are judged.  Layer: base. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_DUTY_H
#define MODEL_DUTY_H

enum duty {
	DUTY_EVICTED,     /* delete pods that the kubelet evicted */
	DUTY_TERMINATING, /* force-delete pods stuck in Terminating */
	DUTY_IMAGE_PULL,  /* scale to zero what cannot pull its image */
	DUTY_RESTARTS,    /* report what restarts too often; never acts */
	DUTY__MAX
};

/* The configuration key that people know: "deleteEvictedPod", ... ; "?" outside the range. */
const char *duty_name(enum duty d);

#endif
