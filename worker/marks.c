/* marks.c - see marks.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/marks.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "kube/path.h"
#include "model/rights.h"
#include "worker/managed_fields.h"
#include "worker/owner_kinds.h"
#include "worker/read.h"
#include "worker/steps/step.h"

#define TIMEOUT_MS 4000u

struct marks {
	struct http_client *client;
	void (*answer)(void *ctx, const struct msg *m);
	void *ctx;
	struct http_request *request; /* NULL = nothing is open */
	struct msg_ctl_marked question;
	struct kind_info kind; /* that is asked for, */
	size_t next;           /* the one after it, in the table of kinds */
	char *page;            /* continue token; NULL at a first page */
	char denied[256];      /* what may not be read */
};

struct marks *marks_new(struct http_client *client, void (*answer)(void *ctx, const struct msg *m), void *ctx)
{
	struct marks *m = xcalloc(1, sizeof(*m));

	*m = (struct marks){ .client = client, .answer = answer, .ctx = ctx };
	return m;
}

void marks_free(struct marks **m)
{
	if (!*m)
		return;
	http_request_cancel(&(*m)->request);
	free((*m)->page);
	free(TAKE_PTR(*m));
}

static void end(const struct marks *m, uint64_t conn, uint64_t code, const struct facts *why)
{
	struct msg answer = { .type = MSG_CTL_END, .u.ctl_end = { .conn = conn, .code = code } };

	facts_set(&answer.u.ctl_end.why, why);
	m->answer(m->ctx, &answer);
}

static void end_saying(const struct marks *m, uint64_t conn, uint64_t code, enum text statement)
{
	struct facts why = { 0 };

	facts_finding(&why, statement);
	end(m, conn, code, &why);
}

/* "errImagePull: CannotPullImage: ..." */
static enum duty duty_in(struct str why)
{
	const int d = duty_parse(str_cut(&why, ':'));

	return d < 0 ? DUTY_IMAGE_PULL : (enum duty)d;
}

static void look_at(const struct marks *m, const json_t *o)
{
	const struct str from = mark_read(o, MARK_FROM), number = mark_read(o, MARK_ACTION),
			 at = mark_read(o, MARK_AT), why = mark_read(o, MARK_WHY),
			 uid = READ_TEXT(o, "metadata", "uid"), ns = READ_TEXT(o, "metadata", "namespace"),
			 name = READ_TEXT(o, "metadata", "name");
	const json_t *replicas = READ_AT(o, "spec", "replicas");
	struct msg row = { .type = MSG_CTL_MARKED_ROW, .u.ctl_marked_row.conn = m->question.conn };
	struct msg_ctl_marked_row *r = &row.u.ctl_marked_row;
	uint64_t had = 0;

	/* What is marked has no controller: a Deployment's copies annotations down to its ReplicaSets. */
	if (read_controller_ref(o) || uid.n == 0 || !str_is(mark_read(o, MARK_BY), MANAGED_US) ||
	    !json_is_integer(replicas) || json_integer_value(replicas) != 0 ||
	    str_to_u64(from.p, from.n, &had) < 0 || had == 0 || had > INT32_MAX ||
	    str_to_u64(number.p, number.n, &r->number) < 0 || r->number == 0 || r->number > LEASE_ID_MAX)
		return;
	_cleanup_free_ char *resource = kind_resource(&m->kind);
	_cleanup_free_ char *target = xasprintf("%s/%.*s/%.*s", resource, STR_ARG(ns), STR_ARG(name));

	r->replicas = (int64_t)had;
	r->duty = duty_in(why);
	msg_text(&row, ctl_marked_row.target, target);
	msg_set(&row, ctl_marked_row.target_uid, uid.p, uid.n);
	if (rfc3339_parse(at.p, at.n, &r->at) < 0 || r->at < 0)
		r->at = 0; /* anybody may have written it */
	msg_set(&row, ctl_marked_row.said, why.p, why.n);
	m->answer(m->ctx, &row);
}

static void ask(struct marks *m);

static void note_denied(struct marks *m)
{
	_cleanup_free_ char *resource = kind_resource(&m->kind);
	const size_t n = strlen(m->denied);

	(void)snprintf(m->denied + n, sizeof(m->denied) - n, "%s%s", n ? ", " : "", resource);
}

static void take(struct marks *m, const json_t *o)
{
	const json_t *items = json_object_get(o, "items"), *item;
	const struct str token = READ_TEXT(o, "metadata", "continue");
	size_t i;

	if (m->question.name[0])
		look_at(m, o);
	json_array_foreach (items, i, item)
		look_at(m, item);
	if (!m->question.name[0] && token.n)
		m->page = xstrndup(token.p, token.n);
}

/* No object of that name, or no such kind: those of Kubernetes itself every server has. */
static bool is_absent(const struct marks *m, const struct http_result *r)
{
	const bool everywhere = !m->kind.group[0] || strcmp(m->kind.group, "apps") == 0;

	return r->status == 404 && (!everywhere || read_is_absent(r->body, r->body_len));
}

static void on_done(void *ctx, const struct http_result *r)
{
	struct marks *m = ctx;
	json_auto_t *o = NULL;

	m->request = NULL;
	free(TAKE_PTR(m->page));
	if (r->failure == HTTP_OK && r->status == 200)
		o = json_project_loadb(r->body ? r->body : "", r->body_len, project_marked,
				       &(json_error_t){ 0 });
	if (r->failure != HTTP_OK || (!o && r->status != 403 && !is_absent(m, r))) {
		end_saying(m, m->question.conn, EXIT_CODE_UNAVAILABLE, TEXT_ASK_AGAIN);
		return;
	}
	if (r->status == 403)
		note_denied(m);
	if (o)
		take(m, o);
	ask(m);
}

/* The next kind that is scaled in a write of the object itself; false: that was the last. */
static bool next_kind(struct marks *m)
{
	const struct kind_desc *k;

	while ((k = kind_at(m->next++)))
		if (right_is_for(SET_WHOLES, k))
			return owner_kinds_resource(STR_C(k->group), STR_C(k->resource), &m->kind);
	return false;
}

static void end_all(struct marks *m)
{
	struct facts why = { 0 };

	if (m->denied[0]) {
		facts_finding(&why, TEXT_MAY_NOT_LOOK);
		facts_name(&why, FACT_RESOURCE, STR_C(m->denied));
	}
	end(m, m->question.conn, m->denied[0] ? EXIT_CODE_CREDENTIAL : EXIT_CODE_OK, &why);
}

static void ask(struct marks *m)
{
	const struct msg_ctl_marked *q = &m->question;

	if (!m->page && !next_kind(m)) {
		end_all(m);
		return;
	}
	_cleanup_free_ char *page = path_escape(m->page ? m->page : "");
	_cleanup_free_ char *query =
		q->name[0] ? NULL : xconcat("limit=100", *page ? "&continue=" : "", page, NULL);
	_cleanup_free_ char *path = path_format(m->kind.group, m->kind.version, q->ns[0] ? q->ns : NULL,
						m->kind.resource, q->name[0] ? q->name : NULL, NULL, query);
	const struct http_call call = {
		.method = "GET", .path = path, .total_timeout_ms = TIMEOUT_MS, .on_done = on_done, .ctx = m
	};

	if (path)
		m->request = http_client_start(m->client, &call);
	else
		end_saying(m, q->conn, EXIT_CODE_USAGE, TEXT_NAME_UNFIT);
}

void marks_ask(struct marks *m, const struct msg_ctl_marked *q)
{
	if (m->request) {
		end_saying(m, q->conn, EXIT_CODE_TEMPORARY, TEXT_ANSWERS_ANOTHER);
		return;
	}
	m->question = *q;
	m->next = 0;
	m->denied[0] = '\0';
	ask(m);
}
