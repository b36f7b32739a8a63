/* test_preferred.c - replicas that share: the preferred one claims a Lease, the leader yields it when it
 * thinks the same, and what is not agreed upon changes nothing. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/suite.h"
#include "tests/unit/kube/lease_server.h"

#define ME    "host-a_1"
#define OTHER "host-b_1"
#define THIRD "host-c_1"

static struct lease_server s;
static struct leader me, other;

static void setup(void)
{
	s = (struct lease_server){ 0 };
	leader_init(&me, ME, LEADER_ELECTION);
	leader_init(&other, OTHER, LEADER_ELECTION);
}

static void teardown(void)
{
	leader_done(&me);
	leader_done(&other);
}

static void prefer(const char *who)
{
	leader_prefer(&me, who);
	leader_prefer(&other, who);
}

/* Both do what there is to do, from `from` to `to`, four times a second; nobody leads beside another. */
static void pass(uint64_t from, uint64_t to)
{
	for (uint64_t now = from; now < to; now += 250) {
		run(&me, &s, now);
		run(&other, &s, now);
		ck_assert(!leader_leads(&me, now) || !leader_leads(&other, now));
	}
}

TEST(the_preferred_one_claims_and_the_leader_yields)
{
	run(&me, &s, 1000);
	prefer(OTHER);
	pass(1000, 5000);
	ck_assert_str_eq(s.lease.claim, OTHER);
	ck_assert(me.yielding && leader_leads(&me, 5000));
	leader_let_go(&me, 5000);
	ck_assert(!leader_leads(&me, 5000));
	pass(5000, 8000);
	ck_assert(leader_leads(&other, 8000));
	ck_assert_str_eq(s.lease.claim, ""); /* it has what it asked for */
	ck_assert(!other.yielding);
}

/* Somebody has written to the Lease since it was read: it is read again, and given away all the same. */
TEST(a_conflict_does_not_keep_it)
{
	run(&me, &s, 1000);
	prefer(OTHER);
	pass(1000, 5000);
	(void)snprintf(s.lease.rv, sizeof(s.lease.rv), "other");
	s.ops[0] = '\0';
	leader_let_go(&me, 5000);
	run(&me, &s, 5000);
	ck_assert_str_eq(s.ops, "update get update ");
	ck_assert_str_eq(s.lease.holder, "");
}

/* What is under way has until the Lease must be thought lost; it is not renewed meanwhile. */
TEST(who_yields_does_not_renew)
{
	uint64_t until;

	run(&me, &s, 1000);
	prefer(OTHER);
	pass(1000, 5000);
	until = leader_valid_until(&me);
	pass(5000, until);
	ck_assert(leader_leads(&me, until - 1));
	ck_assert_uint_eq(leader_valid_until(&me), until);
	pass(until, until + LEADER_LEASE_MS);
	ck_assert(leader_leads(&other, until + LEADER_LEASE_MS));
}

/* A renewal that is under way when the claim is seen ends first. */
TEST(a_claim_makes_the_renewal_read_again)
{
	run(&me, &s, 1000);
	leader_prefer(&me, OTHER);
	leader_prefer(&other, OTHER);
	run(&other, &s, 2900); /* reads, claims */
	s.ops[0] = '\0';
	run(&me, &s, 3000);
	ck_assert_str_eq(s.ops, "update get update ");
	ck_assert(me.yielding);
}

TEST(a_leader_that_prefers_another_one_keeps_it)
{
	run(&me, &s, 1000);
	leader_prefer(&other, OTHER);
	for (int i = 0; i < 3; i++) {
		leader_prefer(&me, (const char *[]){ "", ME, THIRD }[i]);
		pass(1000 + (uint64_t)i * 20000, 21000 + (uint64_t)i * 20000);
		ck_assert_str_eq(s.lease.claim, OTHER);
		ck_assert(!me.yielding);
		ck_assert(leader_leads(&me, 20999 + (uint64_t)i * 20000));
	}
}

/* It may not reach the cluster: without its claim nothing is given away. */
TEST(who_does_not_claim_is_given_nothing)
{
	run(&me, &s, 1000);
	leader_prefer(&me, OTHER);
	for (uint64_t now = 1000; now < 60000; now += 250)
		run(&me, &s, now);
	ck_assert(leader_leads(&me, 59999));
}

static uint64_t taken_after(const char *preferred)
{
	uint64_t now = 1000;

	run(&other, &s, now);
	ck_assert(leader_release(&other, now));
	(void)one(&other, &s, now);
	leader_prefer(&me, preferred);
	for (; !leader_leads(&me, now); now += 250)
		run(&me, &s, now);
	return now - 1250;
}

TEST(a_free_lease_is_left_to_the_preferred_one)
{
	ck_assert_uint_eq(taken_after(ME), 0);
	setup();
	ck_assert_uint_eq(taken_after(""), 0); /* nobody is known: as client-go does */
	setup();
	const uint64_t waited = taken_after(OTHER);

	ck_assert_uint_ge(waited, LEADER_HOLD_MS);
	ck_assert_uint_le(waited, LEADER_HOLD_MS + LEADER_RETRY_MS);
}

/* The one that leads is killed, and the preferred one is there when its Lease runs out. */
TEST(the_lease_of_a_dead_leader_is_taken_when_it_runs_out)
{
	run(&other, &s, 1000);
	leader_prefer(&me, ME);
	uint64_t now = 1000;

	for (; !leader_leads(&me, now); now += 50)
		run(&me, &s, now);
	ck_assert_uint_le(now, 1000 + LEADER_LEASE_MS + 100);
	ck_assert_uint_ge(now, 1000 + LEADER_LEASE_MS);
}

/* A watcher that is started again under a supervisor that lives is no other replica. */
TEST(what_an_own_life_before_holds_is_taken_up)
{
	run(&me, &s, 1000);
	leader_init(&me, ME, LEADER_ELECTION);
	leader_prefer(&me, OTHER);
	run(&me, &s, 2000);
	ck_assert(leader_leads(&me, 2000));
}

TEST(but_not_when_it_is_claimed)
{
	run(&me, &s, 1000);
	prefer(OTHER);
	run(&other, &s, 2000);
	leader_init(&me, ME, LEADER_ELECTION);
	leader_prefer(&me, OTHER);
	pass(3000, 40000);
	ck_assert(leader_leads(&other, 39999));
	ck_assert_str_eq(s.lease.holder, OTHER);
}

/* A claim of one that is gone binds nobody. */
TEST(a_claim_of_the_dead_is_not_heard)
{
	run(&me, &s, 1000);
	(void)snprintf(s.lease.claim, sizeof(s.lease.claim), "%s", THIRD);
	prefer(ME);
	pass(1000, 20000);
	ck_assert(leader_leads(&me, 19999) && !me.yielding);
	prefer(OTHER);
	pass(20000, 25000);
	ck_assert(me.yielding);
}

TEST(the_leader_is_asked_once)
{
	run(&me, &s, 1000);
	leader_prefer(&other, OTHER);
	s.ops[0] = '\0';
	for (uint64_t now = 2000; now < 20000; now += 500)
		run(&other, &s, now);
	ck_assert_ptr_eq(strstr(s.ops, "claim"), strrchr(s.ops, 'c'));
}

/* -- what the next leader must know -- */

static char *text(const char *words)
{
	char *ret = strdup(words);

	ck_assert_ptr_nonnull(ret);
	return ret;
}

TEST(memory_is_written_soon_and_once)
{
	run(&me, &s, 1000);
	leader_remember(&me, text("first"), 1100);
	run(&me, &s, 1100 + LEADER_MEMORY_MS - 1);
	ck_assert_str_eq(s.memory, "");
	run(&me, &s, 1100 + LEADER_MEMORY_MS);
	ck_assert_str_eq(s.memory, "first");
	(void)snprintf(s.memory, sizeof(s.memory), "by another");
	run(&me, &s, 4000);
	ck_assert_str_eq(s.memory, "by another"); /* a renewal alone carries nothing */
}

/* Or what the one before has left would be gone before it was read. */
TEST(who_takes_the_lease_does_not_overwrite_it)
{
	(void)snprintf(s.memory, sizeof(s.memory), "left");
	s.exists = true;
	(void)snprintf(s.lease.rv, sizeof(s.lease.rv), "1");
	(void)snprintf(s.lease.claim, sizeof(s.lease.claim), "%s", ME);
	leader_remember(&me, text("mine"), 1000);
	run(&me, &s, 1000);
	ck_assert(leader_leads(&me, 1000));
	ck_assert_str_eq(s.memory, "left");
	run(&me, &s, 3000);
	ck_assert_str_eq(s.memory, "mine");
}

TEST(it_is_given_along_with_the_lease)
{
	run(&me, &s, 1000);
	prefer(OTHER);
	pass(1000, 5000);
	leader_remember(&me, text("last words"), 5000);
	pass(5000, 5500);
	ck_assert_str_eq(s.memory, ""); /* no renewal any more */
	leader_let_go(&me, 5500);
	(void)one(&me, &s, 5500);
	ck_assert_str_eq(s.lease.holder, "");
	ck_assert_str_eq(s.memory, "last words");
}

TEST(what_comes_while_a_write_is_under_way_is_written_next)
{
	uint64_t at;
	char *body;

	run(&me, &s, 1000);
	leader_remember(&me, text("first"), 2000);
	ck_assert_int_eq(leader_step(&me, 3000, &at), LEADER_PATCH);
	body = leader_body(&me, "ns", "name", 3000, WALL);
	(void)lease_write(&s, body, false);
	free(body);
	leader_remember(&me, text("second"), 3000);
	leader_answer(&me, 200, &s.lease, 3000, 0);
	ck_assert_str_eq(s.memory, "first");
	run(&me, &s, 5000);
	ck_assert_str_eq(s.memory, "second");
}

TEST_MAIN("kube/preferred")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
