/* harness.c - see harness.h. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "harness.h"
#include "process/process.h"

struct controller *c;
struct msg sent[SENT_MAX];
size_t n_sent;
int room;

int take(void *ctx, const struct msg *m)
{
	(void)ctx;
	if (room == 0)
		return -EAGAIN;
	room--;
	ck_assert_uint_lt(n_sent, SENT_MAX);
	sent[n_sent++] = *m;
	return 0;
}

void run_all(void)
{
	/* A frozen clock: a run ends by its keys, never by time. */
	for (int i = 0; i < 10000; i++) {
		uint64_t next = controller_run(c);

		if (next > clock_boot_ms())
			return;
	}
	ck_abort_msg("the runs never end");
}

void pass(int64_t ms)
{
	clock_fake_advance(ms);
	controller_alive(c);
	run_all();
}

size_t count(enum msg_type type)
{
	size_t n = 0;

	for (size_t i = 0; i < n_sent; i++)
		n += sent[i].type == type;
	return n;
}

const struct msg *last(enum msg_type type)
{
	for (size_t i = n_sent; i-- > 0;)
		if (sent[i].type == type)
			return &sent[i];
	ck_abort_msg("no %s was sent", msg_desc(type)->name);
	return NULL;
}

void nominated_at(int64_t ms, size_t n)
{
	pass(ms);
	ck_assert_uint_eq(count(MSG_NOMINATE), n);
}

void nominated_after(int64_t ms, size_t before, size_t after)
{
	nominated_at(ms - 1, before);
	nominated_at(1, after);
}

struct msg_watch_stats stats(void)
{
	struct msg m = { 0 };

	(void)controller_stats(c, &m);
	return m.u.watch_stats;
}

uint64_t judged(void)
{
	return controller_stats(c, &(struct msg){ 0 });
}

unsigned n_timed;
uint64_t timed_us;

static void note_timed(void *ctx, enum timing t, uint64_t us)
{
	(void)ctx;
	ck_assert_int_eq(t, TIMING_EVENT_TO_WRITE);
	n_timed++;
	timed_us = us;
}

void begin(void)
{
	clock_fake_set(NOW, 1000000);
	policy_init(&policy);
	n_sent = n_timed = 0;
	room = 1 << 30;
	c = controller_new(3, &policy, QUIET_MS, &(struct outlet){ .send = take, .timed = note_timed });
}

void end(void)
{
	controller_free(&c);
	policy_done(&policy);
	clock_fake_clear();
}

void sync_with(const struct pod_facts *pods, size_t n)
{
	controller_list(c, STR_LIT(""));
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(controller_pod(c, &pods[i]), 0);
	controller_sync(c, STR_LIT(""));
	controller_alive(c);
}

void ready_with(const struct pod_facts *pods, size_t n)
{
	sync_with(pods, n);
	HEAR(SAVED_END, saved_end, { 0 });
	run_all();
	pass(QUIET_MS);
}

struct pod_facts ready_one(struct pod_facts p)
{
	ready_with(&p, 1);
	return p;
}

void event(const struct pod_facts *p)
{
	ck_assert_int_eq(controller_pod(c, p), 0);
	run_all();
}

void settle_with(enum outcome outcome, uint64_t retry_ms, const char *reason)
{
	struct msg m = { .type = MSG_NOMINATION_RESULT };

	msg_copy_fields(&m, last(MSG_NOMINATE));
	m.u.nomination_result.on_pod = ACTIONS_ON_PODS >> m.u.nomination_result.action & 1;
	m.u.nomination_result.outcome = outcome;
	m.u.nomination_result.retry_ms = retry_ms;
	if (reason)
		msg_set(&m, nomination_result.reason, reason, strlen(reason));
	controller_on_msg(c, &m);
	run_all();
}

void settle(enum outcome outcome, uint64_t retry_ms)
{
	settle_with(outcome, retry_ms, NULL);
}

void settle_as(enum outcome outcome, const char *reason)
{
	settle_with(outcome, 0, reason);
}

void settle_all(size_t from, enum outcome outcome)
{
	size_t n = n_sent;

	for (size_t i = from; i < n; i++) {
		struct msg m = { .type = MSG_NOMINATION_RESULT };

		if (sent[i].type != MSG_NOMINATE)
			continue;
		msg_copy_fields(&m, &sent[i]);
		m.u.nomination_result.on_pod = ACTIONS_ON_PODS >> m.u.nomination_result.action & 1;
		m.u.nomination_result.outcome = outcome;
		if (outcome == OUTCOME_DONE) {
			struct pod_facts gone = { .ns = STR_C(m.u.nomination_result.ns),
						  .name = STR_C(m.u.nomination_result.name),
						  .uid = STR_C(m.u.nomination_result.uid),
						  .rv = STR_LIT("9999") };
			controller_delete(c, &gone);
		}
		controller_on_msg(c, &m);
	}
	run_all();
}

struct pod_facts sibling(const struct pod_facts *p, const char *name, const char *uid)
{
	struct pod_facts s = *p;

	s.name = STR_C(name);
	s.uid = STR_C(uid);
	return s;
}

/* -- many pods -- */

char names[PODS_MAX][24], uids[PODS_MAX][40];
static char owners[PODS_MAX][40];

struct pod_facts nth(const struct pod_facts *p, int i)
{
	struct pod_facts q;

	ck_assert_int_lt(i, PODS_MAX);
	(void)snprintf(names[i], sizeof(names[i]), "pod-%d", i);
	(void)snprintf(uids[i], sizeof(uids[i]), "0b8f0f3e-1111-4000-8000-%012d", i);
	(void)snprintf(owners[i], sizeof(owners[i]), "0b8f0f3e-2222-4000-8000-%012d", i);
	q = sibling(p, names[i], uids[i]);
	q.owner.uid = STR_C(owners[i]);
	return q;
}

void many(struct pod_facts p, int n)
{
	static struct pod_facts pods[PODS_MAX];

	for (int i = 0; i < n; i++)
		pods[i] = nth(&p, i);
	ready_with(pods, (size_t)n);
}

void feed(struct pod_facts p, int n)
{
	for (int i = 0; i < n; i++) {
		const struct pod_facts q = nth(&p, i);

		ck_assert_int_eq(controller_pod(c, &q), 0);
	}
	run_all();
}

void fails_since(const struct pod_facts *p, int64_t at)
{
	struct msg_failing_since_row row = { .duty = DUTY_IMAGE_PULL, .at = at, .revision = "1" };

	memcpy(row.owner, p->owner.uid.p, p->owner.uid.n);
	HEAR(FAILING_SINCE_ROW, failing_since_row, row);
}

uint64_t fake_generation = 1;

int process_send(struct process *p, const struct msg *m)
{
	(void)p;
	return take(NULL, m);
}

uint64_t process_generation(const struct process *p)
{
	(void)p;
	return fake_generation;
}
