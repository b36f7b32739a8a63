/* digest.c - see digest.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/report/digest.h"

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
