/* refusal.c - see refusal.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/refusal.h"

#include <ctype.h>
#include <jansson.h>

#include "base/str.h"
#include "kube/status_object.h"

static void set_text(char *dst, size_t size, struct str s)
{
	dst[str_copy_printable(dst, size, s.p ? s.p : "", s.n)] = '\0';
}

static struct str json_member(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_string(v) ? (struct str){ json_string_value(v), json_string_length(v) }
				 : (struct str){ 0 };
}

static void set_code(struct refusal *ret, int64_t code)
{
	if (code >= 100 && code <= 599)
		ret->code = (long)code;
}

/* A Status, or an object that is none: then the HTTP status stands alone. */
static bool from_json(const char *body, size_t n, struct refusal *ret)
{
	json_t *o = json_loadb(body, n, 0, NULL);
	const bool parsed = o != NULL;
	const bool is_status = str_is(json_member(o, "kind"), "Status");
	const json_t *code = json_object_get(o, "code");
	const json_t *after = json_object_get(json_object_get(o, "details"), "retryAfterSeconds");

	if (is_status) {
		set_text(ret->reason, sizeof(ret->reason), json_member(o, "reason"));
		set_text(ret->message, sizeof(ret->message), json_member(o, "message"));
		set_code(ret, json_is_integer(code) ? json_integer_value(code) : 0);
		if (json_is_integer(after) && json_integer_value(after) > 0)
			ret->retry_after_s = json_integer_value(after);
	}
	json_decref(o);
	return parsed;
}

static bool from_protobuf(const char *body, size_t n, struct refusal *ret)
{
	struct status_facts s;

	if (status_object_open(body, n, &s) < 0)
		return false;
	set_text(ret->reason, sizeof(ret->reason), s.reason);
	set_text(ret->message, sizeof(ret->message), s.message);
	set_code(ret, s.code);
	if (s.retry_after_s > 0)
		ret->retry_after_s = s.retry_after_s;
	return true;
}

/* A short text/plain answer is worth quoting; a login page of some proxy is not. */
static void from_text(const char *body, size_t n, struct refusal *ret)
{
	size_t start = 0;

	while (start < n && isspace((unsigned char)body[start]))
		start++;
	while (n > start && isspace((unsigned char)body[n - 1]))
		n--;
	if (start < n && (body[start] == '<' || body[start] == '{'))
		return;
	set_text(ret->message, sizeof(ret->message), (struct str){ body + start, n - start });
}

void refusal_parse(long http_status, const char *body, size_t n, struct refusal *ret)
{
	*ret = (struct refusal){ .code = http_status, .retry_after_s = -1 };
	if (n == 0 || from_protobuf(body, n, ret) || from_json(body, n, ret))
		return;
	from_text(body, n, ret);
}
