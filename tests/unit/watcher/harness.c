/* harness.c - see harness.h. */
// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "base/clock.h"
#include "harness.h"

struct policy policy;
struct controller *c;
struct msg sent[SENT_MAX];
size_t n_sent;
int room;

static int take(void *ctx, const struct msg *m)
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

void begin(void)
{
	clock_fake_set(NOW, 1000000);
	policy_init(&policy);
	n_sent = 0;
	room = 1 << 30;
	c = controller_new(3, &policy, QUIET_MS, &(struct outbox){ take, NULL });
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

void event(const struct pod_facts *p)
{
	ck_assert_int_eq(controller_pod(c, p), 0);
	run_all();
}

void settle(enum outcome outcome, uint64_t retry_ms)
{
	const struct msg *n = last(MSG_NOMINATE);
	struct msg m = { .type = MSG_NOMINATION_RESULT };

	msg_copy_fields(&m, n);
	m.u.nomination_result.outcome = outcome;
	m.u.nomination_result.retry_ms = retry_ms;
	controller_on_msg(c, &m);
	run_all();
}

struct pod_facts sibling(const struct pod_facts *p, const char *name, const char *uid)
{
	struct pod_facts s = *p;

	s.name = STR_C(name);
	s.uid = STR_C(uid);
	return s;
}
