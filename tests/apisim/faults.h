/* Scripted faults: what goes wrong with which requests. See README.md for the fields of a rule. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_FAULTS_H
#define APISIM_FAULTS_H

#include "tests/apisim/call.h"

struct faults *faults_new(void);
void faults_free(struct faults *f);

/* Adds rules from a JSON list (or one object). NULL, or why it is refused. */
const char *faults_add(struct faults *f, const json_t *rules);
void faults_clear(struct faults *f);

/* Each rule with how often it has struck; the caller's. */
json_t *faults_list(const struct faults *f);

/* Finds the rule for the call, if any, and then runs `next`, now or after the rule's delay. May end the call
 * itself. */
void faults_apply(struct faults *f, struct call *c, void (*next)(struct call *c));

/* True when the rule found before answers the call instead of the server. */
bool faults_answer(struct call *c);

/* Sends the answer as the rule wants it. */
void faults_send(struct call *c);

#endif
