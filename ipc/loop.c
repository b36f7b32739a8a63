/* loop.c - see loop.h. */
// SPDX-License-Identifier: Apache-2.0
#include "ipc/loop.h"

#include <event2/event.h>

struct event_base *loop_new(void)
{
	struct event_config *c = event_config_new();
	struct event_base *base = NULL;

	if (c && event_config_set_flag(c, EVENT_BASE_FLAG_PRECISE_TIMER) == 0)
		base = event_base_new_with_config(c);
	if (c)
		event_config_free(c);
	if (base) /* the middle one is an event's own */
		(void)event_base_priority_init(base, LOOP_PRIORITY_IDLE + 1);
	return base;
}
