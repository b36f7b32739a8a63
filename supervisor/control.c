/* control.c - see control.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/control.h"

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
#include "ipc/channel.h"
#include "supervisor/overview.h"

#define CONNECTIONS_MAX 8
/* Children whose answers one connection waits for at once. */
#define ASKED_MAX 8
/* Restores that one connection may have been shown; of older ones a worker is asked again. */
#define ROWS_MAX 1024

/* What a child has been asked and not answered to the end. */
struct asked {
	const struct child *child;
	unsigned open; /* questions; 0 = free */
};

/* What a restore puts back, as a worker was asked about it: an order grants this and nothing else, whatever
 * the history says by then. */
struct restore_row {
	uint64_t id, generation; /* the row names its cluster by the index of that generation */
	enum {
		ROW_ASKED,
		ROW_ORDERED,
		ROW_SHOWN
	} state; /* a worker looks; the same, and then it is done; it would */
	struct msg_packed *row;
};

struct connection {
	struct control *control;
	struct channel *channel; /* NULL = free */
	uint64_t id;
	uid_t uid;           /* who asks */
	uint64_t restore_id; /* of the CTL_RESTORE that is not answered yet; 0 = none */
	bool restore_dry;
	struct restore_row *rows;
	size_t n_rows;
	struct asked asked[ASKED_MAX];
#if defined(OPC_PROBES)
	const struct child *probed; /* that has not answered a CTL_PROBE yet */
#endif
};

struct control {
	struct supervisor *supervisor;
	const char *path;
	struct event *on_accept;
	int fd;
	uint64_t last_id;
	struct connection connections[CONNECTIONS_MAX];
};

/* The connection of that number, or NULL. */
static struct connection *find(struct control *control, uint64_t id)
{
	for (size_t i = 0; id && i < CONNECTIONS_MAX; i++)
		if (control->connections[i].channel && control->connections[i].id == id)
			return &control->connections[i];
	return NULL;
}

/* -- what restores put back -- */

static uint64_t generation_of(const struct connection *c)
{
	return lifecycle_generation(c->control->supervisor->root)->number;
}

/* None of an older generation. */
static struct restore_row *find_row(struct connection *c, uint64_t id)
{
	for (size_t i = 0; i < c->n_rows; i++)
		if (c->rows[i].id == id && c->rows[i].generation == generation_of(c))
			return &c->rows[i];
	return NULL;
}

static void drop_row(struct connection *c, struct restore_row *r)
{
	free(r->row);
	*r = c->rows[--c->n_rows];
}

static void drop_rows(struct connection *c)
{
	while (c->n_rows > 0)
		drop_row(c, c->rows);
	free(c->rows);
	c->rows = NULL;
}

static void keep_row(struct connection *c, const struct msg *m, bool ordered)
{
	const uint64_t id = m->u.ctl_restore_row.origin;
	struct restore_row *old = find_row(c, id);

	if (!old && c->n_rows == ROWS_MAX)
		old = c->rows;
	if (old)
		drop_row(c, old);
	c->rows = xreallocarray(c->rows, c->n_rows + 1, sizeof(*c->rows));
	c->rows[c->n_rows++] =
		(struct restore_row){ id, generation_of(c), ordered ? ROW_ORDERED : ROW_ASKED, msg_pack(m) };
}

static void carry_out(struct connection *c, struct restore_row *r)
{
	struct msg row;

	msg_unpack(r->row, &row);
	drop_row(c, r);
	if (!dispatch_restore(c->control->supervisor->dispatch, &row, c->id, true))
		control_end(
			c->control, c->id, EXIT_CODE_TEMPORARY,
			"something else is being done with this workload, or the program ends: try again");
}

/* True: it was ordered, and the end of that is the answer. */
static bool on_looked(struct connection *c, const struct msg_ctl_dry_run_result *t)
{
	struct restore_row *r = find_row(c, t->id);

	if (!r || r->state == ROW_SHOWN)
		return false;
	if (t->outcome != OUTCOME_WOULD) {
		drop_row(c, r);
		return false;
	}
	if (r->state == ROW_ORDERED) {
		carry_out(c, r);
		return true;
	}
	r->state = ROW_SHOWN;
	return false;
}

/* -- answers -- */

static void close_connection(struct connection *c)
{
	channel_free(&c->channel);
	drop_rows(c);
	dry_run_forget(c->control->supervisor->dry_runs, c->id);
}

void control_answer(void *ctx, uint64_t conn, const struct msg *m)
{
	struct connection *c = find(ctx, conn);

	if (c && m->type == MSG_CTL_DRY_RUN_RESULT && on_looked(c, &m->u.ctl_dry_run_result))
		return;
	if (c && channel_send(c->channel, m, -1) < 0)
		close_connection(c); /* it does not read */
}

void control_end(void *ctx, uint64_t conn, uint64_t code, const char *text)
{
	struct msg m = { .type = MSG_CTL_END, .u.ctl_end = { .conn = conn, .code = code } };

	msg_set(&m, ctl_end.text, text, strlen(text));
	control_answer(ctx, conn, &m);
}

/* -- requests -- */

/* Where that child's open questions are counted, or NULL. */
static struct asked *asked_of(struct connection *c, const struct child *child)
{
	for (size_t i = 0; i < ASKED_MAX; i++)
		if (c->asked[i].open > 0 && c->asked[i].child == child)
			return &c->asked[i];
	return NULL;
}

static struct asked *room_to_ask(struct connection *c, const struct child *child)
{
	struct asked *a = asked_of(c, child);

	for (size_t i = 0; !a && i < ASKED_MAX; i++)
		if (c->asked[i].open == 0)
			a = &c->asked[i];
	return a;
}

/* False when it is not running. */
static bool send_on(struct connection *c, struct child *to, const struct msg *m, enum role role)
{
	char text[128];

	if (to && child_send(to, m, -1) == 0)
		return true;
	(void)snprintf(text, sizeof(text),
		       "the %s is not running at the moment: see `ops-pod-cleaner status`", role_name(role));
	control_end(c->control, c->id, EXIT_CODE_UNAVAILABLE, text);
	return false;
}

static void ask(struct connection *c, struct child *to, const struct msg *m, enum role role)
{
	struct asked *a = room_to_ask(c, to);

	if (!a)
		control_end(c->control, c->id, EXIT_CODE_TEMPORARY, "too many questions at once; ask again");
	else if (send_on(c, to, m, role))
		*a = (struct asked){ to, a->open + 1 };
}

/* A request that is not for the supervisor itself; a watcher is named by its cluster, "" = the first. */
static void forward(struct connection *c, struct msg *m)
{
	const struct supervisor *s = c->control->supervisor;
	const struct generation *g = lifecycle_generation(s->root);
	const enum role named = msg_receiver(m->type);
	const enum role to = named == ROLE_SUPERVISOR ? ROLE_REPORTER : named;
	const char *name = msg_cluster_name(m);
	const uint64_t cluster = *name ? generation_find_cluster(g, name) : 0;

	if (cluster == g->clusters) {
		control_end(c->control, c->id, EXIT_CODE_USAGE,
			    "no cluster of that name: see `ops-pod-cleaner status`");
		return;
	}
	msg_set_u64(m, "cluster", cluster);
	ask(c, children_find(lifecycle_children(s->root), to, cluster), m, to);
}

/* What was shown is done. What was not is looked up, one at a time: the reporter's answer is held against the
 * question, and a worker looks at it first. */
static void on_ctl_restore(struct connection *c, struct msg *m)
{
	struct restore_row *shown = find_row(c, m->u.ctl_restore.id);

	if (shown && shown->state == ROW_SHOWN && !m->u.ctl_restore.dry) {
		carry_out(c, shown);
		return;
	}
	c->restore_id = m->u.ctl_restore.id;
	c->restore_dry = m->u.ctl_restore.dry;
	m->u.ctl_restore.by_operator = true;
	forward(c, m);
}

/* The kernel says who asks; the name that the operator gives stands before it. */
static void on_ctl_pause(struct connection *c, struct msg *m)
{
	struct msg_ctl_pause *p = &m->u.ctl_pause;
	char by[2 * sizeof(p->by)];

	(void)snprintf(by, sizeof(by), "%.40s%suid %u%s", p->by, p->by[0] ? " (" : "", (unsigned)c->uid,
		       p->by[0] ? ")" : "");
	msg_set(m, ctl_pause.by, by, strlen(by));
	pause_requests_on_ctl_pause(c->control->supervisor->pause_requests, m);
}

static void on_ctl_log_level(struct connection *c, const struct msg_ctl_log_level *asked)
{
	struct supervisor *s = c->control->supervisor;

	s->log_level = (struct msg_log_level){ asked->level, clock_boot_ms() + asked->for_ms };
	log_override_level((enum log_level)s->log_level.level, s->log_level.until_ms);
	for (size_t i = 0; i < children_count(lifecycle_children(s->root)); i++)
		supervisor_send_log_level(s, children_get(lifecycle_children(s->root), i));
	control_end(c->control, c->id, EXIT_CODE_OK, "");
}

static void on_ctl_reload(struct connection *c, const struct msg_ctl_reload *asked)
{
	if (lifecycle_reload(c->control->supervisor->root, c->id, asked->language) < 0)
		control_end(c->control, c->id, EXIT_CODE_TEMPORARY,
			    "a reload is already running, or the program ends");
}

#if defined(OPC_PROBES)
static void on_ctl_probe(struct connection *c, const struct msg *m)
{
	const struct children *all = lifecycle_children(c->control->supervisor->root);
	const struct msg_ctl_probe *p = &m->u.ctl_probe;

	for (size_t i = 0; i < children_count(all); i++) {
		struct child *child = children_get(all, i);
		const struct child_info *at = child_info(child);

		if (strcmp(role_name(at->role), p->role) == 0 && at->number == p->number &&
		    (at->role == ROLE_REPORTER || at->cluster == p->cluster) && child_is_ready(child)) {
			c->probed = child;
			(void)send_on(c, child, m, at->role);
			return;
		}
	}
	control_end(c->control, c->id, EXIT_CODE_UNAVAILABLE, "no such process is ready");
}

static void end_probe(struct connection *c, int64_t result)
{
	const struct msg row = { .type = MSG_CTL_PROBE_ROW,
				 .u.ctl_probe_row = { .conn = c->id, .result = result } };

	c->probed = NULL;
	control_answer(c->control, c->id, &row);
	control_end(c->control, c->id, 0, "");
}

void control_on_ctl_probe_row(struct control *control, const struct msg *m)
{
	struct connection *c = find(control, m->u.ctl_probe_row.conn);

	if (c)
		end_probe(c, m->u.ctl_probe_row.result);
}
#endif

static void on_request(struct connection *c, struct msg *m)
{
	struct supervisor *s = c->control->supervisor;

	switch (m->type) {
	case MSG_CTL_STATUS:
		overview_answer(s, c->id);
		break;
	case MSG_CTL_LOG_LEVEL:
		on_ctl_log_level(c, &m->u.ctl_log_level);
		break;
	case MSG_CTL_RELOAD:
		on_ctl_reload(c, &m->u.ctl_reload);
		break;
	case MSG_CTL_PAUSE:
		on_ctl_pause(c, m);
		break;
	case MSG_CTL_DRY_RUN:
		dry_run_on_ctl_dry_run(s->dry_runs, m);
		break;
	case MSG_CTL_RESTORE:
		on_ctl_restore(c, m);
		break;
#if defined(OPC_PROBES)
	case MSG_CTL_PROBE:
		on_ctl_probe(c, m);
		break;
#endif
	default:
		forward(c, m);
	}
}

static void on_msg(void *ctx, struct channel *ch, const struct msg *in, int fd)
{
	struct connection *c = ctx;
	struct msg m = *in;

	(void)ch;
	if (fd >= 0)
		(void)close(fd);
	msg_set_u64(&m, "conn", c->id);
	if (lifecycle_generation(c->control->supervisor->root))
		on_request(c, &m);
	else
		control_end(c->control, c->id, EXIT_CODE_UNAVAILABLE, "still starting");
}

static void on_close(void *ctx, struct channel *ch, int err, const char *text)
{
	(void)ch;
	if (err)
		(void)log_warn(err, "control connection broke the protocol", kv_s("detail", text));
	close_connection(ctx);
}

/* -- answers of children -- */

void control_on_answer(struct control *control, struct child *child, const struct msg *m)
{
	const uint64_t conn = msg_get_u64(m, "conn", 0);
	struct connection *c = find(control, conn);
	struct asked *a = c ? asked_of(c, child) : NULL;

	if (!c)
		return; /* who asked has left */
	if (!a) {
		child_protocol_error(child, "an answer that no operator asked it for");
		return;
	}
	a->open -= m->type == MSG_CTL_END || m->type == MSG_CTL_ACCESS_ROW;
	control_answer(control, conn, m);
}

void control_on_ctl_restore_row(struct control *control, struct child *reporter, const struct msg *m)
{
	const struct msg_ctl_restore_row *r = &m->u.ctl_restore_row;
	struct supervisor *s = control->supervisor;
	struct connection *c = find(control, r->conn);
	struct asked *a = c ? asked_of(c, reporter) : NULL;
	struct msg ask = { .type = MSG_CTL_DRY_RUN };

	if (!c)
		return; /* nothing is written for somebody who has left */
	if (!a || !c->restore_id || c->restore_id != r->origin) {
		child_protocol_error(reporter, "CTL_RESTORE_ROW that nobody asked for");
		return;
	}
	c->restore_id = 0;
	a->open--;
	if (r->cluster >= lifecycle_generation(s->root)->clusters || r->action != ACTION_RESTORE) {
		control_end(control, r->conn, EXIT_CODE_FAILURE, "its cluster is not configured any more");
		return;
	}
	keep_row(c, m, !c->restore_dry);
	msg_copy_fields(&ask, m);
	ask.u.ctl_dry_run.id = r->origin;
	ask.u.ctl_dry_run.by_operator = true;
	ask.u.ctl_dry_run.vouched = dispatch_vouches(s->dispatch, m);
	dry_run_on_ctl_dry_run(s->dry_runs, &ask);
}

void control_on_child_dead(struct control *control, const struct child *child, int code)
{
	(void)code; /* of probes alone */
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *c = &control->connections[i];

		if (!c->channel)
			continue;
		struct asked *a = asked_of(c, child);

		if (a)
			a->open = 0;
#if defined(OPC_PROBES)
		if (c->probed == child) /* by its exit code, or 1000 and the signal */
			end_probe(c, code >= 0 ? -code : code - 1000);
#endif
		if (c->restore_id && child_info(child)->role == ROLE_REPORTER) {
			c->restore_id = 0;
			control_end(control, c->id, EXIT_CODE_UNAVAILABLE,
				    "the history is away just now: ask again");
		}
	}
}

/* -- the socket -- */

static bool may_connect(int fd, uid_t *ret_uid)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return false;
	*ret_uid = peer.uid;
	return peer.uid == 0 || peer.uid == geteuid();
}

static void on_accept(evutil_socket_t listener, short what, void *arg)
{
	static const struct channel_ops ops = { .on_msg = on_msg, .on_close = on_close };
	struct control *control = arg;
	const int fd = accept4((int)listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	uid_t uid = 0;

	(void)what;
	for (size_t i = 0; fd >= 0 && may_connect(fd, &uid) && i < CONNECTIONS_MAX; i++) {
		struct connection *c = &control->connections[i];

		if (c->channel)
			continue;
		*c = (struct connection){ .control = control, .id = ++control->last_id, .uid = uid };
		c->channel = channel_new(lifecycle_base(control->supervisor->root), fd, ROLE_SUPERVISOR,
					 ROLE_CLI, &ops, c);
		channel_set_phase(c->channel, PH_RUN);
		return;
	}
	if (fd >= 0)
		(void)close(fd);
}

/* The lock beside the socket is ours, so a socket that is there has no owner. Anything else is not ours. */
static int remove_old(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	return unlink(path) < 0 ? -errno : 0;
}

static int listen_at(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	const int gone = remove_old(path);

	if (gone < 0)
		return gone;
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	(void)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	const mode_t old = umask(0177);
	const int r =
		bind(fd, (const struct sockaddr *)&sa, sizeof(sa)) < 0 || listen(fd, CONNECTIONS_MAX) < 0
			? -errno
			: fd;

	(void)umask(old);
	if (r < 0)
		(void)close(fd);
	return r;
}

int control_new(struct supervisor *s, const char *path, struct control **ret)
{
	const int fd = listen_at(path);

	if (fd < 0)
		return fd;
	struct control *control = xcalloc(1, sizeof(*control));

	*control = (struct control){ .supervisor = s, .path = path, .fd = fd };
	control->on_accept = event_new(lifecycle_base(s->root), fd, EV_READ | EV_PERSIST, on_accept, control);
	(void)event_add(control->on_accept, NULL);
	*ret = control;
	return 0;
}

void control_free(struct control **cp)
{
	struct control *control = *cp;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		channel_free(&control->connections[i].channel);
		drop_rows(&control->connections[i]);
	}
	event_free(control->on_accept);
	(void)close(control->fd);
	(void)unlink(control->path);
	free(control);
	*cp = NULL;
}
