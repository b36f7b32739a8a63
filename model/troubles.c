/* troubles.c - see troubles.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/troubles.h"

enum { SAY = true, KNOWN = false };
enum { ONE = true, EACH = false };

static const char SUPERVISOR[] = "supervisor", WATCHER[] = "watcher", WORKER[] = "worker",
		  REPORTER[] = "reporter";

static const struct trouble_desc troubles[TROUBLE__MAX] = {
#define TROUBLE(ID, name, severity, begin, finder, notifier, text, remedy, zh_text, zh_remedy)               \
	[TROUBLE_##ID] = { name,     TROUBLE_IS_##severity,                                                  \
			   begin,    finder,                                                                 \
			   notifier, { { text, remedy }, { zh_text, zh_remedy } } },
#include "model/troubles.def"
#undef TROUBLE
};

const struct trouble_desc *trouble_desc(enum trouble t)
{
	return &troubles[t];
}
