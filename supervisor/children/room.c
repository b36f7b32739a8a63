/* room.c - see room.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/children/room.h"

#include <sys/resource.h>

#include "base/cgroup.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "text/facts_text.h"
#include "text/texts.h"

static void warn(enum text statement, uint64_t needed, uint64_t left)
{
	struct facts f = facts_of(statement);

	if (left >= needed)
		return;
	facts_count(&f, FACT_NEEDED, (int64_t)needed);
	facts_count(&f, FACT_LIMIT, (int64_t)left);
	_cleanup_free_ char *text = facts_render(&f, NULL);

	(void)log_warn(0, "a limit is too low for all clusters", kv_s("detail", text));
}

void room_check(const struct tree_size *s)
{
	_cleanup_free_ char *own = cgroup_own();
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur != RLIM_INFINITY)
		warn(TEXT_FEW_DESCRIPTORS, s->descriptors, l.rlim_cur);
	/* This process counts already. */
	warn(TEXT_FEW_PROCESSES, s->most - 1, cgroup_room(CGROUP_ROOT, own, "pids.max", "pids.current"));
	/* What is used now is mostly pages of files, which give way. */
	warn(TEXT_LITTLE_MEMORY, s->memory >> 20, cgroup_room(CGROUP_ROOT, own, "memory.max", NULL) >> 20);
}
