/* route.c - see route.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/route.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "supervisor/control.h"
#include "supervisor/overview.h"

#define CREDENTIAL_PAUSE_MS 5000u

static void to_watcher(struct supervisor *s, const struct msg *m)
{
	struct msg end = { .type = MSG_DIGEST_END };
	const uint64_t cluster = msg_get_u64(m, "cluster", 0);

	if (children_send(lifecycle_children(s->root), ROLE_WATCHER, cluster, m) || m->type != MSG_DIGEST_GET)
		return; /* a watcher that comes back asks for everything else again */
	msg_copy_fields(&end, m);
	end.u.digest_end.synced = false;
	supervisor_send_reporter(s, &end);
}

/* Any worker of the cluster can look; without one the report goes on without. */
static void to_worker(struct supervisor *s, const struct msg *m)
{
	struct msg answer = { .type = MSG_LOOKED };

	if (children_send(lifecycle_children(s->root), ROLE_WORKER, m->u.look.cluster, m))
		return;
	answer.u.looked.cluster = m->u.look.cluster;
	answer.u.looked.look = m->u.look.look;
	supervisor_send_reporter(s, &answer);
}

/* Since when something fails is the watcher's word in this life, and never a row of the history. */
static void to_reporter(struct supervisor *s, const struct msg *m)
{
	if (m->type == MSG_FAILING_SINCE)
		dispatch_on_failing_since(s->dispatch, &m->u.failing_since);
	supervisor_send_reporter(s, m);
}

/* -- what is saved for a watcher -- */

static bool is_saved(enum msg_type type)
{
	static const enum msg_type rows[] = { MSG_SAVED_ROW,     MSG_ACTION_ROW, MSG_FAILING_SINCE_ROW,
					      MSG_UNSETTLED_ROW, MSG_SCALED_ROW, MSG_SAVED_END };
	bool one = false;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		one = one || rows[i] == type;
	return one;
}

/* Rows of the history count between the watcher's question and their end: what comes unasked would change a
 * watcher's budgets, its breaker or its clocks. And they are of that watcher: one that has come after it
 * would take the rest for all. */
static void from_history(struct supervisor *s, struct child *reporter, const struct msg *m)
{
	const uint64_t cluster = msg_get_u64(m, "cluster", 0);

	if (!is_saved(m->type))
		to_watcher(s, m);
	else if (cluster >= CLUSTERS_MAX || !s->saved_asked[cluster])
		child_protocol_error(reporter, "rows for a watcher that did not ask");
	else if (supervisor_takes_saved(s, cluster, m->type == MSG_SAVED_END))
		to_watcher(s, m);
}

/* -- what the supervisor takes itself -- */

static void on_credential(struct supervisor *s, const struct child *c, const struct msg *m)
{
	const uint64_t now = clock_boot_ms();

	/* A newer generation may already be on its way to this child, and a credential that stays refused is
	 * no reason to run the loader without end. */
	if (m->u.credential.generation < lifecycle_generation(s->root)->number ||
	    now < s->credential_ms + CREDENTIAL_PAUSE_MS)
		return;
	s->credential_ms = now;
	log_info("the server refused a credential: loading it again",
		 kv_s("cluster", child_info(c)->cluster_name));
	(void)lifecycle_reload(s->root, 0, LANGUAGE_EN);
}

static void on_drained(const struct child *c, const struct msg *m)
{
	if (m->u.drained.left)
		log_info("child gave up what it had left", kv_s("role", role_name(child_info(c)->role)),
			 kv_u("left", m->u.drained.left));
}

static void on_open_end(struct supervisor *s, struct child *c, const struct msg *m)
{
	if (!dispatch_on_open_end(s->dispatch, c, m))
		return;
	pause_requests_on_open_end(s->pause_requests);
	supervisor_on_history_open(s);
}

/* Clusters are watched all the same; what they find waits for OPEN_END. */
static void on_no_history(struct supervisor *s, struct child *c, const struct msg *m)
{
	if (s->no_history || dispatch_history_is_open(s->dispatch)) {
		child_protocol_error(c, "NO_HISTORY twice, or behind OPEN_END");
		return;
	}
	s->no_history = true;
	(void)log_warn(0, "there is no history: clusters are watched, and nothing is done",
		       kv_s("detail", m->u.no_history.why));
	lifecycle_open(s->root);
}

static void on_watch_stats(struct supervisor *s, const struct msg *m)
{
	const struct msg_watch_stats *w = &m->u.watch_stats;
	uint64_t *since = &s->waits_since[w->cluster];

	s->watch_stats[w->cluster] = *m;
	if (!w->error[0] || w->failing)
		*since = 0;
	else if (*since == 0)
		*since = clock_boot_ms();
	lifecycle_tell_status(s->root);
	overview_send_stats_of(s, w->cluster);
}

/* False when there is nobody for it. */
static bool take(struct supervisor *s, struct child *c, const struct msg *m)
{
	switch (m->type) {
	case MSG_DRAINED:
		return on_drained(c, m), true;
	case MSG_CREDENTIAL:
		return on_credential(s, c, m), true;
	case MSG_NOMINATE:
		return dispatch_on_nominate(s->dispatch, c, m), true;
	case MSG_INTENT_ACK:
		return dispatch_on_intent_ack(s->dispatch, c, m), true;
	case MSG_OPEN_INTENT:
		return dispatch_on_open_intent(s->dispatch, c, m), true;
	case MSG_OPEN_END:
		return on_open_end(s, c, m), true;
	case MSG_NO_HISTORY:
		return on_no_history(s, c, m), true;
	case MSG_RESULT:
		return dispatch_on_result(s->dispatch, c, m), true;
	case MSG_RECORD_ACK:
		return dispatch_on_record_ack(s->dispatch, c, m), true;
	case MSG_LEADER:
		return dispatch_on_leader(s->dispatch, m), true;
	case MSG_WATCH_STATS:
		return on_watch_stats(s, m), true;
	case MSG_PAUSE:
		return pause_requests_on_pause(s->pause_requests, m), true;
	case MSG_CTL_DRY_RUN_RESULT:
		return dry_run_on_ctl_dry_run_result(s->dry_runs, c, m), true;
	case MSG_RESTORE_ASK:
		return restores_on_restore_ask(s->restores, m), true;
	case MSG_CTL_RESTORE_ROW:
		return answers_on_msg(&s->answers, c, m), true;
#if defined(OPC_PROBES)
	case MSG_CTL_PROBE_ROW:
		return control_on_ctl_probe_row(s->control, m), true;
#endif
	default:
		return false;
	}
}

/* A watcher speaks for its own cluster and for no other; so does a worker. The reporter answers all of them.
 */
static bool cluster_is_own(const struct child *c, const struct msg *m)
{
	const uint64_t own = child_info(c)->cluster;

	return child_info(c)->role == ROLE_REPORTER || msg_get_u64(m, "cluster", own) == own;
}

void route_from_child(struct supervisor *s, struct child *c, const struct msg *m)
{
	const enum role to = msg_receiver(m->type);

	if (!cluster_is_own(c, m))
		child_protocol_error(c, "a message about another cluster than its own");
	else if (to == ROLE_REPORTER)
		to_reporter(s, m);
	else if (to == ROLE_WATCHER)
		from_history(s, c, m);
	else if (to == ROLE_WORKER)
		to_worker(s, m);
	else if (to == ROLE_CLI)
		answers_on_msg(&s->answers, c, m);
	else if (!take(s, c, m))
		child_protocol_error(c, "a message that nobody takes");
}
