/* email.h - what the delivery asks of a mail besides `struct sink_ops`.  Layer: process (reporter), sinks.
 * Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_SINKS_EMAIL_H
#define REPORTER_SINKS_EMAIL_H

#include "http/mail.h"
#include "reporter/sinks/sink.h"

/* The login of its server: *ret_user is the caller's, NULL = the one in the URL, or none; *ret_password
 * points into s, and is NULL when there is none. */
void email_login(const struct sink_settings *s, char **ret_user, const char **ret_password);
/* The server's last reply as sink_interpret() takes it: a body that begins with its code, which the caller
 * frees when *ret has been read. */
void email_answer(const struct mail_result *m, struct http_result *ret, char **ret_body);

#endif
