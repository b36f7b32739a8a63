/* lease_history.c - see lease_history.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/lease_history.h"

#include "base/clock.h"
#include "base/log.h"
#include "model/reasons.h"
#include "text/texts.h"

#define LINES_MAX 8u /* of the log, a life of the reporter */

static bool send(const struct supervisor *s, const struct msg *m)
{
	return children_send(s->children, ROLE_REPORTER, CLUSTERS_MAX, m);
}

static const char *cluster_name(const struct supervisor *s, const struct lease *l)
{
	return settings(s)->names[l->cluster];
}

static bool send_intent(const struct supervisor *s, const struct lease *l)
{
	struct msg m;

	msg_unpack(l->intent, &m);
	own_state_sign(s->own, &m, cluster_name(s, l), m.u.intent.mac);
	return send(s, &m);
}

void lease_history_send_intents(const struct supervisor *s, uint64_t cluster)
{
	struct lease *l;

	while ((l = lease_next_intent(s->leases, cluster)) && send_intent(s, l))
		lease_intent_sent(s->leases, l);
}

static void send_quotes(const struct supervisor *s, const struct lease *l)
{
	struct msg m;

	for (size_t i = 0; l->quotes && i < QUOTES_MAX; i++) {
		if (!l->quotes->v[i])
			continue;
		msg_unpack(l->quotes->v[i], &m);
		(void)send(s, &m);
	}
}

void lease_history_send_record(const struct supervisor *s, struct lease *l)
{
	struct msg intent, m;

	send_quotes(s, l);
	msg_unpack(l->intent, &intent);
	msg_unpack(l->record, &m);
	own_state_sign_end(s->own, &intent, &m.u.record, cluster_name(s, l), m.u.record.mac);
	l->sent = send(s, &m);
}

void lease_history_send_all(const struct supervisor *s)
{
	const struct generation *g = settings(s);

	for (struct lease *l = lease_next(s->leases, NULL); l; l = lease_next(s->leases, l))
		if (!l->sent && l->phase == LEASE_RECORDING)
			lease_history_send_record(s, l);
	for (uint64_t c = 0; g && c < g->all.clusters; c++)
		lease_history_send_intents(s, c);
}

/* -- what an earlier life has left open -- */

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

	if (i->cluster >= g->all.clusters)
		return (struct objection){ not_ours, TEXT_OPEN_NO_CLUSTER };
	/* The operator who asked has gone with the supervisor that was asked. */
	if (i->action == ACTION_RESTORE)
		return (struct objection){ REASON_RESTORE_CUT_OFF, TEXT_OPEN_RESTORE };
	if (!own_state_is_signed(s->own, m, g->names[i->cluster]))
		return (struct objection){ not_ours, TEXT_OPEN_UNSIGNED };
	if (s->intents_known || i->id < s->own->floor)
		return (struct objection){ not_ours, TEXT_OPEN_ENDED };
	const struct failing_since_key key = { g->names[i->cluster], i->duty, i->action_key, NULL };

	if (!lease_reopen(s->leases, m, failing_since_revision(s->own->known, &key)))
		return (struct objection){ not_ours, TEXT_OPEN_TAKEN };
	return (struct objection){ .text = TEXT__MAX };
}

/* The row gets its end. Should the message be lost, the next life of the history asks again. */
static void end_row(const struct supervisor *s, const struct msg_open_intent *i, const struct objection *why)
{
	struct msg m = { .type = MSG_RECORD,
			 .u.record = { .id = i->id,
				       .outcome = OUTCOME_UNCONFIRMED,
				       .replicas = -1,
				       .at = clock_wall_ms() } };

	msg_text(&m, record.reason, reason_code(why->reason));
	facts_finding(&m.u.record.detail, why->text);
	(void)send(s, &m);
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

void open_intents_end(struct supervisor *s, uint64_t next_id)
{
	if (s->intents_refused > LINES_MAX)
		(void)log_warn(0, "open actions of the history are not carried on with",
			       kv_u("of_them", s->intents_refused));
	/* Of a history that was lost, or says so: a number names one action for ever. */
	(void)lease_table_set_next_id(s->leases, s->own->floor);
	if (!lease_table_set_next_id(s->leases, next_id))
		(void)log_warn(
			0, "the history claims more actions than there can have been: its count is not used",
			kv_u("claimed", next_id - 1));
	s->intents_known = true;
}
