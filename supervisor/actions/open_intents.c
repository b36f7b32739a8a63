/* open_intents.c - see open_intents.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/open_intents.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "model/reasons.h"
#include "text/texts.h"

#define LINES_MAX 8u /* of the log, a life of the reporter */

struct open_intents {
	struct lifecycle *root;
	struct own_state *own;
	struct lease_table *leases;
	bool closed;      /* the first OPEN_END has come */
	uint64_t refused; /* in this life of the reporter */
};

struct objection {
	enum reason reason;
	enum text text;
};

/* Why it is not taken up; TEXT__MAX: it is. */
static struct objection objection(const struct open_intents *o, const struct msg *m)
{
	const struct msg_open_intent *i = &m->u.open_intent;
	const struct generation *g = lifecycle_generation(o->root);
	const enum reason not_ours = REASON_INTENT_NOT_OURS;

	if (i->cluster >= g->clusters)
		return (struct objection){ not_ours, TEXT_OPEN_NO_CLUSTER };
	/* The operator who asked has gone with the supervisor that was asked. */
	if (i->action == ACTION_RESTORE)
		return (struct objection){ REASON_RESTORE_CUT_OFF, TEXT_OPEN_RESTORE };
	if (!own_state_is_signed(o->own, m, g->names[i->cluster]))
		return (struct objection){ not_ours, TEXT_OPEN_UNSIGNED };
	if (o->closed || i->id < own_state_floor(o->own))
		return (struct objection){ not_ours, TEXT_OPEN_ENDED };
	const struct failing_since_key key = { g->names[i->cluster], i->duty, i->action_key, NULL };

	if (!lease_reopen(o->leases, m, failing_since_revision(own_state_failing_since(o->own), &key)))
		return (struct objection){ not_ours, TEXT_OPEN_TAKEN };
	return (struct objection){ .text = TEXT__MAX };
}

/* The row gets its end. Should the message be lost, the next life of the history asks again. */
static void end_row(const struct open_intents *o, const struct msg_open_intent *i,
		    const struct objection *why)
{
	const char *reason = reason_code(why->reason);
	struct msg m = { .type = MSG_RECORD,
			 .u.record = { .id = i->id,
				       .outcome = OUTCOME_UNCONFIRMED,
				       .replicas = -1,
				       .at = clock_wall_ms() } };

	msg_set(&m, record.reason, reason, strlen(reason));
	facts_finding(&m.u.record.detail, why->text);
	(void)children_send(lifecycle_children(o->root), ROLE_REPORTER, CLUSTERS_MAX, &m);
}

void open_intents_take(struct open_intents *o, const struct msg *m)
{
	const struct msg_open_intent *i = &m->u.open_intent;

	if (lease_find(o->leases, i->id))
		return; /* of this life of ours: the history has come back */
	const struct objection why = objection(o, m);

	if (why.text == TEXT__MAX) {
		log_info("taking back an action that an earlier life left open", kv_u("id", i->id),
			 kv_s("namespace", i->ns), kv_s("pod", i->name));
		return;
	}
	end_row(o, i, &why);
	if (o->refused++ < LINES_MAX)
		(void)log_warn(0, "an open action of the history is not carried on with", kv_u("id", i->id),
			       kv_s("namespace", i->ns), kv_s("pod", i->name),
			       kv_s("because", text_in(why.text, LANGUAGE_EN)));
}

void open_intents_begin(struct open_intents *o)
{
	o->refused = 0;
}

void open_intents_end(struct open_intents *o, uint64_t next_id)
{
	if (o->refused > LINES_MAX)
		(void)log_warn(0, "open actions of the history are not carried on with",
			       kv_u("of_them", o->refused));
	/* Of a history that was lost, or says so: a number names one action for ever. */
	(void)lease_table_set_next_id(o->leases, own_state_floor(o->own));
	if (!lease_table_set_next_id(o->leases, next_id))
		(void)log_warn(
			0, "the history claims more actions than there can have been: its count is not used",
			kv_u("claimed", next_id - 1));
	o->closed = true;
}

bool open_intents_are_known(const struct open_intents *o)
{
	return o->closed;
}

struct open_intents *open_intents_new(struct lifecycle *root, struct own_state *own,
				      struct lease_table *leases)
{
	struct open_intents *o = xcalloc(1, sizeof(*o));

	*o = (struct open_intents){ .root = root, .own = own, .leases = leases };
	return o;
}

void open_intents_free(struct open_intents **o)
{
	free(*o);
	*o = NULL;
}
