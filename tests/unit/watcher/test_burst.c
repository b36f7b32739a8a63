/* test_burst.c - storms of events with simulated time: every look at the clock costs what judging a key
 * costs, every event what reading it costs. What is asserted is counted in keys and in simulated time, so the
 * machine does not matter. The loop is the watcher's: read what has arrived, one run, read again. */
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "harness.h"
#include "tests/suite.h"

#define PODS 20000u
#ifdef __SANITIZE_ADDRESS__ /* ten times as slow */
#define SHORTER 5u
#else
#define SHORTER 1u
#endif
#define AT_ONCE     5000u
#define READ_EVENTS 64u  /* what one read of the socket brings at most */
#define VICTIM_EACH 500u /* so many events apart a pod is evicted */
#define VICTIMS_MAX 2000u

static uint64_t now_us, look_us;

/* Instead of base/clock.c's (ld --wrap): boot time and wall time go together. */
uint64_t __wrap_clock_boot_ms(void);
int64_t __wrap_clock_wall_ms(void);

uint64_t __wrap_clock_boot_ms(void)
{
	now_us += look_us;
	return 1000000 + now_us / 1000;
}

int64_t __wrap_clock_wall_ms(void)
{
	return NOW + (int64_t)(now_us / 1000);
}

/* -- pods -- */

struct name {
	char name[24], uid[37], rv[16];
};

static struct name pod_names[PODS + VICTIMS_MAX];
static uint64_t version = 5000;

static void identify(struct pod_facts *p, uint32_t i)
{
	struct name *n = &pod_names[i];

	(void)snprintf(n->name, sizeof(n->name), "web-1-%05u", i);
	(void)snprintf(n->uid, sizeof(n->uid), "0b8f0f3e-0000-4000-8000-%012u", i);
	(void)snprintf(n->rv, sizeof(n->rv), "%llu", (unsigned long long)++version);
	p->name = STR_C(n->name);
	p->uid = STR_C(n->uid);
	p->rv = STR_C(n->rv);
}

/* Another state than the one before, of no interest to any rule: an event of pod i. */
static void change(uint32_t i, uint64_t round)
{
	static struct pod_facts p;

	if (!p.ready)
		p = pod_healthy();
	identify(&p, i);
	p.start_time = NOW - HOUR + (int64_t)(round % 1000) * S;
	ck_assert_int_eq(controller_pod(c, &p), 0);
}

/* -- victims -- */

struct victim {
	uint64_t at_us, judged, waited_us, waited_keys;
	size_t queue;
	bool nominated;
};

static struct victim victims[VICTIMS_MAX];
static uint32_t n_victims, n_nominated, settled;
static struct msg nominated[VICTIMS_MAX];

static int on_send(void *ctx, const struct msg *m)
{
	uint32_t i;

	(void)ctx;
	if (m->type != MSG_NOMINATE)
		return 0;
	i = (uint32_t)strtoul(m->u.nominate.name + strlen("web-1-"), NULL, 10) - PODS;
	ck_assert_uint_lt(i, n_victims);
	ck_assert(!victims[i].nominated);
	victims[i].nominated = true;
	victims[i].waited_us = now_us - victims[i].at_us;
	victims[i].waited_keys = judged() - victims[i].judged;
	nominated[n_nominated++] = *m;
	return 0;
}

static void evict_one(void)
{
	struct pod_facts p = pod_evicted();
	struct victim *v = &victims[n_victims];

	identify(&p, PODS + n_victims);
	n_victims++;
	*v = (struct victim){ .at_us = now_us, .judged = judged(), .queue = stats().queue };
	ck_assert_int_eq(controller_pod(c, &p), 0);
}

/* The worker has deleted what was nominated. */
static void settle_nominated(void)
{
	for (; settled < n_nominated; settled++) {
		const struct msg *n = &nominated[settled];
		struct msg m = { .type = MSG_NOMINATION_RESULT };
		struct pod_facts p = pod_evicted();

		msg_copy_fields(&m, n);
		m.u.nomination_result.outcome = OUTCOME_DONE;
		controller_on_msg(c, &m);
		p.name = STR_C(n->u.nominate.name);
		p.uid = STR_C(n->u.nominate.uid);
		p.rv = STR_C(n->u.nominate.rv);
		controller_delete(c, &p);
	}
}

/* -- a cluster in step -- */

static void start(uint32_t pods)
{
	now_us = look_us = 0;
	n_victims = n_nominated = settled = 0;
	policy_init(&policy);
	c = controller_new(3, &policy, 0, &(struct outlet){ .send = on_send, .ctx = NULL });
	controller_list(c, STR_LIT(""));
	for (uint32_t i = 0; i < pods; i++)
		change(i, 0);
	controller_sync(c, STR_LIT(""));
	controller_alive(c);
	HEAR(SAVED_END, saved_end, { 0 });
	while (controller_run(c) <= clock_boot_ms()) {
	}
	ck_assert_uint_eq(stats().queue, 0);
}

static void stop(void)
{
	controller_free(&c);
	policy_done(&policy);
}

/* -- bursts -- */

/* A node is lost: 5,000 pods change before anything is judged, and one of them is evicted. Each is judged
 * once, in order; the evicted one waits for those before it and for no more. A second round of changes
 * collapses into the first. */
TEST(five_thousand_at_once)
{
	start(AT_ONCE);
	const uint64_t before = judged();

	for (uint64_t round = 1; round <= 3; round++)
		for (uint32_t i = 0; i < AT_ONCE; i++) {
			change(i, round);
			if (round == 1 && i == AT_ONCE / 2)
				evict_one();
		}
	ck_assert_uint_eq(stats().queue, AT_ONCE + 1);
	look_us = 2;
	while (controller_run(c) <= clock_boot_ms()) {
	}
	ck_assert_uint_eq(judged() - before, AT_ONCE + 1);
	ck_assert(victims[0].nominated);
	ck_assert_uint_eq(victims[0].waited_keys, AT_ONCE / 2 + 2); /* those before it, and itself */
	stop();
}

/* Between two looks at the sockets a run takes two milliseconds, however long the queue is. */
TEST(a_run_is_short)
{
	start(AT_ONCE);
	for (uint32_t i = 0; i < AT_ONCE; i++)
		change(i, 1);
	look_us = 10;
	for (unsigned wakes = 0; stats().queue; wakes++) {
		const uint64_t begin = now_us;

		(void)controller_run(c);
		ck_assert_uint_le(now_us - begin, 4000); /* 2 ms, and what 32 keys take */
		ck_assert_uint_lt(wakes, 100);
	}
	stop();
}

/* -- storms -- */

struct storm {
	const char *name;
	uint64_t rate, seconds; /* events a second */
	uint64_t read_us;       /* an event */
	uint64_t key_us;        /* about: a look at the clock */
	bool overload;          /* more events than can be judged */
	uint64_t p99_us;        /* bound of the wait, 0: none in time */
};

struct storm_result {
	uint64_t events, judged, most_queued;
};

static void deliver(uint64_t n)
{
	change((uint32_t)(n * 7919 % PODS), n / PODS + 1);
	if (n % VICTIM_EACH == 0)
		evict_one();
}

/* One round of the loop: what has arrived, as far as one read takes it, and a run when there is something to
 * do. */
static void loop_once(const struct storm *s, struct storm_result *r)
{
	const uint64_t arrived = s->rate * now_us / 1000000;
	uint64_t n = 0;

	for (; r->events < arrived && n < READ_EVENTS; n++) {
		deliver(r->events++);
		now_us += s->read_us;
	}
	controller_alive(c);
	if (stats().queue > r->most_queued)
		r->most_queued = stats().queue;
	if (stats().queue)
		(void)controller_run(c);
	else
		now_us += 50; /* asleep until the next event */
	settle_nominated();
}

static int by_wait(const void *a, const void *b)
{
	const struct victim *x = a, *y = b;

	return x->waited_us < y->waited_us ? -1 : x->waited_us > y->waited_us;
}

static void check_victims(const struct storm *s, const struct storm_result *r)
{
	uint64_t most_keys = 0;

	for (uint32_t i = 0; i < n_victims; i++) {
		const struct victim *v = &victims[i];

		/* Those evicted in the last moments may still wait when the storm ends. */
		if (!v->nominated && i + 10 * PODS / VICTIM_EACH < n_victims)
			ck_abort_msg("%s: victim %u of %u was not nominated in the storm", s->name, i,
				     n_victims);
		if (!v->nominated)
			continue;
		/* First in, first out: it waits for what was queued before it and for itself. */
		ck_assert_uint_le(v->waited_keys, v->queue + 1);
		if (v->waited_keys > most_keys)
			most_keys = v->waited_keys;
	}
	qsort(victims, n_victims, sizeof(*victims), by_wait);
	const uint64_t p50 = victims[n_victims / 2].waited_us, p99 = victims[n_victims * 99 / 100].waited_us;

	printf("%s: %llu events, %llu judged, at most %llu queued; %u evictions wait for p50 %llu us, p99 "
	       "%llu us, "
	       "at most %llu keys\n",
	       s->name, (unsigned long long)r->events, (unsigned long long)r->judged,
	       (unsigned long long)r->most_queued, n_victims, (unsigned long long)p50,
	       (unsigned long long)p99, (unsigned long long)most_keys);
	ck_assert(s->p99_us == 0 || p99 <= s->p99_us);
}

static const struct storm storms[] = {
	{ "a fast machine", 20000, 30, 3, 2, false, 1000 },
	{ "a slow machine", 20000, 10, 10, 30, false, 10000 },
	{ "too slow a machine", 20000, 10, 10, 100, true, 0 },
};

/* 20,000 events a second: nothing waits for the end of the storm, and what cannot be judged in time
 * collapses: there is never more in the queue than there are pods. */
TEST_LOOP(storm, 0, sizeof(storms) / sizeof(storms[0]))
{
	const struct storm *s = &storms[_i];
	const uint64_t seconds = s->seconds / SHORTER;
	struct storm_result r = { 0 };

	start(PODS);
	const uint64_t before = judged();

	look_us = s->key_us;
	for (const uint64_t end = now_us + seconds * 1000000; now_us < end;)
		loop_once(s, &r);
	r.judged = judged() - before;
	check_victims(s, &r);
	ck_assert_uint_ge(r.events, s->rate * seconds * 99 / 100); /* all of it was read in time */
	ck_assert_uint_le(r.most_queued, PODS + n_victims);
	if (s->overload)
		ck_assert_uint_lt(r.judged, r.events * 2 / 3);
	else
		ck_assert_uint_lt(r.most_queued, 1000);
	stop();
}

TEST_MAIN("watcher/burst")
{
	tcase_set_timeout(t, 120);
}
