// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/fill_mould.h"
#include "tests/apisim/fill_workload.h"
#include "tests/apisim/util.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES_MAX = 160, WORDS_MAX = 32 };

/* An encoded pod with marks in place of its values. */
struct mould {
	struct mould *next;
	struct alike {
		enum fill_form form;
		enum fill_text text;
		size_t lengths[WORDS_MAX]; /* of the values, by word */
		uint64_t number;           /* what stands in it as a number; 0: nothing does */
	} alike;
	struct blob *blob;
	size_t count, pod_count; /* those of words that differ between the pods of a group come first */
	struct place {
		size_t at, len;
		const char *word;
	} places[PLACES_MAX];
};

/* That of a pod's form with the values of one group in it: the pods of a group come one after the other. */
struct group_form {
	const struct fill_group *group;
	const struct mould *mould;
	struct blob *blob;
};

static struct mould *moulds;
static struct group_form group_forms[FILL_FORMS];

static bool is_time(const char *word)
{
	return !strcmp(word, "created") || !strcmp(word, "started") || !strcmp(word, "ended");
}

/* The bytes of a value as they stand in the encoded pod: in protobuf a time is a varint. */
static size_t value_bytes(const char *word, enum fill_form form, char value[256])
{
	int64_t t = 0;
	size_t n = 0;

	if (form == FILL_JSON || !is_time(word))
		return strlen(value);
	util_time_parse(value, &t);
	for (uint64_t v = (uint64_t)t; v; v >>= 7)
		value[n++] = (char)((v & 0x7f) | (v >= 0x80 ? 0x80 : 0));
	return n;
}

/* A fill_word_fn: something that stands nowhere else, of the length that the value has, but for numbers. */
static const char *mark(const void *arg, const char *word, size_t n, char out[256])
{
	size_t i = 0, len;

	if (!fill_word(arg, word, n, out))
		return NULL;
	while (fill_words[i] && (strncmp(fill_words[i], word, n) != 0 || fill_words[i][n]))
		i++;
	if (!fill_words[i])
		return out;
	if (is_time(fill_words[i])) {
		util_time_format(1000000007 + (int64_t)i * 1234567, out);
		return out;
	}
	len = strlen(out);
	memset(out, '^', len);
	memcpy(out, (const char[]){ '~', (char)('A' + i) }, len < 2 ? len : 2);
	return out;
}

static void find_places(struct mould *m, const char *word, char value[256])
{
	const size_t len = value_bytes(word, m->alike.form, value);
	char *at = m->blob->data;

	while ((at = memmem(at, m->blob->size - (size_t)(at - m->blob->data), value, len))) {
		if (m->count == PLACES_MAX)
			util_die(70, "fill: too many places");
		m->places[m->count++] = (struct place){ (size_t)(at - m->blob->data), len, word };
		at += len;
	}
}

static struct mould *mould_new(const struct obj *o, const struct alike *alike)
{
	struct mould *m = util_alloc(sizeof(*m));
	json_t *tree = fill_text_expand(fill_text_tree(o->group->text), mark, o);
	char value[256];

	m->alike = *alike;
	m->blob = alike->form == FILL_JSON ? blob_json(tree, o->kind, NULL) : blob_pb(tree, o->kind, NULL);
	for (size_t i = 0; fill_words[i]; i++) {
		mark(o, fill_words[i], strlen(fill_words[i]), value);
		find_places(m, fill_words[i], value);
		if (i + 1 == FILL_POD_WORDS)
			m->pod_count = m->count;
	}
	json_decref(tree);
	m->next = moulds;
	moulds = m;
	return m;
}

static const struct mould *mould_of(const struct obj *o, enum fill_form form)
{
	struct alike alike;
	char value[256];

	memset(&alike, 0, sizeof(alike));
	alike.form = form;
	alike.text = o->group->text;
	for (size_t i = 0; fill_words[i]; i++)
		alike.lengths[i] = strlen(fill_word(o, fill_words[i], strlen(fill_words[i]), value));
	if (alike.text == FILL_CRASHLOOP)
		alike.number = strtoull(fill_word(o, "restarts", 8, value), NULL, 10);
	for (struct mould *m = moulds; m; m = m->next)
		if (!memcmp(&m->alike, &alike, sizeof(alike)))
			return m;
	return mould_new(o, &alike);
}

static void put_values(struct blob *b, const struct mould *m, const struct obj *o, size_t from, size_t to)
{
	char value[256];

	for (size_t i = from; i < to; i++) {
		const struct place *p = &m->places[i];

		if (i == from || m->places[i - 1].word != p->word) {
			fill_word(o, p->word, strlen(p->word), value);
			value_bytes(p->word, m->alike.form, value);
		}
		memcpy(b->data + p->at, value, p->len);
	}
}

static struct blob *copy_of(const struct blob *form)
{
	struct blob *b = blob_new(form->size);

	b->head = form->head;
	memcpy(b->data, form->data, b->size);
	return b;
}

struct blob *fill_mould_cast(const struct obj *o, enum fill_form form)
{
	struct group_form *g = &group_forms[form];
	struct blob *b;

	if (g->group != o->group) {
		blob_unref(g->blob);
		g->group = o->group;
		g->mould = mould_of(o, form);
		g->blob = copy_of(g->mould->blob);
		put_values(g->blob, g->mould, o, g->mould->pod_count, g->mould->count);
	}
	b = copy_of(g->blob);
	put_values(b, g->mould, o, 0, g->mould->pod_count);
	return b;
}

void fill_mould_done(void)
{
	for (size_t i = 0; i < FILL_FORMS; i++) {
		blob_unref(group_forms[i].blob);
		group_forms[i] = (struct group_form){ 0 };
	}
	while (moulds) {
		struct mould *m = moulds;

		moulds = m->next;
		blob_unref(m->blob);
		free(m);
	}
}
