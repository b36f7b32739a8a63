/* outbox.c - see outbox.h. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/controller/outbox.h"

#include <string.h>

int outbox_send_ctl_end(const struct outbox *o, uint64_t conn, uint64_t code, const char *text)
{
	struct msg m = { .type = MSG_CTL_END, .u.ctl_end = { .conn = conn, .code = code } };

	msg_set(&m, ctl_end.text, text, strlen(text));
	return outbox_send(o, &m);
}
