/* test_lease.c - one actor per object, nothing lost: cases and a random walk against the invariants of the
 * Spin model. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/actions/lease.h"
#include "tests/suite.h"

static struct msg nominate(uint64_t cluster, unsigned subject)
{
	struct msg m = { .type = MSG_NOMINATE };

	m.u.nominate.cluster = cluster;
	(void)snprintf(m.u.nominate.action_key, sizeof(m.u.nominate.action_key), "uid-%u", subject);
	(void)snprintf(m.u.nominate.name, sizeof(m.u.nominate.name), "pod-%u", subject);
	strcpy(m.u.nominate.ns, "default");
	return m;
}

static struct msg result(uint64_t id)
{
	struct msg m = { .type = MSG_RESULT, .u.result = { .id = id, .replicas = -1 } };

	strcpy(m.u.result.reason, "Evicted");
	return m;
}

/* Holds the duty that ctx names. */
static bool hold_duty(void *ctx, const struct lease *l)
{
	return l->intent.u.intent.duty == *(const uint64_t *)ctx;
}

START_TEST(one_lease_per_subject_and_cluster)
{
	struct lease_table *t = lease_table_new();
	const struct msg a = nominate(0, 1), b = nominate(1, 1);

	ck_assert_ptr_nonnull(lease_open(t, &a, false));
	ck_assert_ptr_null(lease_open(t, &a, false));
	ck_assert_ptr_nonnull(lease_open(t, &b, false));
	ck_assert_uint_eq(lease_table_count(t), 2);
	lease_table_free(&t);
}
END_TEST

START_TEST(not_granted_before_it_is_written)
{
	struct lease_table *t = lease_table_new();
	const struct msg a = nominate(0, 1);
	struct lease *l = lease_open(t, &a, true);

	ck_assert(l->intent.u.intent.observe);
	ck_assert_ptr_null(lease_grant(t, 0, 0, 100));
	ck_assert(lease_written(t, l));
	ck_assert(!lease_written(t, l));
	ck_assert_ptr_null(lease_grant(t, 1, 0, 100));
	ck_assert_ptr_eq(lease_grant(t, 0, 0, 100), l);
	ck_assert(!lease_written(t, l));
	lease_table_free(&t);
}
END_TEST

START_TEST(result_only_from_the_holder)
{
	struct lease_table *t = lease_table_new();
	const struct msg a = nominate(0, 1);
	struct lease *l = lease_open(t, &a, false), *ended;
	const struct msg good = result(l->intent.u.intent.id), bad = result(l->intent.u.intent.id + 1);

	(void)lease_written(t, l);
	(void)lease_grant(t, 0, 3, 100);
	ck_assert_int_eq(lease_result(t, 2, &good, &ended), -EPERM);
	ck_assert_int_eq(lease_result(t, 3, &bad, &ended), -EPERM);
	ck_assert_int_eq(lease_result(t, 3, &good, &ended), 0);
	ck_assert_int_eq(lease_result(t, 3, &good, &ended), -EPERM);
	ck_assert_int_eq(ended->phase, LEASE_RECORDING);
	ck_assert_ptr_null(lease_open(t, &a, false));
	lease_close(t, &ended);
	ck_assert_ptr_nonnull(lease_open(t, &a, false));
	lease_table_free(&t);
}
END_TEST

START_TEST(a_dead_holder_puts_it_back_in_doubt_and_first)
{
	struct lease_table *t = lease_table_new();
	const struct msg a = nominate(0, 1), b = nominate(0, 2);
	struct lease *first = lease_open(t, &a, false), *second = lease_open(t, &b, false);

	(void)lease_written(t, first);
	(void)lease_written(t, second);
	ck_assert_ptr_eq(lease_grant(t, 0, 0, 100), first);
	ck_assert(!first->verify_first);
	lease_holder_died(t, first);
	ck_assert(first->verify_first);
	ck_assert_ptr_eq(lease_grant(t, 0, 1, 100), first);
	ck_assert_ptr_eq(lease_grant(t, 0, 0, 100), second);
	ck_assert_uint_eq(first->grants, 2);
	lease_table_free(&t);
}
END_TEST

START_TEST(open_intents_of_an_earlier_life)
{
	struct lease_table *t = lease_table_new();
	struct msg m = nominate(0, 1), open = { .type = MSG_OPEN_INTENT };

	msg_copy_fields(&open, &m);
	open.u.open_intent.id = 17;
	struct lease *l = lease_reopen(t, &open);

	ck_assert(l->verify_first);
	ck_assert_int_eq(l->phase, LEASE_WAITING);
	ck_assert_ptr_null(lease_reopen(t, &open));
	ck_assert_ptr_null(lease_open(t, &m, false));
	open.u.open_intent.id = 18; /* another one of the same object: there is one actor */
	ck_assert_ptr_null(lease_reopen(t, &open));
	ck_assert_uint_eq(lease_table_count(t), 1);
	lease_table_set_next_id(t, 5); /* ids never go back */
	m = nominate(0, 2);
	ck_assert_uint_eq(lease_open(t, &m, false)->intent.u.intent.id, 19);
	lease_table_free(&t);
}
END_TEST

enum { SUBJECTS = 40, HOLDERS = 5, CLUSTERS = 2 };

struct walk {
	struct lease_table *t;
	unsigned held_by[CLUSTERS][SUBJECTS]; /* how many holders act on it */
	uint64_t held;                        /* the duty that is paused */
};

static unsigned subject_of(const struct lease *l)
{
	return (unsigned)strtoul(l->intent.u.intent.action_key + 4, NULL, 10);
}

static void check_invariants(struct walk *w)
{
	memset(w->held_by, 0, sizeof(w->held_by));
	for (int h = 0; h < HOLDERS; h++) {
		const unsigned n = lease_count_held(w->t, h);

		ck_assert_uint_le(n, WORKER_LEASES_MAX);
		for (const struct lease *l = lease_held_by(w->t, h); l; l = l->next_held) {
			ck_assert_int_eq(l->phase, LEASE_GRANTED);
			ck_assert_int_eq(l->holder, h);
			ck_assert(n == 1 || !l->verify_first);
			ck_assert_uint_eq(++w->held_by[l->intent.u.intent.cluster][subject_of(l)], 1);
		}
	}
}

struct pick {
	unsigned skip;
	struct lease *found;
};

static void pick_one(void *ctx, struct lease *l)
{
	struct pick *p = ctx;

	if (!p->found || (p->skip > 0 && p->skip--))
		p->found = l;
}

static struct lease *some_lease(struct walk *w, unsigned r)
{
	struct pick p = { r % (SUBJECTS * CLUSTERS), NULL };

	lease_each(w->t, pick_one, &p);
	return p.found;
}

static void step(struct walk *w, unsigned r)
{
	const int holder = (int)(r / 7 % HOLDERS);
	const struct msg refusal = result(1);
	struct msg m = nominate(r / 11 % CLUSTERS, r / 13 % SUBJECTS);
	struct lease *l = lease_held_by(w->t, holder), *any;

	m.u.nominate.duty = r / 23 % 3;
	switch (r % 7) {
	case 6: /* pause and resume one duty, refuse what it holds */
		w->held = r / 19 % 3;
		(void)lease_refuse_held(w->t, r / 11 % CLUSTERS, &refusal);
		break;
	case 0:
		any = lease_open(w->t, &m, false);
		break;
	case 1:
		any = some_lease(w, r / 17);
		if (any)
			(void)lease_written(w->t, any);
		break;
	case 2:
		(void)lease_grant(w->t, r / 11 % CLUSTERS, holder, 1);
		break;
	case 3:
		if (l && l->next_held && r / 29 % 2)
			l = l->next_held;
		if (l) {
			const struct msg res = result(l->intent.u.intent.id);

			ck_assert_int_eq(lease_result(w->t, holder, &res, &any), 0);
		}
		break;
	case 4:
		for (; l; l = lease_held_by(w->t, holder))
			lease_holder_died(w->t, l);
		break;
	default:
		any = some_lease(w, r / 17);
		if (any && any->phase == LEASE_RECORDING)
			lease_close(w->t, &any);
	}
}

START_TEST(random_walk)
{
	struct walk w = { .t = lease_table_new() };

	lease_table_set_hold(w.t, hold_duty, &w.held);
	srand(7);
	for (int i = 0; i < 300000; i++) {
		step(&w, (unsigned)rand());
		check_invariants(&w);
		ck_assert_uint_le(lease_table_count(w.t), SUBJECTS * CLUSTERS);
	}
	lease_table_free(&w.t);
}
END_TEST

static struct lease *waiting(struct lease_table *t, unsigned subject, uint64_t duty)
{
	struct msg m = nominate(0, subject);

	m.u.nominate.duty = duty;
	struct lease *l = lease_open(t, &m, false);

	ck_assert(lease_written(t, l));
	return l;
}

START_TEST(held_leases_are_passed_over_and_refused)
{
	struct lease_table *t = lease_table_new();
	uint64_t held = 1;
	const struct msg res = result(1);
	struct lease *a = waiting(t, 1, 1), *b = waiting(t, 2, 0), *c = waiting(t, 3, 1);

	ck_assert_ptr_null(lease_refuse_held(t, 0, &res)); /* nothing is held yet */
	lease_table_set_hold(t, hold_duty, &held);
	ck_assert_ptr_eq(lease_grant(t, 0, 0, 100), b);
	ck_assert_ptr_null(lease_grant(t, 0, 1, 100));
	ck_assert_ptr_null(lease_refuse_held(t, 1, &res));
	ck_assert_ptr_eq(lease_refuse_held(t, 0, &res), a);
	ck_assert_ptr_eq(lease_refuse_held(t, 0, &res), c);
	ck_assert_ptr_null(lease_refuse_held(t, 0, &res));
	ck_assert_int_eq(a->phase, LEASE_RECORDING);
	ck_assert_uint_eq(a->record.u.record.id, a->intent.u.intent.id);
	ck_assert_uint_eq(c->record.u.record.id, c->intent.u.intent.id);
	ck_assert_str_eq(c->record.u.record.reason, "Evicted");
	held = 99;
	struct lease *d = waiting(t, 4, 1); /* the queue still works behind its old tail */

	ck_assert_ptr_eq(lease_grant(t, 0, 1, 100), d);
	lease_table_free(&t);
}
END_TEST

/* A pause must not end what may already have been written. */
START_TEST(held_lease_in_doubt_waits)
{
	struct lease_table *t = lease_table_new();
	uint64_t held = 99;
	const struct msg res = result(1);
	struct lease *a = waiting(t, 1, 1);

	lease_table_set_hold(t, hold_duty, &held);
	ck_assert_ptr_eq(lease_grant(t, 0, 0, 100), a);
	held = 1;
	lease_holder_died(t, a);
	ck_assert_ptr_null(lease_grant(t, 0, 0, 100));
	ck_assert_ptr_null(lease_refuse_held(t, 0, &res));
	ck_assert_int_eq(a->phase, LEASE_WAITING);
	held = 99;
	ck_assert_ptr_eq(lease_grant(t, 0, 0, 100), a);
	lease_table_free(&t);
}
END_TEST

START_TEST(every_child_can_hold_one)
{
	struct lease_table *t = lease_table_new();
	struct lease *l = waiting(t, 1, 0);

	ck_assert_ptr_null(lease_grant(t, 0, CHILDREN_MAX, 100));
	ck_assert_ptr_eq(lease_grant(t, 0, CHILDREN_MAX - 1, 100), l);
	ck_assert_uint_eq(lease_count_held(t, CHILDREN_MAX - 1), 1);
	lease_table_free(&t);
}
END_TEST

START_TEST(a_holder_has_room_for_a_few)
{
	struct lease_table *t = lease_table_new();
	struct lease *l[WORKER_LEASES_MAX + 1], *ended;

	for (unsigned i = 0; i <= WORKER_LEASES_MAX; i++)
		l[i] = waiting(t, i, 0);
	for (unsigned i = 0; i < WORKER_LEASES_MAX; i++)
		ck_assert_ptr_eq(lease_grant(t, 0, 0, 100), l[i]);
	ck_assert_ptr_null(lease_grant(t, 0, 0, 100));
	ck_assert_uint_eq(lease_count_held(t, 0), WORKER_LEASES_MAX);

	const struct msg res = result(l[1]->intent.u.intent.id);

	ck_assert_int_eq(lease_result(t, 1, &res, &ended), -EPERM);
	ck_assert_int_eq(lease_result(t, 0, &res, &ended), 0);
	ck_assert_ptr_eq(ended, l[1]);
	ck_assert_int_eq(lease_result(t, 0, &res, &ended), -EPERM);
	ck_assert_ptr_eq(lease_grant(t, 0, 0, 100), l[WORKER_LEASES_MAX]);
	lease_table_free(&t);
}
END_TEST

START_TEST(all_of_a_dead_holder_come_back_in_order)
{
	struct lease_table *t = lease_table_new();
	struct lease *l[3];

	for (unsigned i = 0; i < 3; i++)
		l[i] = waiting(t, i, 0);
	for (unsigned i = 0; i < 3; i++)
		(void)lease_grant(t, 0, 0, 100);
	for (unsigned i = 0; i < 3; i++)
		lease_holder_died(t, lease_held_by(t, 0));
	ck_assert_ptr_null(lease_held_by(t, 0));
	for (unsigned i = 0; i < 3; i++)
		ck_assert_ptr_eq(lease_grant(t, 0, (int)i, 100), l[i]);
	lease_table_free(&t);
}
END_TEST

/* What kills its holders must not take others with it again and again; and it must get its turn. */
START_TEST(one_in_doubt_is_granted_alone_and_not_overtaken)
{
	struct lease_table *t = lease_table_new();
	struct lease *a = waiting(t, 1, 0), *b = waiting(t, 2, 0), *c = waiting(t, 3, 0), *ended;
	const struct msg res = result(b->intent.u.intent.id);

	(void)lease_grant(t, 0, 0, 100);
	ck_assert_ptr_eq(lease_grant(t, 0, 1, 100), b);
	lease_holder_died(t, a);
	ck_assert_ptr_null(lease_grant(t, 0, 1, 100)); /* it is at work, and c does not overtake a */
	ck_assert_ptr_eq(lease_grant(t, 0, 0, 100), a);
	ck_assert_ptr_null(lease_grant(t, 0, 0, 100)); /* a stays alone */
	ck_assert_ptr_eq(lease_grant(t, 0, 1, 100), c);
	ck_assert_int_eq(lease_result(t, 1, &res, &ended), 0);
	lease_table_free(&t);
}
END_TEST

TEST_MAIN("supervisor/lease")
{
	tcase_set_timeout(t, 60);
	tcase_add_test(t, one_lease_per_subject_and_cluster);
	tcase_add_test(t, not_granted_before_it_is_written);
	tcase_add_test(t, result_only_from_the_holder);
	tcase_add_test(t, a_dead_holder_puts_it_back_in_doubt_and_first);
	tcase_add_test(t, open_intents_of_an_earlier_life);
	tcase_add_test(t, held_leases_are_passed_over_and_refused);
	tcase_add_test(t, held_lease_in_doubt_waits);
	tcase_add_test(t, every_child_can_hold_one);
	tcase_add_test(t, a_holder_has_room_for_a_few);
	tcase_add_test(t, all_of_a_dead_holder_come_back_in_order);
	tcase_add_test(t, one_in_doubt_is_granted_alone_and_not_overtaken);
	tcase_add_test(t, random_walk);
}
