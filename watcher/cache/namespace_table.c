/* namespace_table.c - see namespace_table.h. A sorted array: namespaces are few, and change seldom. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/cache/namespace_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

struct row {
	struct str name;
	struct namespace_labels labels;
	struct label *v; /* of labels */
	char *text;      /* of name, keys and values */
	uint32_t list;   /* that named it last */
};

struct namespace_table {
	struct row *rows;
	size_t n;
	uint32_t list;
};

struct namespace_table *namespace_table_new(void)
{
	return xcalloc(1, sizeof(struct namespace_table));
}

static void row_done(struct row *r)
{
	free(r->v);
	free(r->text);
}

void namespace_table_free(struct namespace_table **t)
{
	if (!*t)
		return;
	for (size_t i = 0; i < (*t)->n; i++)
		row_done(&(*t)->rows[i]);
	free((*t)->rows);
	free(*t);
	*t = NULL;
}

static int compare(struct str a, struct str b)
{
	const size_t n = a.n < b.n ? a.n : b.n;
	const int r = n ? memcmp(a.p, b.p, n) : 0;

	return r ? r : (a.n > b.n) - (a.n < b.n);
}

/* The first row that is not before name. */
static size_t place_of(const struct namespace_table *t, struct str name)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare(t->rows[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct namespace_table *t, size_t i, struct str name)
{
	return i < t->n && str_eq(t->rows[i].name, name);
}

static struct str keep(char **w, struct str s)
{
	const struct str ret = { *w, s.n };

	if (s.n > 0)
		*w = mempcpy(*w, s.p, s.n);
	return ret;
}

static struct row row_of(const struct pod_facts *p)
{
	size_t room = p->name.n + 1;
	struct row r = { .v = xcalloc(p->n_labels + 1, sizeof(*r.v)) };
	char *w;

	for (uint32_t i = 0; i < p->n_labels; i++)
		room += p->labels[i].key.n + p->labels[i].value.n;
	w = r.text = xmalloc(room);
	r.name = keep(&w, p->name);
	for (uint32_t i = 0; i < p->n_labels; i++) {
		r.v[i].key = keep(&w, p->labels[i].key);
		r.v[i].value = keep(&w, p->labels[i].value);
	}
	r.labels = (struct namespace_labels){ r.v, p->n_labels };
	return r;
}

/* In the same order: the server sorts the keys. In another one they count as others. */
static bool same_labels(const struct namespace_labels *a, const struct pod_facts *p)
{
	for (uint32_t i = 0; i < p->n_labels && i < a->n; i++)
		if (!str_eq(a->v[i].key, p->labels[i].key) || !str_eq(a->v[i].value, p->labels[i].value))
			return false;
	return a->n == p->n_labels;
}

void namespace_table_list(struct namespace_table *t)
{
	t->list++;
}

void namespace_table_sweep(struct namespace_table *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].list == t->list)
			t->rows[kept++] = t->rows[i];
		else
			row_done(&t->rows[i]);
	t->n = kept;
}

bool namespace_table_put(struct namespace_table *t, const struct pod_facts *p)
{
	const size_t i = place_of(t, p->name);

	if (p->labels_cut) {
		namespace_table_remove(t, p->name);
		return false;
	}
	if (is_at(t, i, p->name)) {
		t->rows[i].list = t->list;
		if (same_labels(&t->rows[i].labels, p))
			return false;
		row_done(&t->rows[i]);
	} else {
		t->rows = xreallocarray(t->rows, t->n + 1, sizeof(*t->rows));
		memmove(&t->rows[i + 1], &t->rows[i], (t->n++ - i) * sizeof(*t->rows));
	}
	t->rows[i] = row_of(p);
	t->rows[i].list = t->list;
	return true;
}

void namespace_table_remove(struct namespace_table *t, struct str name)
{
	const size_t i = place_of(t, name);

	if (!is_at(t, i, name))
		return;
	row_done(&t->rows[i]);
	memmove(&t->rows[i], &t->rows[i + 1], (--t->n - i) * sizeof(*t->rows));
}

const struct namespace_labels *namespace_table_find(const struct namespace_table *t, struct str name)
{
	const size_t i = place_of(t, name);

	return is_at(t, i, name) ? &t->rows[i].labels : NULL;
}
