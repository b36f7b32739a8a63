/* pause_requests.c - pauses on their way: from a person to the list, the watchers and the history, and back
 * from the history at its start. In force at once; confirmed to the person when it is on disk. What is
 * resumed by a crash between the two would be wrong, so the list of a running supervisor is what counts and a
 * new reporter is corrected by it. See tree.h and pause.h. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "model/duties.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "supervisor/actions/pause_list.h"
#include "supervisor/supervisor.h"

/* What the history has not confirmed yet, the newest of each scope. It is told until it confirms. */
struct unsaved {
	struct msg_pause p;
	bool sent;     /* to the present reporter */
	uint64_t conn; /* to answer when it is on disk, 0 = nobody */
};

struct pause_requests {
	struct pause_list *list;
	bool known; /* the history was read once */
	struct unsaved *unsaved;
	size_t n_unsaved;
};

static bool holds(void *ctx, const struct lease *l)
{
	struct supervisor *t = ctx;
	const struct msg_intent *i = &l->intent.u.intent;

	return i->action != ACTION_RESTORE && pause_requests_holds(t, i->cluster, i->duty);
}

struct pause_requests *pause_requests_new(struct supervisor *t)
{
	struct pause_requests *p = xcalloc(1, sizeof(*p));

	p->list = pause_list_new();
	lease_table_set_hold(t->leases, holds, t);
	return p;
}

void pause_requests_free(struct pause_requests **p)
{
	if (!*p)
		return;
	pause_list_free(&(*p)->list);
	free((*p)->unsaved);
	free(*p);
	*p = NULL;
}

bool pause_requests_holds(const struct supervisor *t, uint64_t cluster, uint64_t duty)
{
	return pause_list_find(t->pausing->list, t->generation->names[cluster], duty, clock_wall_ms()) !=
	       NULL;
}

bool pause_requests_any(const struct supervisor *t)
{
	return pause_list_get(t->pausing->list, 0) != NULL;
}

/* -- telling --------------------------------------------------------------------------------------------- */

static struct msg message(const struct msg_pause *p)
{
	return (struct msg){ .type = MSG_PAUSE, .u.pause = *p };
}

static void tell_watchers(struct supervisor *t, const struct msg_pause *p)
{
	const struct msg m = message(p);

	for (uint64_t c = 0; c < t->generation->clusters; c++) {
		struct child *watcher = supervisor_find_child(t, ROLE_WATCHER, c);

		if (watcher && (!p->cluster_name[0] || strcmp(p->cluster_name, t->generation->names[c]) == 0))
			(void)child_send(watcher, &m, -1);
	}
}

void pause_requests_on_watcher_ready(struct child *watcher)
{
	const struct supervisor *t = watcher->tree;
	const struct msg_pause *p;

	for (size_t i = 0; (p = pause_list_get(t->pausing->list, i)); i++) {
		const struct msg m = message(p);

		if (!p->cluster_name[0] ||
		    strcmp(p->cluster_name, t->generation->names[watcher->cluster]) == 0)
			(void)child_send(watcher, &m, -1);
	}
}

static void answer_late(struct supervisor *t, uint64_t *conn)
{
	control_end(t, *conn, EXIT_CODE_OK,
		    "in force now; it will be written down as soon as the history is there again");
	*conn = 0;
}

static struct unsaved *find_unsaved(struct pause_requests *ps, const struct msg_pause *p)
{
	for (size_t i = 0; i < ps->n_unsaved; i++)
		if (pause_same_scope(&ps->unsaved[i].p, p))
			return &ps->unsaved[i];
	return NULL;
}

static void tell_reporter(struct supervisor *t, struct unsaved *u)
{
	struct child *reporter =
		t->history_open ? supervisor_find_child(t, ROLE_REPORTER, CLUSTERS_MAX) : NULL;
	const struct msg m = message(&u->p);

	u->sent = u->sent || (reporter && child_send(reporter, &m, -1) == 0);
}

/* Have p written down, now or when that is possible. What is returned is good until the next call. */
static struct unsaved *save(struct supervisor *t, const struct msg_pause *p)
{
	struct pause_requests *ps = t->pausing;
	struct unsaved *u = find_unsaved(ps, p);

	if (!u) {
		ps->unsaved = xreallocarray(ps->unsaved, ps->n_unsaved + 1, sizeof(*u));
		u = &ps->unsaved[ps->n_unsaved++];
		u->conn = 0;
	}
	answer_late(t, &u->conn); /* somebody else changed the same */
	*u = (struct unsaved){ .p = *p };
	tell_reporter(t, u);
	return u;
}

static void save_again(struct supervisor *t)
{
	for (size_t i = 0; i < t->pausing->n_unsaved; i++)
		tell_reporter(t, &t->pausing->unsaved[i]);
}

static void change(struct supervisor *t, const struct msg_pause *p)
{
	log_info("a pause changed", kv_s("now", p->on ? "paused" : "resumed"),
		 kv_s("cluster", p->cluster_name[0] ? p->cluster_name : "*"),
		 kv_s("duty", p->duty < 0 ? "*" : duty_name((enum duty)p->duty)), kv_s("by", p->by),
		 kv_s("why", p->why));
	tell_watchers(t, p);
	for (uint64_t c = 0; c < t->generation->clusters; c++)
		dispatch_dispatch(t, c);
}

void pause_requests_send_status(struct supervisor *t, uint64_t conn)
{
	const int64_t now = clock_wall_ms();
	const struct msg_pause *p;

	for (size_t i = 0; (p = pause_list_get(t->pausing->list, i)); i++) {
		const struct msg m = message(p);

		if (!p->until || p->until > now)
			control_answer(t, conn, &m);
	}
}

/* -- a person -------------------------------------------------------------------------------------------- */

/* u: saved last; late: something saved before it waits already. */
static void wait_for(struct supervisor *t, struct unsaved *u, uint64_t conn, bool late)
{
	u->conn = conn;
	if (late || !u->sent)
		answer_late(t, &u->conn);
}

static void pause_scope(struct supervisor *t, const struct msg_pause *p, uint64_t conn)
{
	if (!pause_list_add(t->pausing->list, p)) {
		control_end(t, conn, EXIT_CODE_RESOURCE, "too many pauses; resume some first");
		return;
	}
	wait_for(t, save(t, p), conn, false);
	change(t, p);
}

static void say_nothing_to_resume(struct supervisor *t, const struct msg_pause *scope, uint64_t conn)
{
	const struct msg_pause *wider =
		scope->duty < 0 && !scope->cluster_name[0]
			? NULL
			: pause_list_find(t->pausing->list, scope->cluster_name,
					  scope->duty < 0 ? DUTY_EVICTED : (uint64_t)scope->duty,
					  clock_wall_ms());

	control_end(t, conn, EXIT_CODE_FAILURE,
		    wider ? "it is held by a wider pause (see `ops-pod-cleaner status`): resume that one"
			  : "nothing of that is paused");
}

static void resume_scope(struct supervisor *t, const struct msg_pause *scope, uint64_t conn)
{
	struct unsaved *u = NULL;
	struct msg_pause p;
	bool late = false;

	while (pause_list_take_within(t->pausing->list, scope, &p)) {
		(void)snprintf(p.by, sizeof(p.by), "%s", scope->by);
		change(t, &p);
		u = save(t, &p);
		late = late || !u->sent;
	}
	if (u)
		wait_for(t, u, conn, late);
	else
		say_nothing_to_resume(t, scope, conn);
}

static bool cluster_exists(const struct supervisor *t, const char *name)
{
	for (uint64_t c = 0; c < t->generation->clusters; c++)
		if (strcmp(t->generation->names[c], name) == 0)
			return true;
	return false;
}

void pause_requests_on_request(struct supervisor *t, const struct msg *m, uint64_t conn)
{
	struct msg pause = { .type = MSG_PAUSE };

	msg_copy_fields(&pause, m);
	struct msg_pause *p = &pause.u.pause;

	if (!t->pausing->known) {
		control_end(t, conn, EXIT_CODE_UNAVAILABLE, "still starting");
		return;
	}
	if (p->cluster_name[0] && !cluster_exists(t, p->cluster_name)) {
		control_end(t, conn, EXIT_CODE_USAGE,
			    "no cluster of that name: see `ops-pod-cleaner status`");
		return;
	}
	p->at = clock_wall_ms();
	if (p->on && p->until && p->until <= p->at)
		control_end(t, conn, EXIT_CODE_USAGE, "the pause would have ended already");
	else if (p->on)
		pause_scope(t, p, conn);
	else
		resume_scope(t, p, conn);
}

void pause_requests_tick(struct supervisor *t)
{
	struct msg_pause p;

	while (pause_list_take_ended(t->pausing->list, clock_wall_ms(), &p)) {
		(void)save(t, &p);
		change(t, &p);
	}
	save_again(t);
}

/* -- the history ----------------------------------------------------------------------------------------- */

static void on_confirmation(struct supervisor *t, const struct msg_pause *p)
{
	struct pause_requests *ps = t->pausing;
	struct unsaved *u = find_unsaved(ps, p);

	if (!u || !u->sent || u->p.on != p->on || u->p.at != p->at)
		return; /* of what was changed again since */
	control_end(t, u->conn, EXIT_CODE_OK, "");
	*u = ps->unsaved[--ps->n_unsaved];
}

/* Before OPEN_END: what the history holds. Afterwards: a confirmation. */
void pause_requests_on_reporter(struct child *s, const struct msg *m)
{
	struct supervisor *t = s->tree;
	struct pause_requests *ps = t->pausing;

	if (t->history_open) {
		on_confirmation(t, &m->u.pause);
	} else if (!ps->known) {
		(void)pause_list_add(ps->list, &m->u.pause);
	} else if (!pause_list_have_scope(ps->list, &m->u.pause)) { /* resumed while it was away */
		struct msg_pause p = m->u.pause;

		p.on = false;
		(void)save(t, &p);
	}
}

void pause_requests_on_open_end(struct supervisor *t)
{
	struct pause_requests *ps = t->pausing;
	const struct msg_pause *p;

	/* What its predecessor wrote is not known: all of it again does no harm. */
	for (size_t i = 0; ps->known && (p = pause_list_get(ps->list, i)); i++)
		if (!find_unsaved(ps, p))
			(void)save(t, p);
	ps->known = true;
	save_again(t);
}

void pause_requests_on_reporter_gone(struct supervisor *t)
{
	struct pause_requests *ps = t->pausing;

	for (size_t i = 0; i < ps->n_unsaved; i++) {
		answer_late(t, &ps->unsaved[i].conn);
		ps->unsaved[i].sent = false;
	}
}
