/* request.c - see request.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/request.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "kube/status.h"

/* -- bodies --------------------------------------------------------------------------------------------- */

/* Text from the cluster that is no valid UTF-8 becomes a value the server can only refuse. */
static json_t *json_text(const char *s)
{
	json_t *v = json_string(s);

	return v ? v : json_string("?");
}

static char *json_take_text(json_t *o)
{
	char *s = json_dumps(o, JSON_COMPACT);

	json_decref(o);
	return s;
}

static bool is_utf8(const char *s)
{
	size_t left = strlen(s), n = 1;

	for (; left > 0 && n > 0; s += n, left -= n)
		n = str_utf8_len(s, left);
	return n > 0;
}

/* As json_text does; owned by the caller. */
static char *escaped(const char *s)
{
	const char *text = is_utf8(s) ? s : "?";
	const size_t n = strlen(text), size = 6 * n + 1;
	char *to = xmalloc(size);

	(void)str_escape_json(to, size, text, n);
	return to;
}

/* Written for each deletion: a tree for jansson to print would be a tenth of the worker's work. */
char *request_delete_body(const char *uid, const char *rv, int64_t grace_s, bool dry_run)
{
	static const char head[] = "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{";
	_cleanup_free_ char *u = escaped(uid), *r = escaped(rv);
	char grace[48] = "";

	if (grace_s >= 0)
		(void)snprintf(grace, sizeof(grace), ",\"gracePeriodSeconds\":%lld", (long long)grace_s);
	return xconcat(head, "\"uid\":\"", u, "\",\"resourceVersion\":\"", r, "\"}", grace,
		       dry_run ? ",\"dryRun\":[\"All\"]" : "", "}", NULL);
}

char *request_scale_patch(const char *uid, const char *rv, int64_t replicas)
{
	return json_take_text(json_pack("{s:{s:o, s:o}, s:{s:I}}", "metadata", "uid", json_text(uid),
					"resourceVersion", json_text(rv), "spec", "replicas",
					(json_int_t)replicas));
}

char *request_annotation_patch(const char *uid, const char *rv, const char *key, const char *value)
{
	return json_take_text(json_pack("{s:{s:o, s:o, s:{s:o}}}", "metadata", "uid", json_text(uid),
					"resourceVersion", json_text(rv), "annotations", key,
					json_text(value)));
}

char *request_suspend_patch(const char *uid, const char *rv)
{
	return json_take_text(json_pack("{s:{s:o, s:o}, s:{s:b}}", "metadata", "uid", json_text(uid),
					"resourceVersion", json_text(rv), "spec", "suspend", 1));
}

/* -- answers -------------------------------------------------------------------------------------------- */

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

static void set_code(struct request_status *ret, int64_t code)
{
	if (code >= 100 && code <= 599)
		ret->code = (long)code;
}

/* A Status, or an object that is none: then the HTTP status stands alone. */
static bool from_json(const char *body, size_t n, struct request_status *ret)
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

static bool from_protobuf(const char *body, size_t n, struct request_status *ret)
{
	struct status_facts s;

	if (status_open_protobuf(body, n, &s) < 0)
		return false;
	set_text(ret->reason, sizeof(ret->reason), s.reason);
	set_text(ret->message, sizeof(ret->message), s.message);
	set_code(ret, s.code);
	if (s.retry_after_s > 0)
		ret->retry_after_s = s.retry_after_s;
	return true;
}

/* A short text/plain answer is worth quoting; a login page of some proxy is not. */
static void from_text(const char *body, size_t n, struct request_status *ret)
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

void request_status_parse(long http_status, const char *body, size_t n, struct request_status *ret)
{
	*ret = (struct request_status){ .code = http_status, .retry_after_s = -1 };
	if (n == 0 || from_protobuf(body, n, ret) || from_json(body, n, ret))
		return;
	from_text(body, n, ret);
}
