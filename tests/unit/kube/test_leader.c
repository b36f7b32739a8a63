/* Leader election: the cases of client-go's leaderelection_test.go, and what must hold beyond them. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/cursor.h"
#include "kube/leader.h"
#include "tests/suite.h"
#include "tests/unit/kube/lease_server.h"

#define ME    "host-a_1"
#define OTHER "host-b_1"

static struct lease_server held_by(const char *who)
{
	struct lease_server s = { .exists = true,
				  .version = 7,
				  .lease = { .duration_s = 15, .transitions = 3 } };

	(void)snprintf(s.lease.holder, sizeof(s.lease.holder), "%s", who);
	(void)snprintf(s.lease.rv, sizeof(s.lease.rv), "7");
	return s;
}

/* Of most cases; both are new in each. */
static struct lease_server s;
static struct leader l;

static void setup(void)
{
	s = (struct lease_server){ 0 };
	leader_init(&l, ME, LEADER_ELECTION);
}

TEST(le1_no_object_is_created)
{
	run(&l, &s, 1000);
	ck_assert_str_eq(s.ops, "get create ");
	ck_assert(leader_leads(&l, 1000));
	ck_assert_int_eq(s.lease.transitions, 0);
	ck_assert_str_eq(s.lease.holder, ME);
}

TEST(le1_unled_is_taken)
{
	s = held_by("");
	run(&l, &s, 1000);
	ck_assert_str_eq(s.ops, "get update ");
	ck_assert(leader_leads(&l, 1000));
	ck_assert_int_eq(s.lease.transitions, 4);
}

TEST(le1_led_by_another_until_it_is_silent_for_its_duration)
{
	uint64_t now = 1000;

	s = held_by(OTHER);
	s.lease.duration_s = 3;
	run(&l, &s, now);
	ck_assert(!leader_leads(&l, now));
	for (; now < 4000; now += 100) { /* seen first at 1000, held until 4000 */
		run(&l, &s, now);
		ck_assert_msg(!leader_leads(&l, now), "leads at %llu", (unsigned long long)now);
	}
	for (; now < 7000; now += 100)
		run(&l, &s, now);
	ck_assert(leader_leads(&l, 7000));
}

/* Times written by the holder say nothing: only that the record changes. */
TEST(le1_the_holders_clock_is_not_compared)
{
	s = held_by(OTHER);
	s.lease.renewed = WALL - 3600000; /* an hour behind */
	for (uint64_t now = 1000; now < 60000; now += 500) {
		s.lease.renewed++; /* it renews */
		run(&l, &s, now);
		ck_assert(!leader_leads(&l, now));
	}
}

TEST(le1_own_lease_is_renewed_without_transition)
{
	s = held_by(ME);
	run(&l, &s, 1000);
	ck_assert(leader_leads(&l, 1000));
	ck_assert_int_eq(s.lease.transitions, 3);
}

TEST(le2_fast_path)
{
	run(&l, &s, 1000);
	run(&l, &s, 3000);
	run(&l, &s, 5000);
	ck_assert_str_eq(s.ops, "get create update update ");
	ck_assert_uint_eq(leader_valid_until(&l), 5000 + LEADER_RENEW_MS);
}

TEST(le2_conflict_reads_again)
{
	run(&l, &s, 1000);
	(void)snprintf(s.lease.rv, sizeof(s.lease.rv), "other"); /* somebody set a label */
	s.ops[0] = '\0';
	run(&l, &s, 3000);
	ck_assert_str_eq(s.ops, "update get update ");
	ck_assert(leader_leads(&l, 3000));
}

TEST(le3_release_empties_the_holder)
{
	struct leader other;

	leader_init(&other, OTHER, LEADER_ELECTION);
	run(&l, &s, 1000);
	ck_assert(leader_release(&l, 2000));
	ck_assert(!leader_leads(&l, 2000));
	(void)one(&l, &s, 2000);
	ck_assert_str_eq(s.lease.holder, "");
	ck_assert_int_eq(s.lease.duration_s, 1);
	ck_assert(!leader_leads(&l, 2001));
	run(&other, &s, 2100);
	ck_assert(leader_leads(&other, 2100));
}

TEST(le3_release_of_a_lost_lease_leaves_it)
{
	run(&l, &s, 1000);
	(void)snprintf(s.lease.holder, sizeof(s.lease.holder), "%s", OTHER);
	(void)snprintf(s.lease.rv, sizeof(s.lease.rv), "99");
	ck_assert(leader_release(&l, 2000));
	run(&l, &s, 2000);
	run(&l, &s, 4000);
	ck_assert_str_eq(s.lease.holder, OTHER);
	ck_assert(!leader_leads(&l, 4000));
}

TEST(le4_stops_before_another_can_begin)
{
	struct leader other;
	uint64_t now, at;

	leader_init(&other, OTHER, LEADER_ELECTION);
	run(&l, &s, 1000);
	/* The network of the leader is cut: nothing it asks is answered. */
	for (now = 1000; now < 60000; now += 100) {
		if (leader_step(&l, now, &at) != LEADER_WAIT) {
			free(leader_body(&l, "ns", "name", now, WALL));
			leader_answer(&l, 0, NULL, now, 0);
		}
		run(&other, &s, now);
		ck_assert_msg(!(leader_leads(&l, now) && leader_leads(&other, now)), "two lead at %llu",
			      (unsigned long long)now);
	}
	ck_assert(leader_leads(&other, now));
}

/* Who leads hears of it with the next renewal, and is cut off from that as well. */
TEST_LOOP(a_lease_that_is_deleted_makes_no_second_leader, 0, 2)
{
	const bool cut_off = _i == 1;
	struct leader other;
	uint64_t now, at;

	leader_init(&other, OTHER, LEADER_ELECTION);
	run(&l, &s, 1000);
	run(&other, &s, 1000);
	s.exists = false;
	for (now = 1100; now < 60000; now += 100) {
		run(&other, &s, now);
		if (!cut_off) {
			run(&l, &s, now);
		} else if (leader_step(&l, now, &at) != LEADER_WAIT) {
			free(leader_body(&l, "ns", "name", now, WALL));
			leader_answer(&l, 0, NULL, now, 0);
		}
		ck_assert_msg(!(leader_leads(&l, now) && leader_leads(&other, now)), "two lead at %llu",
			      (unsigned long long)now);
	}
	ck_assert(leader_leads(cut_off ? &other : &l, now));
}

/* Slow answers: validity counts from when the renewal was sent. */
TEST(validity_begins_when_the_write_was_sent)
{
	uint64_t at;

	run(&l, &s, 1000);
	ck_assert_int_eq(leader_step(&l, 3000, &at), LEADER_PATCH);
	free(leader_body(&l, "ns", "name", 3000, WALL));
	leader_answer(&l, 200, &s.lease, 7000, 0);
	ck_assert_uint_eq(leader_valid_until(&l), 3000 + LEADER_RENEW_MS);
}

TEST(le6_a_patch_changes_spec_and_nothing_else)
{
	uint64_t at;
	char *body;

	s = held_by("");
	ck_assert_int_eq(leader_step(&l, 1, &at), LEADER_GET);
	(void)leader_body(&l, "ns", "name", 1, WALL);
	leader_answer(&l, 200, &s.lease, 1, 0);
	ck_assert_int_eq(leader_step(&l, 1, &at), LEADER_PATCH);
	body = leader_body(&l, "ns", "name", 1, WALL);
	ck_assert_str_eq(
		body, "{\"metadata\":{\"resourceVersion\":\"7\"},\"spec\":{\"holderIdentity\":\"host-a_1\","
		      "\"leaseDurationSeconds\":15,\"acquireTime\":\"2023-11-14T22:13:20.000000Z\","
		      "\"renewTime\":\"2023-11-14T22:13:20.000000Z\",\"leaseTransitions\":4}}");
	free(body);
}

/* Any number of replicas, any order of steps, lost answers: never two leaders, and one in the end. */
TEST_LOOP(never_two_leaders, 0, 20)
{
	struct leader all[3];
	unsigned seed = 20261121u + (unsigned)_i;
	uint64_t now = 1;

	for (int i = 0; i < 3; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "replica-%d", i);
		leader_init(&all[i], name, LEADER_ELECTION);
	}
	for (int step = 0; step < 4000; step++) {
		struct leader *one_of = &all[rand_r(&seed) % 3];
		int leaders = 0;
		uint64_t at;

		now += (uint64_t)(rand_r(&seed) % 400);
		if (step < 3900 && rand_r(&seed) % 4 == 0) { /* the answer, or the request, is lost */
			enum leader_ask ask = leader_step(one_of, now, &at);
			char *body = ask != LEADER_WAIT ? leader_body(one_of, "ns", "name", now, WALL) : NULL;

			if (body && rand_r(&seed) % 2)
				(void)lease_write(&s, body, ask == LEADER_CREATE);
			free(body);
			if (ask != LEADER_WAIT)
				leader_answer(one_of, 0, NULL, now, 0.5);
		} else {
			(void)one(one_of, &s, now);
		}
		for (int i = 0; i < 3; i++)
			leaders += leader_leads(&all[i], now);
		ck_assert_int_le(leaders, 1);
	}
	for (int i = 0; i < 400; i++)
		(void)one(&all[i % 3], &s, now += 100);
	ck_assert_int_eq(leader_leads(&all[0], now) + leader_leads(&all[1], now) + leader_leads(&all[2], now),
			 1);
}

/* -- presence -- */

static void renew(void)
{
	s.lease.renewed++;
	(void)snprintf(s.lease.rv, sizeof(s.lease.rv), "%u", ++s.version);
}

TEST(a_presence_is_kept_at_its_own_pace)
{
	uint64_t at = 0;

	leader_init(&l, ME, LEADER_PRESENCE);
	run(&l, &s, 1000);
	ck_assert_int_eq(s.lease.duration_s, LEADER_PRESENCE_MS / 1000);
	ck_assert_int_eq(leader_step(&l, 1000, &at), LEADER_WAIT);
	ck_assert_uint_eq(at, 1000 + LEADER_PRESENCE_RETRY_MS);
	run(&l, &s, at);
	ck_assert_str_eq(s.ops, "get create update ");
	ck_assert_str_eq(leader_other(&l, at), "");
	ck_assert(leader_release(&l, at + 1));
	run(&l, &s, at + 1);
	ck_assert_str_eq(s.lease.holder, "");
}

TEST(another_instance_is_one_that_is_seen_to_write)
{
	uint64_t now = 1000;

	s = held_by(OTHER);
	s.lease.duration_s = 60;
	leader_init(&l, ME, LEADER_PRESENCE);
	run(&l, &s, now);
	ck_assert_msg(!*leader_other(&l, now), "the first sight tells of nobody who lives");
	renew();
	run(&l, &s, now += LEADER_PRESENCE_RETRY_MS);
	ck_assert_str_eq(leader_other(&l, now), OTHER);
	run(&l, &s, now += LEADER_PRESENCE_RETRY_MS);
	ck_assert_str_eq(leader_other(&l, now), OTHER);
	/* It dies: its Lease runs out 60 s after its last write was seen, and is ours. */
	ck_assert_str_eq(leader_other(&l, 1000 + LEADER_PRESENCE_RETRY_MS + 59999), OTHER);
	ck_assert_str_eq(leader_other(&l, 1000 + LEADER_PRESENCE_RETRY_MS + 60000), "");
	run(&l, &s, now += 2 * LEADER_PRESENCE_RETRY_MS);
	ck_assert_str_eq(s.lease.holder, ME);
	/* Another one that takes it from us is alive, too. */
	(void)snprintf(s.lease.holder, sizeof(s.lease.holder), "%s", OTHER);
	renew();
	run(&l, &s, now += LEADER_PRESENCE_RETRY_MS);
	ck_assert_str_eq(leader_other(&l, now), OTHER);
	/* It ends in order: nobody holds it. */
	s.lease.holder[0] = '\0';
	renew();
	run(&l, &s, now += LEADER_PRESENCE_RETRY_MS);
	ck_assert_str_eq(leader_other(&l, now), "");
	ck_assert_str_eq(s.lease.holder, ME);
}

/* What a former life has left runs out, and is nobody else's. */
TEST(a_crashed_former_life_is_no_other_instance)
{
	uint64_t now = 1000;

	s = held_by("host-a_0");
	s.lease.duration_s = 60;
	leader_init(&l, ME, LEADER_PRESENCE);
	for (; now <= 1000 + 4 * LEADER_PRESENCE_RETRY_MS; now += 1000) {
		run(&l, &s, now);
		ck_assert_str_eq(leader_other(&l, now), "");
	}
	ck_assert_str_eq(s.lease.holder, ME);
}

/* The duration of the record counts, so no election ends before a presence has. */
TEST_LOOP(a_standby_waits_for_a_presence, 0, 2)
{
	struct leader present;
	uint64_t now = 1000, last = 0;

	leader_init(&present, OTHER, LEADER_PRESENCE);
	run(&present, &s, now);
	for (; now < 300000; now += 500) {
		if (now < 200000) {
			const unsigned version = s.version;

			run(&present, &s, now);
			last = s.version != version ? now : last;
		}
		run(&l, &s, now);
		ck_assert_msg(!leader_leads(&l, now) || now >= last + LEADER_PRESENCE_MS,
			      "leads at %llu, last %llu", (unsigned long long)now, (unsigned long long)last);
		if (_i == 1 && now == 100000 && leader_release(&present, now)) {
			run(&present, &s, now); /* ends in order: taken over at once */
			ck_assert_str_eq(s.lease.holder, "");
			break;
		}
	}
	run(&l, &s, now += 5000);
	ck_assert(leader_leads(&l, now));
}

/* No right, or no namespace: asked seldom. All else: at the next try. */
TEST(a_presence_that_is_denied_is_asked_for_seldom)
{
	static const struct {
		enum leader_ask asked;
		long status;
		uint64_t wait;
	} rows[] = {
		{ LEADER_GET, 403, LEADER_DENIED_MS },
		{ LEADER_CREATE, 403, LEADER_DENIED_MS },
		{ LEADER_CREATE, 404, LEADER_DENIED_MS },
		{ LEADER_CREATE, 409, LEADER_PRESENCE_RETRY_MS },
		{ LEADER_GET, 500, LEADER_PRESENCE_RETRY_MS },
		{ LEADER_GET, 0, LEADER_PRESENCE_RETRY_MS },
	};
	uint64_t at;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		leader_init(&l, ME, LEADER_PRESENCE);
		ck_assert_int_eq(leader_step(&l, 1000, &at), LEADER_GET);
		if (rows[i].asked == LEADER_CREATE) {
			leader_answer(&l, 404, NULL, 1000, 0);
			ck_assert_int_eq(leader_step(&l, 1000, &at), LEADER_CREATE);
		}
		leader_answer(&l, rows[i].status, NULL, 1000, 0.9);
		ck_assert_int_eq(leader_step(&l, 1000, &at), LEADER_WAIT);
		ck_assert_uint_eq(at, 1000 + rows[i].wait);
	}
	/* An election needs it: as often as ever. */
	leader_init(&l, ME, LEADER_ELECTION);
	ck_assert_int_eq(leader_step(&l, 1000, &at), LEADER_GET);
	leader_answer(&l, 403, NULL, 1000, 0);
	ck_assert_int_eq(leader_step(&l, 1000, &at), LEADER_WAIT);
	ck_assert_uint_eq(at, 1000 + LEADER_RETRY_MS);
}

TEST(reads_a_lease)
{
	/* metadata.resourceVersion 6: "42"; spec: holder, 15 s, acquire 10.5 s, renew 20 s, 3 transitions */
	static const char wire[] =
		"k8s\0"
		"\x0a\x1f\x0a\x16"
		"coordination.k8s.io/v1"
		"\x12\x05Lease"
		"\x12\x21\x0a\x04\x32\x02"
		"42"
		"\x12\x19\x0a\x03"
		"abc"
		"\x10\x0f\x1a\x08\x08\x0a\x10\x80\xca\xb5\xee\x01\x22\x02\x08\x14\x28\x03\x78\x01";
	struct lease_facts f;

	ck_assert_int_eq(decode_lease_answer(wire, sizeof(wire) - 1, &f), 0);
	ck_assert_str_eq(f.holder, "abc");
	ck_assert_str_eq(f.rv, "42");
	ck_assert_int_eq(f.duration_s, 15);
	ck_assert_int_eq(f.acquired, 10500);
	ck_assert_int_eq(f.renewed, 20000);
	ck_assert_int_eq(f.transitions, 3);
	for (size_t cut = 0; cut < sizeof(wire) - 1 - 27; cut++) /* up to the spec */
		ck_assert_int_eq(decode_lease_answer(wire, cut, &f), -EBADMSG);
	ck_assert_int_eq(decode_lease_answer("k8s", 3, &f), -EBADMSG);
}

TEST_MAIN("kube/leader")
{
	tcase_add_checked_fixture(t, setup, NULL);
}
