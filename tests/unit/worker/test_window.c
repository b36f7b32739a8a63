/* A window may close between the nomination and the write. */
// SPDX-License-Identifier: Apache-2.0
#include "config/window.h"
#include "fake.h"
#include "tests/suite.h"

#define EVICTED "'phase':'Failed','reason':'Evicted'"

/* NOW is 14:13:20. A grant that had to wait may come too late: looked at again before each write. */
static const struct {
	const char *window;
	int64_t slowness_ms;
	bool dry_run, done;
} late[] = {
	{ "0 14 * * * for 14m", 0, false, true },
	{ "0 14 * * * for 14m", 41 * SEC, false, false }, /* closes while the pod is read */
	{ "0 15 * * * for 1h", 0, false, false },
	{ "0 15 * * * for 1h", 0, true, false },
};

TEST_LOOP(no_write_outside_of_the_window, 0, (int)(sizeof(late) / sizeof(late[0])))
{
	fake.windows = windows_new();
	fake.slowness_ms = late[_i].slowness_ms;
	fake.grant.valid_until += 100000;
	fake.dry_run = late[_i].dry_run;
	str_list_add(&fake.policy.duty[DUTY_EVICTED].windows, late[_i].window, strlen(late[_i].window));
	on_pod("41", "", "", EVICTED);
	on("DELETE " POD_PATH, 200, "{'kind':'Status','apiVersion':'v1','status':'Success'}");
	go();
	if (late[_i].dry_run)
		RESULT(WOULD, EVICTED);
	else if (late[_i].done)
		RESULT(DONE, EVICTED);
	else
		RESULT(REFUSED, OUTSIDE_WINDOW);
	ck_assert_uint_eq(fake.n_log, late[_i].done ? 2 : 1);
	str_list_done(&fake.policy.duty[DUTY_EVICTED].windows);
	windows_free(&fake.windows);
}

TEST_MAIN("worker/window")
{
	tcase_add_checked_fixture(t, fake_setup, fake_teardown);
}
