/* render.c - the text of a digest; see digest.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/digest/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

/* A growing text. */
struct text {
	char *p;
	size_t n;
};

static void text_add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void text_add(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	_cleanup_free_ char *more = xvasprintf(fmt, ap);
	va_end(ap);
	const size_t n = strlen(more);

	t->p = xreallocarray(t->p, t->n + n + 1, 1);
	memcpy(t->p + t->n, more, n + 1);
	t->n += n;
}

char *digest_clean(const char *s)
{
	const size_t n = strlen(s);
	_cleanup_free_ char *printable = xmalloc(n + 1);
	char *ret = xmalloc(3 * n + 1);
	size_t out = 0;

	(void)str_copy_printable(printable, n + 1, s, n);
	for (const char *p = printable; *p; p++) {
		const char *put = *p == '<' ? "\xe2\x80\xb9" : *p == '>' ? "\xe2\x80\xba" : NULL;

		if (put) {
			memcpy(ret + out, put, 3);
			out += 3;
		} else {
			ret[out++] = *p;
		}
	}
	ret[out] = '\0';
	return ret;
}

static void add_delta(struct text *t, int64_t delta, const char *previous)
{
	if (!*previous)
		return;
	if (delta == DELTA_UNKNOWN)
		text_add(t, " (new)");
	else
		text_add(t, " (+%" PRId64 ")", delta);
}

static void add_pod(struct text *t, const struct digest_pod *p, const char *previous)
{
	const struct msg_digest_row *r = &p->row;
	_cleanup_free_ char *pod = digest_clean(r->pod), *container = digest_clean(r->container),
			    *reason = digest_clean(r->reason);

	text_add(t, "  %s / %s: %s, %" PRIu64 " restarts", pod, container, reason, r->restarts);
	add_delta(t, p->delta, previous);
	text_add(t, ", exit code %" PRId64 "\n", r->exit_code);
}

static void add_name(struct text *t, const struct msg_digest_row *r, const struct str_list *clusters)
{
	_cleanup_free_ char *ns = digest_clean(r->ns), *kind = digest_clean(r->kind),
			    *workload = digest_clean(r->workload);

	if (clusters->n > 1) {
		_cleanup_free_ char *cluster =
			digest_clean(r->cluster < clusters->n ? clusters->v[r->cluster] : "?");

		text_add(t, "[%s] ", cluster);
	}
	text_add(t, "%s/%s", ns, workload);
	if (*kind)
		text_add(t, " (%s)", kind);
}

static char *render_workload(const struct digest_workload *w, size_t rank, const struct digest_context *ctx)
{
	struct text t = { 0 };

	text_add(&t, "%zu. ", rank);
	add_name(&t, &w->pods[0].row, ctx->cluster_names);
	text_add(&t, ": %" PRIu64 " restarts", w->restarts);
	add_delta(&t, w->delta, ctx->previous);
	text_add(&t, " in %zu pod%s\n", w->n, w->n == 1 ? "" : "s");
	for (size_t i = 0; i < w->n && i < DIGEST_PODS_SHOWN; i++)
		add_pod(&t, &w->pods[i], ctx->previous);
	if (w->n > DIGEST_PODS_SHOWN)
		text_add(&t, "  … and %zu more\n", w->n - DIGEST_PODS_SHOWN);
	return t.p;
}

static char *render_head(const struct digest *d, const struct digest_context *ctx)
{
	struct text t = { 0 };
	const size_t pods = digest_pods(d);
	_cleanup_free_ char *incomplete = digest_clean(ctx->incomplete);

	if (digest_workloads(d) == 0)
		text_add(&t, "No workload restarts too often, as of %s.\n", ctx->slot);
	else
		text_add(&t, "%zu workload%s with %zu pod%s, worst first, as of %s.\n", digest_workloads(d),
			 digest_workloads(d) == 1 ? "" : "s", pods, pods == 1 ? "" : "s", ctx->slot);
	if (*ctx->previous && digest_workloads(d) > 0)
		text_add(&t, "In brackets: since the report of %s.\n", ctx->previous);
	if (ctx->late)
		text_add(
			&t,
			"Sent late: the program did not run, or could not send, when this report was due.\n");
	if (ctx->lost > 0)
		text_add(&t, "%" PRId64 " earlier report%s did not get through, or not surely.\n", ctx->lost,
			 ctx->lost == 1 ? "" : "s");
	if (*incomplete)
		text_add(&t, "Not complete: no full answer from %s.\n", incomplete);
	if (digest_dropped(d) > 0)
		text_add(&t, "Not complete: %" PRIu64 " more containers are not counted here.\n",
			 digest_dropped(d));
	return t.p;
}

void digest_render(const struct digest *d, const struct digest_context *ctx, struct digest_text *ret)
{
	const size_t n = digest_workloads(d);

	ret->n = n + 1;
	ret->v = xcalloc(ret->n, sizeof(*ret->v));
	ret->v[0] = render_head(d, ctx);
	for (size_t i = 0; i < n; i++)
		ret->v[i + 1] = render_workload(digest_workload(d, i), i + 1, ctx);
}

void digest_text_done(struct digest_text *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i]);
	free(t->v);
	*t = (struct digest_text){ 0 };
}
