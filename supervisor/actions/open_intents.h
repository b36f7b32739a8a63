/* open_intents.h - what the history says was open when the last life ended. It may keep intents, not invent
 * them: only what an earlier life of the supervisor signed, what had not ended, and one action an object is
 * taken up. Anything else is not carried out; its row ends as unconfirmed, and a log line says so.
 * Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ACTIONS_OPEN_INTENTS_H
#define SUPERVISOR_ACTIONS_OPEN_INTENTS_H

#include "supervisor/actions/parts.h"

/* A new life of the reporter begins to tell. */
void open_intents_begin(struct supervisor *s);
/* OPEN_INTENT, before OPEN_END. */
void open_intents_take(struct supervisor *s, const struct msg *m);
/* The first OPEN_END has come. Before it no lease may be opened: its number could be that of an intent that
 * is open. */
bool open_intents_are_known(const struct supervisor *s);
/* OPEN_END. Nothing of an earlier life is taken up behind the first one. */
void open_intents_end(struct supervisor *s, uint64_t next_id);

#endif
