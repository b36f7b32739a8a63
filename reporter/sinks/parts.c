/* parts.c - see parts.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/sinks/parts.h"

#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"

/* The last one accepts every address. */
static const struct post_ops *const sinks[] = { &post_feishu };

const struct post_ops *sink_of(const char *url)
{
	size_t i = 0;

	while (i + 1 < ARRAY_SIZE(sinks) && !sinks[i]->accepts(url))
		i++;
	return sinks[i];
}

/* -- messages -- */

/* As a JSON string. */
static size_t string_size(const char *s, size_t n)
{
	json_t *j = json_stringn(s, n);
	const size_t size = j ? json_dumpb(j, NULL, 0, JSON_ENCODE_ANY) : 0;

	json_decref(j);
	return size;
}

/* Bytes of a message that are left for paragraphs. */
static size_t room_of(const struct post_ops *ops, const char *title)
{
	const size_t used = ops->frame + string_size(title, strlen(title));

	return used + 1024 < ops->size_max ? ops->size_max - used : 1024;
}

/* A byte takes 6 in JSON at most, so a step never takes away more than it must. */
size_t sink_fitting(const struct post_ops *ops, const char *title, const char *paragraph)
{
	const size_t room = room_of(ops, title) - ops->around;
	size_t n = strlen(paragraph), size;

	while (n > 0 && (size = string_size(paragraph, n)) > room) {
		const size_t step = 1 + (size - room) / 6;

		n -= step > n ? n : step;
		while (n > 0 && ((unsigned char)paragraph[n] & 0xc0) == 0x80)
			n--;
	}
	return n;
}

void sink_split(const struct post_ops *ops, const char *title, char *const *paragraphs, size_t n,
		struct sink_parts *ret)
{
	const size_t room = room_of(ops, title);
	size_t used = 0;

	*ret = (struct sink_parts){ .n = 1 };
	for (size_t i = 0; i < n; i++) {
		size_t size = ops->around + string_size(paragraphs[i], strlen(paragraphs[i]));

		size = size > room ? room : size; /* it will be cut */
		if (used > 0 && used + size > room) {
			ret->start[ret->n] = i;
			if (ret->n == SINK_PARTS_MAX) {
				ret->left_out = n - i;
				return;
			}
			ret->n++;
			used = 0;
		}
		used += size;
	}
	ret->start[ret->n] = n;
}

/* -- answers -- */

/* What a library or the server says goes to the log; the address is a secret and must not. */
static void set_text(struct sink_answer *a, const char *s, const char *url)
{
	const char *scheme = strstr(url, "://");
	const char *path = strchr(scheme ? scheme + 3 : url, '/');

	if (path && path[1] && strstr(s, path))
		s = "(a text that contains the address of the bot)";
	(void)str_copy_printable(a->text, sizeof(a->text), s, strlen(s));
}

static enum sink_verdict verdict_of_status(long status)
{
	/* A gateway that gave up waiting does not know what became of the message. */
	if (status == 504)
		return SINK_IN_DOUBT;
	return status == 429 || status >= 500 ? SINK_AGAIN : SINK_REFUSED;
}

static void interpret_response(const struct post_ops *ops, const struct http_result *r, const char *url,
			       struct sink_answer *ret)
{
	const bool good = r->status >= 200 && r->status < 300;
	_cleanup_free_ char *text = NULL;
	const bool understood = ops->interpret(r->body, r->body_len, ret, &text);

	if (!understood)
		text = good ? xasprintf("the answer is not what %s says; check apiurl", ops->name)
			    : xasprintf("HTTP status %ld", r->status);
	if (!understood)
		ret->verdict = SINK_REFUSED;
	if (!good && ret->verdict != SINK_AGAIN)
		ret->verdict = verdict_of_status(r->status);
	set_text(ret, text, url);
}

void post_interpret(const struct post_ops *ops, const struct http_result *r, const char *url,
		    struct sink_answer *ret)
{
	*ret = (struct sink_answer){ .code = -1, .retry_after_ms = r->retry_after_ms };
	if (r->failure == HTTP_OK) {
		interpret_response(ops, r, url, ret);
		return;
	}
	/* An answer that is too large is an answer: the message arrived, what became of it is not known. */
	const bool arrived = r->failure == HTTP_TOO_LARGE || r->failure == HTTP_ABORTED;

	ret->verdict = arrived || (r->sent && r->failure != HTTP_CONNECT) ? SINK_IN_DOUBT : SINK_AGAIN;
	set_text(ret, r->error, url);
}
