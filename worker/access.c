/* access.c - see access.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/access.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "text/facts_text.h"
#include "text/texts.h"
#include "worker/read.h"

#define TIMEOUT_MS 4000u

struct access {
	struct http_client *client;
	void (*answer)(void *ctx, const struct msg *m);
	void *ctx;
	struct http_request *request; /* NULL = nothing is open */
	uint64_t conn;
};

struct access *access_new(struct http_client *client, void (*answer)(void *ctx, const struct msg *m),
			  void *ctx)
{
	struct access *a = xcalloc(1, sizeof(*a));

	*a = (struct access){ .client = client, .answer = answer, .ctx = ctx };
	return a;
}

void access_free(struct access **a)
{
	if (*a)
		http_request_cancel(&(*a)->request);
	free(*a);
	*a = NULL;
}

static void answer(struct access *a, uint64_t conn, bool known, bool allowed, const struct facts *why)
{
	struct msg m = { .type = MSG_CTL_ACCESS_ROW,
			 .u.ctl_access_row = { .conn = conn, .known = known, .allowed = allowed } };

	facts_set(&m.u.ctl_access_row.why, why);
	a->answer(a->ctx, &m);
}

static const json_t *verdict_of(const struct http_result *r, const json_t *o)
{
	const json_t *allowed = READ_AT(o, "status", "allowed");

	return r->failure == HTTP_OK && r->status == 201 && json_is_boolean(allowed) ? allowed : NULL;
}

static json_t *load(const struct http_result *r)
{
	return r->failure == HTTP_OK && r->body ? json_loadb(r->body, r->body_len, 0, NULL) : NULL;
}

bool access_is_denied(const struct http_result *r, struct facts *why)
{
	json_auto_t *o = load(r);

	if (!json_is_false(verdict_of(r, o)))
		return false;
	facts_quoted(why, FACT_SERVER_MESSAGE, READ_TEXT(o, "status", "reason"));
	return true;
}

static void on_done(void *ctx, const struct http_result *r)
{
	struct access *a = ctx;
	json_auto_t *o = load(r);
	const json_t *allowed = verdict_of(r, o);
	const struct str reason = READ_TEXT(o, "status", "reason");
	struct facts why = { 0 };

	a->request = NULL;
	if (allowed) {
		facts_quoted(&why, FACT_SERVER_MESSAGE, reason);
	} else if (r->failure != HTTP_OK) {
		facts_finding(&why, TEXT_ACCESS_UNANSWERED);
		facts_add(&why, &r->why);
	} else if (r->status == 201) {
		facts_finding(&why, TEXT_NO_REVIEW);
	} else {
		facts_finding(&why, TEXT_ACCESS_STATUS);
		facts_count(&why, FACT_HTTP_STATUS, r->status);
	}
	answer(a, a->conn, allowed, json_is_true(allowed), &why);
}

static char *body_of(const char *group, const char *resource, const char *subresource, const char *verb,
		     const char *ns, const char *name)
{
	json_auto_t *o = json_pack("{s:s, s:s, s:{s:{s:s, s:s, s:s, s:s, s:s, s:s}}}", "apiVersion",
				   "authorization.k8s.io/v1", "kind", "SelfSubjectAccessReview", "spec",
				   "resourceAttributes", "group", group, "resource", resource, "subresource",
				   subresource, "verb", verb, "namespace", ns, "name", name);

	return json_dumps(o, JSON_COMPACT);
}

static const char *verb_of(const char *method)
{
	return strcmp(method, "DELETE") == 0 ? "delete" : strcmp(method, "PATCH") == 0 ? "patch" : "create";
}

/* "/api/VERSION/namespaces/NS/RESOURCE/NAME", "/apis/GROUP/VERSION/namespaces/NS/RESOURCE/NAME/SUBRESOURCE".
 */
char *access_review_of(const char *method, const char *path)
{
	_cleanup_free_ char *text = xstrndup(path, strcspn(path, "?"));
	const bool core = strncmp(path, "/api/", strlen("/api/")) == 0;
	const char *part[9] = { NULL };
	char *rest = text;

	for (size_t n = 0; n < ARRAY_SIZE(part) && rest; n++)
		part[n] = strsep(&rest, "/");
	const char *const *at = part + (core ? 3 : 4); /* behind the version; the first part is empty */

	if (!at[0] || strcmp(at[0], "namespaces") != 0 || !at[1] || !at[2] || !at[3])
		return NULL;
	return body_of(core ? "" : part[2], at[2], at[4] ? at[4] : "", verb_of(method), at[1], at[3]);
}

void access_ask(struct access *a, const struct msg_ctl_access *q)
{
	_cleanup_free_ char *body = body_of(q->group, q->resource, q->subresource, q->verb, q->ns, q->name);
	const struct http_call call = { .method = "POST",
					.path = ACCESS_PATH,
					.content_type = "application/json",
					.body = body,
					.body_len = body ? strlen(body) : 0,
					.max_body = 65536,
					.total_timeout_ms = TIMEOUT_MS,
					.on_done = on_done,
					.ctx = a };

	if (a->request || !body) {
		struct facts busy = { 0 };

		facts_finding(&busy, TEXT_ANSWERS_ANOTHER);
		answer(a, q->conn, false, false, &busy);
		return;
	}
	a->conn = q->conn;
	a->request = http_client_start(a->client, &call);
}
