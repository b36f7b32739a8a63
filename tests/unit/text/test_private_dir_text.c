/* test_private_dir_text.c - what is wrong with a folder, and what to do. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/english.h"
#include "tests/facts_en.h"
#include "tests/suite.h"
#include "text/private_dir_text.h"

/* In a pod nobody can chown. */
static const struct {
	struct private_dir_error e;
	const char *en;
} folders[] = {
	{ { PRIVATE_DIR_UNMADE, ENOENT, 0, 0 },
	  "/s: cannot be made or read: No such file or directory; set stateDir" },
	{ { PRIVATE_DIR_NO_DIR, 0, 0, 0 }, "/s: is not a directory; set stateDir to one" },
	{ { PRIVATE_DIR_OTHER_OWNER, 0, 7, 0755 }, "/s: belongs to user 7, not to user " },
	{ { PRIVATE_DIR_OTHER_OWNER, 0, 7, 0755 }, "chown it, or give the pod a securityContext.fsGroup" },
	{ { PRIVATE_DIR_OPEN_TO_OTHERS, 0, 0, 0770 },
	  "/s: others may write to it (mode 0770); chmod 0700 it" },
	{ { PRIVATE_DIR_UNLOCKABLE, EACCES, 0, 0 }, "/s/lock: cannot be opened: Permission denied" },
	{ { PRIVATE_DIR_TAKEN, EAGAIN, 0, 0 }, "/s: another instance uses this state directory" },
};

TEST_LOOP(the_place_the_fault_and_the_remedy, 0, ARRAY_SIZE(folders))
{
	struct facts f;

	private_dir_facts("/s", &folders[_i].e, &f);
	ck_assert_msg(strstr(EN(f), folders[_i].en) != NULL, "%s", EN(f));
	if (folders[_i].e.err == 0)
		english_told_facts(&f);
}

SUITE("text/private_dir_text");
