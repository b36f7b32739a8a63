/* control.c - the control socket: a person's commands. No verb of it names a pod to act on: a question to a
 * worker (CTL_DRY_RUN) writes nothing, and a restore names an action of the history. See tree.h. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "build_id.h"
#include "supervisor/supervisor.h"

#define CONNECTIONS_MAX 8

struct connection {
	struct control *control;
	struct channel *channel; /* NULL = free */
	uint64_t id;
	uid_t uid;           /* who asks */
	uint64_t restore_id; /* of the CTL_RESTORE that is not answered yet; 0 = none */
	bool restore_dry;
};

struct control {
	struct supervisor *tree;
	struct event *on_accept;
	int fd;
	uint64_t next_id;
	struct connection connections[CONNECTIONS_MAX];
};

static struct connection *find_connection(const struct supervisor *t, uint64_t id)
{
	for (size_t i = 0; t->control && i < CONNECTIONS_MAX; i++)
		if (t->control->connections[i].channel && t->control->connections[i].id == id)
			return &t->control->connections[i];
	return NULL;
}

static void close_connection(struct connection *c)
{
	channel_free(&c->channel);
	dry_run_forget(c->control->tree, c->id);
}

void control_answer(struct supervisor *t, uint64_t conn, const struct msg *m)
{
	struct connection *c = conn ? find_connection(t, conn) : NULL;

	if (c && channel_send(c->channel, m, -1) < 0)
		close_connection(c); /* it does not read */
}

int control_take_restore(struct supervisor *t, uint64_t conn, uint64_t id, bool dry)
{
	struct connection *c = conn ? find_connection(t, conn) : NULL;

	if (!c)
		return -ENOENT;
	if (c->restore_id != id || c->restore_dry != dry)
		return -EPERM;
	c->restore_id = 0;
	return 0;
}

void control_end(struct supervisor *t, uint64_t conn, uint64_t code, const char *text)
{
	struct msg m = { .type = MSG_CTL_END, .u.ctl_end = { .conn = conn, .code = code } };

	if (!conn)
		return;
	msg_set(&m, ctl_end.text, text, strlen(text));
	control_answer(t, conn, &m);
}

void control_on_reporter_gone(struct supervisor *t)
{
	for (size_t i = 0; t->control && i < CONNECTIONS_MAX; i++) {
		struct connection *c = &t->control->connections[i];

		if (c->channel && c->restore_id) {
			c->restore_id = 0;
			control_end(t, c->id, EXIT_CODE_UNAVAILABLE,
				    "the history is away just now: ask again");
		}
	}
}

/* -- status
 * ------------------------------------------------------------------------------------------------------------
 */

void control_child_stats(const struct child *s, struct msg *ret)
{
	const struct supervisor *t = s->tree;
	const char *cluster = s->cluster < CLUSTERS_MAX ? t->generation->names[s->cluster] : "";
	const char *state = fsm_state_name(s->state);
	struct msg m = { .type = MSG_CHILD_STATS };
	struct msg_child_stats *c = &m.u.child_stats;

	msg_set(&m, child_stats.role, role_name(s->role), strlen(role_name(s->role)));
	msg_set(&m, child_stats.cluster_name, cluster, strlen(cluster));
	msg_set(&m, child_stats.state, state, strlen(state));
	msg_set(&m, child_stats.sandbox, s->sandbox, strlen(s->sandbox));
	msg_set(&m, child_stats.error, s->error, strlen(s->error));
	c->number = s->number;
	c->pid = (uint64_t)s->pid;
	c->restarts = s->deaths.n_deaths;
	c->rss_kb = s->rss_kb;
	c->leases = lease_count_held(t->leases, s->index);
	c->started = s->started_at;
	*ret = m;
}

static const char *phase_name(const struct supervisor *t)
{
	static const char *const names[] = { "starting", "running", "draining", "ended" };

	for (size_t i = 0; t->phase == SUPERVISOR_RUNNING && i < t->n_children; i++)
		if (t->children[i]->state == FSM_DEGRADED)
			return "degraded";
	return names[t->phase];
}

static void send_status(struct supervisor *t, uint64_t conn)
{
	struct msg m = { .type = MSG_CTL_SUPERVISOR };
	struct msg_ctl_supervisor *c = &m.u.ctl_supervisor;
	const char *phase = phase_name(t);

	c->conn = conn;
	c->observe = t->generation && t->generation->observe;
	c->generation = t->generation ? t->generation->number : 0;
	c->started = t->started_at;
	c->leases = lease_table_count(t->leases);
	c->actions = t->actions;
	c->pending = c->leases - dispatch_busy(t);
	msg_set(&m, ctl_supervisor.version, OPC_BUILD_ID, strlen(OPC_BUILD_ID));
	msg_set(&m, ctl_supervisor.phase, phase, strlen(phase));
	msg_set(&m, ctl_supervisor.note, t->note, strlen(t->note));
	control_answer(t, conn, &m);
	for (size_t i = 0; i < t->n_children; i++) {
		control_child_stats(t->children[i], &m);
		control_answer(t, conn, &m);
	}
	for (uint64_t i = 0; t->generation && i < t->generation->clusters; i++)
		if (t->watch_stats[i].type == MSG_WATCH_STATS)
			control_answer(t, conn, &t->watch_stats[i]);
	pause_requests_send_status(t, conn);
	for (uint64_t i = 0; t->generation && i < t->generation->clusters; i++)
		if (t->leader[i].type == MSG_LEADER)
			control_answer(t, conn, &t->leader[i]);
	control_end(t, conn, 0, "");
}

/* -- requests
 * ------------------------------------------------------------------------------------------------------------
 */

static void forward(struct supervisor *t, struct child *to, const struct msg *m, uint64_t conn,
		    const char *whom)
{
	char text[128];

	if (to && child_send(to, m, -1) == 0)
		return;
	(void)snprintf(text, sizeof(text),
		       "the %s is not running at the moment: see `ops-pod-cleaner status`", whom);
	control_end(t, conn, EXIT_CODE_UNAVAILABLE, text);
}

/* A question about a cluster, by its name ("" = the first): *cluster is set and its watcher asked. */
static void to_watcher(struct supervisor *t, const struct msg *m, uint64_t conn, const char *name,
		       uint64_t *cluster)
{
	for (uint64_t c = 0; c < t->generation->clusters; c++) {
		if (name[0] == '\0' || strcmp(name, t->generation->names[c]) == 0) {
			*cluster = c;
			forward(t, supervisor_find_child(t, ROLE_WATCHER, c), m, conn, "watcher");
			return;
		}
	}
	control_end(t, conn, EXIT_CODE_USAGE, "no cluster of that name: see `ops-pod-cleaner status`");
}

static void on_explain(struct connection *c, struct msg *m)
{
	to_watcher(c->control->tree, m, c->id, m->u.ctl_explain.cluster_name, &m->u.ctl_explain.cluster);
}

static void on_plan(struct connection *c, struct msg *m)
{
	to_watcher(c->control->tree, m, c->id, m->u.ctl_plan.cluster_name, &m->u.ctl_plan.cluster);
}

static void to_reporter(struct connection *c, struct msg *m)
{
	struct supervisor *t = c->control->tree;

	forward(t, supervisor_find_child(t, ROLE_REPORTER, CLUSTERS_MAX), m, c->id, "reporter");
}

/* One at a time: what the reporter answers is held against it. */
static void on_restore(struct connection *c, struct msg *m)
{
	c->restore_id = m->u.ctl_restore.id;
	c->restore_dry = m->u.ctl_restore.dry;
	to_reporter(c, m);
}

static void on_try(struct connection *c, struct msg *m)
{
	dry_run_ask(c->control->tree, m);
}

/* Who asks is what the kernel says, with the name the person goes by. */
static void on_pause(struct connection *c, struct msg *m)
{
	struct msg_ctl_pause *p = &m->u.ctl_pause;
	char by[2 * sizeof(p->by)];

	(void)snprintf(by, sizeof(by), "%.40s%suid %u%s", p->by, p->by[0] ? " (" : "", (unsigned)c->uid,
		       p->by[0] ? ")" : "");
	msg_set(m, ctl_pause.by, by, strlen(by));
	pause_requests_on_request(c->control->tree, m, c->id);
}

static void on_status(struct connection *c, struct msg *m)
{
	(void)m;
	send_status(c->control->tree, c->id);
}

static void on_reload(struct connection *c, struct msg *m)
{
	(void)m;
	settings_load_start(c->control->tree, c->id);
}

#if defined(OPC_PROBES)
static void on_probe(struct connection *c, struct msg *m)
{
	struct supervisor *t = c->control->tree;

	for (size_t i = 0; i < t->n_children; i++) {
		struct child *s = t->children[i];

		if (strcmp(role_name(s->role), m->u.ctl_probe.role) == 0 &&
		    s->number == m->u.ctl_probe.number && s->state == FSM_READY) {
			s->probe_conn = c->id;
			forward(t, s, m, c->id, role_name(s->role));
			return;
		}
	}
	control_end(t, c->id, EXIT_CODE_UNAVAILABLE, "no such process is ready");
}
#endif

static void (*const requests[MSG__MAX])(struct connection *c, struct msg *m) = {
	[MSG_CTL_STATUS] = on_status,   [MSG_CTL_HISTORY] = to_reporter, [MSG_CTL_SHOW] = to_reporter,
	[MSG_CTL_RESTORE] = on_restore, [MSG_CTL_EXPLAIN] = on_explain,  [MSG_CTL_PLAN] = on_plan,
	[MSG_CTL_DRY_RUN] = on_try,     [MSG_CTL_PAUSE] = on_pause,      [MSG_CTL_RELOAD] = on_reload,
#if defined(OPC_PROBES)
	[MSG_CTL_PROBE] = on_probe,
#endif
};

static void on_msg(void *ctx, struct channel *ch, const struct msg *in, int fd)
{
	struct connection *c = ctx;
	struct supervisor *t = c->control->tree;
	struct msg m = *in;

	(void)ch;
	if (fd >= 0)
		(void)close(fd);
	m.u.ctl_end.conn = c->id; /* every CTL message begins with it */
	if (!t->generation) {
		control_end(t, c->id, EXIT_CODE_UNAVAILABLE, "still starting");
		return;
	}
	if (requests[m.type])
		requests[m.type](c, &m);
	else
		control_end(t, c->id, EXIT_CODE_USAGE, "not a request");
}

static void on_close(void *ctx, struct channel *ch, int err, const char *text)
{
	struct connection *c = ctx;

	(void)ch;
	if (err)
		(void)log_warn(err, "control connection broke the protocol", kv_s("detail", text));
	close_connection(c);
}

static const struct channel_ops cli_ops = { .on_msg = on_msg, .on_close = on_close };

/* -- accept
 * --------------------------------------------------------------------------------------------------------------
 */

static bool may_connect(int fd, uid_t *ret_uid)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return false;
	*ret_uid = who.uid;
	return who.uid == 0 || who.uid == geteuid();
}

static void on_accept(evutil_socket_t listener, short what, void *arg)
{
	struct control *control = arg;
	const int fd = accept4((int)listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	uid_t uid = 0;

	(void)what;
	for (size_t i = 0; fd >= 0 && may_connect(fd, &uid) && i < CONNECTIONS_MAX; i++) {
		struct connection *c = &control->connections[i];

		if (c->channel)
			continue;
		*c = (struct connection){ .control = control, .id = ++control->next_id, .uid = uid };
		c->channel = channel_new(control->tree->base, fd, ROLE_SUPERVISOR, ROLE_CLI, &cli_ops, c);
		channel_set_phase(c->channel, PH_RUN);
		return;
	}
	if (fd >= 0)
		(void)close(fd);
}

int control_start(struct supervisor *t)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", t->options.control_socket);
	/* The lock beside the socket is ours, so a socket that is there has no owner. */
	(void)unlink(sa.sun_path);
	const mode_t old = umask(0177);
	int r = bind(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0 || listen(fd, CONNECTIONS_MAX) < 0
			? -errno
			: 0;

	(void)umask(old);
	if (r < 0) {
		(void)close(fd);
		return r;
	}
	t->control = xcalloc(1, sizeof(*t->control));
	t->control->tree = t;
	t->control->fd = fd;
	t->control->on_accept = event_new(t->base, fd, EV_READ | EV_PERSIST, on_accept, t->control);
	(void)event_add(t->control->on_accept, NULL);
	return 0;
}

void control_stop(struct supervisor *t)
{
	struct control *c = t->control;

	if (!c)
		return;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		channel_free(&c->connections[i].channel);
	event_free(c->on_accept);
	(void)close(c->fd);
	(void)unlink(t->options.control_socket);
	free(c);
	t->control = NULL;
}
