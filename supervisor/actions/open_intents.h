/* open_intents.h - what the history says was open when the last life ended. It may keep intents, not invent
 * them: only what an earlier life of the supervisor signed, what had not ended, and one action an object is
 * taken up. Anything else is not carried out; its row ends as unconfirmed, and a log line says so.
 * Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_OPEN_INTENTS_H
#define SUPERVISOR_ACTIONS_OPEN_INTENTS_H

#include "supervisor/actions/lease.h"
#include "supervisor/actions/own_state.h"
#include "supervisor/children/lifecycle.h"

struct open_intents;

/* All is borrowed. */
struct open_intents *open_intents_new(struct lifecycle *root, struct own_state *own,
				      struct lease_table *leases);
void open_intents_free(struct open_intents **o);

/* A new life of the reporter begins to tell. */
void open_intents_begin(struct open_intents *o);
/* OPEN_INTENT, before OPEN_END. */
void open_intents_take(struct open_intents *o, const struct msg *m);
/* The first OPEN_END has come. Before it no lease may be opened: its number could be that of an intent that
 * is open. */
bool open_intents_are_known(const struct open_intents *o);
/* OPEN_END. Nothing of an earlier life is taken up behind the first one. */
void open_intents_end(struct open_intents *o, uint64_t next_id);

#endif
