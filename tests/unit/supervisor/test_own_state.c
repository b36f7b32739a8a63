/* test_own_state.c - what the supervisor signs, of intents and of their ends: every part of it counts, and so
 * does every digit of the signature. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "supervisor/actions/write_guard.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

static struct pause_list pauses;
static struct own_state *own;
static struct msg open;

static void set_up(void)
{
	own = own_state_new(&pauses);
	open = (struct msg){ .type = MSG_OPEN_INTENT, .u.open_intent = { .id = 7 } };
	strcpy(open.u.open_intent.ns, "shop");
	strcpy(open.u.open_intent.name, "web-1");
	strcpy(open.u.open_intent.uid, "uid-1");
	strcpy(open.u.open_intent.action_key, "uid-1");
	strcpy(open.u.open_intent.reason, "Evicted");
	own_state_sign(own, &open, "prod", open.u.open_intent.mac);
	ck_assert(own_state_is_signed(own, &open, "prod"));
}

static void tear_down(void)
{
	own_state_free(&own);
}

TEST(every_digit_of_a_signature_counts)
{
	char *mac = open.u.open_intent.mac;

	for (size_t i = 0; i < SIPHASH_TEXT_MAX - 1; i++) {
		const char right = mac[i];

		mac[i] = right == '0' ? '1' : '0';
		ck_assert_msg(!own_state_is_signed(own, &open, "prod"), "digit %zu", i);
		mac[i] = right;
	}
	ck_assert(own_state_is_signed(own, &open, "prod"));
}

/* Indexes change with the configuration: the name is what is signed. */
TEST(an_intent_is_of_one_cluster)
{
	ck_assert(!own_state_is_signed(own, &open, "test"));
	ck_assert(!own_state_is_signed(own, &open, ""));
	open.u.open_intent.cluster = 3;
	ck_assert(own_state_is_signed(own, &open, "prod"));
}

TEST(another_life_without_the_file_signs_otherwise)
{
	struct own_state *other = own_state_new(&pauses);

	ck_assert(!own_state_is_signed(other, &open, "prod"));
	own_state_free(&other);
}

/* -- what a restore is built from -- */

static struct msg intent, row;
static struct msg_record end;

/* A scale-down that has ended, and the row by which the history offers to take it back. */
static void scale_down(void)
{
	struct msg_ctl_restore_row *r = &row.u.ctl_restore_row;

	intent = (struct msg){ .type = MSG_INTENT };
	msg_copy_fields(&intent, &open);
	intent.u.intent.action = ACTION_SCALE_DOWN;
	end = (struct msg_record){ .id = 7, .outcome = OUTCOME_DONE, .replicas = 3 };
	strcpy(end.target, "deployments.apps/shop/web");
	strcpy(end.target_uid, "d-1");
	row = (struct msg){ .type = MSG_CTL_RESTORE_ROW };
	msg_copy_fields(&row, &open);
	r->origin = 7;
	r->action = ACTION_RESTORE;
	r->want_replicas = 3;
	strcpy(r->want_target, "deployments.apps/shop/web");
	strcpy(r->want_uid, "d-1");
	strcpy(r->reason, "Restored");
	own_state_sign_end(own, &intent, &end, "prod", r->mac);
}

TEST(the_end_of_a_scale_down_can_be_taken_back)
{
	scale_down();
	ck_assert(own_state_vouches(own, &row.u.ctl_restore_row, "prod"));
	row.u.ctl_restore_row.conn = 4; /* what the question brings */
	row.u.ctl_restore_row.cluster = 1;
	SET_SAID(row.u.ctl_restore_row.evidence, "an operator takes back action 7");
	ck_assert(own_state_vouches(own, &row.u.ctl_restore_row, "prod"));
	ck_assert(!own_state_vouches(own, &row.u.ctl_restore_row, "test"));
}

TEST_LOOP(every_part_of_what_comes_back_counts, 0, 10)
{
	struct msg_ctl_restore_row *r = &row.u.ctl_restore_row;
	char *const texts[] = { r->ns, r->name, r->uid, r->action_key, r->want_target, r->want_uid, r->mac };
	uint64_t *const numbers[] = { &r->origin, &r->duty };

	scale_down();
	if (_i < 7)
		texts[_i][0] = texts[_i][0] == 'x' ? 'y' : 'x';
	else if (_i < 9)
		*numbers[_i - 7] += 1;
	else
		r->want_replicas = 500;
	ck_assert(!own_state_vouches(own, r, "prod"));
}

/* Nor is the signature of an intent one of its end. */
TEST_LOOP(what_took_nothing_is_not_signed, 0, 6)
{
	char *mac = row.u.ctl_restore_row.mac;

	scale_down();
	if (_i == 0)
		intent.u.intent.action = ACTION_RESTORE;
	if (_i == 1)
		intent.u.intent.observe = true;
	if (_i == 2)
		end.replicas = 0;
	if (_i == 3)
		end.outcome = OUTCOME_REFUSED;
	if (_i == 4)
		end.replicas = -1;
	own_state_sign_end(own, &intent, &end, "prod", mac);
	ck_assert_uint_eq(strlen(mac), _i == 5 ? 32 : 0);
	strcpy(mac, open.u.open_intent.mac);
	ck_assert(!own_state_vouches(own, &row.u.ctl_restore_row, "prod"));
}

static struct generation *generation;

const struct generation *lifecycle_generation(const struct lifecycle *l)
{
	(void)l;
	return generation;
}

/* Of the file, which is replaced whole. */
static ino_t edition(const char *dir)
{
	_cleanup_free_ char *path = xconcat(dir, "/", OWN_STATE_FILE, NULL);
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_ino;
}

/* Nothing that was written is ever missing on disk, in the minute or in the hour: whenever we die,
 * each span is charged as much at least. */
TEST(a_restart_forgets_no_write_of_any_span)
{
	struct supervisor *s = xcalloc(1, sizeof(*s));
	const struct msg_result done = { .outcome = OUTCOME_DONE };
	const struct lease lease = { .id = 1 };
	char dir[SUITE_PATH_MAX];
	struct facts why;
	int64_t now = 1000;

	suite_folder(dir);
	ck_assert_int_eq(own_state_open(own, dir, &why), 0);
	generation = generation_new(1);
	generation->all.writes_per_minute = 100;
	generation->all.writes_per_hour = 1000;
	strcpy(generation->names[0], "prod");
	s->own = own;
	const struct write_count *c = own_state_count(own, "prod");
	struct write_count disk = *c;

	for (unsigned i = 0; i < 900; i++) { /* more than an hour; some of them wait for the disk */
		const ino_t before = edition(dir);

		now += i % 7 == 0 ? 61000 : i % 3 * 500;
		clock_fake_set(now, (uint64_t)now);
		write_guard_on_result(s, 0, &lease, &done);
		if (edition(dir) != before)
			disk = *c;
		ck_assert_int_eq(c->minute.at, disk.minute.at);
		ck_assert_int_eq(c->hour.at, disk.hour.at);
		ck_assert_uint_le(c->minute.used, disk.minute.kept);
		ck_assert_uint_le(c->hour.used, disk.hour.kept);
		ck_assert_uint_le(disk.hour.kept, c->hour.used + 16);
	}
	generation_free(&generation);
	clock_fake_clear();
	free(s);
}

/* Its name is that of no other, and stays. */
TEST(a_history_has_a_name_of_its_own)
{
	char one[SIPHASH_TEXT_MAX], again[SIPHASH_TEXT_MAX], next[SIPHASH_TEXT_MAX];
	struct own_state *other = own_state_new(&pauses);

	own_state_history(own, one);
	own_state_history(own, again);
	ck_assert_str_eq(one, again);
	own_state_history(other, next);
	ck_assert_str_ne(one, next);
	own_state_free(&other);
}

TEST_MAIN("supervisor/own_state")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
}
