/* metrics.c - see metrics.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/web/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/unicode.h"
#include "base/xalloc.h"

static const struct family {
	const char *name, *type, *labels, *help, *field;
} families[METRIC__MAX] = {
#define M(ID, name, type, labels, help, field) [METRIC_##ID] = { name, type, labels, help, field },
#include "reporter/web/metrics.def"
#undef M
};

struct series {
	char *label[METRICS_LABELS_MAX]; /* values of the labels the family has; the others NULL */
	double value;
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

struct metrics *metrics_new(void)
{
	return xcalloc(1, sizeof(struct metrics));
}

void metrics_free(struct metrics **m)
{
	if (!*m)
		return;
	for (size_t f = 0; f < METRIC__MAX; f++) {
		for (size_t i = 0; i < (*m)->family[f].n; i++)
			for (size_t k = 0; k < METRICS_LABELS_MAX; k++)
				free((*m)->family[f].v[i].label[k]);
		free((*m)->family[f].v);
	}
	free(*m);
	*m = NULL;
}

static bool is_labelled(const struct series *s, const struct metric_labels *l)
{
	for (size_t i = 0; i < METRICS_LABELS_MAX && l->v[i]; i++)
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
	for (size_t i = 0; i < METRICS_LABELS_MAX && l->v[i]; i++)
		s->label[i] = xstrdup(l->v[i]);
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

double metrics_get(const struct metrics *m, enum metric id, const struct metric_labels *labels)
{
	const struct series *s = find(m, id, labels);

	return s ? s->value : 0;
}

static void put_labels(FILE *f, const struct family *fam, const struct series *s)
{
	const char *name = fam->labels;

	for (size_t i = 0; i < METRICS_LABELS_MAX && s->label[i]; i++) {
		const size_t n = strcspn(name, ",");

		(void)fprintf(f, "%c%.*s=\"", i == 0 ? '{' : ',', (int)n, name);
		put_escaped(f, s->label[i]);
		(void)fputc('"', f);
		name += n + (name[n] == ',');
	}
	if (s->label[0])
		(void)fputc('}', f);
}

static void put_series(FILE *f, const struct family *fam, const struct series *s)
{
	(void)fputs(fam->name, f);
	put_labels(f, fam, s);
	if (floor(s->value) == s->value && fabs(s->value) < 1e15)
		(void)fprintf(f, " %" PRId64 "\n", (int64_t)s->value);
	else
		(void)fprintf(f, " %.17g\n", s->value);
}

char *metrics_text(const struct metrics *m, size_t *ret_size)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_size);

	if (!f)
		abort();
	for (size_t id = 0; id < METRIC__MAX; id++) {
		const struct family *fam = &families[id];

		if (m->family[id].n == 0)
			continue;
		(void)fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", fam->name, fam->help, fam->name, fam->type);
		for (size_t i = 0; i < m->family[id].n; i++)
			put_series(f, fam, &m->family[id].v[i]);
	}
	(void)fclose(f);
	return text;
}
