/* test_own_state.c - what the supervisor signs: every part of it counts, and so does every digit of the
 * signature. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <string.h>

#include "supervisor/actions/own_state.h"
#include "tests/suite.h"

static struct pause_list *pauses;
static struct own_state *own;
static struct msg open;

static void set_up(void)
{
	pauses = pause_list_new();
	own = own_state_new(pauses);
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
	pause_list_free(&pauses);
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
	struct own_state *other = own_state_new(pauses);

	ck_assert(!own_state_is_signed(other, &open, "prod"));
	own_state_free(&other);
}

TEST_MAIN("supervisor/own_state")
{
	tcase_add_checked_fixture(t, set_up, tear_down);
}
