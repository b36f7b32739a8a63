// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/hooks.h"
#include "tests/apisim/api.h"
#include "tests/apisim/util.h"

#include <stdlib.h>
#include <string.h>

struct hook {
	struct hook *next;
	json_t *rule;
	int64_t times, runs;
};

struct hooks {
	struct hook *first, **last;
};

struct hook_run {
	json_t *lists; /* an array of "do" lists */
};

struct hooks *hooks_new(void)
{
	struct hooks *h = util_alloc(sizeof(*h));

	h->last = &h->first;
	return h;
}

void hooks_clear(struct hooks *h)
{
	while (h->first) {
		struct hook *x = h->first;

		h->first = x->next;
		json_decref(x->rule);
		free(x);
	}
	h->last = &h->first;
}

void hooks_free(struct hooks *h)
{
	hooks_clear(h);
	free(h);
}

const char *hooks_add(struct hooks *h, const json_t *rule)
{
	json_t *list = json_object_get(rule, "do"), *step;
	struct hook *x;
	size_t i;

	if (!util_str(rule, "on") || !json_is_array(list))
		return "a hook needs \"on\" (a verb) and \"do\" (a list)";
	json_array_foreach (list, i, step)
		if (!util_str(step, "method") || !util_str(step, "path"))
			return "each step of \"do\" needs \"method\" and \"path\"";
	x = util_alloc(sizeof(*x));
	x->rule = json_deep_copy(rule);
	x->times = json_object_get(rule, "times") ? json_integer_value(json_object_get(rule, "times")) : 1;
	*h->last = x;
	h->last = &x->next;
	return NULL;
}

json_t *hooks_list(const struct hooks *h)
{
	json_t *list = json_array();

	for (const struct hook *x = h->first; x; x = x->next) {
		json_t *row = json_deep_copy(x->rule);

		json_object_set_new(row, "runs", json_integer(x->runs));
		json_array_append_new(list, row);
	}
	return list;
}

static bool fits(const struct hook *x, const char *key, const char *value)
{
	const char *want = util_str(x->rule, key);

	return !want || !strcmp(want, "*") || !strcmp(want, value);
}

/* True, and counted, when the hook is for this call at this moment. */
static bool claims(struct hook *x, const struct call *c, bool before)
{
	if (!x->times || json_is_true(json_object_get(x->rule, "before")) != before ||
	    !fits(x, "on", c->verb) || !fits(x, "resource", c->resource) || !fits(x, "subresource", c->sub) ||
	    !fits(x, "namespace", c->ns) || !fits(x, "name", c->name))
		return false;
	if (x->times > 0)
		x->times--;
	x->runs++;
	return true;
}

static void run_list(struct sim *sim, const json_t *list)
{
	json_t *step;
	size_t i;

	json_array_foreach (list, i, step)
		api_run_internal(sim, util_str(step, "method"), util_str(step, "path"),
				 json_incref(json_object_get(step, "body")));
}

void hooks_run_before(struct hooks *h, const struct call *c)
{
	for (struct hook *x = h->first; x; x = x->next)
		if (claims(x, c, true))
			run_list(c->sim, json_object_get(x->rule, "do"));
}

struct hook_run *hooks_take_after(struct hooks *h, const struct call *c)
{
	struct hook_run *run = NULL;

	for (struct hook *x = h->first; x; x = x->next) {
		if (!claims(x, c, false))
			continue;
		if (!run) {
			run = util_alloc(sizeof(*run));
			run->lists = json_array();
		}
		json_array_append(run->lists, json_object_get(x->rule, "do"));
	}
	return run;
}

void hooks_run_after(struct sim *sim, struct hook_run *run)
{
	json_t *list;
	size_t i;

	if (!run)
		return;
	json_array_foreach (run->lists, i, list)
		run_list(sim, list);
	json_decref(run->lists);
	free(run);
}
