/* private_dir_text.c - see private_dir_text.h. */
// SPDX-License-Identifier: Apache-2.0
#include "text/private_dir_text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "text/texts.h"

void private_dir_facts(const char *dir, const struct private_dir_error *e, struct facts *ret)
{
	static const enum text texts[] = {
		[PRIVATE_DIR_UNMADE] = TEXT_DIR_UNMADE,       [PRIVATE_DIR_NO_DIR] = TEXT_DIR_NONE,
		[PRIVATE_DIR_OTHER_OWNER] = TEXT_DIR_OWNER,   [PRIVATE_DIR_OPEN_TO_OTHERS] = TEXT_DIR_MODE,
		[PRIVATE_DIR_UNLOCKABLE] = TEXT_DIR_UNOPENED, [PRIVATE_DIR_TAKEN] = TEXT_DIR_TAKEN,
	};
	_cleanup_free_ char *lock = xasprintf("%s/lock", dir);
	char mode[16];

	*ret = facts_of(texts[e->fault]);
	facts_quoted(ret, FACT_PLACE, STR_C(e->fault == PRIVATE_DIR_UNLOCKABLE ? lock : dir));
	if (e->fault == PRIVATE_DIR_UNMADE || e->fault == PRIVATE_DIR_UNLOCKABLE)
		facts_quoted(ret, FACT_SYSTEM, STR_C(strerror(e->err)));
	if (e->fault == PRIVATE_DIR_OTHER_OWNER) {
		facts_count(ret, FACT_UID, e->uid);
		facts_count(ret, FACT_OWN_UID, geteuid());
	}
	if (e->fault == PRIVATE_DIR_OPEN_TO_OTHERS) {
		(void)snprintf(mode, sizeof(mode), "%04o", e->mode);
		facts_name(ret, FACT_MODE, STR_C(mode));
	}
}
