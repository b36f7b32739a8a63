/* world_model.c - the dictionary; see world_state.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/informer/world_state.h"

#include <stdio.h>

void model_name(size_t i, char ns[32], char name[32])
{
	const size_t of = i < PODS ? i / NAMES : i - PODS;

	(void)snprintf(ns, 32, "ns-%zu", of);
	if (i < PODS)
		(void)snprintf(name, 32, "p-%zu", i % NAMES);
	else
		(void)snprintf(name, 32, "end");
}

void model_learn(struct world *w, size_t i)
{
	struct model_pod *p = &w->pods[i];
	char ns[32], name[32];
	const bool there = (model_name(i, ns, name), inside_pod(w->server, ns, name, p->uid, &p->rv));

	if (there != p->exists)
		world_find(w, there ? "the server has a pod that should not be (a fault of the test)"
				    : "the server lacks a pod (a fault of the test)");
}

static uint32_t model_cached(struct world *w, size_t i, struct pod_facts *f)
{
	struct store *s = controller_cluster(w->controller)->store;
	char ns[32], name[32];

	model_name(i, ns, name);
	const uint32_t h = store_find(s, STR_C(ns), STR_C(name));

	if (h)
		store_get(s, h, f);
	return h;
}

const char *model_pod_difference(struct world *w, size_t i)
{
	static struct pod_facts f;
	static char text[200];
	const struct model_pod *p = &w->pods[i];
	const uint32_t h = model_cached(w, i, &f);
	char ns[32], name[32], rv[24];

	model_name(i, ns, name);
	if (!h || !p->exists) {
		(void)snprintf(text, sizeof(text), "%s/%s is %s", ns, name, h ? "still here" : "missing");
		return !h == !p->exists ? NULL : text;
	}
	(void)snprintf(rv, sizeof(rv), "%llu", (unsigned long long)p->rv);
	(void)snprintf(text, sizeof(text),
		       "%s/%s: uid %.8s rv %s %s %s%s there, uid %.8s rv %.*s %.*s %.*s%s here", ns, name,
		       p->uid, rv, p->phase, p->reason, p->deleting ? " deleting" : "", f.uid.p,
		       STR_ARG(f.rv), STR_ARG(f.phase), STR_ARG(f.reason), f.deletion ? " deleting" : "");
	return str_is(f.uid, p->uid) && str_is(f.rv, rv) && str_is(f.phase, p->phase) &&
			       str_is(f.reason, p->reason) && (f.deletion != 0) == p->deleting
		       ? NULL
		       : text;
}

const char *model_difference(struct world *w)
{
	const char *diff = NULL;
	size_t n = 0;

	for (size_t i = 0; i < PODS + NAMESPACES && !diff; i++) {
		diff = model_pod_difference(w, i);
		n += w->pods[i].exists;
	}
	if (!diff && n != store_count(controller_cluster(w->controller)->store))
		diff = "the cache has more pods than it can name";
	return diff;
}

bool world_is_quiet(const struct world *w)
{
	const bool narrow = w->history->mode == MODE_NARROW;

	for (unsigned i = narrow; i <= (narrow ? NAMESPACES : 0); i++)
		if (w->listing[i] || !w->synced[i])
			return false;
	return true;
}

void model_check_held(struct world *w)
{
	static struct pod_facts f;

	if (w->retold)
		return;
	for (size_t i = 0; i < PODS; i++) {
		struct model_pod *p = &w->pods[i];
		const bool here = p->exists && model_cached(w, i, &f) && str_is(f.uid, p->uid);

		if (p->exists && p->held && !here)
			world_find(w, "a pod that exists is forgotten for a while");
		p->held = here;
	}
}
