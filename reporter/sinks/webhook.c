/* webhook.c - a webhook of somebody's own: everything of the document as JSON (docs/sinks.md says what each
 * member is; it grows, and what is there stays), at most 256 KiB. With a secret the header
 * X-Ops-Pod-Cleaner-Signature is "sha256=" and the hex HMAC-SHA256 (key = secret) over the value of
 * X-Ops-Pod-Cleaner-Timestamp (Unix seconds), a full stop, and the body: the receiver can tell an old one
 * that is sent again by somebody else. X-Ops-Pod-Cleaner-Id is the same for the same message: whoever knows
 * it already answers 2xx and does nothing. Any 2xx that is no HTML page is a yes; 429 and 5xx are tried
 * again. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/sinks/sink.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "reporter/sinks/markup.h"

#define BODY_MAX ((size_t)256 * 1024)

static const char *const tones[TONE__MAX] = {
	[TONE_GOOD] = "good",
	[TONE_INFO] = "info",
	[TONE_WARNING] = "warning",
	[TONE_BAD] = "bad",
};

static json_t *text_json(const struct sink_view *v, const char *s)
{
	_cleanup_free_ char *text = markup_text(NULL, v, s ? s : "");

	return json_string(text);
}

static json_t *list_json(const struct sink_view *v, const struct str_list *l)
{
	json_t *a = json_array();

	for (size_t i = 0; i < l->n && i < v->lines_max; i++)
		(void)json_array_append_new(a, text_json(v, l->v[i]));
	return a;
}

/* Unix ms; null = unknown. */
static json_t *time_json(int64_t ms)
{
	char text[RFC3339_MAX];

	if (ms == 0)
		return json_null();
	rfc3339_format(ms, true, text);
	return json_string(text);
}

/* A line that is to be copied is whole or not there. */
static json_t *command_json(const struct sink_view *v, const char *command)
{
	return command && strlen(command) <= v->text_max ? json_string(command) : json_null();
}

static json_t *entry_json(const struct sink_view *v, const struct entry *e)
{
	json_t *facts = json_object();

	for (size_t i = 0; i < e->n_facts && i < v->lines_max; i++)
		if (strlen(e->facts[i].key) <= v->text_max)
			(void)json_object_set_new(facts, e->facts[i].key, text_json(v, e->facts[i].value));
	return json_pack("{s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "key", text_json(v, e->key), "over",
			 (int)e->is_over, "begin", time_json(e->begin_ms), "end", time_json(e->end_ms),
			 "title", text_json(v, e->title), "lines", list_json(v, &e->lines), "command",
			 command_json(v, e->command), "mentions", list_json(v, &e->mentions), "facts", facts);
}

static json_t *sections_json(const struct sink_view *v)
{
	json_t *a = json_array();

	for (size_t i = 0; i < v->sections; i++) {
		const struct section *s = &v->doc->sections[i];
		json_t *entries = json_array();

		for (size_t k = 0; k < v->shown[i]; k++)
			(void)json_array_append_new(entries, entry_json(v, &s->entries[k]));
		(void)json_array_append_new(a, json_pack("{s:o, s:o, s:I}", "title", text_json(v, s->title),
							 "entries", entries, "more",
							 (json_int_t)sink_more(v, i)));
	}
	return a;
}

static char *render(const struct sink_view *v)
{
	const struct document *d = v->doc;

	return sink_dump(json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:b, s:b, s:o, s:o, s:o, s:I, s:o}", "apiVersion",
		"ops-pod-cleaner.io/v1", "kind", "Message", "id", d->id, "news", news_name(d->kind), "tone",
		tones[d->tone], "language", language_name(d->language), "time", time_json(d->at_ms), "test",
		(int)d->is_test, "repeat", (int)d->is_repeat, "title", text_json(v, d->title), "lines",
		list_json(v, &d->lines), "sections", sections_json(v), "moreSections",
		(json_int_t)sink_more_sections(v), "footer", text_json(v, d->footer)));
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

	if (markup_is_name(doc->id, "-_.:"))
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
	.forms = 1,
	.knows_ids = true,
	.whole = true,
	.content_type = "application/json; charset=utf-8",
	.render = render,
	.request = request,
	.interpret = sink_read_status,
};
