/* global.h - what libcurl and OpenSSL would open, read or set up later, done once at the start.
 * Layer: http. */
// SPDX-License-Identifier: Apache-2.0
#ifndef HTTP_GLOBAL_H
#define HTTP_GLOBAL_H

#include <curl/curl.h>

/* Before the sandbox: afterwards no file is opened and no thread is made. A second call does nothing. */
void http_global_init(void);
/* What an endpoint without a CA of its own trusts from now on: PEM, which is taken over unless it is NULL or
 * what is there. What was given before stays where it is, as transfers may use it: it changes with the
 * system's certificates, hardly ever. */
void http_take_system_ca(char **pem);
/* The last one; data NULL when there was none. */
struct curl_blob http_system_ca(void);

#endif
