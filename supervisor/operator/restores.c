/* restores.c - see restores.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/operator/restores.h"

#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "base/log.h"
#include "model/reasons.h"
#include "supervisor/actions/dispatch.h"
#include "supervisor/actions/dry_run.h"
#include "supervisor/actions/replicas.h"

static void send_end(const struct supervisor *s, uint64_t cluster, uint64_t id, enum outcome outcome,
		     const char *reason)
{
	struct msg m = { .type = MSG_RESTORE_END,
			 .u.restore_end = { .cluster = cluster, .id = id, .outcome = outcome } };

	msg_text(&m, restore_end.reason, reason);
	/* A watcher that is down is given its list again. */
	(void)children_send(s->children, ROLE_WATCHER, cluster, &m);
}

static void end(struct restore *r, enum outcome outcome, const char *reason)
{
	answers_remove(&r->s->answers, &r->asker);
	send_end(r->s, r->cluster, r->id, outcome, reason);
	free(r->row);
	r->row = NULL;
	r->id = 0;
}

/* Why nothing can be put back in this cluster now; NULL: it can. */
static const char *objection(const struct supervisor *s, uint64_t cluster)
{
	const struct generation *g = settings(s);

	if (!lifecycle_is_running(s->root) || !s->history_open)
		return reason_code(REASON_BUSY);
	if (!replicas_leads(s, cluster))
		return reason_code(REASON_NOT_LEADER);
	return g->all.observe ? reason_code(REASON_RESTORE_OFF) : NULL;
}

/* The history says what the action was. Returns false when it answers about another one. */
static bool on_row(struct restore *r, const struct msg *m)
{
	const struct msg_ctl_restore_row *row = &m->u.ctl_restore_row;
	struct msg ask = { .type = MSG_CTL_DRY_RUN };

	if (r->phase != RESTORE_HISTORY || row->origin != r->id || row->cluster != r->cluster ||
	    row->action != ACTION_RESTORE)
		return false;
	if (dispatch_is_paused(r->s, row->cluster, row->duty)) {
		end(r, OUTCOME_REFUSED, reason_code(REASON_PAUSED));
		return true;
	}
	if (!dispatch_vouches(r->s, m)) {
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
	dry_run_on_ctl_dry_run(r->s, &ask);
	return true;
}

static void act(struct restore *r)
{
	struct msg row;

	msg_unpack(r->row, &row);
	r->phase = RESTORE_ACTION;
	if (objection(r->s, r->cluster) || dispatch_is_paused(r->s, r->cluster, row.u.ctl_restore_row.duty) ||
	    !dispatch_restore(r->s, &row, r->asker.conn, false))
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

void restores_on_restore_ask(struct supervisor *s, const struct msg *m)
{
	const uint64_t cluster = m->u.restore_ask.cluster, id = m->u.restore_ask.id;
	struct msg ask = { .type = MSG_CTL_RESTORE, .u.ctl_restore = { .id = id, .dry = true } };
	struct restore *r = &s->restores[cluster];
	const char *why = r->id ? reason_code(REASON_BUSY) : objection(s, cluster);

	if (why) {
		send_end(s, cluster, id, OUTCOME_REFUSED, why);
		return;
	}
	*r = (struct restore){ .asker.take = take_answer, .s = s, .cluster = cluster, .id = id };
	answers_add(&s->answers, &r->asker);
	ask.u.ctl_restore.conn = r->asker.conn;
	answers_ask(&s->answers, &r->asker, children_find(s->children, ROLE_REPORTER, 0), ROLE_REPORTER,
		    &ask);
}
