/* sandbox_ports.h - which TCP ports a role may connect to.  Layer: process.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef PROCESS_SANDBOX_PORTS_H
#define PROCESS_SANDBOX_PORTS_H

#include "process/sandbox.h"

/* Port of "https://host:port/path", "[::1]:port" or "ip:port"; the scheme's default (443, 80, 1080, 465, 25)
 * without one; 0 when there is none to be found. */
uint16_t sandbox_port_of(const char *url);

/* Add one, unless it is 0 or there already. */
void sandbox_allow_port(struct sandbox_params *p, uint16_t port);
/* Does it allow every port that the other one asks for? */
bool sandbox_has_ports(const struct sandbox_params *p, const struct sandbox_params *wanted);

#endif
