/* Scripted faults: what goes wrong with which requests. See README.md for the fields of a rule. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_FAULTS_H
#define APISIM_FAULTS_H

#include "tests/apisim/call.h"

/* Adds a list of rules (or one object) to sim->faults; keeps them, and counts in them. NULL, or why it is
 * refused. */
const char *faults_add(struct sim *sim, json_t *rules);

/* Finds the rule for the call, if any, and then runs `next`, now or after the rule's delay. May end the call
 * itself. */
void faults_apply(struct call *c, void (*next)(struct call *c));

/* True when the rule found before answers the call instead of the server. */
bool faults_answer(struct call *c);

/* Sends the answer as the rule wants it. */
void faults_send(struct call *c);

#endif
