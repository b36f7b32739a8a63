/* restores.c - see restores.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/operator/restores.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "model/reasons.h"

/* The restore that a cluster is asked about. */
struct restore {
	struct asker asker; /* first: take_answer() finds the restore by it */
	struct restores *all;
	uint64_t cluster, id;                                            /* id 0 = none */
	enum { RESTORE_HISTORY, RESTORE_DRY_RUN, RESTORE_ACTION } phase; /* whose answer it waits for */
	struct msg_packed *row; /* CTL_RESTORE_ROW, in RESTORE_DRY_RUN */
};

struct restores {
	struct supervisor *s;
	struct restore v[CLUSTERS_MAX];
};

static void send_end(const struct restores *all, uint64_t cluster, uint64_t id, enum outcome outcome,
		     const char *reason)
{
	struct msg m = { .type = MSG_RESTORE_END,
			 .u.restore_end = { .cluster = cluster, .id = id, .outcome = outcome } };

	msg_set(&m, restore_end.reason, reason, strlen(reason));
	/* A watcher that is down is given its list again. */
	(void)children_send(lifecycle_children(all->s->root), ROLE_WATCHER, cluster, &m);
}

static void end(struct restore *r, enum outcome outcome, const char *reason)
{
	answers_remove(&r->all->s->answers, &r->asker);
	send_end(r->all, r->cluster, r->id, outcome, reason);
	free(r->row);
	r->row = NULL;
	r->id = 0;
}

/* Why nothing can be put back in this cluster now; NULL: it can. */
static const char *objection(const struct restores *r, uint64_t cluster)
{
	const struct generation *g = lifecycle_generation(r->s->root);

	if (!lifecycle_is_running(r->s->root) || !dispatch_history_is_open(r->s->dispatch))
		return reason_code(REASON_BUSY);
	if (!replicas_leads(r->s->replicas, cluster))
		return reason_code(REASON_NOT_LEADER);
	return g->observe ? reason_code(REASON_RESTORE_OFF) : NULL;
}

static bool is_paused(const struct restores *all, const struct msg_ctl_restore_row *row)
{
	const char *name = lifecycle_generation(all->s->root)->names[row->cluster];

	return pause_list_pauses(all->s->pause_list, name, row->duty, clock_wall_ms());
}

/* The history says what the action was. Returns false when it answers about another one. */
static bool on_row(struct restore *r, const struct msg *m)
{
	const struct msg_ctl_restore_row *row = &m->u.ctl_restore_row;
	struct msg ask = { .type = MSG_CTL_DRY_RUN };

	if (r->phase != RESTORE_HISTORY || row->origin != r->id || row->cluster != r->cluster ||
	    row->action != ACTION_RESTORE)
		return false;
	if (is_paused(r->all, row)) {
		end(r, OUTCOME_REFUSED, reason_code(REASON_PAUSED));
		return true;
	}
	if (!dispatch_vouches(r->all->s->dispatch, m)) {
		(void)log_warn(0, "a row of the history is not signed: nothing is put back by it",
			       kv_u("id", r->id), kv_s("target", row->want_target));
		end(r, OUTCOME_REFUSED, reason_code(REASON_ORIGIN_NOT_SIGNED));
		return true;
	}
	r->phase = RESTORE_DRY_RUN;
	r->row = msg_pack(m);
	msg_copy_fields(&ask, m);
	ask.u.ctl_dry_run.id = r->id;
	ask.u.ctl_dry_run.vouched = true;
	dry_run_on_ctl_dry_run(r->all->s->dry_runs, &ask);
	return true;
}

static void act(struct restore *r)
{
	struct msg row;

	msg_unpack(r->row, &row);
	r->phase = RESTORE_ACTION;
	if (objection(r->all, r->cluster) || is_paused(r->all, &row.u.ctl_restore_row) ||
	    !dispatch_restore(r->all->s->dispatch, &row, r->asker.conn, false))
		end(r, OUTCOME_REFUSED, reason_code(REASON_BUSY));
}

/* A CTL_END comes in the place of a row: there is nothing to take back, or no answer just now. */
static void on_end(struct restore *r, uint64_t code)
{
	const bool later = code == EXIT_CODE_TEMPORARY || code == EXIT_CODE_UNAVAILABLE;

	end(r, later ? OUTCOME_REFUSED : OUTCOME_GONE, reason_code(later ? REASON_BUSY : REASON_NOT_MARKED));
}

static bool take_answer(struct asker *a, const struct msg *m)
{
	struct restore *r = (struct restore *)a;
	const struct msg_ctl_dry_run_result *result = &m->u.ctl_dry_run_result;

	if (m->type == MSG_CTL_RESTORE_ROW)
		return on_row(r, m);
	if (m->type == MSG_CTL_END)
		on_end(r, m->u.ctl_end.code);
	else if (m->type == MSG_CTL_DRY_RUN_RESULT && r->phase == RESTORE_DRY_RUN &&
		 result->outcome == OUTCOME_WOULD)
		act(r);
	else if (m->type == MSG_CTL_DRY_RUN_RESULT)
		end(r, (enum outcome)result->outcome, result->reason);
	return true;
}

void restores_on_restore_ask(struct restores *all, const struct msg *m)
{
	const uint64_t cluster = m->u.restore_ask.cluster, id = m->u.restore_ask.id;
	struct msg ask = { .type = MSG_CTL_RESTORE, .u.ctl_restore = { .id = id, .dry = true } };
	struct restore *r = &all->v[cluster];
	const char *why = r->id ? reason_code(REASON_BUSY) : objection(all, cluster);

	if (why) {
		send_end(all, cluster, id, OUTCOME_REFUSED, why);
		return;
	}
	*r = (struct restore){ .asker.take = take_answer, .all = all, .cluster = cluster, .id = id };
	answers_add(&all->s->answers, &r->asker);
	ask.u.ctl_restore.conn = r->asker.conn;
	answers_ask(&all->s->answers, &r->asker,
		    children_find(lifecycle_children(all->s->root), ROLE_REPORTER, 0), ROLE_REPORTER, &ask);
}

struct restores *restores_new(struct supervisor *s)
{
	struct restores *r = xcalloc(1, sizeof(*r));

	r->s = s;
	return r;
}

void restores_free(struct restores **r)
{
	for (uint64_t c = 0; *r && c < CLUSTERS_MAX; c++)
		free((*r)->v[c].row);
	free(*r);
	*r = NULL;
}
