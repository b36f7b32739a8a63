/* fixture.c - see fixture.h. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "tests/facts_en.h"

void list_set(struct str_list *l, const char *names)
{
	const char *end;

	str_list_done(l);
	memset(l, 0, sizeof(*l));
	while (*names) {
		end = strchrnul(names, ',');
		str_list_add(l, names, (size_t)(end - names));
		names = *end ? end + 1 : end;
	}
}

struct policy policy;

void policy_setup(void)
{
	policy_init(&policy);
}

void policy_teardown(void)
{
	policy.own_namespace = policy.own_pod = NULL;
	policy_done(&policy);
}

void policy_init(struct policy *p)
{
	memset(p, 0, sizeof(*p));
	p->finish_ms = FINISH;
	for (int d = 0; d < DUTY__MAX; d++) {
		p->duty[d].enable = true;
		p->duty[d].hours_ms = d == DUTY_EVICTED ? 0 : HOURS; /* at once, as by default */
		p->duty[d].counts = 5;
		list_set(&p->duty[d].namespaces, "*");
	}
	list_set(&p->duty[DUTY_IMAGE_PULL].status, "ErrImagePull,ImagePullBackOff");
	list_set(&p->duty[DUTY_IMAGE_PULL].causes, "permanent,misconfigured,unknown");
	list_set(&p->duty[DUTY_FINISHED].status, "NodeShutdown,NodeLost,ContainerStatusUnknown");
	list_set(&p->duty[DUTY_FINISHED].phases, "Failed");
	list_set(&p->duty[DUTY_RESTARTS].status, "CrashLoopBackOff,Error,Completed,RunContainerError");
	list_set(&p->default_exclude_namespaces, "kube-system,kube-public");
}

void policy_done(struct policy *p)
{
	for (int d = 0; d < DUTY__MAX; d++) {
		str_list_done(&p->duty[d].namespaces);
		str_list_done(&p->duty[d].status);
		str_list_done(&p->duty[d].causes);
		str_list_done(&p->duty[d].phases);
	}
	str_list_done(&p->exclude_namespaces);
	str_list_done(&p->default_exclude_namespaces);
}

struct pod_facts pod_healthy(void)
{
	struct pod_facts p = {
		.ns = STR_LIT("shop"),
		.name = STR_LIT("web-1-abcde"),
		.uid = STR_LIT("0b8f0f3e-0000-4000-8000-000000000001"),
		.rv = STR_LIT("4711"),
		.owner = { STR_LIT("apps/v1"), STR_LIT("ReplicaSet"), STR_LIT("web-1"),
			   STR_LIT("0b8f0f3e-0000-4000-8000-00000000000a") },
		.revision = STR_LIT("1"),
		.node = STR_LIT("node-1"),
		.phase = STR_LIT("Running"),
		.created = BORN,
		.grace_s = -1,
		.start_time = BORN,
		.scheduled_at = BORN,
		.ready = true,
		.initialized = true,
		.scheduled = true,
		.n_containers = 1,
	};

	p.containers[0] = (struct container_facts){
		.name = STR_LIT("app"), .state = CONTAINER_RUNNING, .ready = true, .started = true
	};
	return p;
}

struct pod_facts pod_evicted(void)
{
	struct pod_facts p = pod_healthy();

	p.phase = STR_LIT("Failed");
	p.reason = STR_LIT("Evicted");
	p.ready = false;
	p.n_containers = 0;
	return p;
}

struct pod_facts pod_finished(void)
{
	struct pod_facts p = pod_healthy();

	p.phase = STR_LIT("Failed");
	p.reason = STR_LIT("NodeShutdown");
	p.ready = false;
	p.unready_since = NOW - HOURS - 1;
	p.containers[0] = (struct container_facts){ .name = STR_LIT("app"), .state = CONTAINER_TERMINATED };
	return p;
}

struct pod_facts pod_terminating(void)
{
	struct pod_facts p = pod_healthy();

	p.ready = false;
	p.deletion = NOW - HOURS - 1;
	p.grace_s = 30;
	p.containers[0].state = CONTAINER_TERMINATED;
	p.containers[0].reason = STR_LIT("Completed");
	return p;
}

struct pod_facts pod_pull_failing(void)
{
	struct pod_facts p = pod_healthy();

	p.phase = STR_LIT("Pending");
	p.ready = false;
	p.containers[0] = (struct container_facts){ .name = STR_LIT("app"),
						    .state = CONTAINER_WAITING,
						    .reason = STR_LIT("ImagePullBackOff") };
	return p;
}

struct pod_facts pod_crashing(void)
{
	struct pod_facts p = pod_healthy();

	p.ready = false;
	p.containers[0] = (struct container_facts){ .name = STR_LIT("app"),
						    .state = CONTAINER_WAITING,
						    .reason = STR_LIT("CrashLoopBackOff"),
						    .restarts = 5,
						    .last_reason = STR_LIT("Error"),
						    .last_exit_code = 1,
						    .last_finished_at = NOW - MIN };
	return p;
}

struct pod_context cache(void)
{
	return (struct pod_context){ .stage = STAGE_CACHE, .failing_since = NOW - HOURS - 1 };
}

struct pod_context live_pull(void)
{
	return (struct pod_context){ .stage = STAGE_LIVE,
				     .failing_since = NOW - HOURS - 1,
				     .tally_known = TRI_YES,
				     .pods = 3,
				     .failing = 3,
				     .failing_nodes = 1,
				     .others_refused = TRI_NO };
}

struct pod_context live(void)
{
	return (struct pod_context){ .stage = STAGE_LIVE };
}

struct pod_context live_node_gone(void)
{
	return (struct pod_context){ .stage = STAGE_LIVE, .node_exists = TRI_NO };
}

struct pod_context live_node_ready(void)
{
	return (struct pod_context){ .stage = STAGE_LIVE,
				     .node_exists = TRI_YES,
				     .node_ready = TRI_YES,
				     .node_out_of_service = TRI_NO };
}

struct verdict judge_one(enum duty d, const struct pod_facts *p, struct pod_context s, int64_t now)
{
	struct verdict v;

	judge_duty(d, p, &policy, &s, now, &v);
	return v;
}

struct verdict expect(struct verdict v, enum verdict_kind kind, enum reason reason, int line)
{
	ck_assert_msg(v.kind == kind && v.reason == reason, "line %d: expected %s %s, got %s %s (%s)", line,
		      verdict_kind_name(kind), reason_code(reason), verdict_kind_name(v.kind),
		      reason_code(v.reason), EN(v.evidence));
	return v;
}

void finishes_half_deleted(enum duty d, struct pod_facts p, enum reason reason)
{
	const struct pod_context s = live();
	struct verdict v;

	p.deletion = NOW - FINISH;
	p.grace_s = 0;
	v = EXPECT(judge_one(d, &p, s, NOW), WAIT, BEING_DELETED);
	ck_assert_int_eq(v.at_ms, NOW + 1);
	p.deletion--;
	v = expect(judge_one(d, &p, s, NOW), VERDICT_ACT, reason, __LINE__);
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "half-deleted for 1m"));
	p.grace_s = 1;
	EXPECT(judge_one(d, &p, s, NOW), NONE, BEING_DELETED);
	p.grace_s = -1;
	EXPECT(judge_one(d, &p, s, NOW), NONE, BEING_DELETED);
	p.grace_s = 0;
	p.n_finalizers = 1;
	EXPECT(judge_one(d, &p, s, NOW), NONE, BEING_DELETED);
	p.n_finalizers = 0;
	policy.finish_ms = 10 * HOUR;
	EXPECT(judge_one(d, &p, s, NOW), WAIT, BEING_DELETED);
}
