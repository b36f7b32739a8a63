/* fakechild.c - stands in for the loader and for every role: does what the test's "configuration" says, one
 * line a role: "ROLE BEHAVIOUR". The loader hands the whole text on as everybody's settings. */
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "build_id.h"
#include "ipc/channel.h"
#include "tests/facts_en.h"

static struct event_base *base;
static struct channel *channel;
static const char *role;
static char behaviour[64];
static uint64_t cluster, next_id = 1;
static bool running;
static uint64_t kept, limit_ms; /* loader: clusters of which something is in force, as bits; their time */

static bool is(const char *what)
{
	return strcmp(behaviour, what) == 0;
}

/* A file of that name stands beside the executable. */
static bool is_flagged(const char *name)
{
	char path[4096];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);

	if (n < 0)
		return false;
	path[n] = '\0';
	strcpy(strrchr(path, '/') + 1, name);
	return access(path, F_OK) == 0;
}

static void send_msg(const struct msg *m, int fd)
{
	(void)channel_send(channel, m, fd);
}

static void end_if(bool it_does, int code)
{
	if (!it_does)
		return;
	(void)channel_flush(channel, 1000);
	if (code >= 0)
		_exit(code);
	(void)raise(SIGKILL);
}

static void hello(void)
{
	struct msg m = { .type = MSG_HELLO, .u.hello = { .proto = IPC_PROTO, .pid = (uint64_t)getpid() } };
	const char *build = is("other-build") ? "0.0.0-other" : OPC_BUILD_ID;

	msg_set(&m, hello.build, build, strlen(build));
	send_msg(&m, -1);
}

static void find_behaviour(const char *text)
{
	char key[32];

	(void)snprintf(key, sizeof(key), "%s ", role);
	const char *line = strstr(text, key);

	behaviour[0] = '\0';
	if (line)
		(void)sscanf(line + strlen(key), "%63s", behaviour);
}

static void print_world(void)
{
	DIR *d = opendir("/proc/self/fd");
	extern char **environ;

	for (struct dirent *e; d && (e = readdir(d));) {
		char target[256] = "";

		if (e->d_name[0] != '.' && strtol(e->d_name, NULL, 10) != dirfd(d) &&
		    readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1) > 0)
			(void)fprintf(stderr, "WORLD %s fd %s %s\n", role, e->d_name, target);
	}
	if (d)
		(void)closedir(d);
	for (char **e = environ; *e; e++)
		(void)fprintf(stderr, "WORLD %s env %s\n", role, *e);
	char *cwd = get_current_dir_name();

	(void)fprintf(stderr, "WORLD %s cwd %s\n", role, cwd);
	free(cwd);
}

static struct msg new_object(enum msg_type type, unsigned number)
{
	struct msg m = { .type = MSG_NOMINATE }, as = { .type = type };
	struct msg_nominate *n = &m.u.nominate;

	n->cluster = cluster;
	strcpy(n->ns, "default");
	strcpy(n->name, "pod");
	(void)snprintf(n->uid, sizeof(n->uid), "uid-%u", number);
	strcpy(n->action_key, n->uid);
	strcpy(n->rv, "7");
	strcpy(n->reason, "Evicted");
	msg_copy_fields(&as, &m);
	return as;
}

static void nominate(uint64_t duty, unsigned number)
{
	struct msg m = new_object(MSG_NOMINATE, number);

	m.u.nominate.duty = duty;
	send_msg(&m, -1);
}

/* One more than two workers hold. Not before they are ready. */
static void nominate_many(void)
{
	for (unsigned i = 1; i <= 2 * WORKER_LEASES_MAX + 1; i++)
		nominate(0, i);
}

/* More than the channel of a reporter that does not read takes. */
static void flood(uint64_t beats)
{
	const struct msg m = new_object(MSG_REFUSAL, 1);

	for (unsigned i = 0; beats > 1 && beats < 7 && i < 20000; i++)
		send_msg(&m, -1);
	if (beats == 7)
		(void)fprintf(stderr, "FLOODED\n");
}

static void on_ctl_restore(const struct msg *m)
{
	struct msg row = new_object(MSG_CTL_RESTORE_ROW, 1);
	struct msg_ctl_restore_row *r = &row.u.ctl_restore_row;

	r->conn = m->u.ctl_restore.conn;
	r->duty = 2;
	r->action = ACTION_RESTORE;
	r->origin = m->u.ctl_restore.id + is("other-restore");
	r->want_replicas = 3;
	r->cluster = 0;
	strcpy(r->action_key, "owner-1");
	strcpy(r->reason, "Restored");
	strcpy(r->want_target, "deployments.apps/default/web");
	strcpy(r->want_uid, "d-1");
	send_msg(&row, -1);
}

/* An action that says it is a restore, as a process might send it that has been taken over. */
static void send_restore(enum msg_type type)
{
	struct msg m = new_object(MSG_INTENT, 5), as = { .type = type };

	m.u.intent.cluster = 0;
	m.u.intent.id = 5;
	m.u.intent.duty = 2;
	m.u.intent.action = ACTION_RESTORE;
	m.u.intent.origin = 4;
	m.u.intent.want_replicas = 1000;
	strcpy(m.u.intent.want_target, "deployments.apps/default/web");
	strcpy(m.u.intent.want_uid, "d-1");
	msg_copy_fields(&as, &m);
	send_msg(&as, -1);
}

/* What the history of "paused" holds. */
static void send_list_state(bool failing)
{
	struct msg m = { .type = MSG_WATCH_STATS,
			 .u.watch_stats = { .cluster = cluster, .failing = failing } };

	m.u.watch_stats.error = is("list-begins") ? (struct facts){ 0 } : quoting("no list");
	send_msg(&m, -1);
}

static void send_pause_row(void)
{
	struct msg m = { .type = MSG_PAUSE, .u.pause = { .duty = 1, .on = true, .at = 1 } };

	m.u.pause.duty = is("open-restore") || is("paused-all") ? DUTY_ALL : 1;

	strcpy(m.u.pause.by, "somebody");
	m.u.pause.why = quoting("from the history");
	send_msg(&m, -1);
}

static void ready(uint64_t generation)
{
	struct msg m = { .type = MSG_READY, .u.ready = { .generation = generation } };
	const struct msg end = { .type = MSG_OPEN_END, .u.open_end.next_id = next_id };

	strcpy(m.u.ready.sandbox, "fake");
	send_msg(&m, -1);
	channel_set_phase(channel, PH_RUN);
	if (is("crash-after-ready")) {
		(void)channel_flush(channel, 1000);
		(void)raise(SIGTERM);
	}
	if (strcmp(role, "reporter") == 0 && is("unasked-restore")) {
		on_ctl_restore(
			&(struct msg){ .type = MSG_CTL_RESTORE, .u.ctl_restore = { .conn = 1, .id = 7 } });
	}
	if (strcmp(role, "reporter") == 0 && (is("paused") || is("paused-all") || is("open-restore")))
		send_pause_row();
	if (strcmp(role, "reporter") == 0 && is("open-restore"))
		send_restore(MSG_OPEN_INTENT);
	if (strcmp(role, "reporter") == 0)
		send_msg(&end, -1);
	if (is("world"))
		print_world();
	end_if(is("die-after-ready"), -1);
	end_if(is("exit78-when-ready"), 78);
	end_if(is("exit0-when-ready"), 0);
	if (is("bad-frame") || is("silent"))
		(void)channel_flush(channel, 1000);
	if (is("bad-frame"))
		(void)!send(3, "garbage", 7, 0);
	if (is("forbidden-message"))
		send_msg(&(struct msg){ .type = MSG_DRAIN }, -1);
	if (is("silent"))
		(void)pause();
	if (strcmp(role, "watcher") == 0 && (is("list-begins") || is("list-slow") || is("list-refused")))
		send_list_state(is("list-refused"));
	if (strcmp(role, "watcher") == 0) /* it acts when it knows what is saved */
		send_msg(&(struct msg){ .type = MSG_SAVED_GET, .u.saved_get.cluster = cluster }, -1);
}

static void on_saved_get(const struct msg *m)
{
	send_msg(&(struct msg){ .type = MSG_SAVED_END, .u.saved_end.cluster = m->u.saved_get.cluster }, -1);
}

static void on_saved_end(__attribute__((unused)) const struct msg *m)
{
	if (is("nominate"))
		nominate(0, 1);
	if (is("nominate-terminating"))
		nominate(1, 1);
	if (is("nominate-restore"))
		send_restore(MSG_NOMINATE);
	if (is("ask-restore")) { /* one at a time */
		send_msg(&(struct msg){ .type = MSG_RESTORE_ASK, .u.restore_ask.id = 7 }, -1);
		send_msg(&(struct msg){ .type = MSG_RESTORE_ASK, .u.restore_ask.id = 8 }, -1);
	}
}

static void on_settings(const struct msg_settings *s, int fd, bool first)
{
	char text[4096] = "";

	cluster = s->cluster;
	if (pread(fd, text, sizeof(text) - 1, 0) < 0)
		_exit(78); /* as every role did */
	find_behaviour(text);
	end_if(is("exit78"), 78);
	end_if(is("exit75"), 75);
	end_if(is("die-before-ready"), 1);
	if (is("never-ready"))
		return;
	(void)fprintf(stderr, "SETTINGS %s %llu pid=%d\n", role, (unsigned long long)s->generation, getpid());
	if (is(first ? "slow-ready" : "slow-ack"))
		(void)usleep(first ? 1000000 : 2500000);
	if (first) {
		running = true;
		ready(s->generation);
		return;
	}
	struct msg ack = { .type = MSG_SETTINGS_ACK,
			   .u.settings_ack = { .generation = s->generation, .ok = !is("refuse-reload") } };

	if (!ack.u.settings_ack.ok)
		ack.u.settings_ack.error = quoting("no thanks");
	send_msg(&ack, -1);
}

static void on_grant(const struct msg *msg)
{
	const struct msg_grant *g = &msg->u.grant;
	struct msg m = { .type = MSG_RESULT, .u.result = { .id = g->id, .replicas = -1 } };

	(void)fprintf(stderr, "GRANT id=%llu verify_first=%d pid=%d by_operator=%d\n",
		      (unsigned long long)g->id, g->verify_first, getpid(), g->by_operator);
	if (is("stall") || (is("die-on-second") && !g->verify_first && g->id != 2))
		return; /* until it is killed */
	if (is("die-on-second") && g->id == 2) {
		(void)usleep(200000); /* others are on their way to it meanwhile */
		(void)raise(SIGKILL);
	}
	if (is("die-on-grant") || (is("die-on-first-grant") && !g->verify_first))
		(void)raise(SIGKILL);
	if (is("wrong-lease"))
		m.u.result.id = g->id + 1000;
	strcpy(m.u.result.reason, "Evicted");
	m.u.result.outcome = OUTCOME_DONE;
	if (is("babble") && !g->verify_first) { /* wrong, wrong and right in one datagram */
		for (m.u.result.id = g->id + 2; m.u.result.id > g->id; m.u.result.id--)
			send_msg(&m, -1);
	}
	send_msg(&m, -1);
	end_if(is("die-after-result"), -1);
}

static void on_pause(const struct msg *m)
{
	const struct msg_pause *p = &m->u.pause;

	(void)fprintf(stderr, "PAUSE %s on=%d duty=%lld cluster=%s by=%s\n", role, p->on, (long long)p->duty,
		      p->cluster_name, p->by);
	if (is("die-on-pause"))
		(void)raise(SIGKILL);
	if (strcmp(role, "reporter") == 0)
		send_msg(m, -1); /* it is on disk */
}

static void on_ctl_dry_run(const struct msg *m)
{
	struct msg answer = { .type = MSG_CTL_DRY_RUN_RESULT };

	(void)fprintf(stderr, "TRY id=%llu action=%llu origin=%llu by_operator=%d\n",
		      (unsigned long long)m->u.ctl_dry_run.id, (unsigned long long)m->u.ctl_dry_run.action,
		      (unsigned long long)m->u.ctl_dry_run.origin, m->u.ctl_dry_run.by_operator);
	if (is("die-on-try"))
		(void)raise(SIGKILL);
	answer.u.ctl_dry_run_result =
		(struct msg_ctl_dry_run_result){ .conn = m->u.ctl_dry_run.conn,
						 .id = m->u.ctl_dry_run.id + is("wrong-try"),
						 .outcome = OUTCOME_WOULD,
						 .replicas = 3 };
	if (is("mute-on-try"))
		return;
	if (is("refuse-on-try"))
		answer.u.ctl_dry_run_result.outcome = OUTCOME_REFUSED;
	strcpy(answer.u.ctl_dry_run_result.reason, is("refuse-on-try") ? "NodeNotReady" : "Evicted");
	strcpy(answer.u.ctl_dry_run_result.target, "deployments.apps/default/web");
	send_msg(&answer, -1);
}

static void end_question(uint64_t conn)
{
	send_msg(&(struct msg){ .type = MSG_CTL_END, .u.ctl_end.conn = conn }, -1);
}

/* Two hundred pods that are due, one that waits, one that is refused. */
static void on_ctl_plan(const struct msg *m)
{
	for (unsigned i = 0; i < 202; i++) {
		struct msg row = { .type = MSG_CTL_PLAN_ROW };
		struct msg_ctl_plan_row *r = &row.u.ctl_plan_row;

		r->conn = m->u.ctl_plan.conn;
		r->verdict = i < 200 ? 2 : i == 200 ? 1 : 3;
		r->until = i == 200 ? 4000000000000 : 0;
		strcpy(r->ns, "default");
		(void)snprintf(r->name, sizeof(r->name), "pod-%u", i);
		(void)snprintf(r->uid, sizeof(r->uid), "uid-%u", i);
		strcpy(r->action_key, r->uid);
		strcpy(r->reason, i < 200 ? "Evicted" : i == 200 ? "BudgetSpent" : "MirrorPod");
		send_msg(&row, -1);
	}
	end_question(m->u.ctl_plan.conn);
}

/* One pod that is due by the cache. */
static void on_ctl_explain(const struct msg *m)
{
	const uint64_t conn = m->u.ctl_explain.conn;
	struct msg row = { .type = MSG_CTL_EXPLAIN_ROW,
			   .u.ctl_explain_row = { .conn = conn, .verdict = VERDICT_ACT } };
	struct msg object = new_object(MSG_CTL_PLAN_ROW, 1);

	strcpy(row.u.ctl_explain_row.reason, "Evicted");
	send_msg(&row, -1);
	object.u.ctl_plan_row.conn = conn;
	object.u.ctl_plan_row.verdict = VERDICT_ACT;
	send_msg(&object, -1);
	end_question(conn);
}

/* Two refusals of that pod, the newest first, and one of another. */
static void on_ctl_history(const struct msg *m)
{
	static const char *const uids[] = { "uid-1", "uid-1", "uid-2" }, *const reasons[] = {
		"PodReady", "ContainerRunning", "NodeNotReady"
	};

	for (unsigned i = 0; i < 3; i++) {
		struct msg row = { .type = MSG_CTL_HISTORY_ROW };
		struct msg_ctl_history_row *h = &row.u.ctl_history_row;

		*h = (struct msg_ctl_history_row){ .conn = m->u.ctl_history.conn,
						   .id = 9 - i,
						   .intent_at = 1000 * (9 - i),
						   .result_at = 1000 * (9 - i),
						   .outcome = OUTCOME_REFUSED,
						   .replicas = -1 };
		strcpy(h->cluster_name, "default");
		strcpy(h->ns, "default");
		strcpy(h->name, "pod");
		strcpy(h->uid, uids[i]);
		strcpy(h->action_key, uids[i]);
		strcpy(h->reason, reasons[i]);
		send_msg(&row, -1);
	}
	end_question(m->u.ctl_history.conn);
}

static void on_ctl_sinks(const struct msg *m)
{
	end_question(m->u.ctl_sinks.conn);
}

static void on_ctl_show(const struct msg *m)
{
	struct msg row = { .type = MSG_CTL_SHOW_ROW, .u.ctl_show_row.conn = m->u.ctl_show.conn };

	strcpy(row.u.ctl_show_row.name, "evidence");
	strcpy(row.u.ctl_show_row.value, "because");
	send_msg(&row, -1);
	end_question(m->u.ctl_show.conn);
}

static void on_settings_commit(const struct msg *m)
{
	(void)fprintf(stderr, "COMMIT %s %llu pid=%d\n", role,
		      (unsigned long long)m->u.settings_commit.generation, getpid());
}

static void on_intent(const struct msg *m)
{
	const uint64_t id = m->u.intent.id;
	const struct msg ack = { .type = MSG_INTENT_ACK,
				 .u.intent_ack = { .id = id, .written = !is("id-taken") || id > 1 } };

	(void)fprintf(stderr, "INTENT id=%llu\n", (unsigned long long)id);
	send_msg(&ack, -1);
}

static void on_prefetch(const struct msg *m)
{
	(void)fprintf(stderr, "PREFETCH id=%llu pid=%d\n", (unsigned long long)m->u.prefetch.id, getpid());
}

static void on_record(const struct msg *m)
{
	(void)fprintf(stderr, "RECORD id=%llu outcome=%s\n", (unsigned long long)m->u.record.id,
		      outcome_name((enum outcome)m->u.record.outcome));
	send_msg(&(struct msg){ .type = MSG_RECORD_ACK, .u.record_ack.id = m->u.record.id }, -1);
}

static void on_nomination_result(const struct msg *m)
{
	const struct msg_nomination_result *r = &m->u.nomination_result;

	(void)fprintf(stderr, "NOMINATION_RESULT outcome=%s reason=%s\n",
		      outcome_name((enum outcome)r->outcome), r->reason);
	if (is("nominate") && r->outcome == OUTCOME_REFUSED)
		nominate(0, 1);
}

static void on_restore_end(const struct msg *m)
{
	const struct msg_restore_end *r = &m->u.restore_end;

	(void)fprintf(stderr, "RESTORE_END id=%llu outcome=%s reason=%s\n", (unsigned long long)r->id,
		      outcome_name((enum outcome)r->outcome), r->reason);
}

static void on_drain(__attribute__((unused)) const struct msg *m)
{
	(void)fprintf(stderr, "DRAIN %s\n", role);
	if (is("ignore-drain"))
		return;
	send_msg(&(struct msg){ .type = MSG_DRAINED }, -1);
	end_if(true, 0);
}

static void (*const handlers[MSG__MAX])(const struct msg *m) = {
	[MSG_SETTINGS_COMMIT] = on_settings_commit,
	[MSG_INTENT] = on_intent,
	[MSG_PAUSE] = on_pause,
	[MSG_CTL_DRY_RUN] = on_ctl_dry_run,
	[MSG_CTL_PLAN] = on_ctl_plan,
	[MSG_CTL_EXPLAIN] = on_ctl_explain,
	[MSG_CTL_HISTORY] = on_ctl_history,
	[MSG_CTL_RESTORE] = on_ctl_restore,
	[MSG_CTL_SHOW] = on_ctl_show,
	[MSG_CTL_SINKS] = on_ctl_sinks,
	[MSG_PREFETCH] = on_prefetch,
	[MSG_GRANT] = on_grant,
	[MSG_RECORD] = on_record,
	[MSG_SAVED_GET] = on_saved_get,
	[MSG_SAVED_END] = on_saved_end,
	[MSG_NOMINATION_RESULT] = on_nomination_result,
	[MSG_RESTORE_END] = on_restore_end,
	[MSG_DRAIN] = on_drain,
};

static void on_msg(__attribute__((unused)) void *ctx, __attribute__((unused)) struct channel *c,
		   const struct msg *m, int fd)
{
	kept |= m->type == MSG_LOAD_KEPT ? UINT64_C(1) << m->u.load_kept.cluster : 0;
	if (m->type == MSG_LOAD_BEGIN) {
		limit_ms = m->u.load_begin.limit_ms;
		(void)event_base_loopbreak(base);
	}
	if (m->type == MSG_SETTINGS)
		on_settings(&m->u.settings, fd, !running);
	else if (handlers[m->type])
		handlers[m->type](m);
	if (fd >= 0)
		(void)close(fd);
}

static void on_close(void *ctx, struct channel *c, int err, const struct facts *why)
{
	(void)ctx;
	(void)c;
	if (err)
		(void)fprintf(stderr, "fakechild %s: %s\n", role, EN(*why));
	_exit(79);
}

static void on_beat(evutil_socket_t fd, short what, void *arg)
{
	static uint64_t beats;
	const struct msg m = { .type = MSG_HEARTBEAT, .u.heartbeat.progress = ++beats };

	(void)fd;
	(void)what;
	(void)arg;
	if (running)
		send_msg(&m, -1);
	if (beats == 1 && running && strcmp(role, "watcher") == 0 && is("nominate-many"))
		nominate_many();
	if (strcmp(role, "watcher") == 0 && is("flood"))
		flood(beats);
	while (strcmp(role, "reporter") == 0 && is_flagged("deaf")) { /* it reads nothing, but lives */
		(void)usleep(100000);
		send_msg(&(struct msg){ .type = MSG_HEARTBEAT, .u.heartbeat.progress = ++beats }, -1);
		(void)channel_flush(channel, 100);
	}
}

static int blob(const char *text)
{
	const int fd = memfd_create("settings", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (write(fd, text, strlen(text)) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW) < 0)
		_exit(70);
	return fd;
}

static void send_blob(enum role to, uint64_t c, int fd)
{
	send_msg(&(struct msg){ .type = MSG_LOAD_BLOB, .u.load_blob = { .role = to, .cluster = c } }, fd);
}

/* The state directory lies beside the configuration. */
static void find_state_dir(const char *path, struct msg *m)
{
	char dir[1000];

	(void)snprintf(dir, sizeof(dir), "%s", path);
	strcpy(strrchr(dir, '/') + 1, "state");
	msg_set(m, load_supervisor.state_dir, dir, strlen(dir));
}

/* The second of two is missing something, or the only one. */
static void send_cluster(uint64_t c, int fd)
{
	const bool bad = is("all-bad") || is("watched-slow") || (is("second-bad") && c == 1);
	struct msg m = { .type = MSG_LOAD_LINE, .u.load_line = { .error = true, .cluster = c } };

	strcpy(m.u.load_line.cluster_name, c ? "second" : "test");
	m.u.load_line.line = quoting("/etc/kubeconfig: cannot be read");
	if (bad)
		send_msg(&m, -1);
	m = (struct msg){ .type = MSG_LOAD_CLUSTER,
			  .u.load_cluster = {
				  .cluster = c, .workers = 2, .workers_min = 2, .loaded = !bad } };
	strcpy(m.u.load_cluster.cluster_name, c ? "second" : "test");
	strcpy(m.u.load_cluster.server, "https://192.0.2.1:6443");
	send_msg(&m, -1);
	if (bad && !(kept >> c & 1))
		return;
	send_blob(ROLE_WATCHER, c, fd);
	if (!is("no-worker-settings"))
		send_blob(ROLE_WORKER, c, fd);
}

/* "watched..." has the configuration watched, "watched-pipe" with what the supervisor must not read. */
static void send_watch(const char *path)
{
	char dir[1000];
	int pipes[2];

	if (strncmp(behaviour, "watched", 7) != 0)
		return;
	(void)snprintf(dir, sizeof(dir), "%s", path);
	*strrchr(dir, '/') = '\0';
	const int fd = is("watched-pipe") && pipe(pipes) == 0 ? pipes[0] : inotify_init1(IN_CLOEXEC);
	const int watch = is("watched-pipe") ? 1 : inotify_add_watch(fd, dir, IN_CLOSE_WRITE);
	struct msg m = { .type = MSG_LOAD_WATCH, .u.load_watch.watch = (uint64_t)watch };

	strcpy(m.u.load_watch.name, strrchr(path, '/') + 1);
	send_msg(&m, fd);
}

static int load(const char *path)
{
	char text[4096] = "";
	const int in = open(path, O_RDONLY);
	struct msg m = { .type = MSG_LOAD_SUPERVISOR, .u.load_supervisor = { .clusters = 1 } };

	if (in < 0 || read(in, text, sizeof(text) - 1) < 0)
		return 78;
	find_behaviour(text);
	hello();
	if (!is("other-build"))
		(void)event_base_dispatch(base); /* until LOAD_BEGIN */
	if (is("world"))
		print_world();
	const bool hangs = is("hangs") || (is("watched-slow") && limit_ms > 6000);

	if (hangs)
		(void)fprintf(stderr, "LOADER hangs\n");
	while (hangs)
		(void)usleep(10000);
	send_watch(path);
	if (is("invalid") || is("watched-invalid")) {
		m = (struct msg){ .type = MSG_LOAD_LINE,
				  .u.load_line = { .error = true, .cluster = CLUSTERS_MAX } };
		m.u.load_line.line = quoting("config.yml:1:1: that is wrong");
		send_msg(&m, -1);
		(void)channel_flush(channel, 1000);
		return 78;
	}
	if (is("crash"))
		(void)raise(SIGKILL);
	const uint64_t clusters = strncmp(behaviour, "second-", 7) == 0 ? 2 : 1;
	const int fd = blob(text);

	find_state_dir(path, &m);
	m.u.load_supervisor.clusters = clusters;
	m.u.load_supervisor.duties = (UINT64_C(1) << DUTY__MAX) - 1;
	send_msg(&m, -1);
	m = (struct msg){ .type = MSG_LOAD_FIXED, .u.load_fixed.value = is("other-lease") };
	strcpy(m.u.load_fixed.key, "leaderElection.name");
	send_msg(&m, -1);
	send_blob(ROLE_REPORTER, CLUSTERS_MAX, fd);
	for (uint64_t c = 0; c < clusters; c++)
		send_cluster(c, fd);
	m = (struct msg){ .type = MSG_LOAD_END, .u.load_end.ok = true };
	if (!is("no-end"))
		send_msg(&m, -1);
	(void)channel_flush(channel, 1000);
	return is("fails-late");
}

static const struct channel_ops ops = { .on_msg = on_msg, .on_close = on_close };

int main(int argc, char **argv)
{
	const struct timeval period = { 1, 0 };

	role = argv[0];
	base = event_base_new();
	const int self = role_parse(role);

	if (self < 0)
		return 64;
	while (is_flagged("hold"))
		(void)usleep(10000);
	channel = channel_new(base, 3, (enum role)self, ROLE_SUPERVISOR, &ops, NULL);
	channel_set_phase(channel, PH_SETUP);
	if (self == ROLE_LOADER)
		return load(argc > 2 ? argv[2] : "");
	hello();
	struct event *beat = event_new(base, -1, EV_PERSIST, on_beat, NULL);

	(void)event_add(beat, &period);
	(void)event_base_dispatch(base);
	return 0;
}
