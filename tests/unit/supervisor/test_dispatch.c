/* test_dispatch.c - who gets a grant, for how long, and what becomes of a child that never answers: the real
 * dispatch and children over processes that are not there. Processes, channels and the lifecycle are played
 * here. */
// SPDX-License-Identifier: Apache-2.0
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "build_id.h"
#include "model/reasons.h"
#include "supervisor/actions/dispatch.h"
#include "supervisor/actions/lease.h"
#include "tests/suite.h"

#define NOW_MS    UINT64_C(1000000) /* boot time at the start */
#define GRANT_MS  UINT64_C(20000)
#define LEASE_MS  UINT64_C(30000)
#define LEADER_MS UINT64_C(15000) /* the longest Lease */
#define SENT_MAX  32768

struct lifecycle {
	struct children *children;
	struct generation *generation;
};
struct channel {
	struct spawned *process;
	bool killed;
};

static struct lifecycle root;
static struct child_env env;
static struct dispatch *dispatch;
static struct worker_pool *pool;
static struct pause_list *pauses;
static struct own_state *own;
static struct channel processes[CHILDREN_MAX];
static size_t n_processes;
static struct {
	const struct channel *to;
	struct msg_packed *packed;
} sent[SENT_MAX];
static size_t n_sent;

/* -- what is played -- */

int spawn_child(const struct spawn_images *images, enum role role, const char *const argv[],
		const struct spawn_ops *ops, void *ctx, struct spawned *ret)
{
	struct channel *c = &processes[n_processes++];

	(void)images;
	(void)role;
	(void)argv;
	*c = (struct channel){ .process = ret };
	*ret = (struct spawned){ .pid = (pid_t)n_processes, .channel = c, .ops = ops, .ctx = ctx };
	return 0;
}

void spawned_kill(const struct spawned *p)
{
	if (p->channel)
		p->channel->killed = true;
}

void spawned_done(struct spawned *p)
{
	*p = (struct spawned){ 0 };
}

void channel_set_phase(struct channel *c, enum phase phase)
{
	(void)c;
	(void)phase;
}

int channel_send(struct channel *c, const struct msg *m, int fd)
{
	(void)fd;
	ck_assert_uint_lt(n_sent, SENT_MAX);
	sent[n_sent].to = c;
	sent[n_sent++].packed = msg_pack(m);
	return 0;
}

struct children *lifecycle_children(const struct lifecycle *l)
{
	return l->children;
}

const struct generation *lifecycle_generation(const struct lifecycle *l)
{
	return l->generation;
}

bool lifecycle_is_running(const struct lifecycle *l)
{
	(void)l;
	return true;
}

bool lifecycle_is_current(const struct lifecycle *l, const struct child *c)
{
	(void)l;
	(void)c;
	return true;
}

void lifecycle_open(struct lifecycle *l)
{
	(void)l;
}

static void on_hello(struct lifecycle *l, struct child *c)
{
	(void)l;
	(void)c;
}

static void on_msg(struct lifecycle *l, struct child *c, const struct msg *m)
{
	(void)l;
	if (m->type == MSG_RESULT)
		dispatch_on_result(dispatch, c, m);
}

static bool still_counts(struct lifecycle *l, const struct msg *m)
{
	(void)l;
	return m->type == MSG_RESULT;
}

static void on_dead(struct lifecycle *l, struct child *c, int code)
{
	(void)l;
	(void)code;
	if (child_info(c)->role == ROLE_WORKER)
		dispatch_on_worker_dead(dispatch, c);
}

static void on_changed(struct lifecycle *l, struct child *c)
{
	(void)l;
	if (child_is_ready(c) && child_info(c)->role == ROLE_WORKER)
		dispatch_cluster(dispatch, child_info(c)->cluster);
}

/* -- steps -- */

static struct child *child_of(enum role role, uint64_t cluster, uint64_t number)
{
	for (size_t i = 0; i < children_count(root.children); i++) {
		struct child *c = children_get(root.children, i);
		const struct child_info *at = child_info(c);

		if (at->role == role && at->number == number &&
		    (role == ROLE_REPORTER || at->cluster == cluster))
			return c;
	}
	ck_abort_msg("no such child");
	return NULL;
}

static struct channel *process_of(const struct child *c)
{
	return &processes[child_info(c)->pid - 1];
}

static void says(const struct child *c, const struct msg *m)
{
	const struct spawned *p = process_of(c)->process;

	p->ops->channel.on_msg(p->ctx, p->channel, m, -1);
}

static struct child *says_hello(enum role role, uint64_t cluster, uint64_t number, const char *build)
{
	struct child *c = child_of(role, cluster, number);
	struct msg hello = { .type = MSG_HELLO, .u.hello = { .proto = IPC_PROTO, .pid = 1 } };

	msg_set(&hello, hello.build, build, strlen(build));
	child_event(c, FSM_EV_START);
	says(c, &hello);
	return c;
}

static struct child *gets_ready(enum role role, uint64_t cluster, uint64_t number)
{
	struct child *c = says_hello(role, cluster, number, OPC_BUILD_ID);

	says(c, &(struct msg){ .type = MSG_READY, .u.ready.generation = 1 });
	ck_assert(child_is_ready(c));
	return c;
}

static void dies(struct child *c)
{
	const struct spawned *p = process_of(c)->process;

	p->ops->on_death(p->ctx, &(siginfo_t){ .si_code = CLD_KILLED, .si_status = SIGKILL });
}

/* How many messages of that type it was sent (NULL: anybody), and the newest. */
static size_t was_sent(const struct child *to, enum msg_type type, struct msg *ret_last)
{
	size_t n = 0;

	for (size_t i = 0; i < n_sent; i++) {
		struct msg m;

		if (to && sent[i].to != process_of(to))
			continue;
		msg_unpack(sent[i].packed, &m);
		if (m.type != type)
			continue;
		n++;
		if (ret_last)
			*ret_last = m;
	}
	return n;
}

static void nominate(uint64_t cluster, unsigned key)
{
	struct msg m = { .type = MSG_NOMINATE, .u.nominate.cluster = cluster };
	struct msg_nominate *n = &m.u.nominate;

	(void)snprintf(n->action_key, sizeof(n->action_key), "uid-%u", key);
	strcpy(n->uid, n->action_key);
	strcpy(n->name, "pod");
	strcpy(n->ns, "default");
	strcpy(n->reason, "Evicted");
	dispatch_on_nominate(dispatch, child_of(ROLE_WATCHER, cluster, 0), &m);
}

static void is_written(uint64_t id)
{
	dispatch_on_intent_ack(
		dispatch, child_of(ROLE_REPORTER, 0, 0),
		&(struct msg){ .type = MSG_INTENT_ACK, .u.intent_ack = { .id = id, .written = true } });
}

static void forget(void)
{
	while (n_sent > 0)
		free(sent[--n_sent].packed);
}

/* It is written, granted, carried out and recorded. */
static void ends(struct child *worker, uint64_t id, uint64_t outcome)
{
	struct msg m = { .type = MSG_RESULT, .u.result = { .id = id, .outcome = outcome, .replicas = -1 } };

	strcpy(m.u.result.reason, "Evicted");
	is_written(id);
	dispatch_on_result(dispatch, worker, &m);
	dispatch_on_record_ack(dispatch, child_of(ROLE_REPORTER, 0, 0),
			       &(struct msg){ .type = MSG_RECORD_ACK, .u.record_ack.id = id });
}

static void leads(uint64_t cluster, bool leading, uint64_t valid_until)
{
	dispatch_on_leader(dispatch, &(struct msg){ .type = MSG_LEADER,
						    .u.leader = { .cluster = cluster,
								  .leading = leading,
								  .valid_until = valid_until } });
}

static void begin_with(uint64_t clusters, uint64_t least, uint64_t workers, bool election)
{
	static const struct child_ops ops = { .on_hello = on_hello,
					      .on_msg = on_msg,
					      .still_counts = still_counts,
					      .on_dead = on_dead,
					      .on_changed = on_changed };
	static struct answers answers;

	clock_fake_set(1800000000000, NOW_MS);
	env = (struct child_env){ event_base_new(), NULL, &ops, &root };
	root.children = children_new(&env);
	root.generation = generation_new(1);
	root.generation->clusters = clusters;
	root.generation->election = election;
	root.generation->duties = UINT64_MAX;
	for (uint64_t c = 0; c < clusters; c++) {
		(void)snprintf(root.generation->names[c], sizeof(root.generation->names[c]), "c%u",
			       (unsigned)c);
		root.generation->workers[c] = workers;
		root.generation->workers_min[c] = least;
	}
	children_make(root.children, root.generation);
	pauses = pause_list_new();
	own = own_state_new(pauses);
	pool = worker_pool_new(&root, NULL);
	worker_pool_on_loaded(pool);
	dispatch = dispatch_new(&root, pool, pauses, own, &answers);
	(void)gets_ready(ROLE_REPORTER, 0, 0);
	for (uint64_t c = 0; c < clusters; c++)
		(void)gets_ready(ROLE_WATCHER, c, 0);
	(void)dispatch_on_open_end(dispatch, child_of(ROLE_REPORTER, 0, 0),
				   &(struct msg){ .type = MSG_OPEN_END, .u.open_end.next_id = 1 });
}

static void begin(uint64_t clusters, uint64_t workers, bool election)
{
	begin_with(clusters, workers, workers, election);
}

static void tear_down(void)
{
	dispatch_free(&dispatch);
	worker_pool_free(&pool);
	own_state_free(&own);
	pause_list_free(&pauses);
	children_free(&root.children);
	generation_free(&root.generation);
	event_base_free(env.base);
	forget();
}

/* -- leadership -- */

/* A write may start until the grant ends, and from the end of the Lease on another replica may write. */
TEST(a_grant_ends_with_the_lease_of_the_leader)
{
	begin(1, 1, true);
	struct child *worker = gets_ready(ROLE_WORKER, 0, 0);
	struct msg m;

	leads(0, true, NOW_MS + 7000);
	nominate(0, 1);
	is_written(1);
	ck_assert_uint_eq(was_sent(worker, MSG_GRANT, &m), 1);
	ck_assert_uint_eq(m.u.grant.valid_until, NOW_MS + 7000);
	leads(0, true, NOW_MS + 60000);
	nominate(0, 2);
	is_written(2);
	ck_assert_uint_eq(was_sent(worker, MSG_GRANT, &m), 2);
	ck_assert_uint_eq(m.u.grant.valid_until, NOW_MS + LEADER_MS); /* whatever a watcher says */
}

TEST(nothing_is_granted_without_the_lease_of_the_leader)
{
	begin(1, 1, true);
	struct child *worker = gets_ready(ROLE_WORKER, 0, 0);

	nominate(0, 1);
	is_written(1);
	ck_assert_uint_eq(was_sent(worker, MSG_GRANT, NULL), 0); /* nobody has said who leads */
	leads(0, false, NOW_MS + 60000);
	ck_assert_uint_eq(was_sent(worker, MSG_GRANT, NULL), 0);
	leads(0, true, NOW_MS); /* over already */
	ck_assert_uint_eq(was_sent(worker, MSG_GRANT, NULL), 0);
	leads(0, true, NOW_MS + 1);
	ck_assert_uint_eq(was_sent(worker, MSG_GRANT, NULL), 1);
}

/* -- holders -- */

TEST(an_overdue_holder_is_killed_and_its_death_releases)
{
	begin(1, 2, false);
	struct child *first = gets_ready(ROLE_WORKER, 0, 0), *second;
	struct msg m;

	nominate(0, 1);
	is_written(1);
	ck_assert_uint_eq(was_sent(first, MSG_GRANT, &m), 1);
	ck_assert_uint_eq(m.u.grant.valid_until, NOW_MS + GRANT_MS);
	second = gets_ready(ROLE_WORKER, 0, 1);
	clock_fake_advance(LEASE_MS);
	dispatch_tick(dispatch, clock_boot_ms());
	ck_assert(!process_of(first)->killed); /* not a moment before */
	clock_fake_advance(1);
	dispatch_tick(dispatch, clock_boot_ms());
	ck_assert(process_of(first)->killed);
	ck_assert_uint_eq(was_sent(second, MSG_GRANT, NULL), 0); /* time releases nothing */
	dies(first);
	ck_assert_uint_eq(was_sent(second, MSG_GRANT, &m), 1);
	ck_assert(m.u.grant.verify_first);
}

/* -- clusters -- */

TEST(a_worker_works_for_its_own_cluster)
{
	begin(2, 1, false);
	struct child *other = gets_ready(ROLE_WORKER, 1, 0), *first;
	struct msg m;

	nominate(0, 1);
	is_written(1);
	ck_assert_uint_eq(was_sent(other, MSG_PREFETCH, NULL), 0);
	ck_assert_uint_eq(was_sent(other, MSG_GRANT, NULL), 0);
	nominate(1, 2);
	is_written(2);
	ck_assert_uint_eq(was_sent(other, MSG_GRANT, &m), 1);
	ck_assert_uint_eq(m.u.grant.id, 2);
	ck_assert_uint_eq(m.u.grant.cluster, 1);
	first = gets_ready(ROLE_WORKER, 0, 0);
	ck_assert_uint_eq(was_sent(first, MSG_GRANT, &m), 1);
	ck_assert_uint_eq(m.u.grant.id, 1);
	/* Nor does it end what is another's. */
	m = (struct msg){ .type = MSG_RESULT, .u.result = { .id = 1, .replicas = -1 } };
	strcpy(m.u.result.reason, "Evicted");
	says(other, &m);
	ck_assert(process_of(other)->killed);
	ck_assert_uint_eq(was_sent(NULL, MSG_RECORD, NULL), 0);
}

/* -- what ends a child -- */

TEST(a_child_of_another_build_is_killed)
{
	begin(1, 1, false);
	const struct child *worker = says_hello(ROLE_WORKER, 0, 0, "0.0.0-other");

	ck_assert(process_of(worker)->killed);
}

TEST(a_descriptor_that_rides_along_ends_its_sender)
{
	begin(1, 1, false);
	const struct child *worker = gets_ready(ROLE_WORKER, 0, 0);
	const struct spawned *p = process_of(worker)->process;
	const int fd = dup(STDERR_FILENO);

	p->ops->channel.on_msg(p->ctx, p->channel, &(struct msg){ .type = MSG_HEARTBEAT }, fd);
	ck_assert(process_of(worker)->killed);
	ck_assert_int_lt(fcntl(fd, F_GETFD), 0); /* and it is closed */
}

TEST(a_child_that_is_silent_is_killed)
{
	begin(1, 2, false);
	struct child *worker = gets_ready(ROLE_WORKER, 0, 0),
		     *slow = says_hello(ROLE_WORKER, 0, 1, OPC_BUILD_ID);

	clock_fake_advance(10000);
	child_tick(slow, clock_boot_ms());
	ck_assert(!process_of(slow)->killed);
	says(worker, &(struct msg){ .type = MSG_HEARTBEAT });
	clock_fake_advance(1);
	child_tick(slow, clock_boot_ms());
	ck_assert(process_of(slow)->killed); /* not READY in time */
	clock_fake_advance(14999);
	child_tick(worker, clock_boot_ms());
	ck_assert(!process_of(worker)->killed);
	clock_fake_advance(1);
	child_tick(worker, clock_boot_ms());
	ck_assert(process_of(worker)->killed);
}

/* -- room -- */

TEST(leases_have_an_end)
{
	begin(1, 1, false);
	struct child *watcher = child_of(ROLE_WATCHER, 0, 0);
	struct dispatch_stats stats;
	struct msg m;

	for (unsigned i = 0; i <= LEASES_MAX; i++)
		nominate(0, i);
	dispatch_stats(dispatch, &stats);
	ck_assert_uint_le(stats.leases, LEASES_MAX);
	ck_assert_uint_ge(was_sent(watcher, MSG_NOMINATION_RESULT, &m), 1);
	ck_assert_uint_eq(m.u.nomination_result.outcome, OUTCOME_REFUSED);
	ck_assert_str_eq(m.u.nomination_result.reason, reason_code(REASON_BUSY));
	ck_assert_uint_gt(m.u.nomination_result.retry_ms, 0);
}

/* Whoever nominates what is never written: 8192 at once, then a hundred a second. */
TEST(what_writes_nothing_has_a_rate)
{
	begin(2, 1, false);
	struct child *watcher = child_of(ROLE_WATCHER, 0, 0), *worker = gets_ready(ROLE_WORKER, 0, 0);
	const struct lease_end {
		uint64_t outcome;
		size_t opened;
	} rows[] = {
		{ OUTCOME_REFUSED, LEASES_MAX }, { OUTCOME_REFUSED, 100 }, /* a second later */
		{ OUTCOME_DONE, 3000 }, /* after a long time; such can go on and on */
		{ OUTCOME_DONE, 3000 },          { OUTCOME_DONE, 3000 },   { OUTCOME_DONE, 3000 },
	};
	uint64_t id = 0;

	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		const size_t n = rows[row].outcome == OUTCOME_DONE ? 3000 : LEASES_MAX + 100;
		const uint64_t before = id;

		for (size_t i = 0; i < n; i++) {
			const size_t refused = was_sent(watcher, MSG_NOMINATION_RESULT, NULL);

			nominate(0, (unsigned)i);
			if (was_sent(watcher, MSG_NOMINATION_RESULT, NULL) == refused)
				ends(worker, ++id, rows[row].outcome);
			forget();
		}
		ck_assert_uint_eq(id - before, rows[row].opened);
		nominate(1, 1); /* another cluster has its own */
		ck_assert_uint_eq(was_sent(NULL, MSG_INTENT, NULL), row == 0);
		if (row == 0)
			id++;
		forget();
		clock_fake_advance(row == 0 ? 1000 : row == 1 ? 3600000 : 0);
	}
}

TEST(a_duty_that_is_off_is_not_nominated_for)
{
	begin(1, 1, false);
	struct msg m;

	root.generation->duties = ~(UINT64_C(1) << DUTY_EVICTED);
	nominate(0, 1);
	ck_assert_uint_eq(was_sent(NULL, MSG_INTENT, NULL), 0);
	ck_assert_uint_eq(was_sent(child_of(ROLE_WATCHER, 0, 0), MSG_NOMINATION_RESULT, &m), 1);
	ck_assert_str_eq(m.u.nomination_result.reason, "DutyDisabled");
	root.generation->duties = UINT64_C(1) << DUTY_EVICTED;
	nominate(0, 1);
	ck_assert_uint_eq(was_sent(NULL, MSG_INTENT, NULL), 1);
}

/* -- workers that come and go -- */

static void begin_on_demand(uint64_t least, uint64_t most)
{
	begin_with(1, least, most, false);
	for (uint64_t i = least; i < most; i++)
		child_event(child_of(ROLE_WORKER, 0, i), FSM_EV_REST);
}

static struct child *becomes_ready(struct child *c)
{
	struct msg hello = { .type = MSG_HELLO, .u.hello = { .proto = IPC_PROTO, .pid = 1 } };

	ck_assert_int_eq(child_info(c)->state, FSM_STARTING);
	msg_set(&hello, hello.build, OPC_BUILD_ID, strlen(OPC_BUILD_ID));
	says(c, &hello);
	says(c, &(struct msg){ .type = MSG_READY, .u.ready.generation = 1 });
	worker_pool_on_ready(pool, c);
	return c;
}

static unsigned count_in(enum fsm_state state)
{
	unsigned n = 0;

	for (size_t i = 0; i < children_count(root.children); i++)
		n += child_info(children_get(root.children, i))->state == state;
	return n;
}

/* Its start and the write of the intent go side by side. */
TEST(the_first_nomination_starts_one_worker)
{
	begin_on_demand(0, 8);
	ck_assert_uint_eq(count_in(FSM_RESTING), 8);
	nominate(0, 1);
	ck_assert_uint_eq(count_in(FSM_STARTING), 1);
	is_written(1);
	ck_assert_uint_eq(was_sent(becomes_ready(child_of(ROLE_WORKER, 0, 0)), MSG_GRANT, NULL), 1);
	for (unsigned i = 2; i < 100; i++)
		nominate(0, i);
	/* No more than processors, however much there is to do. */
	ck_assert_uint_eq(count_in(FSM_STARTING) + 1, (unsigned)sysconf(_SC_NPROCESSORS_ONLN) < 8
							      ? (unsigned)sysconf(_SC_NPROCESSORS_ONLN)
							      : 8);
}

TEST(who_has_nothing_to_do_rests_after_five_minutes)
{
	begin_on_demand(1, 3);
	struct child *always = gets_ready(ROLE_WORKER, 0, 0), *w;

	for (unsigned i = 1; i <= 8; i++)
		nominate(0, i);
	w = becomes_ready(child_of(ROLE_WORKER, 0, 1));
	forget();
	for (unsigned i = 0; i < 299; i++) {
		clock_fake_advance(1000);
		dispatch_tick(dispatch, clock_boot_ms());
	}
	ck_assert_int_eq(child_info(w)->state, FSM_READY);
	clock_fake_advance(1000);
	dispatch_tick(dispatch, clock_boot_ms());
	ck_assert_int_eq(child_info(w)->state, FSM_LEAVING);
	ck_assert_int_eq(child_info(always)->state, FSM_READY);
	ck_assert_uint_eq(was_sent(w, MSG_DRAIN, NULL), 1);
	const struct spawned *p = process_of(w)->process;

	p->ops->on_death(p->ctx, &(siginfo_t){ .si_code = CLD_EXITED, .si_status = 0 });
	ck_assert_int_eq(child_info(w)->state, FSM_RESTING);
	struct msg stats;

	child_stats(w, &stats);
	ck_assert_uint_eq(stats.u.child_stats.restarts, 0); /* it is no failure */
}

/* Two workers' settings that only a late start meets do not end those that run. */
TEST(a_late_worker_that_cannot_start_ends_nobody)
{
	begin_on_demand(0, 1);
	nominate(0, 1);
	const struct spawned *p = process_of(child_of(ROLE_WORKER, 0, 0))->process;

	p->ops->on_death(p->ctx, &(siginfo_t){ .si_code = CLD_EXITED, .si_status = 78 });
	ck_assert_int_eq(child_info(child_of(ROLE_WORKER, 0, 0))->state, FSM_BACKOFF);
}

static const struct child *asked;
static unsigned n_asked;

static void deliver(struct supervisor *s, struct child *worker, const struct msg *m)
{
	(void)s;
	ck_assert_int_eq(m->type, MSG_INSPECT);
	asked = worker;
	n_asked++;
}

static struct msg inspection(void)
{
	struct msg m = { .type = MSG_INSPECT, .u.inspect.inspection = 1 };

	msg_set(&m, inspect.ns, "shop", 4);
	msg_set(&m, inspect.pod, "web", 3);
	msg_set(&m, inspect.container, "app", 3);
	return m;
}

TEST(questions_wait_for_the_first_worker)
{
	begin_on_demand(0, 2);
	const struct msg m = inspection();

	n_asked = 0;
	worker_pool_ask(pool, 0, &m, deliver);
	worker_pool_ask(pool, 0, &m, deliver);
	ck_assert_uint_eq(n_asked, 0);
	const struct child *w = becomes_ready(child_of(ROLE_WORKER, 0, 0));

	ck_assert_uint_eq(n_asked, 2);
	ck_assert_ptr_eq(asked, w);
	worker_pool_ask(pool, 0, &m, deliver); /* at once */
	ck_assert_uint_eq(n_asked, 3);
}

TEST(questions_end_where_no_worker_starts)
{
	begin_on_demand(0, 1);
	const struct msg m = inspection();

	n_asked = 0;
	worker_pool_ask(pool, 0, &m, deliver);
	clock_fake_advance(9999);
	dispatch_tick(dispatch, clock_boot_ms());
	ck_assert_uint_eq(n_asked, 0);
	clock_fake_advance(1);
	dispatch_tick(dispatch, clock_boot_ms());
	ck_assert_uint_eq(n_asked, 1);
	ck_assert_ptr_null(asked);
}

/* A server that answers 429 gets half as many at once, and those beyond take nothing more. */
TEST(a_throttled_cluster_uses_fewer_workers)
{
	begin_on_demand(0, 2);
	for (unsigned i = 1; i <= 8; i++)
		nominate(0, i);
	struct child *first = becomes_ready(child_of(ROLE_WORKER, 0, 0)),
		     *second = becomes_ready(child_of(ROLE_WORKER, 0, 1));

	ck_assert(worker_pool_may_act(pool, second));
	dispatch_tick(dispatch, clock_boot_ms());
	worker_pool_note_end(pool, 0, 5, 429);
	clock_fake_advance(1000);
	dispatch_tick(dispatch, clock_boot_ms());
	ck_assert(worker_pool_may_act(pool, first));
	ck_assert(!worker_pool_may_act(pool, second));
	is_written(1);
	ck_assert_uint_eq(was_sent(first, MSG_GRANT, NULL), 1);
	is_written(2);
	ck_assert_uint_eq(was_sent(second, MSG_GRANT, NULL), 0);
}

TEST_MAIN("supervisor/dispatch")
{
	tcase_add_checked_fixture(t, NULL, tear_down);
}
