/* global.h - what libcurl and OpenSSL would open, read or set up later, done once at the start.
 * Layer: http. */
// SPDX-License-Identifier: Apache-2.0
#ifndef HTTP_GLOBAL_H
#define HTTP_GLOBAL_H

#include <curl/curl.h>

/* Before the sandbox: afterwards no file is opened and no thread is made. A second call does nothing. */
void http_global_init(void);
/* The system's trust as PEM, read by http_global_init; data NULL when none was found. */
struct curl_blob http_system_ca(void);

#endif
