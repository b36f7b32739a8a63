/* start.c - see start.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/instance/start.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "cli/local/paths.h"
#include "cli/view/output.h"
#include "model/guards.h"
#include "model/troubles.h"
#include "text/facts_text.h"

#define START_MS  20000u /* until it listens */
#define DRAIN_MS  25000u /* what is open at the end may take this long */
#define DIR_MAX   60u    /* so that the socket's name is not too long */
#define TAIL      2048
#define FOLDERS   16 /* descriptors that the removal may hold open */
#define KILLED_BY 128

/* -- the supervisor -- */

static const char *const settings[START__MAX][8] = {
	/* A Lease is a write, too; and who holds it without acting keeps a replica that acts from it. */
	[START_DRY_RUN] = { "mode=observe", "leaderElection.enable=false" },
	[START_ROUND] = { "leaderElection.presence=false" },
	[START_LOOKING] = { "plansOnly=true", "mode=observe", "leaderElection.enable=false",
			    "tooManyRestart.enable=false", "metricsListen=", "startupQuiet=0s" },
};

/* value NULL: not said. */
static void add(struct str_list *argv, const char *option, const char *value)
{
	_cleanup_free_ char *text = value ? xconcat("--", option, "=", value, NULL) : NULL;

	if (text)
		str_list_add(argv, text, strlen(text));
}

int start_supervisor(const struct start *s)
{
	_cleanup_free_ char *dir = paths_libexec();
	_cleanup_free_ char *path = xasprintf("%s/supervisor", dir);
	_cleanup_(str_list_done) struct str_list argv = { 0 };
	/* What the configuration has for the workers of another machine may not be here. */
	const bool other = s->kind == START_LOOKING && (s->kubeconfig || s->context);

	str_list_add(&argv, "ops-pod-cleaner", strlen("ops-pod-cleaner"));
	add(&argv, "config", s->config);
	add(&argv, "state-dir", s->state_dir);
	add(&argv, "control-socket", s->socket);
	add(&argv, "kubeconfig", s->kubeconfig);
	add(&argv, "context", s->context);
	add(&argv, "master", s->master);
	for (const char *const *set = settings[s->kind]; *set; set++)
		add(&argv, "set", *set);
	add(&argv, "set", other ? "writerKubeconfig=" : NULL);
	add(&argv, "set", other && s->context ? "writerContext=" : NULL);
	argv.v = xreallocarray(argv.v, argv.n + 1, sizeof(*argv.v));
	argv.v[argv.n] = NULL;
	(void)execv(path, argv.v);
	output_complain(NULL, TEXT(RUN_CANNOT_START), path, strerrordesc_np(errno));
	return EXIT_CODE_RESOURCE;
}

/* -- an instance for a command -- */

struct run {
	const struct private_instance *a;
	char *dir, *config, *socket, *state_dir, *kubeconfig, *log;
	sigset_t waited, before; /* signals that are waited for; the mask before */
	pid_t supervisor, asker; /* 0: ended */
	int code;                /* of the asker */
	int ended;               /* of the supervisor: status of wait(2) */
	int interrupted;         /* signal, 0 none */
	bool logs;               /* to standard error, else to `log` */
};

/* -- its folder -- */

static char *make_dir(void)
{
	const char *const parents[] = { str_env("XDG_RUNTIME_DIR"), str_env("TMPDIR"), "/tmp" };

	for (size_t i = 0; i < ARRAY_SIZE(parents); i++) {
		if (!parents[i] || parents[i][0] != '/' || strlen(parents[i]) > DIR_MAX)
			continue;
		char *dir = xasprintf("%s/ops-pod-cleaner-XXXXXX", parents[i]);

		if (mkdtemp(dir))
			return dir;
		free(dir);
	}
	output_complain(NULL, TEXT(RUN_NO_FOLDER), strerrordesc_np(errno));
	return NULL;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	(void)remove(path);
	return 0;
}

static int write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return -errno;
	(void)fputs(text, f);
	return fclose(f) == 0 ? 0 : -errno;
}

/* -- the two processes -- */

static _Noreturn void become_supervisor(const struct run *r)
{
	const struct private_instance *a = r->a;
	const struct start s = { r->config,     r->socket,    r->state_dir, r->kubeconfig,
				 a->o->context, a->o->master, a->kind };
	const int fd = r->logs ? -1 : open(r->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	(void)setpgid(0, 0); /* a terminal's Ctrl-C is ours: it is drained by us */
	if (fd >= 0) {
		(void)dup2(fd, STDOUT_FILENO);
		(void)dup2(fd, STDERR_FILENO);
	}
	/* No service manager waits for this instance. */
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("WATCHDOG_USEC");
	_exit(start_supervisor(&s));
}

static _Noreturn void become_asker(const struct run *r)
{
	struct ctl *c = NULL;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	int code = ctl_open_soon(r->socket, START_MS, &c);

	if (code == EXIT_CODE_OK)
		code = r->a->ask(r->a->ctx, r->socket, c);
	ctl_close(&c);
	_exit(output_flush(code));
}

static pid_t start(struct run *r, void (*become)(const struct run *r))
{
	(void)fflush(stdout);
	(void)fflush(stderr);
	const pid_t pid = fork();

	if (pid < 0)
		output_complain(NULL, TEXT(RUN_NO_PROCESS), strerrordesc_np(errno));
	if (pid == 0) {
		(void)sigprocmask(SIG_SETMASK, &r->before, NULL);
		become(r);
	}
	return pid;
}

/* -- waiting -- */

static int code_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : KILLED_BY + WTERMSIG(status);
}

static void reap(struct run *r)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == r->asker) {
			r->asker = 0;
			r->code = code_of(status);
		} else if (pid == r->supervisor) {
			r->supervisor = 0;
			r->ended = status;
		}
	}
}

/* One signal, or the end of a child; false when nothing came in time. */
static bool wait_some(struct run *r, uint64_t timeout_ms)
{
	const struct timespec left = { (time_t)(timeout_ms / 1000), (long)(timeout_ms % 1000) * 1000000 };
	const int sig = sigtimedwait(&r->waited, NULL, &left);

	if (sig > 0 && sig != SIGCHLD)
		r->interrupted = sig;
	reap(r);
	return sig > 0;
}

static void end_asker(struct run *r)
{
	if (r->asker)
		(void)kill(r->asker, SIGKILL);
	while (r->asker)
		(void)wait_some(r, 1000);
}

/* Drained first; then, or at a second signal, at once; then by force. */
static void end_supervisor(struct run *r)
{
	const struct {
		int sig; /* the second is another one: two of one kind that are pending are one */
		uint64_t ms;
	} steps[] = { { SIGTERM, r->logs ? DRAIN_MS : 0 }, { SIGINT, 2000 }, { SIGKILL, 2000 } };

	for (size_t i = 0; r->supervisor && i < ARRAY_SIZE(steps); i++) {
		const uint64_t end = clock_boot_ms() + steps[i].ms;

		(void)kill(r->supervisor, steps[i].sig);
		r->interrupted = i ? r->interrupted : 0;
		for (uint64_t now = clock_boot_ms();
		     r->supervisor && now < end && !(i == 0 && r->interrupted); now = clock_boot_ms())
			(void)wait_some(r, end - now);
	}
}

/* -- from start to end -- */

/* What it said last: nothing else tells why it ended. */
static void show_log(const struct run *r)
{
	FILE *f = r->logs ? NULL : fopen(r->log, "re");
	char text[TAIL];

	if (!f)
		return;
	if (fseek(f, -TAIL, SEEK_END) < 0)
		rewind(f);
	(void)fwrite(text, 1, fread(text, 1, sizeof(text), f), stderr);
	(void)fclose(f);
}

static int finish(struct run *r)
{
	const bool failed = !r->supervisor && r->asker && !r->interrupted;
	const int sig = r->interrupted;

	end_asker(r);
	end_supervisor(r);
	if (failed) {
		show_log(r);
		output_complain(NULL, "%s", TEXT(RUN_ENDED));
		return code_of(r->ended) ? code_of(r->ended) : EXIT_CODE_INTERNAL;
	}
	if (!sig)
		output_expect_json(false); /* the asker has printed it */
	return sig ? KILLED_BY + sig : r->code;
}

static int supervise(struct run *r)
{
	static const int waited[] = { SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT };

	(void)sigemptyset(&r->waited);
	for (size_t i = 0; i < ARRAY_SIZE(waited); i++)
		(void)sigaddset(&r->waited, waited[i]);
	(void)sigprocmask(SIG_BLOCK, &r->waited, &r->before);
	r->supervisor = start(r, become_supervisor);
	r->asker = r->supervisor > 0 ? start(r, become_asker) : 0;
	if (r->supervisor < 0 || r->asker <= 0) {
		r->supervisor = r->supervisor > 0 ? r->supervisor : 0;
		r->asker = 0;
		r->code = EXIT_CODE_RESOURCE;
	}
	while (r->asker && r->supervisor && !r->interrupted)
		(void)wait_some(r, 60000);
	const int code = finish(r);

	(void)sigprocmask(SIG_SETMASK, &r->before, NULL);
	return code;
}

/* What is wrong with the file is told before anything is started. */
static int find_config(struct run *r)
{
	const struct private_instance *a = r->a;
	_cleanup_(config_done) struct config c = { 0 };

	if (!a->o->config && a->default_config) {
		r->config = xasprintf("%s/config.yml", r->dir);
		return write_file(r->config, a->default_config) < 0 ? EXIT_CODE_RESOURCE : EXIT_CODE_OK;
	}
	_cleanup_free_ char *found = paths_find_config(a->o->config);

	r->config = paths_absolute(found);
	return paths_load_config(r->config, &c);
}

int private_instance_run(const struct private_instance *a)
{
	struct run r = { .a = a, .dir = make_dir(), .logs = a->kind != START_LOOKING };

	if (!r.dir)
		return EXIT_CODE_RESOURCE;
	r.socket = a->socket ? xstrdup(a->socket) : xasprintf("%s/s", r.dir);
	r.state_dir = a->socket ? paths_absolute(a->o->state_dir) : xasprintf("%s/state", r.dir);
	r.kubeconfig = paths_absolute(a->o->kubeconfig);
	r.log = xasprintf("%s/log", r.dir);
	int code = find_config(&r);

	if (code == EXIT_CODE_OK)
		code = supervise(&r);
	(void)nftw(r.dir, remove_one, FOLDERS, FTW_DEPTH | FTW_PHYS);
	char *const texts[] = { r.dir, r.config, r.socket, r.state_dir, r.kubeconfig, r.log };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
	return code;
}

/* -- what it says of itself -- */

#define FIRST_MS  5u /* between two looks, later an eighth of what was waited, up to */
#define EVERY_MS  100u
#define ANSWER_MS UINT64_C(20000)
/* Watchers say every 2 s what has changed: what has been quiet for longer is over. */
#define QUIET_MS 5000u
/* What cannot be written down is tried again: for so long that is no reason to give up. */
#define HISTORY_MS        3000
#define HTTP_UNAUTHORIZED 401

/* One answer to CTL_STATUS. */
struct state {
	uint64_t quiet_ms, pods, guards;
	size_t clusters, judged, children, ready;
	uint64_t end;         /* behind the last index; one between may be of no cluster */
	char no_history[800]; /* why nothing can be written down; "" = it can */
	struct {
		bool judged, refused;
		bool lasts; /* the trouble will hardly go away in a moment */
		uint64_t failing_ms;
		char name[64], trouble[400]; /* trouble "": there is none */
	} at[CLUSTERS_MAX];
};

static void note_trouble(struct state *s, uint64_t cluster, const struct facts *f)
{
	_cleanup_free_ char *told = facts_render_in(f, language_of_environment());

	if (*told && !s->at[cluster].trouble[0])
		(void)snprintf(s->at[cluster].trouble, sizeof(s->at[0].trouble), TEXT(ROUND_TROUBLE),
			       s->at[cluster].name, told);
}

static void on_cluster(struct state *s, const struct msg_ctl_cluster *m)
{
	s->clusters++;
	s->end = m->cluster + 1;
	s->judged += m->judged;
	s->at[m->cluster].judged = m->judged;
	s->at[m->cluster].failing_ms = m->failing_ms;
	s->at[m->cluster].lasts = !facts_empty(&m->problem);
	memcpy(s->at[m->cluster].name, m->cluster_name, sizeof(m->cluster_name));
	note_trouble(s, m->cluster, &m->problem);
}

static void on_watch_stats(struct state *s, const struct msg_watch_stats *m)
{
	s->pods += m->pods;
	s->guards |= m->guards;
	if (m->cluster >= s->end || !m->failing)
		return;
	s->at[m->cluster].refused = m->http == HTTP_UNAUTHORIZED;
	s->at[m->cluster].lasts |= s->at[m->cluster].refused;
	note_trouble(s, m->cluster, &m->error);
}

/* After its clusters; one of none serves all. */
static void on_child(struct state *s, const struct msg_child_stats *m)
{
	s->children++;
	s->ready += strcmp(m->state, "ready") == 0;
	for (uint64_t i = 0; strcmp(m->state, "degraded") == 0 && i < s->end; i++)
		if (s->at[i].name[0] && (!m->cluster_name[0] || strcmp(m->cluster_name, s->at[i].name) == 0))
			note_trouble(s, i, &m->error);
}

static void note_no_history(struct state *s, const struct facts *particulars)
{
	const enum language l = language_of_environment();
	_cleanup_free_ char *told = facts_render_in(particulars, l);

	(void)snprintf(s->no_history, sizeof(s->no_history), "%s%s%s",
		       trouble_desc(TROUBLE_HISTORY)->text[l].sentence, TEXT(COLON), told);
}

static void on_row(struct state *s, const struct msg *m)
{
	switch (m->type) {
	case MSG_CTL_SUPERVISOR:
		s->quiet_ms = m->u.ctl_supervisor.quiet_ms;
		break;
	case MSG_CTL_CLUSTER: /* before its WATCH_STATS */
		on_cluster(s, &m->u.ctl_cluster);
		break;
	case MSG_WATCH_STATS:
		on_watch_stats(s, &m->u.watch_stats);
		break;
	case MSG_CHILD_STATS:
		on_child(s, &m->u.child_stats);
		break;
	case MSG_TROUBLE_ROW:
		if (m->u.trouble_row.trouble == TROUBLE_HISTORY &&
		    clock_wall_ms() - m->u.trouble_row.since >= HISTORY_MS)
			note_no_history(s, &m->u.trouble_row.particulars);
		break;
	default:
		break;
	}
}

/* An instance that is still starting answers with an error, which is not worth a line. */
static int ask_state(struct ctl *c, struct state *ret)
{
	const struct msg ask = { .type = MSG_CTL_STATUS };
	struct msg m = { 0 };

	*ret = (struct state){ 0 };
	int code = ctl_send(c, &ask);

	while (code == EXIT_CODE_OK && m.type != MSG_CTL_END) {
		code = ctl_recv(c, ANSWER_MS, &m);
		if (code == EXIT_CODE_OK)
			on_row(ret, &m);
	}
	return code;
}

static void show_progress(const struct state *s, bool end)
{
	if (!isatty(STDERR_FILENO))
		return;
	(void)fprintf(stderr, "\r\033[K");
	if (!end)
		(void)fprintf(stderr, TEXT(ROUND_LISTING), s->pods, s->judged, s->clusters);
}

/* Is all judged and, where it acts, done? What guards hold back only for a moment is waited for. */
static bool is_settled(const struct state *s, const struct wait_limits *limits, uint64_t waited_ms)
{
	const bool soon = s->guards >> GUARD_QUIET & 1 ||
			  (s->guards >> GUARD_LEADER & 1 && waited_ms < limits->leader_ms);

	return s->clusters > 0 && s->judged == s->clusters && s->ready == s->children &&
	       (!limits->acts || (s->quiet_ms >= QUIET_MS && !soon));
}

static bool is_lost(const struct state *s, size_t cluster, const struct wait_limits *limits)
{
	return s->at[cluster].trouble[0] &&
	       (s->at[cluster].failing_ms >= limits->trouble_ms || (s->at[cluster].lasts && !limits->acts));
}

static int give_up(const struct state *s, size_t cluster)
{
	output_complain(NULL, "%s", s->at[cluster].trouble);
	return s->at[cluster].refused ? EXIT_CODE_CREDENTIAL : EXIT_CODE_UNAVAILABLE;
}

/* True when no more can come: `ret` holds what was given up, and the code. */
static bool is_over_without(const struct state *s, const struct wait_limits *limits, bool all_needed,
			    struct wait_lost *ret)
{
	size_t lost = 0;

	*ret = (struct wait_lost){ .code = EXIT_CODE_OK };
	for (size_t i = 0; i < s->end; i++) {
		ret->is[i] = s->at[i].name[0] && (all_needed || !s->at[i].judged) && is_lost(s, i, limits);
		lost += ret->is[i];
	}
	if (lost == 0 || (!all_needed && s->judged + lost < s->clusters))
		return false;
	for (size_t i = 0; i < s->end; i++)
		/* Where nothing is left the first one is enough. */
		if (ret->is[i] && (ret->code == EXIT_CODE_OK || (!all_needed && s->judged > 0))) {
			const int code = give_up(s, i);

			ret->code = ret->code != EXIT_CODE_OK ? ret->code : code;
		}
	return true;
}

/* A small cluster is judged within a few milliseconds, a large one is not asked about it all the time. */
static void rest(uint64_t waited_ms)
{
	const uint64_t ms = waited_ms / 8 < FIRST_MS   ? FIRST_MS
			    : waited_ms / 8 < EVERY_MS ? waited_ms / 8
						       : EVERY_MS;
	const struct timespec pause = { 0, (long)ms * 1000000L };

	(void)nanosleep(&pause, NULL);
}

int wait_settled(struct ctl *c, const struct wait_limits *limits, struct wait_lost *ret_lost)
{
	const uint64_t begin = clock_boot_ms();
	struct wait_lost lost;
	struct state s;

	for (;;) {
		const int code = ask_state(c, &s);
		const uint64_t waited_ms = clock_boot_ms() - begin;
		const bool settled = is_settled(&s, limits, waited_ms);

		show_progress(&s, code != EXIT_CODE_OK || settled);
		if (code == EXIT_CODE_OK && limits->acts && s.no_history[0]) {
			show_progress(&s, true);
			output_complain(NULL, "%s", s.no_history);
			return EXIT_CODE_CONFIG;
		}
		if (code != EXIT_CODE_OK || settled)
			return code;
		if (is_over_without(&s, limits, !ret_lost, &lost)) {
			if (ret_lost)
				*ret_lost = lost;
			return ret_lost && s.judged > 0 ? EXIT_CODE_OK : lost.code;
		}
		rest(waited_ms);
	}
}

int wait_ready(struct ctl *c, uint64_t timeout_ms)
{
	const uint64_t begin = clock_boot_ms();
	struct state s;

	do {
		const int code = ask_state(c, &s);

		if (code != EXIT_CODE_OK || (s.children > 0 && s.ready == s.children))
			return code;
		for (size_t i = 0; i < s.end; i++)
			if (s.at[i].trouble[0] && s.at[i].lasts)
				return give_up(&s, i);
		rest(clock_boot_ms() - begin);
	} while (clock_boot_ms() - begin < timeout_ms);
	output_complain(NULL, "%s", TEXT(ROUND_NOT_READY));
	return EXIT_CODE_UNAVAILABLE;
}
