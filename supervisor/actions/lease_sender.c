/* lease_sender.c - see lease_sender.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/lease_sender.h"

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

void lease_sender_send_intents(const struct supervisor *s, uint64_t cluster)
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

void lease_sender_send_record(const struct supervisor *s, struct lease *l)
{
	struct msg intent, m;

	send_quotes(s, l);
	msg_unpack(l->intent, &intent);
	msg_unpack(l->record, &m);
	own_state_sign_end(s->own, &intent, &m.u.record, cluster_name(s, l), m.u.record.mac);
	l->sent = send(s, &m);
}

void lease_sender_send_all(const struct supervisor *s)
{
	const struct generation *g = settings(s);

	for (struct lease *l = lease_next(s->leases, NULL); l; l = lease_next(s->leases, l))
		if (!l->sent && l->phase == LEASE_RECORDING)
			lease_sender_send_record(s, l);
	for (uint64_t c = 0; g && c < g->clusters; c++)
		lease_sender_send_intents(s, c);
}
