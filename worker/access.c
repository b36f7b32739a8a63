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

#define PATH_REVIEWS "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
#define TIMEOUT_MS   4000u

struct access {
	struct access_env env;
	struct http_request *request; /* NULL = nothing is open */
	uint64_t conn;
};

struct access *access_new(const struct access_env *env)
{
	struct access *a = xcalloc(1, sizeof(*a));

	a->env = *env;
	return a;
}

void access_free(struct access **a)
{
	if (*a && (*a)->request)
		(*a)->env.cancel((*a)->env.ctx, (*a)->request);
	free(*a);
	*a = NULL;
}

static void answer(struct access *a, uint64_t conn, bool known, bool allowed, const struct facts *why)
{
	_cleanup_free_ char *text = facts_render(why, NULL);
	struct msg m = { .type = MSG_CTL_ACCESS_ROW,
			 .u.ctl_access_row = { .conn = conn, .known = known, .allowed = allowed } };

	msg_set(&m, ctl_access_row.text, text, strlen(text));
	a->env.answer(a->env.ctx, &m);
}

static void on_done(void *ctx, const struct http_result *r)
{
	struct access *a = ctx;
	json_auto_t *o = r->failure == HTTP_OK ? json_loadb(r->body, r->body_len, 0, NULL) : NULL;
	const json_t *allowed = READ_AT(o, "status", "allowed");
	const struct str reason = READ_TEXT(o, "status", "reason");
	const bool known = r->failure == HTTP_OK && r->status == 201 && json_is_boolean(allowed);
	struct facts why = { 0 };

	a->request = NULL;
	if (known) {
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
	answer(a, a->conn, known, known && json_is_true(allowed), &why);
}

static char *body_of(const struct msg_ctl_access *q)
{
	json_auto_t *o =
		json_pack("{s:s, s:s, s:{s:{s:s, s:s, s:s, s:s, s:s, s:s}}}", "apiVersion",
			  "authorization.k8s.io/v1", "kind", "SelfSubjectAccessReview", "spec",
			  "resourceAttributes", "group", q->group, "resource", q->resource, "subresource",
			  q->subresource, "verb", q->verb, "namespace", q->ns, "name", q->name);

	return json_dumps(o, JSON_COMPACT);
}

void access_ask(struct access *a, const struct msg_ctl_access *q)
{
	_cleanup_free_ char *body = body_of(q);
	const struct http_call call = { .method = "POST",
					.path = PATH_REVIEWS,
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
	a->request = a->env.start(a->env.ctx, &call);
}
