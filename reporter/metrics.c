/* metrics.c - see metrics.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/metrics.h"

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
#include "reporter/metrics.def"
#undef M
};

struct series {
	char *labels; /* "{a=\"x\",b=\"y\"}", or "" */
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

static char *label_text(enum metric id, const struct metric_labels *l, bool other)
{
	const char *name = families[id].labels;
	struct text t = { 0 };

	for (size_t i = 0; *name && i < METRICS_LABELS_MAX; i++) {
		const size_t n = strcspn(name, ",");

		text_puts(&t, i == 0 ? "{" : ",");
		text_add(&t, name, n);
		text_puts(&t, "=\"");
		text_escaped(&t, other ? "other" : l->v[i] ? l->v[i] : "");
		text_puts(&t, "\"");
		name += n + (name[n] == ',');
	}
	text_puts(&t, t.n > 0 ? "}" : "");
	return t.p;
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
			free((*m)->family[f].v[i].labels);
		free((*m)->family[f].v);
	}
	free(*m);
	*m = NULL;
}

static struct series *find(const struct metrics *m, enum metric id, const char *labels)
{
	for (size_t i = 0; i < m->family[id].n; i++)
		if (strcmp(m->family[id].v[i].labels, labels) == 0)
			return &m->family[id].v[i];
	return NULL;
}

static struct series *find_or_make(struct metrics *m, enum metric id, const struct metric_labels *l)
{
	_cleanup_free_ char *labels = label_text(id, l, false);
	struct series *s = find(m, id, labels);

	if (!s && m->family[id].n >= METRICS_SERIES_MAX - 1) {
		free(labels);
		labels = label_text(id, l, true);
		s = find(m, id, labels);
	}
	if (s)
		return s;
	if (m->family[id].n == m->family[id].room) {
		m->family[id].room = m->family[id].room ? 2 * m->family[id].room : 4;
		m->family[id].v = xreallocarray(m->family[id].v, m->family[id].room, sizeof(struct series));
	}
	s = &m->family[id].v[m->family[id].n++];
	*s = (struct series){ .labels = TAKE_PTR(labels) };
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
	_cleanup_free_ char *text = label_text(id, labels, false);
	const struct series *s = find(m, id, text);

	return s ? s->value : 0;
}

static void add_series(struct text *t, const char *name, const struct series *s)
{
	char value[64];

	if (floor(s->value) == s->value && fabs(s->value) < 1e15)
		(void)snprintf(value, sizeof(value), " %" PRId64 "\n", (int64_t)s->value);
	else
		(void)snprintf(value, sizeof(value), " %.17g\n", s->value);
	text_puts(t, name);
	text_puts(t, s->labels);
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
			add_series(&t, fam->name, &m->family[f].v[i]);
	}
	*ret_size = t.n;
	return t.p;
}
