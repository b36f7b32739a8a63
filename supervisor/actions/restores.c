/* restores.c - see restores.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/restores.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "model/reasons.h"

#define CONN(cluster) (UINT64_MAX - (cluster))

/* What a cluster is asked about. */
struct look {
	uint64_t id; /* 0 = nothing */
	enum { LOOK_HISTORY, LOOK_WORKER, LOOK_ACTION } phase;
	struct msg_packed *row; /* CTL_RESTORE_ROW, while a worker looks */
};

struct restores {
	struct lifecycle *root;
	const struct pause_list *pauses;
	struct dispatch *dispatch;
	struct dry_runs *dry_runs;
	struct look looks[CLUSTERS_MAX];
};

bool restores_has(uint64_t conn)
{
	return UINT64_MAX - conn < CLUSTERS_MAX;
}

static void send_end(const struct restores *r, uint64_t cluster, uint64_t id, enum outcome outcome,
		     const char *reason)
{
	struct msg m = { .type = MSG_RESTORE_END,
			 .u.restore_end = { .cluster = cluster, .id = id, .outcome = outcome } };

	msg_set(&m, restore_end.reason, reason, strlen(reason));
	/* A watcher that is down is given its list again. */
	(void)children_send(lifecycle_children(r->root), ROLE_WATCHER, cluster, &m);
}

static void end(struct restores *r, uint64_t cluster, enum outcome outcome, const char *reason)
{
	struct look *look = &r->looks[cluster];
	const uint64_t id = look->id;

	free(look->row);
	*look = (struct look){ 0 };
	if (id)
		send_end(r, cluster, id, outcome, reason);
}

/* Why nothing can be put back in this cluster now; NULL: it can. */
static const char *objection(const struct restores *r, uint64_t cluster)
{
	const struct generation *g = lifecycle_generation(r->root);
	const struct msg *leader = dispatch_leader(r->dispatch, cluster);

	if (!lifecycle_is_running(r->root) || !dispatch_history_is_open(r->dispatch))
		return reason_code(REASON_BUSY);
	if (g->election && !(leader && leader->u.leader.leading))
		return reason_code(REASON_NOT_LEADER);
	return g->observe ? reason_code(REASON_RESTORE_OFF) : NULL;
}

void restores_on_restore_ask(struct restores *r, const struct msg *m)
{
	const uint64_t cluster = m->u.restore_ask.cluster, id = m->u.restore_ask.id;
	const struct msg ask = { .type = MSG_CTL_RESTORE,
				 .u.ctl_restore = { .conn = CONN(cluster), .id = id, .dry = true } };
	struct look *look = &r->looks[cluster];
	const char *why = look->id ? reason_code(REASON_BUSY) : objection(r, cluster);

	if (why) {
		send_end(r, cluster, id, OUTCOME_REFUSED, why);
		return;
	}
	*look = (struct look){ .id = id, .phase = LOOK_HISTORY };
	if (!children_send(lifecycle_children(r->root), ROLE_REPORTER, CLUSTERS_MAX, &ask))
		end(r, cluster, OUTCOME_REFUSED, reason_code(REASON_BUSY));
}

static bool is_paused(const struct restores *r, const struct msg_ctl_restore_row *row)
{
	const char *name = lifecycle_generation(r->root)->names[row->cluster];

	return pause_list_pauses(r->pauses, name, row->duty, clock_wall_ms());
}

int restores_on_row(struct restores *r, const struct msg *m)
{
	const struct msg_ctl_restore_row *row = &m->u.ctl_restore_row;
	const uint64_t cluster = UINT64_MAX - row->conn;
	struct look *look = &r->looks[cluster];
	struct msg ask = { .type = MSG_CTL_DRY_RUN };

	if (!look->id || look->phase != LOOK_HISTORY || row->origin != look->id || row->cluster != cluster ||
	    row->action != ACTION_RESTORE)
		return -EPROTO;
	if (is_paused(r, row)) {
		end(r, cluster, OUTCOME_REFUSED, reason_code(REASON_PAUSED));
		return 0;
	}
	if (!dispatch_vouches(r->dispatch, m)) {
		(void)log_warn(0, "a row of the history is not signed: nothing is put back by it",
			       kv_u("id", look->id), kv_s("target", row->want_target));
		end(r, cluster, OUTCOME_REFUSED, reason_code(REASON_ORIGIN_NOT_SIGNED));
		return 0;
	}
	look->phase = LOOK_WORKER;
	look->row = msg_pack(m);
	msg_copy_fields(&ask, m);
	ask.u.ctl_dry_run.id = look->id;
	ask.u.ctl_dry_run.vouched = true;
	dry_run_on_ctl_dry_run(r->dry_runs, &ask);
	return 0;
}

static void act(struct restores *r, uint64_t cluster)
{
	struct look *look = &r->looks[cluster];
	struct msg row;

	msg_unpack(look->row, &row);
	look->phase = LOOK_ACTION;
	if (objection(r, cluster) || is_paused(r, &row.u.ctl_restore_row) ||
	    !dispatch_restore(r->dispatch, &row, CONN(cluster), false))
		end(r, cluster, OUTCOME_REFUSED, reason_code(REASON_BUSY));
}

void restores_on_answer(struct restores *r, uint64_t conn, const struct msg *m)
{
	const uint64_t cluster = UINT64_MAX - conn;
	const struct msg_ctl_dry_run_result *said = &m->u.ctl_dry_run_result;

	const struct look *look = &r->looks[cluster];

	if (look->phase == LOOK_WORKER && said->id != look->id)
		return; /* of a look that was given up */
	if (look->phase == LOOK_WORKER && said->outcome == OUTCOME_WOULD)
		act(r, cluster);
	else
		end(r, cluster, (enum outcome)said->outcome, said->reason);
}

void restores_on_end(struct restores *r, uint64_t conn, uint64_t code)
{
	const bool later = code == EXIT_CODE_TEMPORARY || code == EXIT_CODE_UNAVAILABLE;

	end(r, UINT64_MAX - conn, later ? OUTCOME_REFUSED : OUTCOME_GONE,
	    reason_code(later ? REASON_BUSY : REASON_NOT_MARKED));
}

void restores_on_ctl_end(struct restores *r, const struct msg *m)
{
	const struct msg_ctl_end *e = &m->u.ctl_end;

	if (r->looks[UINT64_MAX - e->conn].phase == LOOK_HISTORY)
		restores_on_end(r, e->conn, e->code);
}

void restores_on_reporter_dead(struct restores *r)
{
	for (uint64_t c = 0; c < CLUSTERS_MAX; c++)
		if (r->looks[c].phase == LOOK_HISTORY)
			end(r, c, OUTCOME_REFUSED, reason_code(REASON_BUSY));
}

struct restores *restores_new(struct lifecycle *root, const struct pause_list *pauses, struct dispatch *d,
			      struct dry_runs *q)
{
	struct restores *r = xcalloc(1, sizeof(*r));

	r->root = root;
	r->pauses = pauses;
	r->dispatch = d;
	r->dry_runs = q;
	return r;
}

void restores_free(struct restores **r)
{
	for (uint64_t c = 0; *r && c < CLUSTERS_MAX; c++)
		free((*r)->looks[c].row);
	free(*r);
	*r = NULL;
}
