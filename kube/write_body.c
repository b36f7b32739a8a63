/* write_body.c - see write_body.h. */
// SPDX-License-Identifier: Apache-2.0
#include "kube/write_body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/unicode.h"
#include "base/xalloc.h"

static bool is_utf8(const char *s)
{
	size_t left = strlen(s), n = 1;

	for (; left > 0 && n > 0; s += n, left -= n)
		n = unicode_len(s, left);
	return n > 0;
}

/* Text from the cluster that is no valid UTF-8 becomes a value the server can only refuse. Owned by the
 * caller. */
static char *escaped(const char *s)
{
	const char *text = is_utf8(s) ? s : "?";
	const size_t n = strlen(text), size = STR_ESCAPED_MAX * n + 1;
	char *to = xmalloc(size);

	(void)str_escape_json(to, size, text, n);
	return to;
}

/* Written for each deletion: a tree for jansson to print would be a tenth of the worker's work. */
char *write_body_delete(const char *uid, const char *rv, int64_t grace_s, bool dry_run)
{
	static const char head[] = "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{";
	_cleanup_free_ char *u = escaped(uid), *r = escaped(rv);
	char grace[48] = "";

	if (grace_s >= 0)
		(void)snprintf(grace, sizeof(grace), ",\"gracePeriodSeconds\":%lld", (long long)grace_s);
	return xconcat(head, "\"uid\":\"", u, "\",\"resourceVersion\":\"", r, "\"}", grace,
		       dry_run ? ",\"dryRun\":[\"All\"]" : "", "}", NULL);
}

/* first, last: members before and behind the metadata, each with its comma. */
static char *bound_patch(const char *uid, const char *rv, const char *first, const char *of_meta,
			 const char *last)
{
	_cleanup_free_ char *u = escaped(uid), *r = escaped(rv);

	return xconcat("{", first, "\"metadata\":{\"uid\":\"", u, "\",\"resourceVersion\":\"", r, "\"",
		       of_meta, "}", last, "}", NULL);
}

char *write_body_scale(const char *uid, const char *rv, int64_t replicas)
{
	char spec[64];

	(void)snprintf(spec, sizeof(spec), ",\"spec\":{\"replicas\":%lld}", (long long)replicas);
	return bound_patch(uid, rv, "", "", spec);
}

/* The member annotations of metadata. Owned by the caller. */
static char *annotations_of(const struct write_annotation *list, size_t n)
{
	char *text = xstrdup(",\"annotations\":{");

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *k = escaped(list[i].key),
				    *v = escaped(list[i].value ? list[i].value : "");
		const char *quote = list[i].value ? "\"" : "";
		char *longer = xconcat(text, i > 0 ? "," : "", "\"", k, "\":", quote,
				       list[i].value ? v : "null", quote, NULL);

		free(text);
		text = longer;
	}
	char *all = xconcat(text, "}", NULL);

	free(text);
	return all;
}

char *write_body_annotations(const char *uid, const char *rv, const struct write_annotation *list, size_t n)
{
	_cleanup_free_ char *text = annotations_of(list, n);

	return bound_patch(uid, rv, "", text, "");
}

/* What is written first stands first: a history that cuts the text keeps it. */
char *write_body_replicas(const char *uid, const char *rv, int64_t replicas,
			  const struct write_annotation *list, size_t n)
{
	_cleanup_free_ char *text = annotations_of(list, n);
	char spec[64];

	(void)snprintf(spec, sizeof(spec), "\"spec\":{\"replicas\":%lld},", (long long)replicas);
	return bound_patch(uid, rv, spec, text, "");
}

char *write_body_suspend(const char *uid, const char *rv, const struct write_annotation *list, size_t n)
{
	_cleanup_free_ char *text = annotations_of(list, n);

	return bound_patch(uid, rv, "\"spec\":{\"suspend\":true},", text, "");
}
