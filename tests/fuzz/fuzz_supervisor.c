/* fuzz_supervisor.c - a supervisor among hostile children: every input is a history of valid messages of each
 * role, deaths, commands of an operator, time, and restarts of the supervisor itself. Properties, at every
 * grant: the intent was acknowledged in this life, or is one that an earlier life of the supervisor signed,
 * unchanged; nobody else is at work on the same key; nothing is granted that an operator has paused, nor more
 * than the limit of writes; and no workload counts as known to fail for longer than it has been named. And
 * after each step memory is bounded, and a pause is what it was. */
// SPDX-License-Identifier: Apache-2.0
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "supervisor/actions/lease.h"
#include "tests/fuzz/made.h"
#include "tests/stage/memory_dir.h"
#include "tests/stage/memory_sockets.h"
#include "tests/stage/repeatable.h"
#include "tests/stage/stage.h"

#define KEPT_MAX  64
#define LIMIT     4u
#define STEPS_MAX 200
#define NAMED_MAX 64
#define SLACK_MS  2000 /* KNOWN_SLACK_MS */
#define ANYONE    (~0u)
#define LIVES_MAX 2u

struct kept {
	struct msg intent; /* as OPEN_INTENT */
	bool acked, reopened, intent_due, record_due;
	bool held; /* by this worker, in this life of it */
	uint64_t holder;
	unsigned life;
};

/* A workload of which somebody has said that it fails. */
struct named {
	uint64_t duty;
	char owner[64], revision[64];
	int64_t at; /* the first time */
};

static struct {
	struct made made;
	char dir[PATH_MAX];
	struct stage_options o;
	struct stage *s;
	struct kept kept[KEPT_MAX];
	size_t n_kept;
	int64_t writes[KEPT_MAX]; /* when: what was done without an operator */
	size_t n_writes;
	struct named named[NAMED_MAX + 1]; /* the last place is for looking */
	size_t n_named;
	bool paused;
	unsigned lives;
	int operator_fd;
} w;

static uint8_t next(void)
{
	return made_next(&w.made);
}

static void demand(bool holds, const char *what)
{
	if (holds)
		return;
	(void)fprintf(stderr, "violated: %s\n", what);
	abort();
}

static struct kept *find(uint64_t id)
{
	for (size_t i = 0; i < w.n_kept; i++)
		if (w.kept[i].intent.u.open_intent.id == id)
			return &w.kept[i];
	return NULL;
}

/* -- what the supervisor says -- */

static bool still_holds(const struct kept *k)
{
	return k->held && stage_lives_now(w.s, ROLE_WORKER, k->holder) &&
	       stage_lives(w.s, ROLE_WORKER, k->holder) == k->life;
}

static void on_intent(const struct msg *m)
{
	struct kept *k = find(m->u.intent.id);

	if (!k && w.n_kept == KEPT_MAX)
		return;
	demand(!k || !still_holds(k), "an id that is held is not given again");
	/* A history that has lost some of its ids, or says so, has them given again. */
	k = k ? k : &w.kept[w.n_kept++];
	*k = (struct kept){ .intent.type = MSG_OPEN_INTENT, .intent_due = true };
	msg_copy_fields(&k->intent, m);
}

static size_t writes_since(int64_t at)
{
	size_t n = 0;

	for (size_t i = 0; i < KEPT_MAX && i < w.n_writes; i++)
		n += w.writes[i] > at;
	return n;
}

/* Since when it was named; now when it was not. */
static int64_t named_at(uint64_t duty, const char *owner, const char *revision, bool names)
{
	struct named *n = w.named;

	while (n < w.named + w.n_named &&
	       (n->duty != duty || strcmp(n->owner, owner) != 0 || strcmp(n->revision, revision) != 0))
		n++;
	if (n < w.named + w.n_named)
		return n->at;
	if (names && w.n_named < NAMED_MAX) {
		n->duty = duty;
		n->at = clock_wall_ms();
		(void)snprintf(n->owner, sizeof(n->owner), "%s", owner);
		(void)snprintf(n->revision, sizeof(n->revision), "%s", revision);
		w.n_named++;
	}
	return clock_wall_ms();
}

static void note_named(const struct msg *m)
{
	struct msg f = { .type = MSG_FAILING_SINCE };

	msg_copy_fields(&f, m);
	if (m->type == MSG_NOMINATE)
		(void)named_at(m->u.nominate.duty, m->u.nominate.action_key, m->u.nominate.revision, true);
	else if (m->type == MSG_FAILING_SINCE)
		(void)named_at(f.u.failing_since.duty, f.u.failing_since.owner, f.u.failing_since.revision,
			       true);
}

static void check_known(const struct msg_grant *g)
{
	if (duty_workload((enum duty)g->duty) < 0 || g->action == ACTION_RESTORE)
		demand(g->known_since == 0, "of a pod it does not matter");
	else if (w.n_named < NAMED_MAX)
		demand(g->known_since >= named_at(g->duty, g->action_key, g->revision, false) - SLACK_MS,
		       "no failure is known for longer than it was named");
}

static void on_grant(uint64_t worker, const struct msg_grant *g)
{
	struct kept *k = find(g->id);

	if (!k)
		return; /* more than are watched */
	const struct msg_open_intent *i = &k->intent.u.open_intent;

	demand(k->acked || k->reopened, "no grant without a kept intent");
	demand(strcmp(i->action_key, g->action_key) == 0 && strcmp(i->uid, g->uid) == 0 &&
		       i->since == g->since && i->action == g->action,
	       "what is granted is what was kept");
	check_known(g);
	demand(g->by_operator || !w.paused, "nothing is granted that is paused");
	demand(g->by_operator || writes_since(clock_wall_ms() - MINUTE_MS) < 2 * (size_t)LIMIT,
	       "no more writes than the limit");
	for (size_t n = 0; n < w.n_kept; n++)
		demand(!still_holds(&w.kept[n]) ||
			       strcmp(w.kept[n].intent.u.open_intent.action_key, g->action_key) != 0,
		       "one actor a key");
	k->held = true;
	k->holder = worker;
	k->life = stage_lives(w.s, ROLE_WORKER, worker);
}

static void on_msg(void *ctx, enum role role, uint64_t number, const struct msg *m)
{
	(void)ctx;
	(void)role;
	struct kept *k = m->type == MSG_RECORD ? find(m->u.record.id) : NULL;

	if (m->type == MSG_INTENT)
		on_intent(m);
	else if (m->type == MSG_GRANT)
		on_grant(number, &m->u.grant);
	else if (k)
		k->record_due = true;
}

/* -- what is said to it -- */

static void note_result(uint64_t worker, const struct msg_result *r)
{
	struct kept *k = find(r->id);

	if (!k || !still_holds(k) || k->holder != worker)
		return;
	k->held = false;
	if (OUTCOMES_WRITTEN >> r->outcome & 1 && k->intent.u.open_intent.action != ACTION_RESTORE)
		w.writes[w.n_writes++ % KEPT_MAX] = clock_wall_ms();
}

static bool is_same(const struct msg *a, const struct msg *b)
{
	uint8_t x[IPC_FRAME_MAX], y[IPC_FRAME_MAX];
	const size_t n = msg_encode(a, x);

	return msg_encode(b, y) == n && memcmp(x, y, n) == 0;
}

static void say(enum role role, uint64_t number, const struct msg *m)
{
	struct kept *k = NULL;

	if (!stage_lives_now(w.s, role, number))
		return;
	if (m->type == MSG_INTENT_ACK && (k = find(m->u.intent_ack.id)) && m->u.intent_ack.written)
		k->acked = true;
	if (m->type == MSG_OPEN_INTENT && (k = find(m->u.open_intent.id)) && is_same(m, &k->intent))
		k->reopened = true;
	note_named(m);
	if (m->type == MSG_RESULT)
		note_result(number, &m->u.result);
	(void)stage_say(w.s, role, number, m);
	stage_run(w.s);
}

/* -- messages made of bytes -- */

static bool known_id(const struct msg_field *f, uint8_t b, uint64_t *ret)
{
	if (b >= 128 || w.n_kept == 0 || strcmp(f->name, "id") != 0)
		return false;
	*ret = w.kept[b % w.n_kept].intent.u.open_intent.id;
	return true;
}

static const char *known_mac(const struct msg_field *f, uint8_t b)
{
	if (strcmp(f->name, "mac") != 0)
		return NULL;
	return w.n_kept > 0 ? w.kept[b % w.n_kept].intent.u.open_intent.mac : "";
}

static const char *const texts[8] = {
	"uid-0", "uid-1", "uid-2", "test", "Evicted", "default", "breaker", ""
};

static void any_message(void)
{
	static const enum role roles[] = { ROLE_REPORTER, ROLE_WATCHER, ROLE_WORKER, ROLE_WATCHER };
	const uint8_t b = next();
	struct msg m;

	if (made_message(&w.made, roles[b % 4], ANYONE, &m))
		say(roles[b % 4], roles[b % 4] == ROLE_WORKER ? b / 4 % STAGE_WORKERS : 0, &m);
}

/* -- what honest children would do -- */

static void name_failing(uint8_t b)
{
	struct msg m = { .type = MSG_FAILING_SINCE,
			 .u.failing_since = { .duty = b & 8 ? DUTY_CRASH_LOOP : DUTY_IMAGE_PULL,
					      .at = !(b & 16) } };
	char key[16];

	const int n = snprintf(key, sizeof(key), "uid-%u", b % 8u);

	msg_set(&m, failing_since.owner, key, (size_t)n);
	say(ROLE_WATCHER, 0, &m);
}

static void nominate(void)
{
	const uint8_t b = next();

	if (b >= 224) {
		name_failing(b);
		return;
	}
	struct msg m = { .type = MSG_NOMINATE, .u.nominate.duty = b / 8 % DUTY__MAX };
	char key[16];

	const int n = snprintf(key, sizeof(key), "uid-%u", b % 8u);

	msg_set(&m, nominate.ns, "default", 7);
	msg_set(&m, nominate.name, "pod", 3);
	msg_set(&m, nominate.uid, key, (size_t)n);
	msg_set(&m, nominate.action_key, key, (size_t)n);
	msg_set(&m, nominate.reason, "Evicted", 7);
	say(ROLE_WATCHER, 0, &m);
}

static void acknowledge(void)
{
	for (size_t i = 0; i < w.n_kept; i++) {
		struct kept *k = &w.kept[i];
		const uint64_t id = k->intent.u.open_intent.id;
		const struct msg intent = { .type = MSG_INTENT_ACK, .u.intent_ack = { id, true } };
		const struct msg record = { .type = MSG_RECORD_ACK, .u.record_ack.id = id };

		if (k->intent_due)
			say(ROLE_REPORTER, 0, &intent);
		if (k->record_due)
			say(ROLE_REPORTER, 0, &record);
		k->intent_due = k->record_due = false;
	}
}

static void end_leases(void)
{
	const uint8_t b = next();

	for (size_t i = 0; i < w.n_kept; i++) {
		struct msg m = { .type = MSG_RESULT,
				 .u.result = { .id = w.kept[i].intent.u.open_intent.id,
					       .outcome = b % OUTCOME__MAX,
					       .replicas = -1 } };

		msg_set(&m, result.reason, "Evicted", 7);
		if (still_holds(&w.kept[i]))
			say(ROLE_WORKER, w.kept[i].holder, &m);
	}
}

static void open_history(void)
{
	const struct msg end = { .type = MSG_OPEN_END, .u.open_end.next_id = w.n_kept + 1 };

	say(ROLE_REPORTER, 0, &end);
}

/* One that was kept; perhaps it was changed. */
static void reopen(void)
{
	const uint8_t b = next(), change = next();

	if (w.n_kept == 0)
		return;
	struct msg m = w.kept[b % w.n_kept].intent;

	if (change & 1)
		m.u.open_intent.since ^= 1;
	if (change & 2)
		m.u.open_intent.id++;
	say(ROLE_REPORTER, 0, &m);
}

/* -- the operator, time, deaths -- */

static bool is_paused(void)
{
	const struct supervisor *s = stage_supervisor(w.s);

	return pause_list_pauses(&s->pause_list, "test", 0, own_state_now(s->own), clock_is_borne_out(s, 0));
}

/* Until somebody resumes. */
static bool is_paused_for_good(int64_t duty)
{
	const struct pause_list *l = &stage_supervisor(w.s)->pause_list;

	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].p.on && !l->v[i].p.until && pause_covers(&l->v[i].p, "test", duty))
			return true;
	return false;
}

static void operate(void)
{
	uint8_t bytes[IPC_FRAME_MAX];
	const uint8_t b = next();
	struct msg m = { .type = MSG_CTL_PAUSE, .u.ctl_pause = { .duty = DUTY_ALL, .on = b & 1 } };

	if (b & 2 && !made_message(&w.made, ROLE_CLI, ANYONE, &m))
		return;
	w.paused = false; /* it may resume; what comes of it is seen below */
	(void)send(w.operator_fd, bytes, msg_encode(&m, bytes), MSG_NOSIGNAL);
	stage_run(w.s);
	while (recv(w.operator_fd, bytes, sizeof(bytes), 0) > 0)
		;
	/* Of one duty after another: what is paused for one only is not watched. */
	w.paused = is_paused();
	for (uint64_t d = 0; d < DUTY__MAX; d++)
		w.paused = w.paused && is_paused_for_good((int64_t)d);
}

static void start(void)
{
	w.s = stage_new(&w.o);
	w.operator_fd = stage_connect(w.s);
	stage_run(w.s);
}

static void stop(void)
{
	(void)close(w.operator_fd);
	stage_free(&w.s);
	demand(memory_sockets_open() == 0, "every socket is closed");
}

/* A life takes as long as very many steps: an input has a few. */
static void start_again(void)
{
	if (++w.lives > LIVES_MAX)
		return;
	stop();
	for (size_t i = 0; i < w.n_kept; i++)
		w.kept[i].acked = w.kept[i].held = w.kept[i].reopened = false;
	start();
	demand(!w.paused || is_paused(), "a pause survives");
}

static void kill_one(void)
{
	static const enum role roles[] = { ROLE_REPORTER, ROLE_WATCHER, ROLE_WORKER, ROLE_WORKER };
	const uint8_t b = next();

	stage_die(w.s, roles[b % 4], b % 4 == 3);
}

static void pass(void)
{
	stage_pass(w.s, 1000 * (1 + next() % 70));
}

static void check(void)
{
	const struct supervisor *s = stage_supervisor(w.s);

	demand(lease_table_count(s->leases) <= LEASES_MAX &&
		       reporter_queue_count(s->queue) <= REPORTER_QUEUE_MAX,
	       "memory is bounded");
	demand(!w.paused || is_paused(), "only an operator resumes");
}

static void (*const steps[])(void) = {
	any_message, any_message, any_message,  nominate, acknowledge, acknowledge, end_leases, kill_one,
	pass,        reopen,      open_history, operate,  start_again, any_message, nominate,   acknowledge,
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void remove_folder(void)
{
	(void)nftw(w.dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void prepare(void)
{
	char top[] = "/dev/shm/opc-fuzz-XXXXXX", tmp[] = "/tmp/opc-fuzz-XXXXXX";
	const char *at = mkdtemp(top);

	if (!at)
		at = mkdtemp(tmp);
	if (!at)
		abort();
	(void)snprintf(w.dir, sizeof(w.dir), "%s", at);
	(void)atexit(remove_folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	char state[PATH_MAX + 8];

	if (!w.dir[0])
		prepare();
	(void)snprintf(state, sizeof(state), "%s/state", w.dir);
	memory_dir_clear();
	log_override_level((enum log_level)(LOG_LEVEL_ERROR + 1), UINT64_MAX);
	w.made = (struct made){ p, n, texts, known_id, known_mac };
	w.n_kept = w.n_writes = w.n_named = 0;
	w.paused = false;
	w.lives = 0;
	repeatable_begin();
	w.o = (struct stage_options){ .dir = state, .writes_per_minute = LIMIT, .on_msg = on_msg };
	start();
	if (next() & 1)
		open_history();
	for (int i = 0; i < STEPS_MAX && w.made.n > 0; i++) {
		steps[next() % ARRAY_SIZE(steps)]();
		check();
	}
	stop();
	repeatable_end();
	return 0;
}
