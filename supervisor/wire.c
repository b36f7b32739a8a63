/* wire.c - see wire.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/wire.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "supervisor/control.h"
#include "supervisor/dump.h"
#include "supervisor/route.h"
#include "supervisor/overview.h"
#include "supervisor/settled.h"
#include "supervisor/trouble_check.h"

/* -- what the root of all processes tells us -- */

static void tell_damage(const char *dir)
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
	const char *dir = lifecycle_generation(s->root)->state_dir;
	char text[OWN_STATE_TEXT_MAX] = "";
	const int r = own_state_open(s->own, dir, text);

	if (r < 0) {
		(void)log_error(0, "the state directory cannot be used", kv_s("detail", text));
		return r == -EPERM || r == -ENOTDIR ? EXIT_CODE_CONFIG : EXIT_CODE_TEMPORARY;
	}
	if (own_state_found(s->own) == OWN_DAMAGED)
		tell_damage(dir);
	pause_requests_on_own_state(s->pause_requests);
	return EXIT_CODE_OK;
}

/* What a worker did counts, whatever else it has done. */
static bool still_counts(const struct msg *m)
{
	return m->type == MSG_RESULT;
}

/* What watchers have told it of what is due is gone with the one before. */
static void ask_watchers(const struct supervisor *s)
{
	struct msg m = { .type = MSG_DUE_GET };

	for (uint64_t c = 0; c < lifecycle_generation(s->root)->clusters; c++) {
		m.u.due_get.cluster = c;
		(void)children_send(lifecycle_children(s->root), ROLE_WATCHER, c, &m);
	}
}

static void on_changed(struct supervisor *s, struct child *c, bool ready)
{
	const struct child_info *at = child_info(c);

	if (ready)
		supervisor_send_log_level(s, c);
	if (ready && at->role == ROLE_REPORTER) {
		dispatch_on_reporter_ready(s->dispatch);
		supervisor_send_waiting(s);
		overview_send_stats(s);
		trouble_check_send(s);
		ask_watchers(s);
	}
	if (ready && at->role == ROLE_WORKER)
		dispatch_cluster(s->dispatch, at->cluster);
	if (ready && at->role == ROLE_WATCHER)
		pause_requests_on_watcher_ready(s->pause_requests, at->cluster);
	supervisor_send_child_stats(s, c);
}

static void on_dead(struct supervisor *s, struct child *c, int code)
{
#if defined(OPC_PROBES)
	control_on_probed_dead(s->control, c, code);
#endif
	(void)code;
	answers_on_child_dead(&s->answers, c);
	if (child_info(c)->role == ROLE_REPORTER) {
		dispatch_on_reporter_dead(s->dispatch);
		pause_requests_on_reporter_dead(s->pause_requests);
		supervisor_on_reporter_dead(s);
	} else if (child_info(c)->role == ROLE_WATCHER) {
		supervisor_on_watcher_dead(s, child_info(c)->cluster);
	} else {
		dry_run_on_worker_dead(s->dry_runs, c);
		dispatch_on_worker_dead(s->dispatch, c);
	}
}

static void on_tick(struct supervisor *s, uint64_t now_ms)
{
	supervisor_tick(s);
	dispatch_tick(s->dispatch, now_ms);
	dry_run_tick(s->dry_runs, now_ms);
	if (s->control)
		control_tick(s->control, now_ms);
	pause_requests_tick(s->pause_requests);
	trouble_check(s);
	settled_check(s);
}

/* It may have work now. */
static void on_taken(struct supervisor *s, struct child *c)
{
	if (child_info(c)->role == ROLE_WORKER)
		dispatch_cluster(s->dispatch, child_info(c)->cluster);
}

static void on_reload_end(struct supervisor *s, uint64_t conn, int code, const char *text)
{
	answers_end(&s->answers, conn, (uint64_t)code, text);
}

static size_t count_busy(const struct supervisor *s)
{
	struct dispatch_stats d;

	dispatch_stats(s->dispatch, &d);
	return d.busy;
}

static const struct lifecycle_ops lifecycle_ops = {
	.on_first = on_first,
	.on_msg = route_from_child,
	.still_counts = still_counts,
	.on_changed = on_changed,
	.on_dead = on_dead,
	.on_tick = on_tick,
	.on_loaded = overview_on_loaded,
	.on_taken = on_taken,
	.on_reload_end = on_reload_end,
	.busy = count_busy,
	.dump = supervisor_dump,
	.describe = supervisor_describe,
};

/* -- from start to end -- */

struct supervisor *wire_new(const char *const loader_argv[], int lock_fd)
{
	struct supervisor *s = xcalloc(1, sizeof(*s));

	s->started_at = clock_wall_ms();
	s->root = lifecycle_new(loader_argv, lock_fd, &lifecycle_ops, s);
	if (!s->root) {
		free(s);
		return NULL;
	}
	s->pauses = pause_list_new();
	s->own = own_state_new(s->pauses);
	s->reporter_queue = reporter_queue_new();
	s->dispatch = dispatch_new(s->root, s->pauses, s->own, &s->answers);
	s->pause_requests = pause_requests_new(s->root, s->dispatch, s->pauses, s->own, &s->answers);
	s->dry_runs = dry_run_new(s->root, s->dispatch, &s->answers);
	s->troubles = trouble_list_new(trouble_check_tell, s);
	s->restores = restores_new(s->root, s->pauses, s->dispatch, s->dry_runs, &s->answers);
	return s;
}

int wire_listen(struct supervisor *s, const char *control_socket)
{
	return control_new(s, control_socket, &s->control);
}

void wire_free(struct supervisor **sp)
{
	struct supervisor *s = *sp;

	if (s->control)
		control_free(&s->control);
	lifecycle_free(&s->root);
	restores_free(&s->restores);
	dry_run_free(&s->dry_runs);
	pause_requests_free(&s->pause_requests);
	dispatch_free(&s->dispatch);
	own_state_free(&s->own);
	pause_list_free(&s->pauses);
	trouble_list_free(&s->troubles);
	reporter_queue_free(&s->reporter_queue);
	free(s);
	*sp = NULL;
}

int wire_run(const char *const loader_argv[], const char *control_socket, int lock_fd)
{
	struct supervisor *s = wire_new(loader_argv, lock_fd);

	if (!s)
		return EXIT_CODE_RESOURCE;
	const int r = wire_listen(s, control_socket);

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

	wire_free(&s);
	return code;
}
