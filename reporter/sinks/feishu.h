/* feishu.h - the custom bot of Feishu/Lark (sink_feishu of sink.h): its signature and its limit.  Pure.
 * Layer: process (reporter), sinks.
 * Source: open.feishu.cn, client-docs/bot-v3/add-custom-bot: body up to 20 KB, 5 messages a second and 100 a
 * minute, success is code 0 in the JSON answer and not the HTTP status. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_SINKS_FEISHU_H
#define REPORTER_SINKS_FEISHU_H

#include <stddef.h>
#include <stdint.h>

/* Largest body made, below the bot's 20 KB. */
#define FEISHU_BODY_MAX ((size_t)18 * 1024)
#define FEISHU_SIGN_MAX 48

/* base64(HMAC-SHA256(key = "<timestamp>\n<secret>", message = "")); timestamp in seconds. */
void feishu_sign(const char *secret, int64_t timestamp_s, char ret[static FEISHU_SIGN_MAX]);

#endif
