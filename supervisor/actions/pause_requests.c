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

/* A person waits for the history; the reporter confirms in the order it was told. */
#define WAITERS_MAX 1024u

struct pause_requests {
	struct pause_list *list;
	bool known;                    /* the history was read once */
	uint64_t waiting[WAITERS_MAX]; /* connection to answer at each confirmation, 0 = nobody */
	size_t n_waiting;
	struct msg_pause stale[PAUSES_MAX]; /* told by a new reporter, resumed while it was away */
	size_t n_stale;
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
	if (*p)
		pause_list_free(&(*p)->list);
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

/* Tell the reporter; conn is answered when it is on disk. False when it will be told later. */
static bool persist(struct supervisor *t, const struct msg_pause *p, uint64_t conn)
{
	struct pause_requests *ps = t->pausing;
	struct child *reporter =
		t->history_open ? supervisor_find_child(t, ROLE_REPORTER, CLUSTERS_MAX) : NULL;
	const struct msg m = message(p);

	if (!reporter || ps->n_waiting == WAITERS_MAX || child_send(reporter, &m, -1) < 0)
		return false;
	ps->waiting[ps->n_waiting++] = conn;
	return true;
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

static void answer_late(struct supervisor *t, uint64_t conn)
{
	control_end(t, conn, EXIT_CODE_OK,
		    "in force now; it will be written down as soon as the history is there again");
}

static void pause_scope(struct supervisor *t, const struct msg_pause *p, uint64_t conn)
{
	if (!pause_list_add(t->pausing->list, p)) {
		control_end(t, conn, EXIT_CODE_RESOURCE, "too many pauses; resume some first");
		return;
	}
	if (!persist(t, p, conn))
		answer_late(t, conn);
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
	struct msg_pause p;
	bool any = false, late = false;

	for (; pause_list_take_within(t->pausing->list, scope, &p); any = true) {
		(void)snprintf(p.by, sizeof(p.by), "%s", scope->by);
		late = !persist(t, &p, 0) || late;
		change(t, &p);
	}
	if (!any)
		say_nothing_to_resume(t, scope, conn);
	else if (late)
		answer_late(t, conn);
	else
		t->pausing->waiting[t->pausing->n_waiting - 1] = conn; /* the last of them */
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
		(void)persist(t, &p, 0); /* else the next reporter leaves it out: it has ended */
		change(t, &p);
	}
}

/* -- the history ----------------------------------------------------------------------------------------- */

/* Before OPEN_END: what the history holds. Afterwards: a confirmation. */
void pause_requests_on_reporter(struct child *s, const struct msg *m)
{
	struct supervisor *t = s->tree;
	struct pause_requests *ps = t->pausing;

	if (t->history_open) {
		const uint64_t conn = ps->n_waiting ? ps->waiting[0] : 0;

		ps->n_waiting -= ps->n_waiting > 0;
		memmove(ps->waiting, ps->waiting + 1, ps->n_waiting * sizeof(ps->waiting[0]));
		control_end(t, conn, EXIT_CODE_OK, "");
		return;
	}
	if (!ps->known)
		(void)pause_list_add(ps->list, &m->u.pause);
	else if (!pause_list_have_scope(ps->list, &m->u.pause) && ps->n_stale < PAUSES_MAX)
		ps->stale[ps->n_stale++] = m->u.pause;
}

void pause_requests_on_open_end(struct supervisor *t)
{
	struct pause_requests *ps = t->pausing;
	const struct msg_pause *p;

	for (size_t i = 0; i < ps->n_stale; i++) {
		ps->stale[i].on = false;
		(void)persist(t, &ps->stale[i], 0);
	}
	/* What its predecessor wrote is not known: all of it again does no harm. */
	for (size_t i = 0; ps->known && (p = pause_list_get(ps->list, i)); i++)
		(void)persist(t, p, 0);
	ps->n_stale = 0;
	ps->known = true;
}

void pause_requests_on_reporter_gone(struct supervisor *t)
{
	struct pause_requests *ps = t->pausing;

	for (size_t i = 0; i < ps->n_waiting; i++)
		answer_late(t, ps->waiting[i]);
	ps->n_waiting = ps->n_stale = 0;
}
