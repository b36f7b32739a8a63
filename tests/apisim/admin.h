/* The tests' own interface under /_sim/, without authentication and not in the request log. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_ADMIN_H
#define APISIM_ADMIN_H

#include "tests/apisim/call.h"

/* Answers the call. A call that came by HTTP has its body there, any other in call->body. */
void admin_run(struct call *c);

#endif
