/* server_version.c - see server_version.h. The answer is a small JSON object of texts: one is taken from it,
 * by hand, as this process reads no other JSON. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/server_version.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "model/kubernetes_version.h"

#define AGAIN_MS   3600000u /* an upgrade behind a load balancer need be no trouble of the watch */
#define REQUEST_MS 10000u
#define BODY_MAX   65536u

struct server_version {
	struct http_client *client;
	void (*changed)(void *ctx);
	void *ctx;
	struct http_request *request;
	uint64_t again_at; /* boot ms */
	char text[KUBERNETES_VERSION_MAX + 1];
};

/* What follows `token`, after blanks; false when something else does. */
static bool skip(struct str *s, struct str token)
{
	*s = str_trim(*s, " \t\r\n");
	if (s->n < token.n || memcmp(s->p, token.p, token.n) != 0)
		return false;
	s->p += token.n;
	s->n -= token.n;
	return true;
}

/* gitVersion of the answer; empty when it is none that kubernetes_version_parse() takes, as one with an
 * escape. */
static struct str version_of(const char *body, size_t n)
{
	static const char key[] = "\"gitVersion\"";
	const char *at = memmem(body, n, key, sizeof(key) - 1);
	struct str s = { at, at ? n - (size_t)(at - body) : 0 };
	struct kubernetes_version v;
	const char *end;

	if (!at || !skip(&s, STR_LIT("\"gitVersion\"")) || !skip(&s, STR_LIT(":")) ||
	    !skip(&s, STR_LIT("\"")))
		return (struct str){ 0 };
	end = memchr(s.p, '"', s.n);
	s.n = end ? (size_t)(end - s.p) : 0;
	return kubernetes_version_parse(s, &v) == 0 ? s : (struct str){ 0 };
}

static void on_done(void *ctx, const struct http_result *r)
{
	struct server_version *v = ctx;
	const bool good = r->failure == HTTP_OK && r->status == 200;
	const struct str found = good ? version_of(r->body, r->body_len) : (struct str){ 0 };

	v->request = NULL;
	if (!good && (r->failure != HTTP_OK || (r->status != 403 && r->status != 404))) {
		v->again_at = 0; /* it passes: with the next sign of life */
		return;
	}
	if (str_is(found, v->text))
		return;
	(void)snprintf(v->text, sizeof(v->text), "%.*s", STR_ARG(found));
	v->changed(v->ctx);
}

void server_version_ask(struct server_version *v, bool anew)
{
	const struct http_call call = { .method = "GET",
					.path = "/version",
					.max_body = BODY_MAX,
					.total_timeout_ms = REQUEST_MS,
					.on_done = on_done,
					.ctx = v };
	const uint64_t now = clock_boot_ms();

	if (v->request || (!anew && now < v->again_at))
		return;
	v->again_at = now + AGAIN_MS;
	v->request = http_client_start(v->client, &call);
}

void server_version_forget(struct server_version *v)
{
	http_request_cancel(&v->request);
	v->again_at = 0;
	v->text[0] = '\0';
}

const char *server_version_text(const struct server_version *v)
{
	return v->text;
}

struct server_version *server_version_new(struct http_client *client, void (*changed)(void *ctx), void *ctx)
{
	struct server_version *v = xcalloc(1, sizeof(*v));

	v->client = client;
	v->changed = changed;
	v->ctx = ctx;
	return v;
}

void server_version_free(struct server_version **v)
{
	if (!*v)
		return;
	http_request_cancel(&(*v)->request);
	free(*v);
	*v = NULL;
}
