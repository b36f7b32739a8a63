/* port.h - which TCP port a URL or address leads to, for the sandbox's connect rule.  Layer: process. */
// SPDX-License-Identifier: Apache-2.0
#ifndef PROCESS_PORT_H
#define PROCESS_PORT_H

#include <stdint.h>

/* Port of "https://host:port/path", "[::1]:port" or "ip:port"; the scheme's default (443, 80, 1080) without
 * one; 0 when there is none to be found. */
uint16_t port_of(const char *url);

#endif
