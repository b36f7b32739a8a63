/* replicas.c - see replicas.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/replicas.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "supervisor/actions/balance.h"

#define LEADER_MS 15000u /* the longest Lease: its holders renew it */
#define VIEW_MS   15000u /* who lives is not believed longer, whatever a watcher says */
#define CHANGE_MS 1000u  /* and not shared out anew more often */

/* -- which replica should lead where -- */

/* Where replicas see one another: CLUSTERS_MAX = nowhere, there is nothing to share. */
static uint64_t home_of(const struct generation *g)
{
	uint64_t home = 0;

	if (!g || !g->all.election || g->n_wanted < 2)
		return CLUSTERS_MAX;
	if (*g->all.home)
		home = generation_find_cluster(g, g->all.home);
	return generation_next(g, &home) ? home : CLUSTERS_MAX;
}

static void send_preferred(const struct supervisor *s, uint64_t cluster)
{
	const struct preferred *p = &s->preferred[cluster];
	struct msg m = { .type = MSG_PREFERRED, .u.preferred = { .cluster = cluster, .home = p->home } };

	msg_text(&m, preferred.replica, p->replica);
	(void)children_send(s->children, ROLE_WATCHER, cluster, &m);
}

static void prefer(struct supervisor *s, uint64_t cluster, bool home, const char *replica)
{
	struct preferred *p = &s->preferred[cluster];
	const bool same = replica && p->replica ? strcmp(replica, p->replica) == 0 : replica == p->replica;

	if (same && home == p->home)
		return;
	if (!same) {
		free(p->replica);
		p->replica = replica ? xstrdup(replica) : NULL;
	}
	p->home = home;
	send_preferred(s, cluster);
}

static struct str_list lines_of(const char *text)
{
	struct str_list ret = { 0 };

	for (const char *end; (end = strchr(text, '\n')); text = end + 1)
		str_list_add(&ret, text, (size_t)(end - text));
	return ret;
}

static void share_out(struct supervisor *s)
{
	const struct generation *g = settings(s);
	const uint64_t home = home_of(g);
	struct str_list live = lines_of(s->live && home < CLUSTERS_MAX ? s->live : ""), names = { 0 };
	size_t of[CLUSTERS_MAX], i = 0;

	for (uint64_t c = 0; g && generation_next(g, &c); c++)
		str_list_add(&names, g->names[c], strlen(g->names[c]));
	if (live.n > 0)
		balance(&names, &live, of);
	for (uint64_t c = 0; g && generation_next(g, &c); c++, i++)
		prefer(s, c, c == home, live.n > 0 ? live.v[of[i]] : NULL);
	str_list_done(&names);
	str_list_done(&live);
}

static void set_live(struct supervisor *s, const char *live)
{
	if (live && s->live && strcmp(live, s->live) == 0)
		return;
	if (live) {
		struct str_list all = lines_of(live);

		log_info("replicas that share the clusters", kv_u("live", all.n));
		str_list_done(&all);
	} else {
		(void)log_warn(0, "who else lives is not known: each replica keeps what it leads");
	}
	free(s->live);
	s->live = live ? xstrdup(live) : NULL;
	s->live_changed_ms = clock_boot_ms();
	share_out(s);
}

static void keep_up(struct supervisor *s, uint64_t now_ms)
{
	if (now_ms > s->said_live_until) {
		free(s->said_live);
		s->said_live = NULL;
	}
	if (now_ms < s->live_changed_ms + CHANGE_MS || (!s->said_live && !s->live))
		return;
	set_live(s, s->said_live);
}

void replicas_on_members(struct supervisor *s, const struct msg *m)
{
	const uint64_t now = clock_boot_ms(), latest = now + VIEW_MS;

	if (m->u.members.cluster != home_of(settings(s)))
		return;
	s->said_live_until = m->u.members.valid_until < latest ? m->u.members.valid_until : latest;
	free(s->identity);
	s->identity = xstrdup(m->u.members.own);
	free(s->said_live);
	s->said_live = xstrdup(m->u.members.live);
	keep_up(s, now);
}

void replicas_on_watcher_ready(struct supervisor *s, uint64_t cluster)
{
	if (s->preferred[cluster].home || s->preferred[cluster].replica)
		send_preferred(s, cluster);
}

void replicas_on_loaded(struct supervisor *s)
{
	share_out(s);
}

void replicas_tick(struct supervisor *s, uint64_t now_ms)
{
	keep_up(s, now_ms);
}

/* -- who leads -- */

/* Keep what a watcher says. It holds no longer than a Lease does, whatever the watcher says. */
static void keep_leader(struct supervisor *s, const struct msg *m, uint64_t now_ms)
{
	struct msg *kept = &s->leaders[m->u.leader.cluster];

	*kept = *m;
	if (kept->u.leader.valid_until > now_ms + LEADER_MS)
		kept->u.leader.valid_until = now_ms + LEADER_MS;
}

const struct msg *replicas_leader(const struct supervisor *s, uint64_t cluster)
{
	return s->leaders[cluster].type == MSG_LEADER ? &s->leaders[cluster] : NULL;
}

uint64_t replicas_write_until(const struct supervisor *s, uint64_t cluster, uint64_t now_ms, uint64_t most)
{
	const struct msg *m = replicas_leader(s, cluster);

	if (!settings(s)->all.election)
		return now_ms + most;
	if (!m || !m->u.leader.leading || now_ms >= m->u.leader.valid_until)
		return 0;
	return m->u.leader.valid_until < now_ms + most ? m->u.leader.valid_until : now_ms + most;
}

bool replicas_on_leader(struct supervisor *s, const struct msg *m)
{
	const uint64_t cluster = m->u.leader.cluster, now = clock_boot_ms();
	const bool led = replicas_write_until(s, cluster, now, 1) != 0;

	keep_leader(s, m, now);
	return !led || m->u.leader.yielding;
}

bool replicas_is_yielding(const struct supervisor *s, uint64_t cluster)
{
	const struct msg *m = replicas_leader(s, cluster);

	return settings(s)->all.election && m && m->u.leader.leading && m->u.leader.yielding &&
	       clock_boot_ms() < m->u.leader.valid_until;
}

bool replicas_leads(const struct supervisor *s, uint64_t cluster)
{
	const struct msg *m = replicas_leader(s, cluster);

	return !settings(s)->all.election || (m && m->u.leader.leading && !m->u.leader.yielding);
}

bool replicas_prefers_another(const struct supervisor *s, uint64_t cluster)
{
	const char *preferred = s->preferred[cluster].replica;

	return preferred && strcmp(preferred, s->identity) != 0 && !replicas_leads(s, cluster);
}

void replicas_let_go(struct supervisor *s, uint64_t cluster)
{
	const struct msg m = { .type = MSG_LET_GO, .u.let_go = { .cluster = cluster } };

	(void)children_send(s->children, ROLE_WATCHER, cluster, &m);
}

void replicas_free(struct supervisor *s)
{
	for (size_t i = 0; i < CLUSTERS_MAX; i++)
		free(s->preferred[i].replica);
	free(s->identity);
	free(s->live);
	free(s->said_live);
}
