/* pauses.c - see pauses.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/operator/pauses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "model/duties.h"
#include "text/facts_text.h"

struct pauses {
	struct supervisor *s;
	bool known;  /* what is paused: by our own file, or because the history was read once */
	bool unkept; /* our own file does not say all of it */
};

struct pauses *pauses_new(struct supervisor *s)
{
	struct pauses *ps = xcalloc(1, sizeof(*ps));

	ps->s = s;
	return ps;
}

void pauses_free(struct pauses **ps)
{
	free(*ps);
	*ps = NULL;
}

/* -- sending -- */

static void send_to_watcher(const struct pauses *ps, uint64_t cluster, const struct msg_pause *p)
{
	const struct msg m = { .type = MSG_PAUSE, .u.pause = *p };

	if (!p->cluster_name[0] ||
	    strcmp(p->cluster_name, lifecycle_generation(ps->s->root)->names[cluster]) == 0)
		(void)children_send(lifecycle_children(ps->s->root), ROLE_WATCHER, cluster, &m);
}

void pauses_on_watcher_ready(const struct pauses *ps, uint64_t cluster)
{
	const struct pause *e;

	for (size_t i = 0; (e = pause_list_get(ps->s->pause_list, i)); i++)
		if (e->p.on)
			send_to_watcher(ps, cluster, &e->p);
}

static void change(const struct pauses *ps, const struct msg_pause *p)
{
	_cleanup_free_ char *why = facts_render(&p->why, NULL);

	log_info("a pause changed", kv_s("now", p->on ? "paused" : "resumed"),
		 kv_s("cluster", p->cluster_name[0] ? p->cluster_name : "*"),
		 kv_s("duty", p->duty < 0 ? "*" : duty_name((enum duty)p->duty)), kv_s("by", p->by),
		 kv_s("why", why));
	for (uint64_t c = 0; c < lifecycle_generation(ps->s->root)->clusters; c++)
		send_to_watcher(ps, c, p);
	dispatch_all(ps->s->dispatch);
	lifecycle_tell_status(ps->s->root);
}

static void end(const struct pauses *ps, uint64_t conn, uint64_t code, enum text why)
{
	answers_refuse(&ps->s->answers, conn, code, why);
}

static bool names_a_cluster(const struct pauses *ps, const struct msg_pause *p)
{
	const struct generation *g = lifecycle_generation(ps->s->root);

	return !p->cluster_name[0] || generation_find_cluster(g, p->cluster_name) < g->clusters;
}

/* The next one from *i on that is in force; NULL behind the last. That of a cluster which is configured no
 * more waits for it. */
static const struct pause *next_in_force(const struct pauses *ps, size_t *i)
{
	const int64_t now = clock_wall_ms();
	const struct pause *e;

	do
		e = pause_list_get(ps->s->pause_list, (*i)++);
	while (e && !(e->p.on && !pause_has_ended(&e->p, now) && names_a_cluster(ps, &e->p)));
	return e;
}

void pauses_send_status(const struct pauses *ps, uint64_t conn)
{
	const struct pause *e;

	for (size_t i = 0; (e = next_in_force(ps, &i));) {
		const struct msg m = { .type = MSG_PAUSE, .u.pause = e->p };

		answers_send(&ps->s->answers, conn, &m);
	}
}

bool pauses_any(const struct pauses *ps)
{
	size_t i = 0;

	return next_in_force(ps, &i) != NULL;
}

/* -- having it written down -- */

static void answer_late(const struct pauses *ps, struct pause *e)
{
	end(ps, e->conn, EXIT_CODE_OK, TEXT_IN_FORCE);
	e->conn = 0;
}

static void send_to_reporter(const struct pauses *ps, struct pause *e)
{
	const struct msg m = { .type = MSG_PAUSE, .u.pause = e->p };

	if (e->unsaved && !e->sent && dispatch_history_is_open(ps->s->dispatch))
		e->sent = children_send(lifecycle_children(ps->s->root), ROLE_REPORTER, CLUSTERS_MAX, &m);
}

/* Our own file, which no child can touch. */
static void keep(struct pauses *ps)
{
	const int r = own_state_save(ps->s->own);

	if (r < 0 && !ps->unkept)
		(void)log_error(
			r, "a pause that changed cannot be written down: it is in force, and tried again");
	ps->unkept = r < 0;
}

/* Have it written down, now or when that is possible. */
static void save(struct pauses *ps, struct pause *e)
{
	keep(ps);
	answer_late(ps, e); /* somebody else changed the same */
	e->unsaved = true;
	e->sent = false;
	send_to_reporter(ps, e);
}

static void save_again(const struct pauses *ps)
{
	struct pause *e;

	for (size_t i = 0; (e = pause_list_get(ps->s->pause_list, i)); i++)
		send_to_reporter(ps, e);
}

/* -- an operator -- */

/* e: saved last; late: something saved before it waits already. */
static void wait_for(const struct pauses *ps, struct pause *e, uint64_t conn, bool late)
{
	e->conn = conn;
	if (late || !e->sent || ps->unkept)
		answer_late(ps, e);
}

static void pause_scope(struct pauses *ps, const struct msg_pause *p, uint64_t conn)
{
	struct pause *e = pause_list_set(ps->s->pause_list, p);

	if (!e) {
		end(ps, conn, EXIT_CODE_RESOURCE, TEXT_MANY_PAUSES);
		return;
	}
	save(ps, e);
	wait_for(ps, e, conn, false);
	change(ps, p);
}

static void say_nothing_to_resume(const struct pauses *ps, const struct msg_pause *scope, uint64_t conn)
{
	const bool all = scope->duty < 0 && !scope->cluster_name[0];
	const uint64_t duty = scope->duty < 0 ? DUTY_EVICTED : (uint64_t)scope->duty;
	const bool wider =
		!all && pause_list_pauses(ps->s->pause_list, scope->cluster_name, duty, clock_wall_ms());

	end(ps, conn, EXIT_CODE_FAILURE, wider ? TEXT_PAUSED_WIDER : TEXT_NOT_PAUSED);
}

static void resume(struct pauses *ps, struct pause *e)
{
	e->p.on = false;
	save(ps, e);
	change(ps, &e->p);
}

static void resume_scope(struct pauses *ps, const struct msg_pause *scope, uint64_t conn)
{
	struct pause *e, *last = NULL;
	bool late = false;

	for (size_t i = 0; (e = pause_list_get(ps->s->pause_list, i)); i++) {
		if (!e->p.on || !pause_covers(scope, e->p.cluster_name, e->p.duty))
			continue;
		(void)snprintf(e->p.by, sizeof(e->p.by), "%s", scope->by);
		resume(ps, e);
		late = late || !e->sent;
		last = e;
	}
	if (last)
		wait_for(ps, last, conn, late);
	else
		say_nothing_to_resume(ps, scope, conn);
}

void pauses_on_ctl_pause(struct pauses *ps, const struct msg *m)
{
	const uint64_t conn = m->u.ctl_pause.conn;
	struct msg pause = { .type = MSG_PAUSE };
	struct msg_pause *p = &pause.u.pause;

	msg_copy_fields(&pause, m);
	p->at = clock_wall_ms();
	if (!ps->known)
		end(ps, conn, EXIT_CODE_UNAVAILABLE, TEXT_STARTING);
	else if (!names_a_cluster(ps, p))
		end(ps, conn, EXIT_CODE_USAGE, TEXT_UNKNOWN_CLUSTER);
	else if (p->on && p->until && p->until <= p->at)
		end(ps, conn, EXIT_CODE_USAGE, TEXT_PAUSE_OVER);
	else if (p->on)
		pause_scope(ps, p, conn);
	else
		resume_scope(ps, p, conn);
}

void pauses_tick(struct pauses *ps)
{
	struct pause *e;

	for (size_t i = 0; (e = pause_list_get(ps->s->pause_list, i)); i++)
		if (e->p.on && pause_has_ended(&e->p, clock_wall_ms()))
			resume(ps, e);
	if (ps->unkept)
		keep(ps);
	save_again(ps);
}

/* -- the history -- */

static void on_confirmation(const struct pauses *ps, const struct msg_pause *p)
{
	struct pause *e = pause_list_find_scope(ps->s->pause_list, p);

	if (!e || !e->unsaved || !e->sent || e->p.on != p->on || e->p.at != p->at)
		return; /* of what was changed again since */
	answers_end(&ps->s->answers, e->conn, EXIT_CODE_OK, NULL);
	e->conn = 0;
	e->unsaved = false;
	if (!p->on)
		pause_list_remove(ps->s->pause_list, e);
}

void pauses_on_own_state(struct pauses *ps)
{
	ps->known = own_state_found(ps->s->own) == OWN_READ;
}

void pauses_on_pause(struct pauses *ps, const struct msg *m)
{
	struct pause *e;

	if (dispatch_history_is_open(ps->s->dispatch)) {
		on_confirmation(ps, &m->u.pause);
	} else if (!names_a_cluster(ps, &m->u.pause)) {
		return; /* one of an older configuration: the list has room for all that there are */
	} else if (!ps->known || !pause_list_find_scope(ps->s->pause_list, &m->u.pause)) {
		e = pause_list_set(ps->s->pause_list, &m->u.pause);
		if (e)
			e->p.on = !ps->known; /* else it was resumed while the history was away */
		if (!ps->known)
			keep(ps);
	}
}

/* Those that began before the history was open. */
static void tell_watchers(const struct pauses *ps)
{
	for (uint64_t c = 0; c < lifecycle_generation(ps->s->root)->clusters; c++)
		pauses_on_watcher_ready(ps, c);
}

void pauses_on_open_end(struct pauses *ps)
{
	struct pause *e;

	/* What its predecessor wrote is not known: all of it again does no harm. */
	for (size_t i = 0; (e = pause_list_get(ps->s->pause_list, i)); i++)
		e->unsaved = true;
	if (!ps->known) {
		own_state_set_read(ps->s->own);
		keep(ps);
		tell_watchers(ps);
	}
	ps->known = true;
	save_again(ps);
}

void pauses_on_reporter_dead(struct pauses *ps)
{
	struct pause *e;

	for (size_t i = 0; (e = pause_list_get(ps->s->pause_list, i)); i++) {
		answer_late(ps, e);
		e->sent = false;
	}
}
