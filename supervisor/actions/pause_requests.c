/* pause_requests.c - see pause_requests.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/pause_requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "model/duties.h"

/* What the history has not confirmed yet, the newest of each scope. It is sent until it is confirmed. */
struct unsaved {
	struct msg_pause p;
	bool sent;     /* to the present reporter */
	uint64_t conn; /* to answer when it is on disk, 0 = nobody */
};

struct pause_requests {
	struct lifecycle *root;
	struct dispatch *dispatch;
	struct pause_list *list;
	const struct answers *answers;
	bool known; /* the history was read once */
	struct unsaved *unsaved;
	size_t n_unsaved;
};

struct pause_requests *pause_requests_new(struct lifecycle *root, struct dispatch *d, struct pause_list *list,
					  const struct answers *answers)
{
	struct pause_requests *ps = xcalloc(1, sizeof(*ps));

	*ps = (struct pause_requests){ .root = root, .dispatch = d, .list = list, .answers = answers };
	return ps;
}

void pause_requests_free(struct pause_requests **ps)
{
	free((*ps)->unsaved);
	free(*ps);
	*ps = NULL;
}

/* -- sending -- */

static void send_to_watcher(const struct pause_requests *ps, uint64_t cluster, const struct msg_pause *p)
{
	const struct msg m = { .type = MSG_PAUSE, .u.pause = *p };

	if (!p->cluster_name[0] ||
	    strcmp(p->cluster_name, lifecycle_generation(ps->root)->names[cluster]) == 0)
		(void)children_send(lifecycle_children(ps->root), ROLE_WATCHER, cluster, &m);
}

void pause_requests_on_watcher_ready(const struct pause_requests *ps, uint64_t cluster)
{
	const struct msg_pause *p;

	for (size_t i = 0; (p = pause_list_get(ps->list, i)); i++)
		send_to_watcher(ps, cluster, p);
}

static void change(const struct pause_requests *ps, const struct msg_pause *p)
{
	log_info("a pause changed", kv_s("now", p->on ? "paused" : "resumed"),
		 kv_s("cluster", p->cluster_name[0] ? p->cluster_name : "*"),
		 kv_s("duty", p->duty < 0 ? "*" : duty_name((enum duty)p->duty)), kv_s("by", p->by),
		 kv_s("why", p->why));
	for (uint64_t c = 0; c < lifecycle_generation(ps->root)->clusters; c++)
		send_to_watcher(ps, c, p);
	dispatch_all(ps->dispatch);
}

static void end(const struct pause_requests *ps, uint64_t conn, uint64_t code, const char *text)
{
	ps->answers->end(ps->answers->ctx, conn, code, text);
}

void pause_requests_send_status(const struct pause_requests *ps, uint64_t conn)
{
	const int64_t now = clock_wall_ms();
	const struct msg_pause *p;

	for (size_t i = 0; (p = pause_list_get(ps->list, i)); i++) {
		const struct msg m = { .type = MSG_PAUSE, .u.pause = *p };

		if (!p->until || p->until > now)
			ps->answers->send(ps->answers->ctx, conn, &m);
	}
}

/* -- having it written down -- */

static void answer_late(const struct pause_requests *ps, struct unsaved *u)
{
	end(ps, u->conn, EXIT_CODE_OK,
	    "in force now; it will be written down as soon as the history is there again");
	u->conn = 0;
}

static struct unsaved *find_unsaved(const struct pause_requests *ps, const struct msg_pause *p)
{
	for (size_t i = 0; i < ps->n_unsaved; i++)
		if (pause_same_scope(&ps->unsaved[i].p, p))
			return &ps->unsaved[i];
	return NULL;
}

static void send_to_reporter(const struct pause_requests *ps, struct unsaved *u)
{
	const struct msg m = { .type = MSG_PAUSE, .u.pause = u->p };

	if (!u->sent && dispatch_history_is_open(ps->dispatch))
		u->sent = children_send(lifecycle_children(ps->root), ROLE_REPORTER, CLUSTERS_MAX, &m);
}

/* Have p written down, now or when that is possible. What is returned is good until the next call. */
static struct unsaved *save(struct pause_requests *ps, const struct msg_pause *p)
{
	struct unsaved *u = find_unsaved(ps, p);

	if (u) {
		answer_late(ps, u); /* somebody else changed the same */
	} else {
		ps->unsaved = xreallocarray(ps->unsaved, ps->n_unsaved + 1, sizeof(*u));
		u = &ps->unsaved[ps->n_unsaved++];
	}
	*u = (struct unsaved){ .p = *p };
	send_to_reporter(ps, u);
	return u;
}

static void save_again(struct pause_requests *ps)
{
	for (size_t i = 0; i < ps->n_unsaved; i++)
		send_to_reporter(ps, &ps->unsaved[i]);
}

/* -- an operator -- */

/* u: saved last; late: something saved before it waits already. */
static void wait_for(const struct pause_requests *ps, struct unsaved *u, uint64_t conn, bool late)
{
	u->conn = conn;
	if (late || !u->sent)
		answer_late(ps, u);
}

static void pause_scope(struct pause_requests *ps, const struct msg_pause *p, uint64_t conn)
{
	if (!pause_list_add(ps->list, p)) {
		end(ps, conn, EXIT_CODE_RESOURCE, "too many pauses; resume some first");
		return;
	}
	wait_for(ps, save(ps, p), conn, false);
	change(ps, p);
}

static void say_nothing_to_resume(const struct pause_requests *ps, const struct msg_pause *scope,
				  uint64_t conn)
{
	const bool all = scope->duty < 0 && !scope->cluster_name[0];
	const uint64_t duty = scope->duty < 0 ? DUTY_EVICTED : (uint64_t)scope->duty;
	const bool wider = !all && pause_list_find(ps->list, scope->cluster_name, duty, clock_wall_ms());

	end(ps, conn, EXIT_CODE_FAILURE,
	    wider ? "a wider pause covers it (see `ops-pod-cleaner status`): resume that one"
		  : "nothing of that is paused");
}

static void resume_scope(struct pause_requests *ps, const struct msg_pause *scope, uint64_t conn)
{
	struct unsaved *u = NULL;
	struct msg_pause p;
	bool late = false;

	while (pause_list_take_within(ps->list, scope, &p)) {
		(void)snprintf(p.by, sizeof(p.by), "%s", scope->by);
		change(ps, &p);
		u = save(ps, &p);
		late = late || !u->sent;
	}
	if (u)
		wait_for(ps, u, conn, late);
	else
		say_nothing_to_resume(ps, scope, conn);
}

void pause_requests_on_ctl_pause(struct pause_requests *ps, const struct msg *m)
{
	const struct generation *g = lifecycle_generation(ps->root);
	const uint64_t conn = m->u.ctl_pause.conn;
	struct msg pause = { .type = MSG_PAUSE };
	struct msg_pause *p = &pause.u.pause;

	msg_copy_fields(&pause, m);
	p->at = clock_wall_ms();
	if (!ps->known)
		end(ps, conn, EXIT_CODE_UNAVAILABLE, "still starting");
	else if (p->cluster_name[0] && generation_find_cluster(g, p->cluster_name) == g->clusters)
		end(ps, conn, EXIT_CODE_USAGE, "no cluster of that name: see `ops-pod-cleaner status`");
	else if (p->on && p->until && p->until <= p->at)
		end(ps, conn, EXIT_CODE_USAGE, "the pause would have ended already");
	else if (p->on)
		pause_scope(ps, p, conn);
	else
		resume_scope(ps, p, conn);
}

void pause_requests_tick(struct pause_requests *ps)
{
	struct msg_pause p;

	while (pause_list_take_ended(ps->list, clock_wall_ms(), &p)) {
		(void)save(ps, &p);
		change(ps, &p);
	}
	save_again(ps);
}

/* -- the history -- */

static void on_confirmation(struct pause_requests *ps, const struct msg_pause *p)
{
	struct unsaved *u = find_unsaved(ps, p);

	if (!u || !u->sent || u->p.on != p->on || u->p.at != p->at)
		return; /* of what was changed again since */
	end(ps, u->conn, EXIT_CODE_OK, "");
	*u = ps->unsaved[--ps->n_unsaved];
}

void pause_requests_on_pause(struct pause_requests *ps, const struct msg *m)
{
	struct msg_pause p = m->u.pause;

	if (dispatch_history_is_open(ps->dispatch)) {
		on_confirmation(ps, &p);
	} else if (!ps->known) {
		(void)pause_list_add(ps->list, &p);
	} else if (!pause_list_have_scope(ps->list, &p)) { /* resumed while it was away */
		p.on = false;
		(void)save(ps, &p);
	}
}

void pause_requests_on_open_end(struct pause_requests *ps)
{
	const struct msg_pause *p;

	/* What its predecessor wrote is not known: all of it again does no harm. */
	for (size_t i = 0; ps->known && (p = pause_list_get(ps->list, i)); i++)
		if (!find_unsaved(ps, p))
			(void)save(ps, p);
	ps->known = true;
	save_again(ps);
}

void pause_requests_on_reporter_dead(struct pause_requests *ps)
{
	for (size_t i = 0; i < ps->n_unsaved; i++) {
		answer_late(ps, &ps->unsaved[i]);
		ps->unsaved[i].sent = false;
	}
}
