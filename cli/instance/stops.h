/* stops.h - troubles of an instance while which it writes nothing: whatever is due waits for their end.
 * Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_INSTANCE_STOPS_H
#define CLI_INSTANCE_STOPS_H

#include <jansson.h>

#include "cli/view/table.h"
#include "ipc/msg.h"

/* Zeroed = none. */
struct stops {
	struct msg_trouble_row v[8];
	size_t n;
};

/* Take a row of the answer to CTL_STATUS; what is no such trouble is passed over. */
void stops_take(struct stops *s, const struct msg *m);
/* The first that holds in the cluster of that name; NULL: none does. */
const struct msg_trouble_row *stops_in(const struct stops *s, const char *cluster);
/* A line for each, with its remedy. */
void stops_print(const struct stops *s, const struct table_view *view);
json_t *stops_json(const struct stops *s);

#endif
