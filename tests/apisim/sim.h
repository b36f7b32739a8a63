/* Everything of a server but its socket. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_SIM_H
#define APISIM_SIM_H

#include "tests/apisim/call.h"

/* Fills all of sim but http, with the first objects; opt and base are borrowed. Dies when opt is wrong. */
void sim_start(struct sim *sim, const struct options *opt, struct event_base *base);

/* Before it all connections are to be closed (http_server_free, http_server_drop_all). */
void sim_stop(struct sim *sim);

#endif
