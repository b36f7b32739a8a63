/* control.c - see control.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/operator/control.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "ipc/channel.h"
#include "supervisor/actions/dispatch.h"
#include "supervisor/actions/worker_pool.h"
#include "supervisor/actions/dry_run.h"
#include "supervisor/operator/control_socket.h"
#include "supervisor/operator/pauses.h"
#include "supervisor/operator/status_answer.h"
#include "text/facts_text.h"

#define CONNECTIONS_MAX CONTROL_BACKLOG
/* Connections whose questions children answer at once. What the supervisor answers itself has no limit. */
#define WAITING_MAX 8
/* Who may only look keeps nobody out who may command: of both they have a half. */
#define READERS_SHARE 2
/* Questions of one of them without an answer; the command line asks 64 workers' questions at a time. */
#define READER_OPEN_MAX 64
/* A connection without an open question is closed after this time. */
#define IDLE_MS 600000u
/* Restores that one connection may have been shown; of older ones a worker is asked again. */
#define ROWS_MAX 1024

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
	struct asker asker; /* first: take_answer() finds the connection by it */
	struct control *control;
	struct channel *channel; /* NULL = free */
	uid_t uid;               /* of the peer */
	bool reads;              /* it came by the read-only socket */
	unsigned open;           /* requests without the end of their answer */
	uint64_t used_ms;        /* boot time of the last request or answer */
	uint64_t restore_id;     /* of the CTL_RESTORE that is not answered yet; 0 = none */
	bool restore_dry;
	char restore_by[64]; /* who asks for it */
	struct restore_row *rows;
	size_t n_rows;
#if defined(OPC_PROBES)
	const struct child *probed; /* that has not answered a CTL_PROBE yet */
#endif
};

struct listener {
	struct control *control;
	const char *path;
	char *own; /* the same, where it is ours to free */
	struct event *on_accept;
	int fd;
	gid_t group; /* of the read-only one */
};

struct control {
	struct supervisor *supervisor;
	struct listener listener, reader; /* reader: on_accept NULL where there is none */
	struct connection connections[CONNECTIONS_MAX];
};

static void end_request(const struct connection *c)
{
	answers_end(&c->control->supervisor->answers, c->asker.conn, EXIT_CODE_OK, NULL);
}

static void refuse_request(const struct connection *c, uint64_t code, enum text why)
{
	answers_refuse(&c->control->supervisor->answers, c->asker.conn, code, why);
}

/* -- what restores put back -- */

static uint64_t generation_of(const struct connection *c)
{
	return settings(c->control->supervisor)->number;
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

static void keep_row(struct connection *c, uint64_t id, const struct msg *m, bool ordered)
{
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
	if (!dispatch_restore(c->control->supervisor, &row, c->asker.conn, true))
		refuse_request(c, EXIT_CODE_TEMPORARY, TEXT_SOMETHING_ELSE);
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

/* What is put back is known: a worker looks at it first. Adds to the row who asks. */
static void look(struct connection *c, uint64_t id, bool dry, struct msg *row)
{
	struct supervisor *s = c->control->supervisor;
	struct msg ask = { .type = MSG_CTL_DRY_RUN };

	facts_quoted(&row->u.ctl_restore_row.evidence, FACT_BY, STR_C(c->restore_by));
	keep_row(c, id, row, !dry);
	msg_copy_fields(&ask, row);
	ask.u.ctl_dry_run.id = id;
	ask.u.ctl_dry_run.by_operator = true;
	ask.u.ctl_dry_run.vouched = dispatch_vouches(s, row);
	dry_run_on_ctl_dry_run(s, &ask);
}

/* Returns false when the history answers another question than the one that was asked. */
static bool on_ctl_restore_row(struct connection *c, const struct msg *m)
{
	const struct msg_ctl_restore_row *r = &m->u.ctl_restore_row;
	const struct supervisor *s = c->control->supervisor;

	if (!c->restore_id || c->restore_id != r->origin)
		return false;
	c->restore_id = 0;
	if (r->cluster >= settings(s)->all.clusters || r->action != ACTION_RESTORE) {
		refuse_request(c, EXIT_CODE_FAILURE, TEXT_CLUSTER_GONE);
		return true;
	}
	struct msg row = *m;

	look(c, r->origin, c->restore_dry, &row);
	return true;
}

/* The history does not know it: the mark on the workload, which the worker holds this against, is all there
 * is. The object of the row is the workload itself. */
static void restore_by_mark(struct connection *c, const struct msg_ctl_restore *m)
{
	const struct generation *g = settings(c->control->supervisor);
	const char *ns = strchr(m->want_target, '/'), *name = ns ? strchr(ns + 1, '/') : NULL;
	struct msg row = { .type = MSG_CTL_RESTORE_ROW };
	struct msg_ctl_restore_row *r = &row.u.ctl_restore_row;

	if (*m->cluster_name)
		r->cluster = generation_find_cluster(g, m->cluster_name);
	else
		(void)generation_next(g, &r->cluster);
	if (r->cluster >= g->all.clusters || !name || name == ns + 1 || !name[1] || !m->want_uid[0]) {
		refuse_request(c, EXIT_CODE_USAGE, TEXT_UNKNOWN_CLUSTER);
		return;
	}
	r->conn = c->asker.conn;
	r->duty = m->duty;
	r->action = ACTION_RESTORE;
	r->want_replicas = m->want_replicas;
	msg_set(&row, ctl_restore_row.ns, ns + 1, (size_t)(name - ns - 1));
	msg_text(&row, ctl_restore_row.name, name + 1);
	msg_text(&row, ctl_restore_row.uid, m->want_uid);
	msg_text(&row, ctl_restore_row.action_key, m->want_uid);
	msg_text(&row, ctl_restore_row.want_target, m->want_target);
	msg_text(&row, ctl_restore_row.want_uid, m->want_uid);
	msg_text(&row, ctl_restore_row.reason, reason_code(REASON_RESTORED));
	look(c, m->id, m->dry, &row);
}

/* -- answers -- */

static void close_connection(struct connection *c)
{
	const uint64_t conn = c->asker.conn;

	answers_remove(&c->control->supervisor->answers, &c->asker);
	channel_free(&c->channel);
	drop_rows(c);
	dry_run_forget(c->control->supervisor, conn);
}

static bool take_answer(struct asker *a, const struct msg *m)
{
	struct connection *c = (struct connection *)a;

	if (m->type == MSG_CTL_RESTORE_ROW)
		return on_ctl_restore_row(c, m);
	if (m->type == MSG_CTL_DRY_RUN_RESULT && on_looked(c, &m->u.ctl_dry_run_result))
		return true;
	if (m->type == MSG_CTL_END || m->type == MSG_CTL_ACCESS_ROW || m->type == MSG_CTL_DRY_RUN_RESULT)
		c->open -= c->open > 0;
	if (m->type == MSG_CTL_END && !asker_waits(a))
		c->restore_id = 0;
	c->used_ms = clock_boot_ms();
	if (channel_send(c->channel, m, -1) < 0)
		close_connection(c); /* it does not read */
	return true;
}

/* -- requests -- */

static bool is_busy(const struct control *control, bool reads)
{
	size_t n = 0;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		const struct connection *c = &control->connections[i];

		n += c->channel && asker_waits(&c->asker) && (c->reads || !reads);
	}
	return n >= (reads ? WAITING_MAX / READERS_SHARE : WAITING_MAX);
}

static void ask_worker(struct supervisor *s, struct child *worker, const struct msg *m)
{
	answers_forward(&s->answers, worker, ROLE_WORKER, m);
}

/* A request that is not for the supervisor itself; a watcher is named by its cluster, "" = the first. */
static void forward(struct connection *c, struct msg *m)
{
	struct supervisor *s = c->control->supervisor;
	const struct generation *g = settings(s);
	const enum role named = msg_receiver(m->type);
	const enum role to = named == ROLE_SUPERVISOR ? ROLE_REPORTER : named;
	const char *name = msg_cluster_name(m);
	const uint64_t cluster = *name ? generation_find_cluster(g, name) : 0;

	if (cluster == g->all.clusters) {
		refuse_request(c, EXIT_CODE_USAGE, TEXT_UNKNOWN_CLUSTER);
		return;
	}
	if (asker_waits(&c->asker) ? c->reads : is_busy(c->control, c->reads)) {
		refuse_request(c, EXIT_CODE_TEMPORARY, TEXT_OTHERS_ASK);
		return;
	}
	msg_set_u64(m, "cluster", cluster);
	if (to == ROLE_WORKER) {
		answers_queue(&s->answers, m);
		worker_pool_ask(s, cluster, m, ask_worker);
		return;
	}
	answers_ask(&s->answers, &c->asker, children_find(s->children, to, cluster), to, m);
}

/* The kernel says who asks; the name that the operator gives stands before it. */
static void say_who(const struct connection *c, const char *name, char ret[static 64])
{
	(void)snprintf(ret, 64, "%.40s%suid %u%s", name, name[0] ? " (" : "", (unsigned)c->uid,
		       name[0] ? ")" : "");
}

/* What was shown is done. What was not is looked up, one at a time: the reporter's answer is held against the
 * question, and a worker looks at it first. */
static void on_ctl_restore(struct connection *c, struct msg *m)
{
	struct restore_row *shown = find_row(c, m->u.ctl_restore.id);

	say_who(c, m->u.ctl_restore.by, c->restore_by);
	if (m->u.ctl_restore.want_target[0]) { /* two histories may have given it the same number */
		restore_by_mark(c, &m->u.ctl_restore);
		return;
	}
	if (shown && shown->state == ROW_SHOWN && !m->u.ctl_restore.dry) {
		carry_out(c, shown);
		return;
	}
	c->restore_id = m->u.ctl_restore.id;
	c->restore_dry = m->u.ctl_restore.dry;
	m->u.ctl_restore.by_operator = true;
	forward(c, m);
}

static void on_ctl_pause(struct connection *c, struct msg *m)
{
	char by[64];

	say_who(c, m->u.ctl_pause.by, by);
	msg_text(m, ctl_pause.by, by);
	pauses_on_ctl_pause(c->control->supervisor, m);
}

static void on_ctl_log_level(struct connection *c, const struct msg_ctl_log_level *asked)
{
	struct supervisor *s = c->control->supervisor;

	const struct children *all = s->children;
	const struct msg m = { .type = MSG_LOG_LEVEL,
			       .u.log_level = { asked->level, clock_boot_ms() + asked->for_ms } };

	s->log_level = m.u.log_level;
	log_override_level((enum log_level)s->log_level.level, s->log_level.until_ms);
	for (size_t i = 0; i < children_count(all); i++)
		if (child_is_ready(children_get(all, i)))
			(void)child_send(children_get(all, i), &m, -1);
	end_request(c);
}

static void on_ctl_reload(struct connection *c)
{
	if (lifecycle_reload(c->control->supervisor->root, c->asker.conn) < 0)
		refuse_request(c, EXIT_CODE_TEMPORARY, TEXT_RELOADING);
}

#if defined(OPC_PROBES)
static void on_ctl_probe(struct connection *c, const struct msg *m)
{
	const struct children *all = c->control->supervisor->children;
	const struct msg_ctl_probe *p = &m->u.ctl_probe;

	for (size_t i = 0; i < children_count(all); i++) {
		struct child *child = children_get(all, i);
		const struct child_info *at = child_info(child);

		if (strcmp(role_name(at->role), p->role) == 0 && at->number == p->number &&
		    (at->role == ROLE_REPORTER || at->cluster == p->cluster) && child_is_ready(child) &&
		    child_send(child, m, -1) == 0) {
			c->probed = child;
			return;
		}
	}
	refuse_request(c, EXIT_CODE_UNAVAILABLE, TEXT_NO_PROCESS_READY);
}

static void end_probe(struct connection *c, int64_t result)
{
	const struct msg row = { .type = MSG_CTL_PROBE_ROW,
				 .u.ctl_probe_row = { .conn = c->asker.conn, .result = result } };

	c->probed = NULL;
	(void)take_answer(&c->asker, &row);
	end_request(c);
}

void control_on_ctl_probe_row(struct control *control, const struct msg *m)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (control->connections[i].channel &&
		    control->connections[i].asker.conn == m->u.ctl_probe_row.conn)
			end_probe(&control->connections[i], m->u.ctl_probe_row.result);
}

void control_on_probed_dead(struct control *control, const struct child *child, int code)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (control->connections[i].channel && control->connections[i].probed == child)
			end_probe(&control->connections[i], code >= 0 ? -code : code - 1000);
}
#endif

static void on_request(struct connection *c, struct msg *m)
{
	struct supervisor *s = c->control->supervisor;

	switch (m->type) {
	case MSG_CTL_STATUS:
		status_answer(s, c->asker.conn);
		break;
	case MSG_CTL_LOG_LEVEL:
		on_ctl_log_level(c, &m->u.ctl_log_level);
		break;
	case MSG_CTL_RELOAD:
		on_ctl_reload(c);
		break;
	case MSG_CTL_PAUSE:
		on_ctl_pause(c, m);
		break;
	case MSG_CTL_DRY_RUN:
		dry_run_on_ctl_dry_run(s, m);
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
	c->open++;
	c->used_ms = clock_boot_ms();
	msg_set_u64(&m, "conn", c->asker.conn);
	if (c->reads && !control_only_reads(&m))
		refuse_request(c, EXIT_CODE_CREDENTIAL, TEXT_READ_ONLY);
	else if (c->reads && c->open > READER_OPEN_MAX)
		refuse_request(c, EXIT_CODE_TEMPORARY, TEXT_OTHERS_ASK);
	else if (settings(c->control->supervisor))
		on_request(c, &m);
	else
		refuse_request(c, EXIT_CODE_UNAVAILABLE, TEXT_STARTING);
}

/* Of readers, who are many, only where everything is wanted. */
static void on_close(void *ctx, struct channel *ch, int err, const struct facts *why)
{
	struct connection *c = ctx;

	(void)ch;
	if (err) {
		_cleanup_free_ char *text = facts_render(why, NULL);

		if (c->reads)
			log_debug("a reader broke the protocol", kv_s("detail", text));
		else
			(void)log_warn(err, "control connection broke the protocol", kv_s("detail", text));
	}
	close_connection(c);
}

/* -- the socket -- */

/* A free place. When all are taken the peer that has been quiet for longest loses its place, one without an
 * open question first: whoever comes may want to pause. Readers only take the place of readers. */
static struct connection *make_room(struct control *control, bool reads)
{
	struct connection *oldest = NULL, *place = NULL;
	size_t readers = 0;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *c = &control->connections[i];

		if (!c->channel) {
			place = c;
			continue;
		}
		readers += c->reads;
		if (reads && !c->reads)
			continue;
		if (!oldest || (c->open == 0) > (oldest->open == 0) ||
		    ((c->open == 0) == (oldest->open == 0) && c->used_ms < oldest->used_ms))
			oldest = c;
	}
	if (place && !(reads && readers >= CONNECTIONS_MAX / READERS_SHARE))
		return place;
	if (!oldest)
		return NULL;
	refuse_request(oldest, EXIT_CODE_TEMPORARY, TEXT_MANY_CONNECTED);
	if (oldest->channel)
		close_connection(oldest);
	return oldest;
}

static void on_accept(evutil_socket_t listener, short what, void *arg)
{
	static const struct channel_ops ops = { .on_msg = on_msg, .on_close = on_close };
	const struct listener *from = arg;
	struct control *control = from->control;
	const bool reads = from == &control->reader;
	const int fd = accept4((int)listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	uid_t uid = 0;

	(void)what;
	if (fd < 0)
		return;
	if (!control_socket_admits(fd, reads ? &from->group : NULL, &uid)) {
		(void)close(fd);
		return;
	}
	struct connection *c = make_room(control, reads);

	if (!c) {
		(void)close(fd);
		return;
	}
	*c = (struct connection){ .asker.take = take_answer,
				  .control = control,
				  .uid = uid,
				  .reads = reads,
				  .used_ms = clock_boot_ms() };
	answers_add(&control->supervisor->answers, &c->asker);
	c->channel = channel_new(lifecycle_base(control->supervisor->root), fd, ROLE_SUPERVISOR, ROLE_CLI,
				 &ops, c);
	channel_set_phase(c->channel, PH_RUN);
}

void control_tick(struct control *control, uint64_t now_ms)
{
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *c = &control->connections[i];

		if (c->channel && c->open == 0 && now_ms > c->used_ms + IDLE_MS)
			close_connection(c);
	}
}

static void open_listener(struct control *control, struct listener *l, int fd)
{
	l->fd = fd;
	l->control = control;
	l->on_accept =
		event_new(lifecycle_base(control->supervisor->root), fd, EV_READ | EV_PERSIST, on_accept, l);
	(void)event_add(l->on_accept, NULL);
}

static void close_listener(struct listener *l)
{
	if (!l->on_accept)
		return;
	event_free(l->on_accept);
	(void)close(l->fd);
	(void)unlink(l->path);
}

/* Without it the control socket answers all the same. */
static void listen_for_group(struct control *control)
{
	struct listener *l = &control->reader;

	l->path = l->own = control_socket_reader(control->listener.path, &l->group);
	const int fd = l->path ? control_socket_listen_group(l->path, l->group) : -1;

	if (fd >= 0)
		open_listener(control, l, fd);
	else if (l->path)
		(void)log_warn(fd, "cannot open the read-only socket", kv_s("path", l->path));
}

int control_new(struct supervisor *s, const char *path, struct control **ret)
{
	const int fd = control_socket_listen(path);

	if (fd < 0)
		return fd;
	struct control *control = xcalloc(1, sizeof(*control));

	control->supervisor = s;
	control->listener.path = path;
	open_listener(control, &control->listener, fd);
	listen_for_group(control);
	*ret = control;
	return 0;
}

void control_free(struct control **cp)
{
	struct control *control = *cp;

	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		if (control->connections[i].channel)
			close_connection(&control->connections[i]);
	close_listener(&control->listener);
	close_listener(&control->reader);
	free(control->reader.own);
	free(control);
	*cp = NULL;
}
