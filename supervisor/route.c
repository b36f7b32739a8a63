/* route.c - which message from a child goes where: one table. The codec has already checked that this role
 * may say it. See tree.h. */
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "supervisor/supervisor.h"

#define PARKED_MAX          4096u
#define CREDENTIAL_PAUSE_MS 5000u

void route_to_reporter(struct supervisor *t, const struct msg *m)
{
	struct child *reporter = supervisor_find_child(t, ROLE_REPORTER, CLUSTERS_MAX);

	if (reporter && child_send(reporter, m, -1) == 0)
		return;
	if (t->n_parked >= PARKED_MAX) {
		t->dropped++;
		return;
	}
	t->parked = xreallocarray(t->parked, t->n_parked + 1, sizeof(*t->parked));
	t->parked[t->n_parked++] = *m;
}

static void to_reporter(struct child *s, const struct msg *m)
{
	route_to_reporter(s->tree, m);
}

static void answer_for_watcher(struct supervisor *t, const struct msg *m)
{
	struct msg end = { .type = MSG_DIGEST_END };

	if (m->type != MSG_DIGEST_GET)
		return; /* a watcher that comes back asks again */
	msg_copy_fields(&end, m);
	end.u.digest_end.synced = false;
	route_to_reporter(t, &end);
}

static void to_watcher(struct child *s, const struct msg *m)
{
	struct supervisor *t = s->tree;
	/* DIGEST_GET, FAILING_SINCE_ROW, SAVED_END, SAVED_ROW and ACTION_ROW begin with the cluster. */
	const uint64_t cluster = m->u.digest_get.cluster;
	struct child *watcher = supervisor_find_child(t, ROLE_WATCHER, cluster);

	if (!watcher || child_send(watcher, m, -1) < 0)
		answer_for_watcher(t, m);
}

_Static_assert(offsetof(struct msg_digest_get, cluster) == offsetof(struct msg_failing_since_row, cluster) &&
		       offsetof(struct msg_digest_get, cluster) == offsetof(struct msg_saved_end, cluster) &&
		       offsetof(struct msg_digest_get, cluster) == offsetof(struct msg_saved_row, cluster) &&
		       offsetof(struct msg_digest_get, cluster) == offsetof(struct msg_action_row, cluster),
	       "to_watcher reads one member for all");

static void on_watch_stats(struct child *s, const struct msg *m)
{
	s->tree->watch_stats[s->cluster] = *m;
	route_to_reporter(s->tree, m);
	lifecycle_status(s->tree);
}

static void on_leader(struct child *s, const struct msg *m)
{
	const bool led = dispatch_may_write_until(s->tree, s->cluster, clock_boot_ms()) != 0;

	s->tree->leader[s->cluster] = *m;
	if (!led)
		dispatch_dispatch(s->tree, s->cluster);
}

static void on_credential(struct child *s, const struct msg *m)
{
	struct supervisor *t = s->tree;
	const uint64_t now = clock_boot_ms();

	/* A newer generation may already be on its way to this child, and a credential that stays refused is
	 * no reason to run the loader without end. */
	if (m->u.credential.generation < t->generation->number ||
	    now < t->credential_ms + CREDENTIAL_PAUSE_MS)
		return;
	t->credential_ms = now;
	log_info("the server refused a credential: loading it again",
		 kv_s("cluster", t->generation->names[s->cluster]));
	settings_load_start(t, 0);
}

static void to_control(struct child *s, const struct msg *m)
{
	control_answer(s->tree, m->u.ctl_end.conn, m);
}

static void on_control_end(struct child *s, const struct msg *m)
{
	control_end(s->tree, m->u.ctl_end.conn, m->u.ctl_end.code, m->u.ctl_end.text);
}

#if defined(OPC_PROBES)
static void on_probe_row(struct child *s, const struct msg *m)
{
	s->probe_conn = 0;
	control_answer(s->tree, m->u.ctl_probe_row.conn, m);
	control_end(s->tree, m->u.ctl_probe_row.conn, 0, "");
}
#endif

static void on_drained(struct child *s, const struct msg *m)
{
	if (m->u.drained.left)
		log_info("child gave up what it had left", kv_s("role", role_name(s->role)),
			 kv_u("left", m->u.drained.left));
}

static void (*const routes[MSG__MAX])(struct child *s, const struct msg *m) = {
	[MSG_SETTINGS_ACK] = settings_load_on_ack,
	[MSG_DRAINED] = on_drained,
	[MSG_CREDENTIAL] = on_credential,
	[MSG_NOMINATE] = dispatch_on_nominate,
	[MSG_INTENT_ACK] = dispatch_on_intent_ack,
	[MSG_OPEN_INTENT] = dispatch_on_open_intent,
	[MSG_OPEN_END] = dispatch_on_open_end,
	[MSG_RESULT] = dispatch_on_result,
	[MSG_RECORD_ACK] = dispatch_on_record_ack,
	[MSG_REFUSAL] = to_reporter,
	[MSG_FAILING_SINCE] = to_reporter,
	[MSG_SAVED_GET] = to_reporter,
	[MSG_FAILING_SINCE_ROW] = to_watcher,
	[MSG_SAVED_END] = to_watcher,
	[MSG_SAVED] = to_reporter,
	[MSG_SAVED_ROW] = to_watcher,
	[MSG_ACTION_ROW] = to_watcher,
	[MSG_DIGEST_GET] = to_watcher,
	[MSG_DIGEST_ROW] = to_reporter,
	[MSG_DIGEST_END] = to_reporter,
	[MSG_WATCH_STATS] = on_watch_stats,
	[MSG_LEADER] = on_leader,
	[MSG_CTL_HISTORY_ROW] = to_control,
	[MSG_CTL_EXPLAIN_ROW] = to_control,
	[MSG_CTL_PLAN_ROW] = to_control,
	[MSG_CTL_SHOW_ROW] = to_control,
	[MSG_CTL_RESTORE_ROW] = dry_run_on_restore_row,
	[MSG_CTL_DRY_RUN_RESULT] = dry_run_on_dry_run_result,
	[MSG_PAUSE] = pause_requests_on_reporter,
	[MSG_CTL_END] = on_control_end,
#if defined(OPC_PROBES)
	[MSG_CTL_PROBE_ROW] = on_probe_row,
#endif
};

/* A watcher speaks for its own cluster and for no other. */
static bool cluster_is_own(const struct child *s, const struct msg *m)
{
	const struct msg_desc *d = msg_desc(m->type);

	if (s->role != ROLE_WATCHER && m->type != MSG_CREDENTIAL)
		return true;
	for (size_t i = 0; i < d->n; i++) {
		if (strcmp(d->fields[i].name, "cluster") == 0) {
			uint64_t cluster;

			memcpy(&cluster, (const char *)&m->u + d->fields[i].off, sizeof(cluster));
			return cluster == s->cluster;
		}
	}
	return true;
}

void route_from_child(struct child *s, const struct msg *m)
{
	if (!routes[m->type])
		child_protocol_error(s, "a message that nobody takes");
	else if (!cluster_is_own(s, m))
		child_protocol_error(s, "a message about another cluster than its own");
	else
		routes[m->type](s, m);
}
