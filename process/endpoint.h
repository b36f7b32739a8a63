/* endpoint.h - which TCP port a URL or address leads to, for the sandbox's connect rule.  Layer: process. */
// SPDX-License-Identifier: Apache-2.0
#ifndef PROCESS_ENDPOINT_H
#define PROCESS_ENDPOINT_H

#include <stdint.h>

/* Port of "https://host:port/path", "[::1]:port" or "ip:port"; the scheme's default (443, 80, 1080) without
 * one; 0 when there is none to be found. */
uint16_t endpoint_port(const char *url);

#endif
