/* metrics.c - see metrics.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/web/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "reporter/web/request.h"

static const struct family {
	const char *name, *type, *labels, *help, *field;
} families[METRIC__MAX] = {
#define M(ID, name, type, labels, help, field) [METRIC_##ID] = { name, type, labels, help, field },
#define H(ID, name, labels, help, timing)      [METRIC_##ID] = { name, "histogram", labels, help, "" },
#include "reporter/web/metrics.def"
#undef M
#undef H
};

struct series {
	char *label[METRICS_LABELS_MAX]; /* a value for each label that the family has; then NULL */
	double value;
	uint64_t *count; /* of a histogram, by bucket; else NULL */
};

struct metrics {
	struct {
		struct series *v;
		size_t n;
	} family[METRIC__MAX];
};

/* Exposition format: backslash, quote and line feed are escaped in label values. It has no escape for what is
 * not printable. */
static void put_escaped(FILE *f, const char *s)
{
	for (size_t n = strlen(s), len; n > 0; s += len, n -= len) {
		uint32_t c;

		len = unicode_take(s, n, &c);
		if (c == '\\' || c == '"' || c == '\n')
			(void)fprintf(f, "\\%c", c == '\n' ? 'n' : (char)c);
		else if (unicode_is_printable(c))
			(void)fwrite(s, 1, len, f);
		else
			(void)fputc('?', f);
		len = len ? len : 1;
	}
}

const char *metric_field(enum metric id)
{
	return families[id].field;
}

unsigned metric_labels(enum metric id)
{
	unsigned n = *families[id].labels != '\0';

	for (const char *s = families[id].labels; *s; s++)
		n += *s == ',';
	return n;
}

enum metric metric_of_timing(enum timing t)
{
	static const enum metric of[TIMING__MAX] = {
#define M(ID, ...)
#define H(ID, name, labels, help, timing) [TIMING_##timing] = METRIC_##ID,
#include "reporter/web/metrics.def"
#undef M
#undef H
	};

	return of[t];
}

struct metrics *metrics_new(void)
{
	return xcalloc(1, sizeof(struct metrics));
}

static void series_done(struct series *s)
{
	for (size_t k = 0; k < METRICS_LABELS_MAX; k++)
		free(s->label[k]);
	free(s->count);
}

void metrics_free(struct metrics **m)
{
	if (!*m)
		return;
	for (size_t f = 0; f < METRIC__MAX; f++) {
		for (size_t i = 0; i < (*m)->family[f].n; i++)
			series_done(&(*m)->family[f].v[i]);
		free((*m)->family[f].v);
	}
	free(*m);
	*m = NULL;
}

/* What the family has no label for says nothing. */
static bool is_labelled(const struct series *s, const struct metric_labels *l)
{
	for (size_t i = 0; i < METRICS_LABELS_MAX && l->v[i] && s->label[i]; i++)
		if (strcmp(s->label[i], l->v[i]) != 0)
			return false;
	return true;
}

static struct series *find(const struct metrics *m, enum metric id, const struct metric_labels *l)
{
	for (size_t i = 0; i < m->family[id].n; i++)
		if (is_labelled(&m->family[id].v[i], l))
			return &m->family[id].v[i];
	return NULL;
}

static struct series *find_or_make(struct metrics *m, enum metric id, const struct metric_labels *l)
{
	struct metric_labels other = { { NULL } };
	struct series *s = find(m, id, l);

	if (!s && m->family[id].n >= METRICS_SERIES_MAX - 1) {
		for (size_t i = 0; i < METRICS_LABELS_MAX && l->v[i]; i++)
			other.v[i] = "other";
		l = &other;
		s = find(m, id, l);
	}
	if (s)
		return s;
	m->family[id].v = xreallocarray(m->family[id].v, m->family[id].n + 1, sizeof(struct series));
	s = &m->family[id].v[m->family[id].n++];
	*s = (struct series){ .value = 0 };
	for (size_t i = 0; i < metric_labels(id); i++)
		s->label[i] = xstrdup(l->v[i] ? l->v[i] : "");
	return s;
}

void metrics_set(struct metrics *m, enum metric id, double value, const struct metric_labels *labels)
{
	find_or_make(m, id, labels)->value = value;
}

void metrics_add(struct metrics *m, enum metric id, double by, const struct metric_labels *labels)
{
	find_or_make(m, id, labels)->value += by;
}

void metrics_observe(struct metrics *m, enum metric id, unsigned bucket, uint64_t n, uint64_t sum_us,
		     const struct metric_labels *labels)
{
	struct series *s = find_or_make(m, id, labels);

	if (!s->count)
		s->count = xcalloc(TIMING_BOUNDS + 1, sizeof(*s->count));
	s->count[bucket < TIMING_BOUNDS ? bucket : TIMING_BOUNDS] += n;
	s->value += (double)sum_us / 1e6;
}

void metrics_forget(struct metrics *m, enum metric id, const struct metric_labels *labels)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->family[id].n; i++) {
		struct series *s = &m->family[id].v[i];

		if (is_labelled(s, labels))
			series_done(s);
		else
			m->family[id].v[kept++] = *s;
	}
	m->family[id].n = kept;
}

double metrics_get(const struct metrics *m, enum metric id, const struct metric_labels *labels)
{
	const struct series *s = find(m, id, labels);

	return s ? s->value : 0;
}

/* -- text -- */

/* `last` is one more label, "" = none. */
static void put_labels(FILE *f, const struct family *fam, const struct series *s, const char *last)
{
	struct str names = STR_C(fam->labels);
	char before = '{';

	for (size_t i = 0; i < METRICS_LABELS_MAX && s->label[i]; i++) {
		const struct str name = str_cut(&names, ',');

		(void)fprintf(f, "%c%.*s=\"", before, STR_ARG(name));
		put_escaped(f, s->label[i]);
		(void)fputc('"', f);
		before = ',';
	}
	if (*last)
		(void)fprintf(f, "%c%s", before, last);
	if (s->label[0] || *last)
		(void)fputc('}', f);
}

static void put_value(FILE *f, double value)
{
	if (floor(value) == value && fabs(value) < 1e15)
		(void)fprintf(f, " %" PRId64 "\n", (int64_t)value);
	else
		(void)fprintf(f, " %.17g\n", value);
}

/* Bounds are written as numbers with a point, as OpenMetrics wants them: one series in both formats. */
static void put_histogram(FILE *f, const struct family *fam, const struct series *s)
{
	uint64_t n = 0;
	char le[32];

	for (unsigned i = 0; i <= TIMING_BOUNDS; i++) {
		const double bound = (double)timing_bound(i) / 1e6;

		if (i == TIMING_BOUNDS)
			(void)snprintf(le, sizeof(le), "le=\"+Inf\"");
		else
			(void)snprintf(le, sizeof(le), floor(bound) == bound ? "le=\"%.1f\"" : "le=\"%g\"",
				       bound);
		n += s->count[i];
		(void)fprintf(f, "%s_bucket", fam->name);
		put_labels(f, fam, s, le);
		(void)fprintf(f, " %" PRIu64 "\n", n);
	}
	(void)fprintf(f, "%s_sum", fam->name);
	put_labels(f, fam, s, "");
	put_value(f, s->value);
	(void)fprintf(f, "%s_count", fam->name);
	put_labels(f, fam, s, "");
	(void)fprintf(f, " %" PRIu64 "\n", n);
}

static void put_series(FILE *f, const struct family *fam, const struct series *s)
{
	if (s->count) {
		put_histogram(f, fam, s);
		return;
	}
	(void)fputs(fam->name, f);
	put_labels(f, fam, s, "");
	put_value(f, s->value);
}

/* OpenMetrics names a counter's family without the _total of its sample. */
static int name_length(const struct family *fam, enum metrics_format format)
{
	const size_t n = strlen(fam->name), total = sizeof("_total") - 1;

	if (format == METRICS_OPENMETRICS && strcmp(fam->type, "counter") == 0)
		return (int)(n - total);
	return (int)n;
}

char *metrics_text(const struct metrics *m, enum metrics_format format, size_t *ret_size)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_size);

	if (!f)
		abort();
	for (size_t id = 0; id < METRIC__MAX; id++) {
		const struct family *fam = &families[id];
		const int n = name_length(fam, format);

		if (m->family[id].n == 0)
			continue;
		(void)fprintf(f, "# HELP %.*s %s\n# TYPE %.*s %s\n", n, fam->name, fam->help, n, fam->name,
			      fam->type);
		for (size_t i = 0; i < m->family[id].n; i++)
			put_series(f, fam, &m->family[id].v[i]);
	}
	if (format == METRICS_OPENMETRICS)
		(void)fputs("# EOF\n", f);
	(void)fclose(f);
	return text;
}

/* -- which text -- */

static const struct {
	const char *type, *versions[2], *content_type;
} formats[] = {
	[METRICS_TEXT] = { "text/plain", { "0.0.4", "0.0.4" }, "text/plain; version=0.0.4; charset=utf-8" },
	[METRICS_OPENMETRICS] = { "application/openmetrics-text",
				  { "1.0.0", "0.0.1" },
				  "application/openmetrics-text; version=1.0.0; charset=utf-8" },
};

const char *metrics_content_type(enum metrics_format f)
{
	return formats[f].content_type;
}

/* How closely one item of an Accept speaks of that format: 0 = it is not about it, 1 = any type, 2 = any
 * text, 3 = by name. */
static unsigned closeness(const struct request_item *item, enum metrics_format f)
{
	if (item->version.n > 0 && !str_is(item->version, formats[f].versions[0]) &&
	    !str_is(item->version, formats[f].versions[1]))
		return 0;
	return str_is(item->name, formats[f].type)                 ? 3
	       : str_is(item->name, "text/*") && f == METRICS_TEXT ? 2
	       : str_is(item->name, "*/*")                         ? 1
								   : 0;
}

/* How much that format is wanted, by what speaks of it most closely; *ret_how is how closely. */
static unsigned wanted(const char *accept, enum metrics_format f, unsigned *ret_how)
{
	struct str rest = STR_C(accept);
	unsigned best = 0;

	*ret_how = 0;
	while (rest.n > 0) {
		const struct request_item item = request_take_item(&rest);
		const unsigned how = closeness(&item, f);

		if (how == 0 || how < *ret_how || (how == *ret_how && item.q <= best))
			continue;
		*ret_how = how;
		best = item.q;
	}
	return best;
}

enum metrics_format metrics_format(const char *accept)
{
	unsigned by_name = 0, how = 0;

	if (!accept)
		return METRICS_TEXT;
	const unsigned open = wanted(accept, METRICS_OPENMETRICS, &by_name);

	return by_name == 3 && open > 0 && open >= wanted(accept, METRICS_TEXT, &how) ? METRICS_OPENMETRICS
										      : METRICS_TEXT;
}
