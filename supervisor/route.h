/* route.h - messages from children: to the part that takes them, or on to their receiver. The codec has
 * already checked that the sender's role may say them.  Process: supervisor. */
// SPDX-License-Identifier: Apache-2.0
#ifndef SUPERVISOR_ROUTE_H
#define SUPERVISOR_ROUTE_H

#include "supervisor/supervisor.h"

void route_from_child(struct supervisor *s, struct child *c, const struct msg *m);

#endif
