/* json.h - messages as JSON, for -o json: an object with a member for each field of ipc/messages.def, by one
 * table of names for every verb. Texts are English. Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_VIEW_JSON_H
#define CLI_VIEW_JSON_H

#include <jansson.h>
#include <stdbool.h>

#include "ipc/msg.h"

/* Describe a message: `message` is the struct msg_<name> of that type. Names are in camel case, or as
 * view/json.c has them; times are RFC 3339, enums are named, and what is not known is null. The members conn
 * and cluster, which are numbers of the protocol, are left out. Returns a new reference. */
json_t *json_of(enum msg_type type, const void *message);
/* What json_of() makes of a field. */
struct json_member {
	char *key; /* owned by the caller */
	const char *type, *doc;
	bool nullable;
};
/* The next member of such a message, from *at on, which begins as 0. False behind the last. */
bool json_member_next(enum msg_type type, size_t *at, struct json_member *ret);
/* Those of one action, in order. */
json_t *json_of_quotes(const struct msg_ctl_quote_row *rows, size_t n, uint64_t id);
/* A time, Unix ms, in RFC 3339; null for 0. */
json_t *json_time(int64_t ms);
/* The name of a mode, as the configuration has it. */
const char *json_mode(int64_t observe);
/* Add sentence and remedy of the reason code that `object` holds. Returns object. */
json_t *json_explain_reason(json_t *object);

/* A column of the history, stored as text, as json_of() shows a field of that name. Returns NULL where the
 * column says nothing. *ret_key, owned by the caller, is its name; *ret_time the time, Unix ms, or 0 when it
 * is none. */
json_t *json_of_column(const char *column, const char *text, char **ret_key, int64_t *ret_time);

#endif
