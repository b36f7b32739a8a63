/* pauses.c - see pauses.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/operator/pauses.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "model/duties.h"
#include "supervisor/actions/dispatch.h"
#include "text/facts_text.h"

/* An operator waits no longer for what workers had begun. */
#define ANSWER_MS 10000u

/* -- sending -- */

static void send_to_watcher(const struct supervisor *s, uint64_t cluster, const struct msg_pause *p)
{
	const struct msg m = { .type = MSG_PAUSE, .u.pause = *p };

	if (!p->cluster_name[0] || strcmp(p->cluster_name, settings(s)->names[cluster]) == 0)
		(void)children_send(s->children, ROLE_WATCHER, cluster, &m);
}

void pauses_on_watcher_ready(const struct supervisor *s, uint64_t cluster)
{
	for (size_t i = 0; i < s->pause_list.n; i++)
		if (s->pause_list.v[i].p.on)
			send_to_watcher(s, cluster, &s->pause_list.v[i].p);
}

static void change(struct supervisor *s, const struct msg_pause *p)
{
	_cleanup_free_ char *why = facts_render(&p->why, NULL);

	log_info("a pause changed", kv_s("now", p->on ? "paused" : "resumed"),
		 kv_s("cluster", p->cluster_name[0] ? p->cluster_name : "*"),
		 kv_s("duty", p->duty < 0 ? "*" : duty_name((enum duty)p->duty)), kv_s("by", p->by),
		 kv_s("why", why));
	for (uint64_t c = 0; c < settings(s)->all.clusters; c++)
		send_to_watcher(s, c, p);
	dispatch_all(s);
	lifecycle_tell_status(s->root);
}

static void end(const struct supervisor *s, uint64_t conn, uint64_t code, enum text why)
{
	answers_refuse(&s->answers, conn, code, why);
}

static bool names_a_cluster(const struct supervisor *s, const struct msg_pause *p)
{
	const struct generation *g = settings(s);

	return !p->cluster_name[0] || generation_find_cluster(g, p->cluster_name) < g->all.clusters;
}

/* The next one from *i on that is in force; NULL behind the last. That of a cluster which is configured no
 * more waits for it. */
static const struct pause *next_in_force(const struct supervisor *s, size_t *i)
{
	const struct pause_list *l = &s->pause_list;
	const int64_t now = own_state_now(s->own);

	for (; *i < l->n; ++*i) {
		const struct pause *e = &l->v[*i];

		if (e->p.on && !pause_has_ended(e, now, false) && names_a_cluster(s, &e->p))
			return &l->v[(*i)++];
	}
	return NULL;
}

/* As next_in_force(), of those that cover a part of the scope. */
static const struct pause *next_that_meets(const struct supervisor *s, const struct msg_pause *scope,
					   size_t *i)
{
	const struct pause *e;

	do
		e = next_in_force(s, i);
	while (e && !pause_meets(scope, &e->p));
	return e;
}

static void send_those_that_meet(const struct supervisor *s, const struct msg_pause *scope, uint64_t conn)
{
	const struct pause *e;

	for (size_t i = 0; (e = next_that_meets(s, scope, &i));) {
		const struct msg m = { .type = MSG_PAUSE, .u.pause = e->p };

		answers_send(&s->answers, conn, &m);
	}
}

void pauses_send_status(const struct supervisor *s, uint64_t conn)
{
	send_those_that_meet(s, &(struct msg_pause){ .duty = -1 }, conn);
}

bool pauses_any(const struct supervisor *s)
{
	size_t i = 0;

	return next_in_force(s, &i) != NULL;
}

/* -- having it written down -- */

static void answer_late(const struct supervisor *s, struct pause *e)
{
	end(s, e->conn, EXIT_CODE_OK, TEXT_IN_FORCE);
	e->conn = 0;
}

/* Does a worker carry out what is paused? It was granted before. */
static bool is_under_way(const struct supervisor *s, const struct msg_pause *p)
{
	const struct lease *l = NULL;

	while ((l = lease_next(s->leases, l)))
		if (p->on && l->phase == LEASE_GRANTED && !l->by_operator &&
		    pause_covers(p, settings(s)->names[l->cluster], l->duty))
			return true;
	return false;
}

/* It is on disk. Who pauses means that nothing is written any more: what was begun ends first. */
static void answer_saved(const struct supervisor *s, struct pause *e)
{
	const struct facts still = facts_of(TEXT_STILL_UNDER_WAY);
	const bool waits = is_under_way(s, &e->p);

	if (waits && clock_boot_ms() < e->answer_by)
		return;
	answers_end(&s->answers, e->conn, EXIT_CODE_OK, waits ? &still : NULL);
	e->conn = 0;
}

static void send_to_reporter(const struct supervisor *s, struct pause *e)
{
	const struct msg m = { .type = MSG_PAUSE, .u.pause = e->p };

	if (e->unsaved && !e->sent && s->history_open)
		e->sent = children_send(s->children, ROLE_REPORTER, CLUSTERS_MAX, &m);
}

/* Our own file, which no child can touch. */
static void keep(struct supervisor *s)
{
	const int r = own_state_save(s->own);

	if (r < 0 && !s->pauses_unkept)
		(void)log_error(
			r, "a pause that changed cannot be written down: it is in force, and tried again");
	s->pauses_unkept = r < 0;
}

/* Have the history write it down, now or when that is possible. */
static void tell_history(struct supervisor *s, struct pause *e)
{
	answer_late(s, e); /* somebody else changed the same */
	e->unsaved = true;
	e->sent = false;
	send_to_reporter(s, e);
}

static void save(struct supervisor *s, struct pause *e)
{
	keep(s);
	tell_history(s, e);
}

static void save_again(struct supervisor *s)
{
	struct pause *e;

	for (size_t i = 0; (e = pause_list_get(&s->pause_list, i)); i++)
		send_to_reporter(s, e);
}

/* -- an operator -- */

/* e: saved last; late: something saved before it waits already. */
static void wait_for(const struct supervisor *s, struct pause *e, uint64_t conn, bool late)
{
	e->conn = conn;
	e->answer_by = clock_boot_ms() + ANSWER_MS;
	if (late || !e->sent || s->pauses_unkept)
		answer_late(s, e);
}

/* A pause of that very scope that lasts beyond p: p would cut it short. */
static const struct msg_pause *longer_one(struct supervisor *s, const struct msg_pause *p)
{
	const struct pause *e = pause_list_find_scope(&s->pause_list, p);

	if (!e || !e->p.on || !p->until || (e->p.until && e->p.until <= p->until))
		return NULL;
	return &e->p;
}

static void say_longer(const struct supervisor *s, const struct msg_pause *longer, uint64_t conn)
{
	struct facts f = facts_of(TEXT_PAUSED_LONGER);

	facts_time(&f, FACT_UNTIL, longer->until);
	facts_quoted(&f, FACT_BY, STR_C(longer->by));
	facts_add(&f, &longer->why);
	answers_end(&s->answers, conn, EXIT_CODE_FAILURE, &f);
}

static void pause_scope(struct supervisor *s, const struct msg_pause *p, uint64_t conn)
{
	const struct msg_pause *longer = longer_one(s, p);

	if (longer) {
		say_longer(s, longer, conn);
		return;
	}
	struct pause *e = pause_list_set(&s->pause_list, p);

	if (!e) {
		end(s, conn, EXIT_CODE_RESOURCE, TEXT_MANY_PAUSES);
		return;
	}
	save(s, e);
	wait_for(s, e, conn, false);
	change(s, p);
}

static void say_nothing_to_resume(const struct supervisor *s, const struct msg_pause *scope, uint64_t conn)
{
	size_t i = 0;

	end(s, conn, EXIT_CODE_FAILURE, next_that_meets(s, scope, &i) ? TEXT_PAUSED_WIDER : TEXT_NOT_PAUSED);
}

static void resume(struct supervisor *s, struct pause *e)
{
	e->p.on = false;
	save(s, e);
	change(s, &e->p);
}

static void resume_scope(struct supervisor *s, const struct msg_pause *scope, uint64_t conn)
{
	struct pause *e, *last = NULL;
	bool late = false;

	for (size_t i = 0; (e = pause_list_get(&s->pause_list, i)); i++) {
		if (!e->p.on || !pause_covers(scope, e->p.cluster_name, e->p.duty))
			continue;
		(void)snprintf(e->p.by, sizeof(e->p.by), "%s", scope->by);
		resume(s, e);
		late = late || !e->sent;
		last = e;
	}
	if (!last) {
		say_nothing_to_resume(s, scope, conn);
		return;
	}
	send_those_that_meet(s, scope, conn);
	wait_for(s, last, conn, late);
}

/* -- a cluster that is called otherwise -- */

static bool is_renamed(const struct generation *older, uint64_t left, const struct generation *g, uint64_t c)
{
	const char *server = older->at[left].server;

	return !older->wanted[c] && server[0] && strcmp(server, g->at[c].server) == 0;
}

/* p: of a cluster that left. Returns whether it goes on by another name. */
static bool follow_name(struct supervisor *s, const struct msg_pause *p, bool earlier,
			const struct generation *older)
{
	const struct generation *g = settings(s);
	const uint64_t left = generation_find_cluster(older, p->cluster_name);
	bool found = false;

	for (uint64_t c = 0; generation_next(g, &c); c++) {
		struct msg_pause now = *p;

		if (!is_renamed(older, left, g, c))
			continue;
		(void)snprintf(now.cluster_name, sizeof(now.cluster_name), "%s", g->names[c]);
		struct pause *e = longer_one(s, &now) ? NULL : pause_list_set(&s->pause_list, &now);

		found = found || e || pause_list_find_scope(&s->pause_list, &now);
		if (!e)
			continue;
		e->earlier = earlier;
		save(s, e);
		change(s, &now);
	}
	return found;
}

void pauses_on_replaced(struct supervisor *s, const struct generation *older)
{
	const int64_t now = own_state_now(s->own);

	for (size_t i = 0, n = s->pause_list.n; i < n; i++) {
		const struct pause e = s->pause_list.v[i];

		if (!e.p.on || pause_has_ended(&e, now, false) || names_a_cluster(s, &e.p) ||
		    generation_find_cluster(older, e.p.cluster_name) == older->all.clusters)
			continue;
		if (!follow_name(s, &e.p, e.earlier, older))
			(void)log_warn(
				0,
				"a paused cluster is not configured any more: its pause waits for that name",
				kv_s("cluster", e.p.cluster_name), kv_s("by", e.p.by));
	}
}

/* -- the clock -- */

/* The clock of this host was set: a pause lasts as long as it was asked for. */
static void follow_clock(struct supervisor *s)
{
	struct pause *e;

	if (!own_state_follow_clock(s->own))
		return;
	keep(s);
	for (size_t i = 0; (e = pause_list_get(&s->pause_list, i)); i++)
		if (e->p.on)
			tell_history(s, e);
	for (uint64_t c = 0; settings(s) && c < settings(s)->all.clusters; c++)
		pauses_on_watcher_ready(s, c);
}

/* That it is not ahead the API server of the cluster bears out; where all are paused some API server does,
 * and none says that it is. */
static bool clock_is_known(const struct supervisor *s, const struct msg_pause *p)
{
	bool known = false;

	for (uint64_t c = 0; settings(s) && generation_next(settings(s), &c); c++) {
		if (!pause_covers(p, settings(s)->names[c], p->duty))
			continue;
		if (s->watch_stats[c].u.watch_stats.host_ahead)
			return false;
		known = known || clock_is_borne_out(s, c);
	}
	return known;
}

/* What was paused in an earlier life does not end by a clock that was wrong when this one began. */
static void trust_clock(struct supervisor *s)
{
	struct pause *e;

	for (size_t i = 0; (e = pause_list_get(&s->pause_list, i)); i++)
		e->earlier = e->earlier && !clock_is_known(s, &e->p);
}

void pauses_on_ctl_pause(struct supervisor *s, const struct msg *m)
{
	const uint64_t conn = m->u.ctl_pause.conn;
	struct msg pause = { .type = MSG_PAUSE };
	struct msg_pause *p = &pause.u.pause;

	msg_copy_fields(&pause, m);
	follow_clock(s); /* `until` goes by it as it is now */
	p->at = clock_wall_ms();
	if (!s->pauses_known)
		end(s, conn, EXIT_CODE_UNAVAILABLE, TEXT_STARTING);
	else if (!names_a_cluster(s, p))
		end(s, conn, EXIT_CODE_USAGE, TEXT_UNKNOWN_CLUSTER);
	else if (p->on && p->until && p->until <= p->at)
		end(s, conn, EXIT_CODE_USAGE, TEXT_PAUSE_OVER);
	else if (p->on)
		pause_scope(s, p, conn);
	else
		resume_scope(s, p, conn);
}

void pauses_tick(struct supervisor *s)
{
	struct pause *e;

	follow_clock(s);
	trust_clock(s);
	for (size_t i = 0; (e = pause_list_get(&s->pause_list, i)); i++)
		if (e->p.on && pause_has_ended(e, own_state_now(s->own), false))
			resume(s, e);
		else if (e->conn && !e->unsaved)
			answer_saved(s, e);
	if (s->pauses_unkept)
		keep(s);
	save_again(s);
}

/* -- the history -- */

static void on_confirmation(struct supervisor *s, const struct msg_pause *p)
{
	struct pause *e = pause_list_find_scope(&s->pause_list, p);

	if (!e || !e->unsaved || !e->sent || e->p.on != p->on || e->p.at != p->at)
		return; /* of what was changed again since */
	e->unsaved = false;
	answer_saved(s, e);
	if (!p->on)
		pause_list_remove(&s->pause_list, e);
}

void pauses_on_pause(struct supervisor *s, const struct msg *m)
{
	struct pause *e;

	if (s->history_open) {
		on_confirmation(s, &m->u.pause);
	} else if (!names_a_cluster(s, &m->u.pause)) {
		return; /* one of an older configuration: the list has room for all that there are */
	} else if (!s->pauses_known || !pause_list_find_scope(&s->pause_list, &m->u.pause)) {
		e = pause_list_set(&s->pause_list, &m->u.pause);
		if (e) {
			e->p.on = !s->pauses_known; /* else it was resumed while the history was away */
			e->earlier = true;
		}
		if (!s->pauses_known)
			keep(s);
	}
}

/* Those that began before the history was open. */
static void tell_watchers(const struct supervisor *s)
{
	for (uint64_t c = 0; c < settings(s)->all.clusters; c++)
		pauses_on_watcher_ready(s, c);
}

void pauses_on_open_end(struct supervisor *s)
{
	struct pause *e;

	/* What its predecessor wrote is not known: all of it again does no harm. */
	for (size_t i = 0; (e = pause_list_get(&s->pause_list, i)); i++)
		e->unsaved = true;
	if (!s->pauses_known) {
		s->own->unread = false;
		keep(s);
		tell_watchers(s);
	}
	s->pauses_known = true;
	save_again(s);
}

void pauses_on_reporter_dead(struct supervisor *s)
{
	struct pause *e;

	for (size_t i = 0; (e = pause_list_get(&s->pause_list, i)); i++) {
		if (e->unsaved)
			answer_late(s, e);
		e->sent = false;
	}
}
