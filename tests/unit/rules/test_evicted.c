/* deleteEvictedPod: R7, R14, R29. */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

static struct verdict judge(const struct pod_facts *p)
{
	return judge_one(DUTY_EVICTED, p, live(), NOW);
}

TEST(evicted_is_deleted_at_once)
{
	struct pod_facts p = pod_evicted();
	struct verdict v;

	p.created = NOW; /* no age is asked for */
	p.disruption_at = NOW - 90 * MIN;
	v = EXPECT(judge(&p), ACT, EVICTED);
	ck_assert_int_eq(v.duty, DUTY_EVICTED);
	ck_assert_str_eq(EN(v.evidence), "phase Failed, reason Evicted, node node-1, for 1h30m");
}

/* The history counts evictions by node, and the pod is gone by then; of a pod that goes on its node is no
 * evidence. */
TEST_LOOP(the_node_is_evidence_of_what_ended, 0, 2)
{
	struct pod_facts p = _i ? pod_evicted() : pod_healthy();
	struct fact_value node;

	p.node = STR_LIT("node-7");
	const struct verdict v = judge(&p);

	ck_assert_int_eq(facts_find(&v.evidence, FACT_NODE, &node), _i);
	ck_assert(!_i || str_is(node.text, "node-7"));
}

/* Its status is all that says why it was evicted. */
TEST(evicted_is_kept_for_its_time)
{
	struct pod_facts p = pod_evicted();

	policy.duty[DUTY_EVICTED].hours_ms = HOUR;
	p.disruption_at = NOW - HOUR;
	ck_assert_int_eq(EXPECT(judge(&p), WAIT, WAITING_FOR_THRESHOLD).at_ms, NOW + 1);
	p.disruption_at--;
	EXPECT(judge(&p), ACT, EVICTED);
	p.disruption_at = 0; /* a container's end, the pod's start: what else tells */
	p.n_containers = 0;
	p.start_time = 0;
	EXPECT(judge(&p), REFUSE, INCOMPLETE_FACTS);
	policy.duty[DUTY_EVICTED].hours_ms = 0;
	EXPECT(judge(&p), ACT, EVICTED);
}

/* Nothing says when it will be due: a wait until a time that is over would be judged again at once, for ever.
 */
TEST(what_must_not_be_touched_and_has_no_time_is_not_judged_again_and_again)
{
	struct pod_facts p = pod_evicted();

	policy.duty[DUTY_EVICTED].hours_ms = HOUR;
	p.annotations.ignore = true;
	p.disruption_at = NOW - MIN;
	ck_assert_int_gt(EXPECT(judge(&p), WAIT, IGNORE_ANNOTATION).at_ms, NOW);
	p.disruption_at = p.start_time = 0;
	p.n_containers = 0;
	EXPECT(judge(&p), NONE, IGNORE_ANNOTATION);
}

/* As long as fewer of its owner are newer. A worker does not count them; what is half-deleted already is
 * finished. */
TEST_LOOP(the_newest_of_an_owner_are_kept, 0, 6)
{
	static const struct {
		int64_t keep;
		uint32_t newer;
		bool uncounted, bare, half_deleted, kept;
	} cases[] = {
		{ 2, 1, false, false, false, true },  { 2, 2, false, false, false, false },
		{ 0, 0, false, false, false, false }, { 2, 1, true, false, false, false },
		{ 2, 0, false, true, false, false },  { 2, 0, false, false, true, false },
	};
	struct pod_facts p = pod_evicted();
	struct pod_context s = cases[_i].uncounted ? live() : cache();

	s.newer_known = cases[_i].uncounted ? TRI_UNKNOWN : TRI_YES;
	policy.duty[DUTY_EVICTED].keep_newest = cases[_i].keep;
	s.newer[DUTY_EVICTED] = cases[_i].newer;
	if (cases[_i].bare)
		p.owner = (struct owner_facts){ 0 };
	if (cases[_i].half_deleted) {
		p.deletion = NOW - HOUR;
		p.grace_s = 0;
	}
	const struct verdict v = judge_one(DUTY_EVICTED, &p, s, NOW);

	if (!cases[_i].kept) {
		EXPECT(v, ACT, EVICTED);
		return;
	}
	EXPECT(v, WAIT, KEPT_NEWEST);
	ck_assert_int_eq(v.at_ms, 0); /* until something changes */
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "keepNewest 2"));
}

/* Exact compare of both: no substring, no other case, no other reason of a kubelet. */
TEST(only_phase_failed_and_reason_evicted)
{
	static const char *const phases[] = { "Pending", "Running", "Succeeded", "Unknown", "failed", "" };
	static const char *const reasons[] = { "",         "evicted",  "NotEvicted", "Evicted ",
					       "Evicte",   "Shutdown", "Terminated", "OutOfcpu",
					       "NodeLost", "Evicted2", "Preempting", "NodeAffinity" };
	struct pod_facts p;

	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		p = pod_evicted();
		p.phase = STR_C(phases[i]);
		EXPECT(judge(&p), NONE, NOT_EVICTED);
	}
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		p = pod_evicted();
		p.reason = STR_C(reasons[i]);
		EXPECT(judge(&p), NONE, NOT_EVICTED);
	}
}

TEST(job_pods_are_kept_unless_included)
{
	struct pod_facts p = pod_evicted();

	p.owner.kind = STR_LIT("Job");
	EXPECT(judge(&p), REFUSE, JOB_POD_KEPT);
	policy.duty[DUTY_EVICTED].include_jobs = true;
	EXPECT(judge(&p), ACT, EVICTED);
}

TEST(owner_is_not_needed)
{
	struct pod_facts p = pod_evicted();

	memset(&p.owner, 0, sizeof(p.owner));
	EXPECT(judge(&p), ACT, EVICTED);
	p.owner.kind = STR_LIT("DaemonSet");
	EXPECT(judge(&p), ACT, EVICTED);
}

/* A virtual kubelet leaves it True; what is Failed serves nobody. */
TEST(a_stale_ready_condition_says_nothing)
{
	struct pod_facts p = pod_evicted();

	p.ready = true;
	EXPECT(judge(&p), ACT, EVICTED);
}

TEST(half_deleted_is_finished)
{
	finishes_half_deleted(DUTY_EVICTED, pod_evicted(), REASON_EVICTED);
}

TEST(guards)
{
	struct pod_facts p = pod_evicted();

	p.mirror = true;
	EXPECT(judge(&p), REFUSE, MIRROR_POD);
	p = pod_evicted();
	p.skip = true;
	EXPECT(judge(&p), REFUSE, IGNORE_ANNOTATION);
	p = pod_evicted();
	p.deletion = NOW - HOUR;
	EXPECT(judge(&p), NONE, BEING_DELETED);
	p = pod_evicted();
	p.ns = STR_LIT("kube-system");
	EXPECT(judge(&p), REFUSE, NAMESPACE_PROTECTED);
	p = pod_evicted();
	list_set(&policy.exclude_namespaces, "shop");
	EXPECT(judge(&p), REFUSE, NAMESPACE_EXCLUDED);
}

TEST(system_priority_yields_to_a_named_namespace)
{
	struct pod_facts p = pod_evicted();

	p.priority_class = STR_LIT("system-node-critical");
	EXPECT(judge(&p), REFUSE, SYSTEM_PRIORITY);
	p.priority_class = STR_LIT("system-cluster-critical");
	EXPECT(judge(&p), REFUSE, SYSTEM_PRIORITY);
	p.priority_class = STR_LIT("system-cluster-critical-not");
	EXPECT(judge(&p), ACT, EVICTED);
	p.priority_class = STR_LIT("system-node-critical");
	list_set(&policy.duty[DUTY_EVICTED].namespaces, "shop");
	EXPECT(judge(&p), ACT, EVICTED);
}

TEST(own_pod_is_never_touched)
{
	struct pod_facts p = pod_evicted();
	char ns[] = "shop", name[] = "web-1-abcde", other[] = "elsewhere";

	list_set(&policy.duty[DUTY_EVICTED].namespaces, "shop");
	policy.own_namespace = ns;
	policy.own_pod = name;
	EXPECT(judge(&p), REFUSE, OWN_POD);
	policy.own_namespace = NULL; /* a name without a namespace: better safe */
	EXPECT(judge(&p), REFUSE, OWN_POD);
	policy.own_namespace = other; /* the same name elsewhere is another pod */
	EXPECT(judge(&p), ACT, EVICTED);
	policy.own_pod = other;
	policy.own_namespace = ns;
	EXPECT(judge(&p), ACT, EVICTED);
}

TEST(disabled_and_not_selected)
{
	struct pod_facts p = pod_evicted();

	list_set(&policy.duty[DUTY_EVICTED].namespaces, "other");
	EXPECT(judge(&p), NONE, NAMESPACE_NOT_SELECTED);
	policy.duty[DUTY_EVICTED].enable = false;
	EXPECT(judge(&p), NONE, DUTY_DISABLED);
}

static void no_uid(struct pod_facts *p)
{
	p->uid = STR_LIT("");
}
static void no_name(struct pod_facts *p)
{
	p->name = STR_LIT("");
}
static void no_ns(struct pod_facts *p)
{
	p->ns = STR_LIT("");
}
static void no_rv(struct pod_facts *p)
{
	p->rv = STR_LIT("");
}
static void odd_grace(struct pod_facts *p)
{
	p->grace_s = -2;
}
static void no_created(struct pod_facts *p)
{
	p->created = 0;
}
static void past_created(struct pod_facts *p)
{
	p->created = INT64_MIN;
}
static void far_created(struct pod_facts *p)
{
	p->created = INT64_MAX;
}
static void skewed(struct pod_facts *p)
{
	p->created = NOW + JUDGE_SKEW_MS;
}
static void too_skewed(struct pod_facts *p)
{
	p->created = NOW + JUDGE_SKEW_MS + 1;
}
static void cut(struct pod_facts *p)
{
	p->containers_cut = true;
}
static void deletion_negative(struct pod_facts *p)
{
	p->deletion = -1;
}
static void deletion_before_birth(struct pod_facts *p)
{
	p->deletion = p->created - 1;
}

static const struct {
	void (*spoil)(struct pod_facts *p);
	enum verdict_kind kind;
	enum reason reason;
} spoilt[] = {
	{ no_uid, VERDICT_REFUSE, REASON_INCOMPLETE_FACTS },
	{ no_name, VERDICT_REFUSE, REASON_INCOMPLETE_FACTS },
	{ no_ns, VERDICT_REFUSE, REASON_INCOMPLETE_FACTS },
	{ no_rv, VERDICT_REFUSE, REASON_INCOMPLETE_FACTS },
	{ odd_grace, VERDICT_REFUSE, REASON_INCOMPLETE_FACTS },
	{ no_created, VERDICT_REFUSE, REASON_BAD_TIMESTAMP },
	{ past_created, VERDICT_REFUSE, REASON_BAD_TIMESTAMP },
	{ far_created, VERDICT_WAIT, REASON_TIME_IN_FUTURE },
	{ skewed, VERDICT_ACT, REASON_EVICTED },
	{ too_skewed, VERDICT_WAIT, REASON_TIME_IN_FUTURE },
	{ cut, VERDICT_REFUSE, REASON_TOO_MANY_CONTAINERS },
	{ deletion_negative, VERDICT_REFUSE, REASON_BAD_TIMESTAMP },
	{ deletion_before_birth, VERDICT_REFUSE, REASON_BAD_TIMESTAMP },
};

TEST_LOOP(spoilt_facts, 0, sizeof(spoilt) / sizeof(spoilt[0]))
{
	struct pod_facts p = pod_evicted();

	spoilt[_i].spoil(&p);
	expect(judge(&p), spoilt[_i].kind, spoilt[_i].reason, _i);
}

/* A clock that is behind may be right in a moment, and the time comes in any case: a wait, until the very
 * millisecond at which it is past. */
TEST(a_time_in_the_future_is_waited_for)
{
	struct pod_facts p = pod_evicted();
	struct verdict v;

	p.created = NOW + HOUR;
	v = EXPECT(judge(&p), WAIT, TIME_IN_FUTURE);
	ck_assert_int_eq(v.at_ms, NOW + HOUR - JUDGE_SKEW_MS);
	ck_assert_ptr_nonnull(strstr(EN(v.evidence), "a time of it is 1h in the future"));
	judge_duty(DUTY_EVICTED, &p, &policy, &(struct pod_context){ .stage = STAGE_LIVE }, v.at_ms - 1, &v);
	ck_assert_int_eq(v.kind, VERDICT_WAIT);
	judge_duty(DUTY_EVICTED, &p, &policy, &(struct pod_context){ .stage = STAGE_LIVE }, v.at_ms, &v);
	ck_assert_int_eq(v.kind, VERDICT_ACT);
	p.deletion = p.created - 1; /* out of order is wrong by any clock */
	EXPECT(judge(&p), REFUSE, BAD_TIMESTAMP);
}

TEST(negative_threshold_is_refused)
{
	struct pod_facts p = pod_evicted();

	policy.duty[DUTY_EVICTED].hours_ms = -1;
	EXPECT(judge(&p), REFUSE, BAD_POLICY);
}

/* A kubelet that lists each container leaves room for what is found behind it. */
TEST(a_long_message_is_cut_and_marked)
{
	static char message[1500];
	struct pod_facts p = pod_evicted();
	struct fact_value v_message, v_lasted;

	for (size_t i = 0; i < sizeof(message); i += 3)
		memcpy(message + i, "驱", 3);
	p.message = (struct str){ message, sizeof(message) };
	p.disruption_at = NOW - HOUR;
	const struct verdict v = judge(&p);

	ck_assert(facts_find(&v.evidence, FACT_POD_MESSAGE, &v_message));
	ck_assert_uint_eq(v_message.text.n, 600 + 3);
	ck_assert_int_eq(memcmp(v_message.text.p + 600, "…", 3), 0);
	ck_assert(facts_find(&v.evidence, FACT_LASTED, &v_lasted));
}

TEST(evidence_is_printable)
{
	struct pod_facts p = pod_healthy();
	struct verdict v;

	p.phase = STR_LIT("Fai\x1b[2Jled\n\xff");
	v = EXPECT(judge(&p), NONE, NOT_EVICTED);
	ck_assert_str_eq(EN(v.evidence), "phase Fai?[2Jled??");
}

POLICY_SUITE("rules/evicted");
