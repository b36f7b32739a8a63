/* watcher.c - the watcher: one cluster's cache and judgement. It reads the API server, nominates, and never
 * writes, except its own Lease. Here it is only wired to its process. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/watcher.h"

#include <errno.h>

#include "http/global.h"
#include "watcher/cluster_watch.h"

static int check_settings(const struct settings *s, enum text *ret_why)
{
	if (s->cluster.server && *s->cluster.server)
		return 0;
	*ret_why = TEXT_NO_API_SERVER;
	return -EINVAL;
}

static int on_start(struct process *p, struct settings *s)
{
	http_global_init();
	process_set_ctx(p, cluster_watch_new(process_base(p), process_cluster(p), process_instance(p), s, p));
	return 0;
}

static void on_ready(struct process *p)
{
	cluster_watch_start(process_ctx(p));
}

static void on_commit(struct process *p, struct settings *s)
{
	cluster_watch_set_settings(process_ctx(p), s);
}

static void on_msg(struct process *p, const struct msg *m)
{
	cluster_watch_on_msg(process_ctx(p), m);
}

static void on_room(struct process *p)
{
	if (process_ctx(p))
		cluster_watch_on_room(process_ctx(p));
}

static void on_drained(void *ctx)
{
	process_drained(ctx, 0);
}

/* Nominations are the supervisor's now; pods that are due and not nominated are found again by the next
 * watcher. */
static void on_drain(struct process *p)
{
	cluster_watch_drain(process_ctx(p), on_drained, p);
}

static void on_done(struct process *p)
{
	struct cluster_watch *w = process_ctx(p);

	cluster_watch_free(&w);
}

const struct process_spec watcher_spec = {
	.role = ROLE_WATCHER,
	.check_settings = check_settings,
	.on_commit = on_commit,
	.on_start = on_start,
	.on_ready = on_ready,
	.on_msg = on_msg,
	.on_room = on_room,
	.on_drain = on_drain,
	.on_done = on_done,
};
