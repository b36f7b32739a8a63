// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/util.h"
#include "tests/apisim/verbs.h"

#include <string.h>

/* No kubelet is here: what a container has said stands in this annotation of its pod. */
#define SAID "apisim/log"

static const json_t *status_of(const json_t *pod, const char *container)
{
	json_t *c;
	size_t i;

	json_array_foreach (object_at(pod, "status.containerStatuses"), i, c)
		if (util_streq(util_str(c, "name"), container))
			return c;
	return NULL;
}

/* Where the last n lines begin. */
static const char *tail(const char *text, int64_t n)
{
	const char *p = text + strlen(text);

	for (; n > 0 && p > text; n--)
		for (p--; p > text && p[-1] != '\n'; p--)
			;
	return p;
}

/* kubernetes pkg/kubelet/kubelet_pods.go, validateContainerLogStatus: a previous run is one that has ended.
 */
void verb_pod_log(struct call *c)
{
	struct obj *pod = store_get(c->sim->store, c->kind, c->ns, c->name);
	const char *container = call_query(c, "container"), *lines = call_query(c, "tailLines");
	json_t *tree = pod ? object_tree(pod) : NULL;
	const json_t *status = tree ? status_of(tree, container ? container : "") : NULL;
	const char *said = util_str(object_at(tree, "metadata.annotations"), SAID);
	int64_t n = INT64_MAX;

	if (!pod)
		call_answer_status(c, status_not_found(c->kind, "", c->name));
	else if (call_query_true(c, "previous") && !object_at(status, "lastState.terminated"))
		call_answer_status(
			c, status_bad_request("previous terminated container \"%s\" in pod \"%s\" not found",
					      container ? container : "", c->name));
	else if (lines && !util_parse_int(lines, &n))
		call_answer_status(c, status_bad_request("tailLines: invalid value"));
	else
		call_answer_text(c, 200, "text/plain", tail(said ? said : "", n));
	json_decref(tree);
}
