/* test_history_summary.c - `history --summary`: every row is counted once, in the line that it belongs to. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "cli/commands/command.h"
#include "cli/view/output.h"
#include "tests/suite.h"
#include "tests/unit/cli/instance.h"

#define AT_MS INT64_C(1795600000000)

static const struct action {
	uint64_t id;
	enum duty duty;
	const char *ns, *node; /* node NULL: none is known */
	int64_t outcome;
} actions[] = {
	{ 1, DUTY_EVICTED, "shop", "n1", OUTCOME_DONE },
	{ 2, DUTY_EVICTED, "shop", "n2", OUTCOME_DONE },
	{ 3, DUTY_EVICTED, "bank", "n1", OUTCOME_FAILED },
	{ 4, DUTY_IMAGE_PULL, "bank", NULL, OUTCOME_OPEN },
	{ 0, DUTY_IMAGE_PULL, "shop", "n1", OUTCOME_OPEN }, /* refused by the watcher */
};

static void answer(const struct instance_call *call, unsigned nth)
{
	(void)nth;
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		const struct action *a = &actions[i];
		struct msg m = { .type = MSG_CTL_HISTORY_ROW,
				 .u.ctl_history_row = { .id = a->id,
							.duty = a->duty,
							.intent_at = AT_MS + (int64_t)i * 1000,
							.outcome = a->outcome,
							.seen = a->id ? 0 : 4,
							.replicas = -1 } };

		msg_set(&m, ctl_history_row.cluster_name, "c", 1);
		msg_set(&m, ctl_history_row.ns, a->ns, strlen(a->ns));
		msg_set(&m, ctl_history_row.name, "web", 3);
		msg_set(&m, ctl_history_row.uid, "u", 1);
		msg_set(&m, ctl_history_row.reason, "Evicted", 7);
		if (a->node)
			facts_name(&m.u.ctl_history_row.evidence, FACT_NODE, STR_C(a->node));
		instance_send(call, &m);
	}
	instance_end(call, EXIT_CODE_OK);
}

static const struct {
	enum option_by by;
	const char *ns, *want;
} cases[] = {
	{ BY_DUTY, NULL,
	  "[{\"duty\":\"errImagePull\",\"actions\":5,\"outcomes\":{\"refused\":4,\"open\":1},\"last\":\"2026-"
	  "11-25T09:46:44.000Z\"},"
	  "{\"duty\":\"deleteEvictedPod\",\"actions\":3,\"outcomes\":{\"done\":2,\"failed\":1},\"last\":"
	  "\"2026-11-25T09:46:42.000Z\"}]" },
	{ BY_NAMESPACE, "bank",
	  "[{\"namespace\":\"bank\",\"actions\":2,\"outcomes\":{\"failed\":1,\"open\":1},\"last\":\"2026-11-"
	  "25T09:46:43.000Z\"}]" },
	{ BY_NODE, NULL,
	  "[{\"node\":\"n1\",\"actions\":6,\"outcomes\":{\"done\":1,\"refused\":4,\"failed\":1},\"last\":"
	  "\"2026-11-25T09:46:44.000Z\"},"
	  "{\"node\":\"-\",\"actions\":1,\"outcomes\":{\"open\":1},\"last\":\"2026-11-25T09:46:43.000Z\"},"
	  "{\"node\":\"n2\",\"actions\":1,\"outcomes\":{\"done\":1},\"last\":\"2026-11-25T09:46:41.000Z\"}"
	  "]" },
	{ BY_CLUSTER, NULL,
	  "[{\"cluster\":\"c\",\"actions\":8,\"outcomes\":{\"done\":2,\"refused\":4,\"failed\":1,\"open\":1},"
	  "\"last\":\"2026-11-25T09:46:44.000Z\"}]" },
	{ BY_REASON, "nowhere", "[]" },
};

TEST_LOOP(each_row_is_counted_in_its_line, 0, ARRAY_SIZE(cases))
{
	struct options o = {
		.output = OUTPUT_JSON, .summary = 1, .duty = -1, .outcome = -1, .by = (int64_t)cases[_i].by
	};
	char path[128], folder[SUITE_PATH_MAX];

	if (cases[_i].ns)
		o.namespaces.v[o.namespaces.n++] = cases[_i].ns;
	instance_start(path, 1, answer);
	o.socket = path;
	suite_folder(folder);
	char *file = suite_file(folder, "out", "");

	ck_assert_ptr_nonnull(freopen(file, "we", stdout));
	ck_assert_int_eq(command_history(&o), EXIT_CODE_OK);
	(void)fflush(stdout);
	json_t *got = json_load_file(file, 0, NULL);
	_cleanup_free_ char *text = json_dumps(json_object_get(got, "items"), JSON_COMPACT);

	ck_assert_str_eq(text, cases[_i].want);
	json_decref(got);
	free(file);
}

TEST_MAIN("cli/history_summary")
{
	(void)t;
}
