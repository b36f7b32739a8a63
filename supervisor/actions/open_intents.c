/* open_intents.c - see open_intents.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/open_intents.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "model/reasons.h"
#include "text/texts.h"

#define LINES_MAX 8u /* of the log, a life of the reporter */

struct objection {
	enum reason reason;
	enum text text;
};

/* Why it is not taken up; TEXT__MAX: it is. */
static struct objection objection(const struct supervisor *s, const struct msg *m)
{
	const struct msg_open_intent *i = &m->u.open_intent;
	const struct generation *g = settings(s);
	const enum reason not_ours = REASON_INTENT_NOT_OURS;

	if (i->cluster >= g->clusters)
		return (struct objection){ not_ours, TEXT_OPEN_NO_CLUSTER };
	/* The operator who asked has gone with the supervisor that was asked. */
	if (i->action == ACTION_RESTORE)
		return (struct objection){ REASON_RESTORE_CUT_OFF, TEXT_OPEN_RESTORE };
	if (!own_state_is_signed(s->own, m, g->names[i->cluster]))
		return (struct objection){ not_ours, TEXT_OPEN_UNSIGNED };
	if (s->intents_known || i->id < own_state_floor(s->own))
		return (struct objection){ not_ours, TEXT_OPEN_ENDED };
	const struct failing_since_key key = { g->names[i->cluster], i->duty, i->action_key, NULL };

	if (!lease_reopen(s->leases, m, failing_since_revision(own_state_failing_since(s->own), &key)))
		return (struct objection){ not_ours, TEXT_OPEN_TAKEN };
	return (struct objection){ .text = TEXT__MAX };
}

/* The row gets its end. Should the message be lost, the next life of the history asks again. */
static void end_row(const struct supervisor *s, const struct msg_open_intent *i, const struct objection *why)
{
	const char *reason = reason_code(why->reason);
	struct msg m = { .type = MSG_RECORD,
			 .u.record = { .id = i->id,
				       .outcome = OUTCOME_UNCONFIRMED,
				       .replicas = -1,
				       .at = clock_wall_ms() } };

	msg_set(&m, record.reason, reason, strlen(reason));
	facts_finding(&m.u.record.detail, why->text);
	(void)children_send(s->children, ROLE_REPORTER, CLUSTERS_MAX, &m);
}

void open_intents_take(struct supervisor *s, const struct msg *m)
{
	const struct msg_open_intent *i = &m->u.open_intent;

	if (lease_find(s->leases, i->id))
		return; /* of this life of ours: the history has come back */
	const struct objection why = objection(s, m);

	if (why.text == TEXT__MAX) {
		log_info("taking back an action that an earlier life left open", kv_u("id", i->id),
			 kv_s("namespace", i->ns), kv_s("pod", i->name));
		return;
	}
	end_row(s, i, &why);
	if (s->intents_refused++ < LINES_MAX)
		(void)log_warn(0, "an open action of the history is not carried on with", kv_u("id", i->id),
			       kv_s("namespace", i->ns), kv_s("pod", i->name),
			       kv_s("because", text_in(why.text, LANGUAGE_EN)));
}

void open_intents_begin(struct supervisor *s)
{
	s->intents_refused = 0;
}

void open_intents_end(struct supervisor *s, uint64_t next_id)
{
	if (s->intents_refused > LINES_MAX)
		(void)log_warn(0, "open actions of the history are not carried on with",
			       kv_u("of_them", s->intents_refused));
	/* Of a history that was lost, or says so: a number names one action for ever. */
	(void)lease_table_set_next_id(s->leases, own_state_floor(s->own));
	if (!lease_table_set_next_id(s->leases, next_id))
		(void)log_warn(
			0, "the history claims more actions than there can have been: its count is not used",
			kv_u("claimed", next_id - 1));
	s->intents_known = true;
}

bool open_intents_are_known(const struct supervisor *s)
{
	return s->intents_known;
}
