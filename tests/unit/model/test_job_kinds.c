/* Whose pods are kept like those of a Job. */
// SPDX-License-Identifier: Apache-2.0
#include "model/job_kinds.def"
#include "model/job_kinds.h"
#include "tests/suite.h"

static struct str_list list;

static void setup(void)
{
#define ADD(item) str_list_add(&list, item, sizeof(item) - 1);
	JOB_KIND_LIST(ADD)
}

static void teardown(void)
{
	str_list_done(&list);
}

static const struct {
	const char *api_version, *kind;
	enum tri scales, want;
} rows[] = {
	{ "apps/v1", "ReplicaSet", TRI_UNKNOWN, TRI_NO },
	{ "apps/v1", "StatefulSet", TRI_UNKNOWN, TRI_NO },
	{ "apps/v1", "DaemonSet", TRI_UNKNOWN, TRI_NO },
	{ "v1", "ReplicationController", TRI_UNKNOWN, TRI_NO },
	{ "v1", "Node", TRI_UNKNOWN, TRI_NO },
	{ "argoproj.io/v1alpha1", "Rollout", TRI_UNKNOWN, TRI_NO },
	{ "batch/v1", "Job", TRI_UNKNOWN, TRI_YES },
	{ "batch/v1", "Job", TRI_YES, TRI_YES },
	{ "batch.volcano.sh/v1alpha1", "Job", TRI_UNKNOWN, TRI_YES },
	{ "batch/v1", "CronJob", TRI_UNKNOWN, TRI_YES },
	{ "v1", "Pod", TRI_UNKNOWN, TRI_YES }, /* the driver of a Spark application */
	{ "argoproj.io/v1alpha1", "Workflow", TRI_UNKNOWN, TRI_YES },
	{ "tekton.dev/v1", "TaskRun", TRI_UNKNOWN, TRI_YES },
	{ "sparkoperator.k8s.io/v1beta2", "SparkApplication", TRI_UNKNOWN, TRI_YES },
	{ "kubeflow.org/v1", "PyTorchJob", TRI_UNKNOWN, TRI_YES },
	{ "example.com/v1", "Workflow", TRI_UNKNOWN, TRI_UNKNOWN }, /* of another group */
	{ "example.com/v1", "Workflow", TRI_YES, TRI_NO },
	{ "example.com/v1", "Workflow", TRI_NO, TRI_YES },
	{ "example.com/v1", "ReplicaSet", TRI_NO, TRI_YES },
	{ "", "Workflow", TRI_UNKNOWN, TRI_UNKNOWN },
};

TEST_LOOP(by_default, 0, (int)(sizeof(rows) / sizeof(rows[0])))
{
	const struct owner_facts o = { .api_version = STR_C(rows[_i].api_version),
				       .kind = STR_C(rows[_i].kind),
				       .name = STR_LIT("x"),
				       .uid = STR_LIT("x") };

	ck_assert_int_eq(job_kinds_match(&o, &list, rows[_i].scales), rows[_i].want);
}

TEST(patterns_and_no_controller)
{
	struct owner_facts o = { .api_version = STR_LIT("ray.io/v1"),
				 .kind = STR_LIT("RayCluster"),
				 .uid = STR_LIT("x") };

	str_list_add(&list, "Ray*.ray.io", 11);
	ck_assert_int_eq(job_kinds_match(&o, &list, TRI_UNKNOWN), TRI_YES);
	o.api_version = STR_LIT("ray.example.com/v1");
	ck_assert_int_eq(job_kinds_match(&o, &list, TRI_UNKNOWN), TRI_UNKNOWN);
	o.uid = STR_LIT("");
	ck_assert_int_eq(job_kinds_match(&o, &list, TRI_UNKNOWN), TRI_NO);
}

TEST_MAIN("model/job_kinds")
{
	tcase_add_checked_fixture(t, setup, teardown);
}
