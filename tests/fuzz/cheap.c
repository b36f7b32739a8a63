/* cheap.c - for targets that make a whole process for every input: many more inputs. A sanitizer keeps less
 * of freed memory and of the calls that led to it, and the loop has no timer of its own in the kernel. */
// SPDX-License-Identifier: Apache-2.0
#include <event2/event.h>

#include "ipc/loop.h"

const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "quarantine_size_mb=8:malloc_context_size=1:max_malloc_fill_size=0";
}

/* In the place of ipc/loop.c. */
struct event_base *loop_new(void)
{
	return event_base_new();
}
