// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/fill.h"
#include "tests/apisim/fill_mould.h"
#include "tests/apisim/fill_workload.h"
#include "tests/apisim/util.h"

#include <stdlib.h>

enum { FIRST_RV = 1000000, OUT_OF_SERVICE_NODE = 80000, NAME_SPACE = 27 * 27 * 27 * 27 * 27 };

static struct fill_group *groups;

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

/* The lengths of values that a mould counts on. */
static bool castable(const struct obj *o)
{
	return o->kind == kinds_pods() && o->rv >= FIRST_RV && o->rv < 10 * (uint64_t)FIRST_RV;
}

static struct blob *encoded(const struct obj *o, enum fill_form form,
			    struct blob *(*make)(const json_t *tree, const struct kind *kind,
						 const struct blob *old))
{
	struct blob *b;
	json_t *tree;

	if (castable(o))
		return fill_mould_cast(o, form);
	tree = fill_tree(o);
	b = make(tree, o->kind, NULL);
	json_decref(tree);
	return b;
}

struct blob *fill_pb(const struct obj *o)
{
	return encoded(o, FILL_PROTOBUF, blob_pb);
}

struct blob *fill_json(const struct obj *o)
{
	return encoded(o, FILL_JSON, blob_json);
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
	struct obj **pods; /* borrowed from the store, in the order they were made */
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

static struct obj *load_filled(struct maker *m, const struct kind *kind, const struct fill_group *g,
			       const char *name, uint32_t index)
{
	struct obj *o = object_new_filled(kind, g, g->w->ns, name, index, 0, store_rv(m->store) + 1);

	store_load(m->store, o);
	return o;
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

	*w = (struct fill_workload){ .seed = roll(m), .nodes = m->opt->nodes, .now = m->now };
	w->replicas = 3 + roll(m) % 8;
	if (w->replicas > m->opt->pods - m->made)
		w->replicas = m->opt->pods - m->made;
	w->pullfail = m->pullfail < m->opt->pullfail;
	m->pullfail += w->pullfail;
	fill_workload_init(w, number, m->opt->namespaces);
	top = group_new(w, FILL_DEPLOYMENT);
	top->owns_workload = true;
	load_filled(m, kinds_find("apps", "v1", "deployments"), top, w->app, 0);
	load_filled(m, kinds_find("apps", "v1", "replicasets"), group_new(w, FILL_REPLICA_SET), w->rs, 0);
	for (uint64_t i = 0; i < w->replicas; i++) {
		enum fill_text state = pod_state(m, w);

		if (!by_state[state])
			by_state[state] = group_new(w, state);
		pod_name(w, i, name);
		m->pods[m->made++] = load_filled(m, kinds_pods(), by_state[state], name, (uint32_t)i);
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
	m.pods = util_alloc_raw(opt->pods * sizeof(struct obj *));
	for (uint64_t i = 0; m.made < opt->pods; i++)
		make_workload(&m, i);
	/* Not sooner: a store whose objects lie between their encoded forms takes several times as long to
	 * search. */
	for (uint64_t i = 0; i < m.made; i++)
		object_pb(m.pods[i]);
	free(m.pods);
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
	fill_mould_done();
	fill_text_done();
}
