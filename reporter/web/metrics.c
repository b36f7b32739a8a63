/* metrics.c - see metrics.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/web/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

static const struct family {
	const char *name, *type, *labels, *help;
} families[METRIC__MAX] = {
#define M(ID, name, type, labels, help) [METRIC_##ID] = { name, type, labels, help },
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
		size_t n, room;
	} family[METRIC__MAX];
};

/* A growing text. */
struct text {
	char *p;
	size_t n, room;
};

static void text_add(struct text *t, const char *s, size_t n)
{
	if (t->n + n + 1 > t->room) {
		t->room = 2 * (t->n + n + 1);
		t->p = xreallocarray(t->p, t->room, 1);
	}
	memcpy(t->p + t->n, s, n);
	t->n += n;
	t->p[t->n] = '\0';
}

static void text_puts(struct text *t, const char *s)
{
	text_add(t, s, strlen(s));
}

/* Exposition format: backslash, quote and line feed are escaped in label values. */
static void text_escaped(struct text *t, const char *s)
{
	for (; *s; s++) {
		const char *esc = *s == '\\' ? "\\\\" : *s == '"' ? "\\\"" : *s == '\n' ? "\\n" : NULL;

		if (esc)
			text_puts(t, esc);
		else
			text_add(t, s, 1);
	}
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

static const char *value_of(const struct metric_labels *l, size_t i)
{
	return l->v[i] ? l->v[i] : "";
}

static bool is_labelled(const struct series *s, const struct metric_labels *l)
{
	for (size_t i = 0; i < METRICS_LABELS_MAX && s->label[i]; i++)
		if (strcmp(s->label[i], value_of(l, i)) != 0)
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

static size_t count_labels(enum metric id)
{
	size_t n = *families[id].labels != '\0';

	for (const char *p = families[id].labels; (p = strchr(p, ',')); p++)
		n++;
	return n;
}

static struct series *find_or_make(struct metrics *m, enum metric id, const struct metric_labels *l)
{
	static const struct metric_labels other = { { "other", "other", "other", "other" } };
	struct series *s = find(m, id, l);

	if (!s && m->family[id].n >= METRICS_SERIES_MAX - 1) {
		l = &other;
		s = find(m, id, l);
	}
	if (s)
		return s;
	if (m->family[id].n == m->family[id].room) {
		m->family[id].room = m->family[id].room ? 2 * m->family[id].room : 4;
		m->family[id].v = xreallocarray(m->family[id].v, m->family[id].room, sizeof(struct series));
	}
	s = &m->family[id].v[m->family[id].n++];
	*s = (struct series){ .value = 0 };
	for (size_t i = 0; i < count_labels(id); i++)
		s->label[i] = xstrdup(value_of(l, i));
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

static void add_labels(struct text *t, const struct family *f, const struct series *s)
{
	const char *name = f->labels;

	for (size_t i = 0; i < METRICS_LABELS_MAX && s->label[i]; i++) {
		const size_t n = strcspn(name, ",");

		text_puts(t, i == 0 ? "{" : ",");
		text_add(t, name, n);
		text_puts(t, "=\"");
		text_escaped(t, s->label[i]);
		text_puts(t, "\"");
		name += n + (name[n] == ',');
	}
	text_puts(t, s->label[0] ? "}" : "");
}

static void add_series(struct text *t, const struct family *f, const struct series *s)
{
	char value[64];

	if (floor(s->value) == s->value && fabs(s->value) < 1e15)
		(void)snprintf(value, sizeof(value), " %" PRId64 "\n", (int64_t)s->value);
	else
		(void)snprintf(value, sizeof(value), " %.17g\n", s->value);
	text_puts(t, f->name);
	add_labels(t, f, s);
	text_puts(t, value);
}

char *metrics_text(const struct metrics *m, size_t *ret_size)
{
	struct text t = { 0 };

	text_puts(&t, "");
	for (size_t f = 0; f < METRIC__MAX; f++) {
		const struct family *fam = &families[f];

		if (m->family[f].n == 0)
			continue;
		_cleanup_free_ char *head =
			xasprintf("# HELP %s %s\n# TYPE %s %s\n", fam->name, fam->help, fam->name, fam->type);

		text_puts(&t, head);
		for (size_t i = 0; i < m->family[f].n; i++)
			add_series(&t, fam, &m->family[f].v[i]);
	}
	*ret_size = t.n;
	return t.p;
}
