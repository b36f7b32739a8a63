/* main.c - the watcher: one cluster's cache and judgement. It reads the API server, nominates, and never
 * writes, except its own Lease. Here it is only wired to its process. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "http/global.h"
#include "process/process.h"
#include "watcher/cluster_watch.h"

struct watcher {
	struct settings first;    /* until on_start */
	struct settings prepared; /* between on_settings and on_commit */
	struct cluster_watch *watch;
};

static int on_send(void *ctx, const struct msg *m)
{
	return process_send(ctx, m);
}

static uint64_t on_generation(void *ctx)
{
	return process_generation(ctx);
}

static int on_settings(struct process *p, struct settings *s, bool first, const char **reterr)
{
	struct watcher *w = process_ctx(p);

	if (!s->cluster.server || !*s->cluster.server) {
		*reterr = "the settings name no API server";
		return -EINVAL;
	}
	if (!w) {
		w = xcalloc(1, sizeof(*w));
		settings_init(&w->first);
		settings_init(&w->prepared);
		process_set_ctx(p, w);
	}
	struct settings *to = first ? &w->first : &w->prepared;

	settings_done(to);
	*to = *s;
	settings_init(s);
	return 0;
}

static int on_start(struct process *p)
{
	static const struct cluster_watch_ops ops = { on_send, on_generation };
	struct watcher *w = process_ctx(p);

	http_global_init();
	w->watch = cluster_watch_new(process_base(p), process_cluster(p), &w->first, &ops, p);
	return 0;
}

static void on_ready(struct process *p)
{
	struct watcher *w = process_ctx(p);

	cluster_watch_start(w->watch);
}

static void on_commit(struct process *p)
{
	struct watcher *w = process_ctx(p);

	cluster_watch_set_settings(w->watch, &w->prepared);
}

static void on_msg(struct process *p, const struct msg *m)
{
	struct watcher *w = process_ctx(p);

	cluster_watch_on_msg(w->watch, m);
}

static void on_room(struct process *p)
{
	struct watcher *w = process_ctx(p);

	if (w && w->watch)
		cluster_watch_on_room(w->watch);
}

static void on_drained(void *ctx)
{
	process_drained(ctx, 0);
}

/* Nominations are the supervisor's now; pods that are due and not nominated are found again by the next
 * watcher. */
static void on_drain(struct process *p)
{
	struct watcher *w = process_ctx(p);

	cluster_watch_drain(w->watch, on_drained, p);
}

static void on_done(struct process *p)
{
	struct watcher *w = process_ctx(p);

	if (!w)
		return;
	cluster_watch_free(&w->watch);
	settings_done(&w->first);
	settings_done(&w->prepared);
	free(w);
}

int main(int argc, char **argv)
{
	static const struct process_spec spec = {
		.role = ROLE_WATCHER,
		.on_settings = on_settings,
		.on_commit = on_commit,
		.on_start = on_start,
		.on_ready = on_ready,
		.on_msg = on_msg,
		.on_room = on_room,
		.on_drain = on_drain,
		.on_done = on_done,
	};

	return process_run(argc, argv, &spec);
}
