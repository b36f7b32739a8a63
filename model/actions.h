/* actions.h - what is done to an object.  Layer: model. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_ACTIONS_H
#define MODEL_ACTIONS_H

/* Rungs of the ladder. What the duty itself writes follows from the duty and the object's kind. */
enum action_kind {
	ACTION_DUTY,    /* delete, force-delete, scale to zero, suspend */
	ACTION_RETRY,   /* errImagePull: delete this one pod, so that a new one tries afresh */
	ACTION_RESTORE, /* put back the replicas that an earlier action took */
	ACTION__MAX
};

#endif
