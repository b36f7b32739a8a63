// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/fill.h"
#include "tests/apisim/fill_workload.h"
#include "tests/apisim/podpb.h"
#include "tests/apisim/util.h"

#include <stdlib.h>
#include <string.h>

enum {
	PLACES_MAX = 48,
	FIRST_RV = 1000000,
	OUT_OF_SERVICE_NODE = 80000,
	NAME_SPACE = 27 * 27 * 27 * 27 * 27
};

/* The encoded form of one pod of a group, and where others of the group differ. One is kept of each kind:
 * neighbours in a list are of one group. */
struct mould {
	bool text;
	const struct fill_group *group;
	struct blob *form;
	struct place {
		size_t at, len;
		unsigned word;
	} places[PLACES_MAX];
	size_t count;
};

static struct fill_group *groups;
static struct mould pb_mould, text_mould = { .text = true };

/* The tree made last: a write needs that of its object several times. A resourceVersion is of one object. */
static json_t *last_tree;
static const struct obj *last_obj;
static uint64_t last_rv;

json_t *fill_tree(const struct obj *o)
{
	if (last_obj != o || last_rv != o->rv) {
		json_decref(last_tree);
		last_tree = fill_text_expand(fill_text_tree(o->group->text), fill_word, o);
		last_obj = o;
		last_rv = o->rv;
	}
	return json_incref(last_tree);
}

static struct blob *encode_pb(const struct obj *o)
{
	json_t *tree = fill_tree(o);
	struct blob *b;
	struct pb_buf buf;
	size_t n;

	pb_init(&buf, 16384);
	podpb_message(&buf, "Pod", tree);
	n = pb_size(&buf);
	pb_field_close(&buf, 2, 0);
	b = blob_new(pb_size(&buf));
	b->head = b->size - n;
	memcpy(b->data, buf.data + buf.at, b->size);
	pb_done(&buf);
	json_decref(tree);
	return b;
}

static struct blob *encode_text(const struct obj *o)
{
	json_t *tree = fill_tree(o);
	struct blob *b = object_dump(tree, o->kind);

	json_decref(tree);
	return b;
}

/* The bytes of a word's value as they stand in the encoded object: in protobuf a time is a varint. */
static size_t value_bytes(const struct mould *m, const struct obj *o, unsigned word, char out[256])
{
	const char *name = fill_pod_words[word];
	int64_t t = 0;
	size_t n = 0;

	fill_word(o, name, strlen(name), out);
	if (m->text || strcmp(name, "started") != 0)
		return strlen(out);
	util_time_parse(out, &t);
	for (uint64_t v = (uint64_t)t; v; v >>= 7)
		out[n++] = (char)((v & 0x7f) | (v >= 0x80 ? 0x80 : 0));
	return n;
}

/* Finds the places of the values in the first object: they are long or random enough not to occur by chance,
 * and the unit test compares what comes out with a plain encoding of every state. */
static void mould_learn(struct mould *m, const struct obj *o)
{
	char value[256];

	blob_unref(m->form);
	m->form = m->text ? encode_text(o) : encode_pb(o);
	m->group = o->group;
	m->count = 0;
	for (unsigned word = 0; fill_pod_words[word]; word++) {
		size_t len = value_bytes(m, o, word, value);
		char *data = m->form->data, *at = data;

		while ((at = memmem(at, m->form->size - (size_t)(at - data), value, len))) {
			if (m->count == PLACES_MAX)
				util_die(70, "fill: too many places");
			m->places[m->count++] = (struct place){ (size_t)(at - data), len, word };
			at += len;
		}
	}
}

static struct blob *mould_cast(struct mould *m, const struct obj *o)
{
	struct blob *b;
	char value[256];

	if (m->group != o->group)
		mould_learn(m, o);
	b = blob_new(m->form->size);
	b->head = m->form->head;
	memcpy(b->data, m->form->data, b->size);
	for (size_t i = 0; i < m->count; i++) {
		const struct place *p = &m->places[i];

		if (i == 0 || m->places[i - 1].word != p->word)
			value_bytes(m, o, p->word, value);
		memcpy(b->data + p->at, value, p->len);
	}
	return b;
}

static bool castable(const struct obj *o)
{
	return o->kind == kinds_pods() && o->rv >= FIRST_RV && o->rv < 10 * (uint64_t)FIRST_RV;
}

struct blob *fill_pb(const struct obj *o)
{
	return castable(o) ? mould_cast(&pb_mould, o) : encode_pb(o);
}

struct blob *fill_json(const struct obj *o)
{
	return castable(o) ? mould_cast(&text_mould, o) : encode_text(o);
}

const json_t *fill_labels(const struct obj *o)
{
	struct fill_group *g = (struct fill_group *)(uintptr_t)o->group;

	if (!g->labels)
		g->labels =
			fill_text_expand(object_at(fill_text_tree(g->text), "metadata.labels"), fill_word, o);
	return g->labels;
}

const char *fill_field(const struct obj *o, const char *path, char out[256])
{
	const char *s = json_string_value(object_at(fill_text_tree(o->group->text), path));
	char text[512];

	snprintf(out, 256, "%.255s", s ? fill_text_string(s, fill_word, o, text) : "");
	return out;
}

const char *fill_uid(const struct obj *o, char out[64])
{
	char text[256];

	fill_field(o, "metadata.uid", text);
	snprintf(out, 64, "%.63s", text);
	return out;
}

/* --- making them --- */

struct maker {
	struct store *store;
	const struct fill_options *opt;
	uint64_t dice;
	int64_t now;
	uint64_t made, evicted, terminating, crashloop, pullfail;
};

static uint64_t roll(struct maker *m)
{
	return util_mix(m->dice++);
}

static struct fill_group *group_new(const struct fill_workload *w, enum fill_text text)
{
	struct fill_group *g = util_alloc(sizeof(*g));

	g->w = w;
	g->text = text;
	g->next = groups;
	groups = g;
	return g;
}

static void load(struct maker *m, const char *plural, json_t *tree)
{
	store_load(m->store, object_new(kinds_find("", "v1", plural), tree, store_rv(m->store) + 1));
}

static void load_filled(struct maker *m, const struct kind *kind, const struct fill_group *g,
			const char *name, uint32_t index)
{
	struct obj *o = object_new_filled(kind, g, g->w->ns, name, index, 0, store_rv(m->store) + 1);

	if (kind == kinds_pods())
		object_pb(o);
	store_load(m->store, o);
}

static void pod_name(const struct fill_workload *w, uint64_t index, char out[256])
{
	static const char set[] = "bcdfghjklmnpqrstvwxz2456789";
	uint64_t r = (w->seed % NAME_SPACE + index * 7919u) % NAME_SPACE;
	int n = snprintf(out, 250, "%s-", w->rs);

	for (int i = 0; i < 5; i++, r /= 27)
		out[n++] = set[r % 27];
	out[n] = '\0';
}

/* True, and counted, when the next pod is to be one of the `wanted`, spread over all that are left. */
static bool due(struct maker *m, uint64_t wanted, uint64_t *so_far)
{
	uint64_t left = m->opt->pods - m->made;

	if (*so_far >= wanted || roll(m) % left >= wanted - *so_far)
		return false;
	++*so_far;
	return true;
}

static enum fill_text pod_state(struct maker *m, const struct fill_workload *w)
{
	if (w->pullfail)
		return FILL_PULLFAIL;
	if (due(m, m->opt->evicted, &m->evicted))
		return FILL_EVICTED;
	if (due(m, m->opt->terminating, &m->terminating))
		return FILL_TERMINATING;
	return due(m, m->opt->crashloop, &m->crashloop) ? FILL_CRASHLOOP : FILL_RUNNING;
}

static void make_workload(struct maker *m, uint64_t number)
{
	struct fill_workload *w = util_alloc(sizeof(*w));
	struct fill_group *by_state[FILL_POD_STATES] = { 0 }, *top;
	char name[256];

	fill_workload_init(w, number, roll(m), m->opt->namespaces, m->now);
	w->nodes = m->opt->nodes;
	w->replicas = 3 + roll(m) % 8;
	if (w->replicas > m->opt->pods - m->made)
		w->replicas = m->opt->pods - m->made;
	w->pullfail = m->pullfail < m->opt->pullfail;
	m->pullfail += w->pullfail;
	top = group_new(w, FILL_DEPLOYMENT);
	top->owns_workload = true;
	load_filled(m, kinds_find("apps", "v1", "deployments"), top, w->deployment, 0);
	load_filled(m, kinds_find("apps", "v1", "replicasets"), group_new(w, FILL_REPLICA_SET), w->rs, 0);
	for (uint64_t i = 0; i < w->replicas; i++) {
		enum fill_text state = pod_state(m, w);

		if (!by_state[state])
			by_state[state] = group_new(w, state);
		pod_name(w, i, name);
		load_filled(m, kinds_pods(), by_state[state], name, (uint32_t)i);
		m->made++;
	}
}

void fill_store(struct store *store, const struct fill_options *opt)
{
	struct maker m = {
		.store = store, .opt = opt, .dice = util_mix(opt->seed), .now = (int64_t)util_now()
	};

	store_start(store, FIRST_RV);
	for (uint64_t i = 0; i < opt->namespaces; i++)
		load(&m, "namespaces", fill_text_namespace(i));
	for (uint64_t i = 0; i < opt->nodes; i++)
		load(&m, "nodes", fill_text_node((unsigned)i, false, m.now));
	if (opt->terminating)
		load(&m, "nodes", fill_text_node(OUT_OF_SERVICE_NODE, true, m.now));
	for (uint64_t i = 0; m.made < opt->pods; i++)
		make_workload(&m, i);
}

void fill_done(void)
{
	while (groups) {
		struct fill_group *g = groups;

		groups = g->next;
		if (g->owns_workload)
			free((struct fill_workload *)(uintptr_t)g->w);
		json_decref(g->labels);
		free(g);
	}
	json_decref(last_tree);
	last_tree = NULL;
	last_obj = NULL;
	blob_unref(pb_mould.form);
	blob_unref(text_mould.form);
	pb_mould = (struct mould){ 0 };
	text_mould = (struct mould){ .text = true };
	fill_text_done();
}
