/* digest.c - see digest.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/digest/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "model/duties.h"
#include "model/reasons.h"

void digest_done(struct digest *d)
{
	free(d->pods);
	free(d->workloads);
	*d = (struct digest){ 0 };
}

void digest_add(struct digest *d, const struct msg_digest_row *row)
{
	if (d->n_pods == DIGEST_ROWS_MAX) {
		d->dropped++;
		return;
	}
	d->pods = xgrow(d->pods, &d->room, (uint32_t)d->n_pods, sizeof(*d->pods));
	d->pods[d->n_pods++] = (struct digest_pod){ .row = *row, .delta = DELTA_UNKNOWN };
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_workload(const struct msg_digest_row *a, const struct msg_digest_row *b)
{
	int c = compare_u64(a->cluster, b->cluster);

	c = c ? c : strcmp(a->ns, b->ns);
	c = c ? c : strcmp(a->kind, b->kind);
	return c ? c : strcmp(a->workload, b->workload);
}

static int compare_container(const struct msg_digest_row *a, const struct msg_digest_row *b)
{
	int c = compare_workload(a, b);

	c = c ? c : strcmp(a->pod, b->pod);
	return c ? c : strcmp(a->container, b->container);
}

static int compare_pod(const struct msg_digest_row *a, const struct msg_digest_row *b)
{
	int c = compare_container(a, b);

	/* The newer incarnation, then the higher count, comes last and stays. */
	c = c ? c : (a->created > b->created) - (a->created < b->created);
	return c ? c : compare_u64(a->restarts, b->restarts);
}

static int by_pod(const void *a, const void *b)
{
	return compare_pod(&((const struct digest_pod *)a)->row, &((const struct digest_pod *)b)->row);
}

void digest_finish(struct digest *d)
{
	size_t kept = 0;

	if (d->n_pods == 0)
		return;
	qsort(d->pods, d->n_pods, sizeof(*d->pods), by_pod);
	for (size_t i = 0; i < d->n_pods; i++) {
		if (kept > 0 && compare_container(&d->pods[kept - 1].row, &d->pods[i].row) == 0)
			kept--;
		d->pods[kept++] = d->pods[i];
	}
	d->n_pods = kept;
}

/* -- groups -- */

/* What never was in a digest before counts with all its restarts. */
static uint64_t badness(int64_t delta, uint64_t restarts)
{
	return delta == DELTA_UNKNOWN ? restarts : (uint64_t)delta;
}

static int by_badness(const void *pa, const void *pb)
{
	const struct digest_pod *a = pa, *b = pb;
	int c = compare_workload(&a->row, &b->row);

	c = c ? c : compare_u64(badness(b->delta, b->row.restarts), badness(a->delta, a->row.restarts));
	c = c ? c : compare_u64(b->row.restarts, a->row.restarts);
	return c ? c : compare_pod(&a->row, &b->row);
}

static int worst_first(const void *pa, const void *pb)
{
	const struct digest_workload *a = pa, *b = pb;
	int c = compare_u64(badness(b->delta, b->restarts), badness(a->delta, a->restarts));

	c = c ? c : compare_u64(b->restarts, a->restarts);
	return c ? c : compare_pod(&a->pods[0].row, &b->pods[0].row);
}

static void add_to_workload(struct digest_workload *w, const struct digest_pod *p)
{
	w->n++;
	w->restarts += p->row.restarts;
	if (p->delta != DELTA_UNKNOWN)
		w->delta = (w->delta == DELTA_UNKNOWN ? 0 : w->delta) + p->delta;
}

void digest_group(struct digest *d)
{
	d->n_workloads = 0;
	if (d->n_pods == 0)
		return;
	qsort(d->pods, d->n_pods, sizeof(*d->pods), by_badness);
	d->workloads = xreallocarray(d->workloads, d->n_pods, sizeof(*d->workloads));
	for (size_t i = 0; i < d->n_pods; i++) {
		if (i == 0 || compare_workload(&d->pods[i - 1].row, &d->pods[i].row) != 0)
			d->workloads[d->n_workloads++] =
				(struct digest_workload){ .pods = &d->pods[i], .delta = DELTA_UNKNOWN };
		add_to_workload(&d->workloads[d->n_workloads - 1], &d->pods[i]);
	}
	qsort(d->workloads, d->n_workloads, sizeof(*d->workloads), worst_first);
}

/* -- as text -- */

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

/* The next paragraph: close it before another one begins, which may move its place. */
static FILE *begin(struct digest_text *t)
{
	t->v = xreallocarray(t->v, t->n + 1, sizeof(*t->v));
	FILE *f = open_memstream(&t->v[t->n++], &t->size);

	if (!f)
		abort();
	return f;
}

/* Text that came from elsewhere. */
static void put(FILE *f, const char *before, const char *s)
{
	_cleanup_free_ char *clean = digest_clean(s);

	(void)fprintf(f, "%s%s", before, clean);
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* -- restarts -- */

static void put_delta(FILE *f, int64_t delta, const char *previous)
{
	if (*previous && delta == DELTA_UNKNOWN)
		(void)fputs(" (new)", f);
	else if (*previous)
		(void)fprintf(f, " (+%" PRId64 ")", delta);
}

static void put_pod(FILE *f, const struct digest_pod *p, const char *previous)
{
	const struct msg_digest_row *r = &p->row;

	put(f, "  ", r->pod);
	put(f, " / ", r->container);
	put(f, ": ", r->reason);
	(void)fprintf(f, ", %" PRIu64 " restarts", r->restarts);
	put_delta(f, p->delta, previous);
	(void)fprintf(f, ", exit code %" PRId64 "\n", r->exit_code);
}

/* One cluster needs no name. */
static void put_cluster(FILE *f, const char *name, const struct str_list *clusters)
{
	if (clusters->n <= 1)
		return;
	put(f, "[", name);
	(void)fputs("] ", f);
}

static void put_name(FILE *f, const struct msg_digest_row *r, const struct str_list *clusters)
{
	put_cluster(f, r->cluster < clusters->n ? clusters->v[r->cluster] : "?", clusters);
	put(f, "", r->ns);
	put(f, "/", r->workload);
	if (*r->kind) {
		put(f, " (", r->kind);
		(void)fputs(")", f);
	}
}

static void render_workload(const struct digest_workload *w, size_t rank, const struct digest_context *ctx,
			    struct digest_text *t)
{
	FILE *f = begin(t);

	(void)fprintf(f, "%zu. ", rank);
	put_name(f, &w->pods[0].row, ctx->cluster_names);
	(void)fprintf(f, ": %" PRIu64 " restarts", w->restarts);
	put_delta(f, w->delta, ctx->previous);
	(void)fprintf(f, " in %zu pod%s\n", w->n, plural(w->n));
	for (size_t i = 0; i < w->n && i < DIGEST_PODS_SHOWN; i++)
		put_pod(f, &w->pods[i], ctx->previous);
	if (w->n > DIGEST_PODS_SHOWN)
		(void)fprintf(f, "  … and %zu more\n", w->n - DIGEST_PODS_SHOWN);
	(void)fclose(f);
}

static void render_head(const struct digest *d, const struct digest_context *ctx, struct digest_text *t)
{
	const size_t pods = d->n_pods, workloads = d->n_workloads;
	FILE *f = begin(t);

	if (workloads == 0)
		(void)fprintf(f, "No workload restarts too often, as of %s.\n", ctx->due);
	else
		(void)fprintf(f, "%zu workload%s with %zu pod%s, worst first, as of %s.\n", workloads,
			      plural(workloads), pods, plural(pods), ctx->due);
	if (*ctx->previous && workloads > 0)
		(void)fprintf(f, "In brackets: since the report of %s.\n", ctx->previous);
	if (ctx->late)
		(void)fputs(
			"Sent late: the program did not run, or could not send, when this report was due.\n",
			f);
	if (ctx->lost > 0)
		(void)fprintf(f, "%" PRId64 " earlier report%s did not get through, or not surely.\n",
			      ctx->lost, plural((size_t)ctx->lost));
	if (*ctx->incomplete) {
		put(f, "Not complete: no full answer from ", ctx->incomplete);
		(void)fputs(".\n", f);
	}
	if (d->dropped > 0)
		(void)fprintf(f, "Not complete: %" PRIu64 " more containers are not counted here.\n",
			      d->dropped);
	(void)fclose(f);
}

/* -- what needs an operator -- */

static void render_group(const struct attention_group *g, const struct digest_context *ctx,
			 struct digest_text *t)
{
	const struct reason_desc *reason = reason_find(g->reason);
	char since[RFC3339_MAX];
	FILE *f = begin(t);

	rfc3339_format(g->first_at, false, since);
	(void)fputs("! ", f);
	put_cluster(f, g->cluster, ctx->cluster_names);
	if (g->duty >= 0)
		(void)fprintf(f, "%s: ", duty_name((enum duty)g->duty));
	put(f, "", g->reason);
	(void)fprintf(f, ": %s\n", reason->text[LANGUAGE_EN].sentence);
	if (*g->names) {
		put(f, "  ", g->names);
		(void)fputs("\n", f);
	}
	(void)fprintf(f, "  since %s", since);
	if (*g->detail)
		put(f, ": ", g->detail);
	(void)fprintf(f, "\n  remedy: %s\n", reason->text[LANGUAGE_EN].remedy);
	(void)fclose(f);
}

static void render_attention(const struct digest_context *ctx, struct digest_text *t)
{
	const size_t n = ctx->attention.n, shown = n < DIGEST_ATTENTION_MAX ? n : DIGEST_ATTENTION_MAX;

	if (n == 0)
		return;
	FILE *f = begin(t);

	(void)fprintf(f, "%zu thing%s need%s an operator; each is reported once.%s\n", n, plural(n),
		      n == 1 ? "s" : "", n > shown ? " Not all are shown: see history." : "");
	(void)fclose(f);
	for (size_t i = 0; i < shown; i++)
		render_group(&ctx->attention.v[i], ctx, t);
}

void digest_render(const struct digest *d, const struct digest_context *ctx, struct digest_text *ret)
{
	*ret = (struct digest_text){ 0 };
	render_head(d, ctx, ret);
	for (size_t i = 0; i < d->n_workloads; i++)
		render_workload(&d->workloads[i], i + 1, ctx, ret);
	render_attention(ctx, ret);
}

void digest_text_done(struct digest_text *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i]);
	free(t->v);
	*t = (struct digest_text){ 0 };
}
