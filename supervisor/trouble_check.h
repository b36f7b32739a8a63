/* trouble_check.h - looks for everything that is wrong now, and tells it: the log, the reporter (for the
 * metric), `status`. Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_TROUBLE_CHECK_H
#define SUPERVISOR_TROUBLE_CHECK_H

#include "supervisor/supervisor.h"

/* The news of s->troubles: for trouble_list_new(). */
void trouble_check_tell(void *ctx, const struct standing_trouble *t, enum trouble_news news);
/* Look now. Nothing happens before the first settings. */
void trouble_check(struct supervisor *s);
/* "running", "degraded" when there is a trouble, "blind" when because of one no cluster is seen. */
const char *trouble_check_headline(const struct supervisor *s);
/* All that stand, as TROUBLE_ROWs: to who asks; to the reporter. */
void trouble_check_answer(const struct supervisor *s, uint64_t conn);
void trouble_check_send(struct supervisor *s);

#endif
