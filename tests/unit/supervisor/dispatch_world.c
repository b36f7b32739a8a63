/* dispatch_world.c - see dispatch_world.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/supervisor/dispatch_world.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "build_id.h"
#include "supervisor/actions/replicas.h"
#include "supervisor/actions/worker_pool.h"

#define SENT_MAX 32768

struct lifecycle root;
static struct child_env env;
struct supervisor supervisor;
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

bool lifecycle_is_leaving(const struct lifecycle *l, uint64_t cluster)
{
	return l->leaving >> cluster & 1;
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
		dispatch_on_result(&supervisor, c, m);
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
		dispatch_on_worker_dead(&supervisor, c);
}

static void on_changed(struct lifecycle *l, struct child *c)
{
	(void)l;
	if (child_is_ready(c) && child_info(c)->role == ROLE_WORKER)
		dispatch_cluster(&supervisor, child_info(c)->cluster);
}

/* -- steps -- */

struct child *child_of(enum role role, uint64_t cluster, uint64_t number)
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

struct channel *process_of(const struct child *c)
{
	return &processes[child_info(c)->pid - 1];
}

void says(const struct child *c, const struct msg *m)
{
	const struct spawned *p = process_of(c)->process;

	p->ops->channel.on_msg(p->ctx, p->channel, m, -1);
}

struct child *says_hello(enum role role, uint64_t cluster, uint64_t number, const char *build)
{
	struct child *c = child_of(role, cluster, number);
	struct msg hello = { .type = MSG_HELLO, .u.hello = { .proto = IPC_PROTO, .pid = 1 } };

	msg_set(&hello, hello.build, build, strlen(build));
	child_event(c, FSM_EV_START);
	says(c, &hello);
	return c;
}

struct child *gets_ready(enum role role, uint64_t cluster, uint64_t number)
{
	struct child *c = says_hello(role, cluster, number, OPC_BUILD_ID);

	says(c, &(struct msg){ .type = MSG_READY, .u.ready.generation = 1 });
	ck_assert(child_is_ready(c));
	return c;
}

void dies(struct child *c)
{
	const struct spawned *p = process_of(c)->process;

	p->ops->on_death(p->ctx, &(siginfo_t){ .si_code = CLD_KILLED, .si_status = SIGKILL });
}

/* How many messages of that type it was sent (NULL: anybody), and the newest. */
size_t was_sent(const struct child *to, enum msg_type type, struct msg *ret_last)
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

void nominate(uint64_t cluster, unsigned key)
{
	struct msg m = { .type = MSG_NOMINATE, .u.nominate.cluster = cluster };
	struct msg_nominate *n = &m.u.nominate;

	(void)snprintf(n->action_key, sizeof(n->action_key), "uid-%u", key);
	strcpy(n->uid, n->action_key);
	strcpy(n->name, "pod");
	strcpy(n->ns, "default");
	strcpy(n->reason, "Evicted");
	dispatch_on_nominate(&supervisor, child_of(ROLE_WATCHER, cluster, 0), &m);
}

void is_written(uint64_t id)
{
	dispatch_on_intent_ack(
		&supervisor, child_of(ROLE_REPORTER, 0, 0),
		&(struct msg){ .type = MSG_INTENT_ACK, .u.intent_ack = { .id = id, .written = true } });
}

void forget(void)
{
	while (n_sent > 0)
		free(sent[--n_sent].packed);
}

/* It is written, granted, carried out and recorded. */
void ends(struct child *worker, uint64_t id, uint64_t outcome)
{
	struct msg m = { .type = MSG_RESULT, .u.result = { .id = id, .outcome = outcome, .replicas = -1 } };

	strcpy(m.u.result.reason, "Evicted");
	is_written(id);
	dispatch_on_result(&supervisor, worker, &m);
	dispatch_on_record_ack(&supervisor, child_of(ROLE_REPORTER, 0, 0),
			       &(struct msg){ .type = MSG_RECORD_ACK, .u.record_ack.id = id });
}

void leads(uint64_t cluster, bool leading, uint64_t valid_until)
{
	const struct msg m = { .type = MSG_LEADER,
			       .u.leader = {
				       .cluster = cluster, .leading = leading, .valid_until = valid_until } };

	if (replicas_on_leader(&supervisor, &m))
		dispatch_cluster(&supervisor, cluster);
}

void begin_with(uint64_t clusters, uint64_t least, uint64_t workers, bool election)
{
	static const struct child_ops ops = { .on_hello = on_hello,
					      .on_msg = on_msg,
					      .still_counts = still_counts,
					      .on_dead = on_dead,
					      .on_changed = on_changed };

	clock_fake_set(1800000000000, NOW_MS);
	env = (struct child_env){ event_base_new(), NULL, &ops, &root };
	root.children = children_new(&env);
	root.generation = generation_new(1);
	root.generation->all.clusters = root.generation->n_wanted = clusters;
	root.leaving = 0;
	root.generation->all.election = election;
	root.generation->all.duties = UINT64_MAX;
	for (uint64_t c = 0; c < clusters; c++) {
		(void)snprintf(root.generation->names[c], sizeof(root.generation->names[c]), "c%u",
			       (unsigned)c);
		root.generation->wanted[c] = true;
		root.generation->workers[c] = workers;
		root.generation->workers_min[c] = least;
	}
	children_make(root.children, root.generation);
	supervisor = (struct supervisor){ .root = &root, .children = root.children };
	supervisor.own = own_state_new(&supervisor.pause_list);
	worker_pool_on_loaded(&supervisor);
	dispatch_init(&supervisor);
	(void)gets_ready(ROLE_REPORTER, 0, 0);
	for (uint64_t c = 0; c < clusters; c++)
		(void)gets_ready(ROLE_WATCHER, c, 0);
	(void)dispatch_on_open_end(&supervisor, child_of(ROLE_REPORTER, 0, 0),
				   &(struct msg){ .type = MSG_OPEN_END, .u.open_end.next_id = 1 });
}

void begin(uint64_t clusters, uint64_t workers, bool election)
{
	begin_with(clusters, workers, workers, election);
}

void tear_down(void)
{
	lease_table_free(&supervisor.leases);
	replicas_free(&supervisor);
	worker_pool_free(&supervisor);
	own_state_free(&supervisor.own);
	children_free(&root.children);
	generation_free(&root.generation);
	event_base_free(env.base);
	forget();
}
