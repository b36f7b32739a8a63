/* node.h - is it safe to delete by force: the pod's node, and whether its volumes are still attached there
 * (R12). What could not be read stays unknown in the context, and the judge refuses.  Layer: worker. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WORKER_STEPS_NODE_H
#define WORKER_STEPS_NODE_H

#include "worker/steps/step.h"

step_needed_fn needs_node, needs_attachments, needs_claim;
step_ask_fn ask_node, ask_claim;
step_item_fn item_attachment;
step_take_fn take_node, take_attachments, take_claim;

#endif
