/* test_lease.c - one actor per object, nothing lost: cases and a random walk against the invariants of the
 * Spin model. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/actions/lease.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

static struct lease_table *table;
static uint64_t paused; /* a duty */

static bool is_paused(__attribute__((unused)) void *ctx, const struct lease *l)
{
	return l->duty == paused;
}

static void set_up(void)
{
	paused = 99; /* none */
	table = lease_table_new(is_paused, NULL);
}

static void tear_down(void)
{
	lease_table_free(&table);
}

static struct msg nominate(uint64_t cluster, unsigned key)
{
	struct msg m = { .type = MSG_NOMINATE, .u.nominate.cluster = cluster };
	struct msg_nominate *n = &m.u.nominate;

	(void)snprintf(n->action_key, sizeof(n->action_key), "uid-%u", key);
	(void)snprintf(n->name, sizeof(n->name), "pod-%u", key);
	strcpy(n->uid, n->action_key);
	strcpy(n->ns, "default");
	strcpy(n->reason, "Evicted");
	return m;
}

static struct msg unpacked(const struct msg_packed *p)
{
	struct msg m;

	msg_unpack(p, &m);
	return m;
}

static struct msg result(uint64_t id)
{
	struct msg m = { .type = MSG_RESULT, .u.result = { .id = id, .replicas = -1 } };

	strcpy(m.u.result.reason, "Evicted");
	return m;
}

/* Its INTENT goes out, and is acknowledged. */
static bool written(struct lease *l)
{
	if (lease_next_intent(table, l->cluster) == l)
		lease_intent_sent(table, l);
	return lease_written(table, l);
}

/* The next n INTENTs of the cluster cannot be written down. */
static void drop(uint64_t cluster, uint64_t n)
{
	while (n-- > 0) {
		struct lease *l = lease_next_intent(table, cluster);

		lease_intent_sent(table, l);
		lease_close(table, &l);
	}
}

static struct lease *waiting(unsigned key, uint64_t duty)
{
	struct msg m = nominate(0, key);

	m.u.nominate.duty = duty;
	struct lease *l = lease_open(table, &m, false);

	ck_assert(written(l));
	return l;
}

static struct msg quote(uint64_t id, uint64_t number, const char *text)
{
	struct msg m = { .type = MSG_QUOTE, .u.quote = { .id = id, .number = number } };

	strcpy(m.u.quote.pod, "web");
	msg_set(&m, quote.text, text, strlen(text));
	return m;
}

/* Of a cluster that has many, whatever the others have. */
TEST(an_intent_in_bulk)
{
	struct msg m;

	for (unsigned key = 0; key <= LEASES_BULK; key++) {
		m = nominate(0, key);
		ck_assert_int_eq(unpacked(lease_open(table, &m, false)->intent).u.intent.in_bulk,
				 key == LEASES_BULK);
	}
	m = nominate(1, 1);
	ck_assert(!unpacked(lease_open(table, &m, false)->intent).u.intent.in_bulk);
}

/* Of whoever holds the lease, and of nobody else; and they stay when that one dies. */
TEST(quotes_belong_to_the_lease)
{
	struct lease *l = waiting(1, 0);
	struct msg m = quote(l->id, 1, "first");
	const size_t before = lease_table_bytes(table);

	ck_assert_int_eq(lease_quote(table, 3, &m), -EPERM);
	ck_assert_ptr_eq(lease_grant(table, 0, 3, 1000), l);
	ck_assert_int_eq(lease_quote(table, 4, &m), -EPERM);
	ck_assert_int_eq(lease_quote(table, 3, &m), 0);
	m = quote(l->id, 1, "again");
	ck_assert_int_eq(lease_quote(table, 3, &m), 0);
	ck_assert_uint_gt(lease_table_bytes(table), before);
	lease_holder_died(table, l);
	ck_assert_ptr_eq(lease_grant(table, 0, 5, 1000), l);
	ck_assert_ptr_null(l->quotes->v[0]);
	ck_assert_str_eq(unpacked(l->quotes->v[1]).u.quote.text, "again");
	const struct msg r = result(l->id);

	ck_assert_int_eq(lease_result(table, 5, &r, &l), 0);
	lease_close(table, &l);
	ck_assert_uint_eq(lease_table_bytes(table), 0);
}

static struct lease *opened(uint64_t cluster, unsigned key, bool by_operator)
{
	struct msg m = { .type = MSG_INTENT };
	const struct msg from = nominate(cluster, key);

	msg_copy_fields(&m, &from);
	m.u.intent.by_operator = by_operator;
	return lease_open(table, &m, false);
}

/* So another cluster's do not wait behind all of them. */
TEST(a_cluster_has_few_intents_on_their_way)
{
	struct lease *last, *other;

	for (unsigned key = 0; key <= INTENTS_SENT_MAX; key++)
		last = opened(0, key, false);
	other = opened(1, 0, false);
	for (uint64_t id = 1; id <= INTENTS_SENT_MAX; id++) {
		ck_assert_uint_eq(lease_next_intent(table, 0)->id, id);
		lease_intent_sent(table, lease_find(table, id));
	}
	ck_assert_ptr_null(lease_next_intent(table, 0));
	ck_assert_ptr_eq(lease_next_intent(table, 1), other);
	ck_assert(!lease_written(table, last)); /* it is not on its way */
	ck_assert(lease_written(table, lease_find(table, 7)));
	ck_assert_ptr_eq(lease_next_intent(table, 0), last);
	lease_intent_sent(table, last);
	ck_assert_ptr_null(lease_next_intent(table, 0));
	lease_close(table, &last); /* it could not be written down, and makes room too */
	last = opened(0, INTENTS_SENT_MAX, false);
	ck_assert_ptr_eq(lease_next_intent(table, 0), last);
}

TEST(an_intent_of_an_operator_goes_first)
{
	struct lease *a = opened(0, 1, false), *b = opened(0, 2, true);

	ck_assert_ptr_eq(lease_next_intent(table, 0), b);
	lease_intent_sent(table, b);
	ck_assert_ptr_eq(lease_next_intent(table, 0), a);
}

/* With a reporter that dies. */
TEST(an_intent_is_sent_until_it_is_written)
{
	struct lease *a = waiting(1, 0), *b = opened(0, 2, false), *c = opened(0, 3, false);

	lease_intent_sent(table, b);
	lease_table_set_unsent(table);
	ck_assert(!b->sent);
	ck_assert(!lease_written(table, b)); /* by the old one */
	for (unsigned n = 0; n < 2; n++)
		lease_intent_sent(table, lease_next_intent(table, 0));
	ck_assert(b->sent && c->sent);
	ck_assert_ptr_null(lease_next_intent(table, 0));
	ck_assert_ptr_eq(lease_grant(table, 0, 0, 100), a);
}

TEST(one_lease_per_key_and_cluster)
{
	const struct msg a = nominate(0, 1), b = nominate(1, 1);

	ck_assert_ptr_nonnull(lease_open(table, &a, false));
	ck_assert_ptr_null(lease_open(table, &a, false));
	ck_assert_ptr_nonnull(lease_open(table, &b, false));
	ck_assert_uint_eq(lease_table_count(table), 2);
}

TEST(not_granted_before_it_is_written)
{
	const struct msg a = nominate(0, 1);
	struct lease *l = lease_open(table, &a, true);

	ck_assert(unpacked(l->intent).u.intent.observe);
	ck_assert_ptr_null(lease_grant(table, 0, 0, 100));
	ck_assert(written(l));
	ck_assert(!written(l));
	ck_assert_ptr_null(lease_grant(table, 1, 0, 100));
	ck_assert_ptr_eq(lease_grant(table, 0, 0, 100), l);
	ck_assert(!written(l));
}

TEST(result_only_from_the_holder)
{
	const struct msg a = nominate(0, 1);
	struct lease *l = waiting(1, 0), *ended;
	const struct msg good = result(l->id), bad = result(l->id + 1);

	(void)lease_grant(table, 0, 3, 100);
	ck_assert_int_eq(lease_result(table, 2, &good, &ended), -EPERM);
	ck_assert_int_eq(lease_result(table, 3, &bad, &ended), -EPERM);
	ck_assert_int_eq(lease_result(table, 3, &good, &ended), 0);
	ck_assert_int_eq(lease_result(table, 3, &good, &ended), -EPERM);
	ck_assert_int_eq(ended->phase, LEASE_RECORDING);
	ck_assert_ptr_null(lease_open(table, &a, false));
	lease_close(table, &ended);
	ck_assert_ptr_nonnull(lease_open(table, &a, false));
}

TEST(a_dead_holder_puts_it_back_in_doubt_and_first)
{
	struct lease *first = waiting(1, 0), *second = waiting(2, 0);

	ck_assert_ptr_eq(lease_grant(table, 0, 0, 100), first);
	ck_assert(!first->verify_first);
	lease_holder_died(table, first);
	ck_assert(first->verify_first);
	ck_assert_ptr_eq(lease_grant(table, 0, 1, 100), first);
	ck_assert_ptr_eq(lease_grant(table, 0, 0, 100), second);
	ck_assert_uint_eq(first->grants, 2);
}

TEST(open_intents_of_an_earlier_life)
{
	struct msg m = nominate(0, 1), open = { .type = MSG_OPEN_INTENT };

	msg_copy_fields(&open, &m);
	open.u.open_intent.id = 17;
	struct lease *l = lease_reopen(table, &open, "");

	ck_assert(l->verify_first);
	ck_assert_int_eq(l->phase, LEASE_WAITING);
	ck_assert_ptr_null(lease_reopen(table, &open, ""));
	ck_assert_ptr_null(lease_open(table, &m, false));
	open.u.open_intent.id = 18; /* another one of the same object: there is one actor */
	ck_assert_ptr_null(lease_reopen(table, &open, ""));
	ck_assert_uint_eq(lease_table_count(table), 1);
	lease_table_set_next_id(table, 5); /* ids never go back */
	m = nominate(0, 2);
	ck_assert_uint_eq(lease_open(table, &m, false)->id, 19);
}

enum { KEYS = 40, HOLDERS = 5, CLUSTERS = 2 };

static unsigned key_of(const struct lease *l)
{
	return (unsigned)strtoul(l->key + 4, NULL, 10);
}

static void check_invariants(void)
{
	unsigned held_by[CLUSTERS][KEYS] = { 0 }; /* how many holders act on it */

	for (int h = 0; h < HOLDERS; h++) {
		const unsigned n = lease_count_held(table, h);

		ck_assert_uint_le(n, WORKER_LEASES_MAX);
		for (const struct lease *l = lease_held_by(table, h); l; l = l->next) {
			ck_assert_int_eq(l->phase, LEASE_GRANTED);
			ck_assert_int_eq(l->holder, h);
			ck_assert(n == 1 || !l->verify_first);
			ck_assert_uint_eq(++held_by[l->cluster][key_of(l)], 1);
		}
	}
}

static struct lease *some_lease(unsigned r)
{
	struct lease *l = lease_next(table, NULL), *next;

	for (unsigned skip = r % (KEYS * CLUSTERS); skip > 0 && l && (next = lease_next(table, l)); skip--)
		l = next;
	return l;
}

static void step(unsigned r)
{
	const int holder = (int)(r / 7 % HOLDERS);
	const struct msg refusal = result(1);
	struct msg m = nominate(r / 11 % CLUSTERS, r / 13 % KEYS);
	struct lease *l = lease_held_by(table, holder), *any;

	m.u.nominate.duty = r / 23 % 3;
	switch (r % 7) {
	case 6: /* pause and resume one duty, refuse what of it waits */
		paused = r / 19 % 3;
		(void)lease_refuse_paused(table, r / 11 % CLUSTERS, &refusal);
		break;
	case 0:
		any = lease_open(table, &m, false);
		break;
	case 1:
		any = lease_next_intent(table, r / 11 % CLUSTERS);
		if (r / 31 % 50 == 0)
			lease_table_set_unsent(table);
		else if (any && r / 37 % 2)
			lease_intent_sent(table, any);
		else if ((any = some_lease(r / 17)) != NULL)
			(void)lease_written(table, any);
		break;
	case 2:
		(void)lease_grant(table, r / 11 % CLUSTERS, holder, 1);
		break;
	case 3:
		if (l && l->next && r / 29 % 2)
			l = l->next;
		if (l) {
			const struct msg res = result(l->id);

			ck_assert_int_eq(lease_result(table, holder, &res, &any), 0);
		}
		break;
	case 4:
		for (; l; l = lease_held_by(table, holder))
			lease_holder_died(table, l);
		break;
	default:
		any = some_lease(r / 17);
		if (any && any->phase == LEASE_RECORDING)
			lease_close(table, &any);
	}
}

TEST(random_walk)
{
	srand(7);
	for (int i = 0; i < 300000; i++) {
		step((unsigned)rand());
		check_invariants();
		ck_assert_uint_le(lease_table_count(table), KEYS * CLUSTERS);
	}
}

TEST(paused_leases_are_passed_over_and_refused)
{
	const struct msg res = result(1);
	struct lease *a = waiting(1, 1), *b = waiting(2, 0), *c = waiting(3, 1);

	ck_assert_ptr_null(lease_refuse_paused(table, 0, &res)); /* nothing is paused yet */
	paused = 1;
	ck_assert_ptr_eq(lease_grant(table, 0, 0, 100), b);
	ck_assert_ptr_null(lease_grant(table, 0, 1, 100));
	ck_assert_ptr_null(lease_refuse_paused(table, 1, &res));
	ck_assert_ptr_eq(lease_refuse_paused(table, 0, &res), a);
	ck_assert_ptr_eq(lease_refuse_paused(table, 0, &res), c);
	ck_assert_ptr_null(lease_refuse_paused(table, 0, &res));
	ck_assert_int_eq(a->phase, LEASE_RECORDING);
	ck_assert_uint_eq(unpacked(a->record).u.record.id, a->id);
	ck_assert_uint_eq(unpacked(c->record).u.record.id, c->id);
	ck_assert_str_eq(unpacked(c->record).u.record.reason, "Evicted");
	paused = 99;
	struct lease *d = waiting(4, 1); /* the queue still works behind its old tail */

	ck_assert_ptr_eq(lease_grant(table, 0, 1, 100), d);
}

/* A pause must not end what may already have been written. */
TEST(paused_lease_in_doubt_waits)
{
	const struct msg res = result(1);
	struct lease *a = waiting(1, 1);

	ck_assert_ptr_eq(lease_grant(table, 0, 0, 100), a);
	paused = 1;
	lease_holder_died(table, a);
	ck_assert_ptr_null(lease_grant(table, 0, 0, 100));
	ck_assert_ptr_null(lease_refuse_paused(table, 0, &res));
	ck_assert_int_eq(a->phase, LEASE_WAITING);
	paused = 99;
	ck_assert_ptr_eq(lease_grant(table, 0, 0, 100), a);
}

TEST(every_child_can_hold_one)
{
	struct lease *l = waiting(1, 0);

	ck_assert_ptr_null(lease_grant(table, 0, CHILDREN_MAX, 100));
	ck_assert_ptr_eq(lease_grant(table, 0, CHILDREN_MAX - 1, 100), l);
	ck_assert_uint_eq(lease_count_held(table, CHILDREN_MAX - 1), 1);
}

/* As long as a pod's are. */
static struct msg usual(unsigned key)
{
	struct msg m = nominate(0, key);
	struct msg_nominate *n = &m.u.nominate;

	(void)snprintf(n->uid, sizeof(n->uid), "3f2c8a10-5b1e-4c77-9d0a-%012u", key);
	strcpy(n->action_key, n->uid);
	(void)snprintf(n->name, sizeof(n->name), "checkout-7d9c5b8f6d-%05u", key);
	strcpy(n->rv, "1234567890");
	SET_SAID(n->evidence, "phase Failed, reason Evicted, for 3h12m; hours is 1h");
	n->since = INT64_C(1700000000000);
	return m;
}

/* As long as any can be. */
static struct msg longest(unsigned key)
{
	struct msg m = usual(key);
	struct msg_nominate *n = &m.u.nominate;

	memset(n->ns, 'n', sizeof(n->ns) - 1);
	memset(n->name, 'n', sizeof(n->name) - 1);
	char words[FACTS_MAX + 1] = "";

	memset(words, 'e', FACTS_MAX);
	SET_SAID(n->evidence, words);
	return m;
}

TEST(memory_is_small_and_has_a_limit)
{
	struct msg m = usual(0);
	size_t n = 1;

	ck_assert_ptr_nonnull(lease_open(table, &m, false));
	ck_assert_uint_le(lease_table_bytes(table), 400);
	for (; !lease_table_is_full(table, 0, true); n++) {
		m = usual((unsigned)n);
		ck_assert_ptr_nonnull(lease_open(table, &m, false));
	}
	ck_assert_uint_eq(n, LEASES_MAX);
	tear_down();
	set_up();
	for (n = 0; !lease_table_is_full(table, 0, true); n++) {
		m = longest((unsigned)n);
		ck_assert_ptr_nonnull(lease_open(table, &m, false));
	}
	ck_assert_uint_gt(n, 2000);
	ck_assert_uint_lt(lease_table_bytes(table), LEASES_BYTES_MAX + 2048);
	drop(0, n);
	ck_assert_uint_eq(lease_table_bytes(table), 0);
}

/* It has twice as much as it leaves to others; who is alone has all. */
TEST(no_cluster_fills_the_table)
{
	uint64_t n[3] = { 0 };

	for (uint64_t c = 0; c < 3; c++)
		for (; !lease_table_is_full(table, c, false); n[c]++) {
			struct msg m = usual((unsigned)n[c]);

			m.u.nominate.cluster = c;
			ck_assert_ptr_nonnull(lease_open(table, &m, false));
		}
	ck_assert_uint_ge(n[0], 5000); /* a storm of one cluster is not slowed */
	ck_assert_uint_ge(n[1], 1800); /* what one leaves, the next may have two thirds of */
	ck_assert_uint_ge(n[2], 600);
	ck_assert_uint_lt(lease_table_count(table), LEASES_MAX);
	ck_assert(!lease_table_is_full(table, 0, true));
	ck_assert_uint_eq(lease_table_count_of(table, 1), n[1]);
	drop(0, n[0]);
	ck_assert(!lease_table_is_full(table, 0, false));
	ck_assert_uint_eq(lease_table_count_of(table, 0), 0);
}

TEST(a_holder_has_room_for_a_few)
{
	struct lease *l[WORKER_LEASES_MAX + 1], *ended;

	for (unsigned i = 0; i <= WORKER_LEASES_MAX; i++)
		l[i] = waiting(i, 0);
	for (unsigned i = 0; i < WORKER_LEASES_MAX; i++)
		ck_assert_ptr_eq(lease_grant(table, 0, 0, 100), l[i]);
	ck_assert_ptr_null(lease_grant(table, 0, 0, 100));
	ck_assert_uint_eq(lease_count_held(table, 0), WORKER_LEASES_MAX);

	const struct msg res = result(l[1]->id);

	ck_assert_int_eq(lease_result(table, 1, &res, &ended), -EPERM);
	ck_assert_int_eq(lease_result(table, 0, &res, &ended), 0);
	ck_assert_ptr_eq(ended, l[1]);
	ck_assert_int_eq(lease_result(table, 0, &res, &ended), -EPERM);
	ck_assert_ptr_eq(lease_grant(table, 0, 0, 100), l[WORKER_LEASES_MAX]);
}

TEST(all_of_a_dead_holder_come_back_in_order)
{
	struct lease *l[3];

	for (unsigned i = 0; i < 3; i++)
		l[i] = waiting(i, 0);
	for (unsigned i = 0; i < 3; i++)
		(void)lease_grant(table, 0, 0, 100);
	for (unsigned i = 0; i < 3; i++)
		lease_holder_died(table, lease_held_by(table, 0));
	ck_assert_ptr_null(lease_held_by(table, 0));
	for (unsigned i = 0; i < 3; i++)
		ck_assert_ptr_eq(lease_grant(table, 0, (int)i, 100), l[i]);
}

/* What kills its holders must not take others with it again and again; and it must get its turn. */
TEST(one_in_doubt_is_granted_alone_and_not_overtaken)
{
	struct lease *a = waiting(1, 0), *b = waiting(2, 0), *c = waiting(3, 0), *ended;
	const struct msg res = result(b->id);

	(void)lease_grant(table, 0, 0, 100);
	ck_assert_ptr_eq(lease_grant(table, 0, 1, 100), b);
	lease_holder_died(table, a);
	ck_assert_ptr_null(lease_grant(table, 0, 1, 100)); /* it is at work, and c does not overtake a */
	ck_assert_ptr_eq(lease_grant(table, 0, 0, 100), a);
	ck_assert_ptr_null(lease_grant(table, 0, 0, 100)); /* a stays alone */
	ck_assert_ptr_eq(lease_grant(table, 0, 1, 100), c);
	ck_assert_int_eq(lease_result(table, 1, &res, &ended), 0);
}

TEST_MAIN("supervisor/lease")
{
	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, set_up, tear_down);
}
