// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/hooks.h"
#include "tests/apisim/api.h"
#include "tests/apisim/util.h"

const char *hooks_add(struct sim *sim, json_t *hook)
{
	json_t *list = json_object_get(hook, "do"), *step;
	size_t i;

	if (!util_str(hook, "on") || !json_is_array(list))
		return "a hook needs \"on\" (a verb) and \"do\" (a list)";
	json_array_foreach (list, i, step)
		if (!util_str(step, "method") || !util_str(step, "path"))
			return "each step of \"do\" needs \"method\" and \"path\"";
	json_object_set_new(hook, "runs", json_integer(0));
	json_array_append(sim->hooks, hook);
	return NULL;
}

/* True, and counted, when the hook is for this call at this moment. */
static bool claims(json_t *hook, const struct call *c, bool before)
{
	const json_t *times = json_object_get(hook, "times");
	const json_int_t most = times ? json_integer_value(times) : 1,
			 runs = json_integer_value(json_object_get(hook, "runs"));

	if ((most >= 0 && runs >= most) || json_is_true(json_object_get(hook, "before")) != before ||
	    !util_fits(hook, "on", c->verb) || !util_fits(hook, "resource", c->resource) ||
	    !util_fits(hook, "subresource", c->sub) || !util_fits(hook, "namespace", c->ns) ||
	    !util_fits(hook, "name", c->name))
		return false;
	json_object_set_new(hook, "runs", json_integer(runs + 1));
	return true;
}

json_t *hooks_take(const struct call *c, bool before)
{
	json_t *lists = json_array(), *hook;
	size_t i;

	json_array_foreach (c->sim->hooks, i, hook)
		if (claims(hook, c, before))
			json_array_append(lists, json_object_get(hook, "do"));
	return lists;
}

void hooks_run(struct sim *sim, json_t *lists)
{
	json_t *list, *step;
	size_t i, j;

	json_array_foreach (lists, i, list)
		json_array_foreach (list, j, step)
			api_run_internal(sim, util_str(step, "method"), util_str(step, "path"),
					 json_incref(json_object_get(step, "body")));
	json_decref(lists);
}
