/* supervisor.c - see supervisor.h. What happens when a child sends a message, becomes ready or dies, and when
 * settings are in force, stands here from top to bottom; the parts do it. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/supervisor.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "supervisor/actions/dispatch.h"
#include "supervisor/actions/worker_pool.h"
#include "supervisor/actions/dry_run.h"
#include "supervisor/actions/reporter_link.h"
#include "supervisor/actions/replicas.h"
#include "supervisor/operator/control.h"
#include "supervisor/operator/pauses.h"
#include "supervisor/operator/restores.h"
#include "supervisor/operator/status_answer.h"
#include "supervisor/operator/trouble_list.h"
#include "text/facts_text.h"

#define CREDENTIAL_PAUSE_MS 5000u
#define STATS_TICKS         8 /* stats of the children go to the reporter as often as they come: with heartbeats */

/* -- a message from a child -- */

static void to_watcher(struct supervisor *s, const struct msg *m)
{
	struct msg end = { .type = MSG_DIGEST_END };
	const uint64_t cluster = msg_get_u64(m, "cluster", 0);

	if (children_send(s->children, ROLE_WATCHER, cluster, m) || m->type != MSG_DIGEST_GET)
		return; /* a watcher that comes back asks for everything else again */
	msg_copy_fields(&end, m);
	end.u.digest_end.synced = false;
	reporter_link_send(s, &end);
}

/* Any worker of the cluster can look; without one the report goes on without. */
static void have_inspected(struct supervisor *s, struct child *worker, const struct msg *m)
{
	struct msg answer = { .type = MSG_INSPECTED };

	if (worker && child_send(worker, m, -1) == 0)
		return;
	answer.u.inspected.cluster = m->u.inspect.cluster;
	answer.u.inspected.inspection = m->u.inspect.inspection;
	reporter_link_send(s, &answer);
}

/* Since when something fails is the watcher's word in this life, and never a row of the history. */
static void to_reporter(struct supervisor *s, const struct msg *m)
{
	if (m->type == MSG_FAILING_SINCE)
		dispatch_on_failing_since(s, &m->u.failing_since);
	reporter_link_send(s, m);
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
	else if (cluster >= CLUSTERS_MAX || !s->saved[cluster].asked)
		child_protocol_error(reporter, TEXT_STRANGE_ROWS);
	else
		reporter_link_on_saved(s, cluster, m);
}

/* -- what the supervisor takes itself -- */

static void on_credential(struct supervisor *s, const struct child *c, const struct msg *m)
{
	const uint64_t now = clock_boot_ms();

	/* A newer generation may already be on its way to this child, and a credential that stays refused is
	 * no reason to run the loader without end. */
	if (m->u.credential.generation < settings(s)->number)
		return;
	lifecycle_refuse(s->root, child_info(c)->cluster);
	if (now < s->credential_ms + CREDENTIAL_PAUSE_MS)
		return;
	s->credential_ms = now;
	log_info("the server refused a credential: loading it again",
		 kv_s("cluster", child_info(c)->cluster_name));
	lifecycle_refresh(s->root);
}

static void on_drained(const struct child *c, const struct msg *m)
{
	if (m->u.drained.left)
		log_info("child gave up what it had left", kv_s("role", role_name(child_info(c)->role)),
			 kv_u("left", m->u.drained.left));
}

/* What was refused or held for want of the history is answered now. */
static void on_open_end(struct supervisor *s, struct child *c, const struct msg *m)
{
	if (!dispatch_on_open_end(s, c, m))
		return;
	pauses_on_open_end(s);
	for (uint64_t k = 0; k < CLUSTERS_MAX; k++)
		if (s->list_started_ms[k]) /* its first list goes on only now */
			s->list_started_ms[k] = clock_boot_ms();
	reporter_link_on_history_open(s);
}

/* Clusters are watched all the same; what they find waits for OPEN_END. */
static void on_no_history(struct supervisor *s, struct child *c, const struct msg *m)
{
	if (s->no_history || s->history_open) {
		child_protocol_error(c, TEXT_NO_HISTORY_TWICE);
		return;
	}
	_cleanup_free_ char *why = facts_render(&m->u.no_history.why, NULL);

	s->no_history = true;
	(void)log_warn(0, "there is no history: clusters are watched, and nothing is done",
		       kv_s("detail", why));
	lifecycle_open(s->root);
}

static void on_watch_stats(struct supervisor *s, const struct msg *m)
{
	const struct msg_watch_stats *w = &m->u.watch_stats;
	uint64_t *since = &s->list_started_ms[w->cluster];

	s->watch_stats[w->cluster] = *m;
	if (facts_empty(&w->error) || w->failing)
		*since = 0;
	else if (*since == 0)
		*since = clock_boot_ms();
	lifecycle_tell_status(s->root);
	status_send_watch_stats(s, w->cluster);
}

static void on_leader(struct supervisor *s, const struct msg *m)
{
	if (replicas_on_leader(s, m))
		dispatch_cluster(s, m->u.leader.cluster);
}

/* False when there is nobody for it. */
static bool take_own(struct supervisor *s, struct child *c, const struct msg *m)
{
	switch (m->type) {
	case MSG_DRAINED:
		return on_drained(c, m), true;
	case MSG_CREDENTIAL:
		return on_credential(s, c, m), true;
	case MSG_NOMINATE:
		return dispatch_on_nominate(s, c, m), true;
	case MSG_INTENT_ACK:
		return dispatch_on_intent_ack(s, c, m), true;
	case MSG_OPEN_INTENT:
		return dispatch_on_open_intent(s, c, m), true;
	case MSG_OPEN_END:
		return on_open_end(s, c, m), true;
	case MSG_NO_HISTORY:
		return on_no_history(s, c, m), true;
	case MSG_QUOTE:
		return dispatch_on_quote(s, c, m), true;
	case MSG_RESULT:
		return dispatch_on_result(s, c, m), true;
	case MSG_RECORD_ACK:
		return dispatch_on_record_ack(s, c, m), true;
	case MSG_LEADER:
		return on_leader(s, m), true;
	case MSG_MEMBERS:
		return replicas_on_members(s, m), true;
	case MSG_WATCH_STATS:
		return on_watch_stats(s, m), true;
	case MSG_PAUSE:
		return pauses_on_pause(s, m), true;
	case MSG_CTL_DRY_RUN_RESULT:
		return dry_run_on_ctl_dry_run_result(s, c, m), true;
	case MSG_RESTORE_ASK:
		return restores_on_restore_ask(s, m), true;
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

/* The codec has checked that the sender's role may say m. */
static void on_msg(struct supervisor *s, struct child *c, const struct msg *m)
{
	const enum role to = msg_receiver(m->type);

	if (!cluster_is_own(c, m))
		child_protocol_error(c, TEXT_STRANGE_CLUSTER);
	else if (to == ROLE_REPORTER)
		to_reporter(s, m);
	else if (to == ROLE_WATCHER)
		from_history(s, c, m);
	else if (to == ROLE_WORKER)
		worker_pool_ask(s, m->u.inspect.cluster, m, have_inspected);
	else if (to == ROLE_CLI)
		answers_on_msg(&s->answers, c, m);
	else if (!take_own(s, c, m))
		child_protocol_error(c, TEXT_STRANGE_MESSAGE);
}

/* -- what the root of all processes reports -- */

static void log_damage(const char *dir)
{
	(void)log_error(
		0,
		"the supervisor's own file was damaged: everything is paused, and what was open in the "
		"history is not carried on with",
		kv_s("file", OWN_STATE_FILE), kv_s("directory", dir),
		kv_s("remedy", "look at the disk, and at what was paused; then `ops-pod-cleaner resume`"));
}

static int on_first(struct supervisor *s)
{
	const char *dir = settings(s)->all.state_dir;
	struct facts why = { 0 };
	const int r = own_state_open(s->own, dir, &why);

	if (r < 0) {
		_cleanup_free_ char *text = facts_render(&why, NULL);

		(void)log_error(0, "the state directory cannot be used", kv_s("detail", text));
		return r == -EPERM || r == -ENOTDIR ? EXIT_CODE_CONFIG : EXIT_CODE_TEMPORARY;
	}
	if (s->own->found == OWN_DAMAGED)
		log_damage(dir);
	s->pauses_known = s->own->found == OWN_READ;
	return EXIT_CODE_OK;
}

/* What a worker did counts, whatever else it has done. */
static bool still_counts(const struct msg *m)
{
	return m->type == MSG_RESULT || m->type == MSG_QUOTE;
}

static void send_log_level(const struct supervisor *s, struct child *c)
{
	const struct msg m = { .type = MSG_LOG_LEVEL, .u.log_level = s->log_level };

	if (s->log_level.until_ms)
		(void)child_send(c, &m, -1);
}

/* What the reporter before it was told is gone with that one. */
static void welcome_reporter(struct supervisor *s)
{
	struct msg due = { .type = MSG_DUE_GET };

	dispatch_on_reporter_ready(s);
	reporter_link_send_waiting(s);
	trouble_list_send(s);
	for (uint64_t c = 0; generation_next(settings(s), &c); c++) {
		status_send_watch_stats(s, c);
		due.u.due_get.cluster = c;
		(void)children_send(s->children, ROLE_WATCHER, c, &due);
	}
}

/* A child is ready: it gets what its predecessor knew, or what waits for it. */
static void welcome(struct supervisor *s, struct child *c)
{
	const struct child_info *at = child_info(c);

	send_log_level(s, c);
	if (at->role == ROLE_REPORTER) {
		welcome_reporter(s);
	} else if (at->role == ROLE_WORKER) {
		worker_pool_on_ready(s, c);
		dispatch_cluster(s, at->cluster);
	} else {
		pauses_on_watcher_ready(s, at->cluster);
		replicas_on_watcher_ready(s, at->cluster);
	}
}

/* A child has changed its state. */
static void on_changed(struct supervisor *s, struct child *c, bool ready)
{
	if (ready)
		welcome(s, c);
	status_send_child_stats(s, c);
}

/* A child is dead, and everything that it had sent was taken: who waits for it gets an answer, and its work
 * goes to others. It is started again by child.c. code: its exit code, or the negative number of the signal.
 */
static void on_dead(struct supervisor *s, struct child *c, int code)
{
	const struct child_info *at = child_info(c);

#if defined(OPC_PROBES)
	control_on_probed_dead(s->control, c, code);
#endif
	(void)code;
	answers_on_child_dead(&s->answers, c); /* operators, and restores that watchers asked for */
	if (at->role == ROLE_REPORTER) {
		s->history_open = false; /* nothing is granted before the next OPEN_END */
		pauses_on_reporter_dead(s);
		reporter_link_on_reporter_dead(s);
		s->no_history = false;
	} else if (at->role == ROLE_WATCHER) {
		s->watch_stats[at->cluster].u.watch_stats.synced = false;
		reporter_link_on_watcher_dead(s, at->cluster);
	} else {
		dry_run_on_worker_dead(s, c);
		dispatch_on_worker_dead(s, c); /* its leases: verified by the next holder */
	}
}

static void send_stats(struct supervisor *s)
{
	const struct children *all = s->children;

	for (size_t i = 0; i < children_count(all); i++)
		status_send_child_stats(s, children_get(all, i));
	for (uint64_t c = 0; generation_next(settings(s), &c); c++)
		status_send_worker_stats(s, c);
}

static void on_tick(struct supervisor *s, uint64_t now_ms)
{
	if (reporter_queue_count(s->queue) > 0)
		reporter_link_send_waiting(s);
	if (++s->ticks % STATS_TICKS == 0 && lifecycle_is_running(s->root))
		send_stats(s);
	replicas_tick(s, now_ms);
	dispatch_tick(s, now_ms);
	dry_run_tick(s, now_ms);
	pauses_tick(s);
	if (s->control)
		control_tick(s->control, now_ms);
	trouble_list_check(s);
	status_check_settled(s);
}

/* Settings are in force: of the supervisor itself from now on, of each child as it takes them
 * (settings_load.c). */
static void on_loaded(struct supervisor *s)
{
	const struct generation *g = settings(s);

	log_configure((enum log_level)g->all.log_level, (enum log_format)g->all.log_format);
	worker_pool_on_loaded(s);
	replicas_on_loaded(s);
	status_log_identity(s);
	for (uint64_t c = 0; generation_next(g, &c); c++)
		status_send_watch_stats(s, c);
	trouble_list_check(s);
	lifecycle_tell_status(s->root);
}

/* A worker with the settings in force may get work. */
static void on_taken(struct supervisor *s, struct child *c)
{
	if (child_info(c)->role == ROLE_WORKER)
		dispatch_cluster(s, child_info(c)->cluster);
}

static void on_reload_end(struct supervisor *s, uint64_t conn, int code, const struct facts *what)
{
	answers_end(&s->answers, conn, (uint64_t)code, what);
}

static size_t count_busy(const struct supervisor *s, uint64_t cluster)
{
	return cluster < CLUSTERS_MAX ? lease_table_count_of(s->leases, cluster) : dispatch_count_busy(s);
}

static const struct lifecycle_ops lifecycle_ops = {
	.on_first = on_first,
	.on_msg = on_msg,
	.still_counts = still_counts,
	.on_changed = on_changed,
	.on_dead = on_dead,
	.on_tick = on_tick,
	.on_loaded = on_loaded,
	.on_replaced = pauses_on_replaced,
	.on_taken = on_taken,
	.on_reload_end = on_reload_end,
	.busy = count_busy,
	.dump = status_dump,
	.describe = status_describe,
};

/* -- start and end -- */

struct supervisor *supervisor_new(const char *const loader_argv[], int lock_fd)
{
	struct supervisor *s = xcalloc(1, sizeof(*s));

	s->started_at = clock_wall_ms();
	s->root = lifecycle_new(loader_argv, lock_fd, &lifecycle_ops, s);
	if (!s->root) {
		free(s);
		return NULL;
	}
	s->children = lifecycle_children(s->root);
	s->own = own_state_new(&s->pause_list);
	s->queue = reporter_queue_new();
	s->idle = dry_run_on_idle;
	dispatch_init(s);
	return s;
}

int supervisor_listen(struct supervisor *s, const char *control_socket)
{
	return control_new(s, control_socket, &s->control);
}

void supervisor_free(struct supervisor **sp)
{
	struct supervisor *s = *sp;

	if (s->control)
		control_free(&s->control);
	lifecycle_free(&s->root);
	for (uint64_t c = 0; c < CLUSTERS_MAX; c++)
		free(s->restores[c].row);
	dry_run_free(s);
	reporter_queue_free(&s->queue);
	lease_table_free(&s->leases);
	replicas_free(s);
	worker_pool_free(s);
	own_state_free(&s->own);
	free(s->troubles);
	free(s);
	*sp = NULL;
}

int supervisor_run(const char *const loader_argv[], const char *control_socket, int lock_fd)
{
	struct supervisor *s = supervisor_new(loader_argv, lock_fd);

	if (!s)
		return EXIT_CODE_RESOURCE;
	const int r = supervisor_listen(s, control_socket);

	if (r == -EEXIST)
		(void)log_error(0,
				"the control socket would replace a file that is no socket: move it away, or "
				"choose another --control-socket",
				kv_s("path", control_socket));
	else if (r < 0)
		(void)log_error(r, "cannot open the control socket", kv_s("path", control_socket));
	const int code = r == -EEXIST ? EXIT_CODE_CONFIG
			 : r < 0      ? EXIT_CODE_RESOURCE
				      : lifecycle_run(s->root);

	supervisor_free(&s);
	return code;
}
