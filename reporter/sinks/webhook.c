/* webhook.c - a webhook of somebody's own: everything of the document as JSON (docs/sinks.md says what each
 * member is; it grows, and what is there stays), at most 256 KiB. With a secret the header
 * X-Ops-Pod-Cleaner-Signature is "sha256=" and the hex HMAC-SHA256 (key = secret) over the value of
 * X-Ops-Pod-Cleaner-Timestamp (Unix seconds), a full stop, and the body: the receiver can tell an old one
 * that is sent again by somebody else. X-Ops-Pod-Cleaner-Id is the same for the same message: whoever knows
 * it already answers 2xx and does nothing. Any 2xx that is no HTML page is a yes; 429 and 5xx are tried
 * again. */
// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "reporter/sinks/sink.h"

#define BODY_MAX ((size_t)256 * 1024)

static char *render(const struct sink_view *v)
{
	json_t *o = document_value(v->doc, &v->part);
	char *ret = json_dumps(o, JSON_COMPACT);

	json_decref(o);
	return ret;
}

static void add_header(struct sink_request *rq, char *line)
{
	str_list_add(&rq->headers, line, strlen(line));
	free(line);
}

static void request(const struct sink_settings *s, const struct document *doc, int64_t now_ms,
		    struct sink_request *rq)
{
	char sign[SINK_HEX_MAX];

	if (card_is_name(doc->id, "-_.:"))
		add_header(rq, xasprintf("X-Ops-Pod-Cleaner-Id: %s", doc->id));
	add_header(rq, xasprintf("X-Ops-Pod-Cleaner-Timestamp: %" PRId64, now_ms / 1000));
	if (!s->secret || !*s->secret)
		return;
	_cleanup_free_ char *message = xasprintf("%" PRId64 ".%s", now_ms / 1000, rq->body);

	sink_hmac_hex(s->secret, message, sign);
	add_header(rq, xasprintf("X-Ops-Pod-Cleaner-Signature: sha256=%s", sign));
}

const struct sink_ops sink_webhook = {
	.size_max = BODY_MAX,
	.knows_ids = true,
	.whole = true,
	.render = render,
	.request = request,
};
