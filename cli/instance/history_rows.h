/* history_rows.h - rows of the history, as an answer to CTL_HISTORY brings them.  Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_INSTANCE_HISTORY_ROWS_H
#define CLI_INSTANCE_HISTORY_ROWS_H

#include <stddef.h>

#include "ipc/msg.h"

/* Zeroed = empty. v and quotes are the owner's (history_rows_done). */
struct history_rows {
	struct msg_ctl_history_row *v;
	struct msg_ctl_quote_row *quotes; /* of some of them, where that was asked for */
	size_t n, n_quotes;
};

void history_rows_done(struct history_rows *r);
/* For ctl_ask() and ctl_request(): ctx is the rows, of which m becomes one more when it is a row. */
void history_rows_take(void *ctx, const struct msg *m);
/* Append a copy of each row of `more`, without quotes. */
void history_rows_add(struct history_rows *r, const struct history_rows *more);
/* By action key, of one key the newest first. */
void history_rows_sort(struct history_rows *r);

#endif
