/* Promises that hold for every pod, tried on generated ones: half of their facts are ordinary, half garbage.
 */
// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"

#include "rules/cause.h"
#include "rules/select.h"
#include "tests/facts_en.h"
#include "tests/suite.h"

#define PODS       6000
#define PICK(pool) (pool)[below(sizeof(pool) / sizeof((pool)[0]))]

static uint64_t state;

/* splitmix64 */
static uint64_t next(void)
{
	uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static size_t below(size_t n)
{
	return (size_t)(next() % n);
}

/* STR_C would draw twice. */
static struct str pick_str(const char *s)
{
	return STR_C(s);
}

static bool rarely(void)
{
	return below(30) == 0;
}

static bool seldom(void)
{
	return below(6) == 0;
}

static int64_t some_time(void)
{
	static const int64_t odd[] = { 0,   -1,      1,           INT64_MIN,       INT64_MAX,
				       NOW, NOW + 1, NOW - HOURS, NOW - HOURS - 1, NOW + HOUR };

	return below(4) ? NOW - (int64_t)below((size_t)(48 * HOUR)) : PICK(odd);
}

static const char *const namespaces[] = { "shop", "shop", "bank", "kube-system", "cleaner", "" };
static const char *const phases[] = { "Pending",   "Running", "Failed", "Failed",
				      "Succeeded", "Unknown", "",       "x" };
static const char *const reasons[] = { "", "Evicted", "Evicted", "NodeLost", "evicted", "NodeShutdown" };
static const char *const kinds[] = { "ReplicaSet",  "ReplicaSet", "ReplicaSet",
				     "StatefulSet", "Job",        "DaemonSet",
				     "Node",        "CloneSet",   "" };
static const char *const states[] = { "ErrImagePull",
				      "ImagePullBackOff",
				      "ImagePullBackOff",
				      "CrashLoopBackOff",
				      "Completed",
				      "ContainerCreating",
				      "" };
static const char *const messages[] = { "manifest unknown", "manifest unknown", "manifest unknown",
					"i/o timeout",      "401 Unauthorized", "" };
static const struct label team_label = { STR_LIT("team"), STR_LIT("a") };
static const struct namespace_labels worlds[2] = { { NULL, 0 }, { &team_label, 1 } };
static const char *const classes[] = { "", "", "", "system-node-critical", "high" };

static void generate_container(struct container_facts *c)
{
	*c = (struct container_facts){ .name = STR_LIT("c"),
				       .kind = below(3) ? CONTAINER_MAIN : (enum container_kind)below(3),
				       .state = below(2) ? CONTAINER_WAITING : (enum container_state)below(4),
				       .reason = pick_str(PICK(states)),
				       .message = pick_str(PICK(messages)),
				       .restarts = (int32_t)below(20) - 2,
				       .finished_at = some_time(),
				       .last_finished_at = some_time() };
}

/* An ordinary pod in one of the states of interest, each of whose facts is replaced now and then. */
static struct pod_facts generate_pod(void)
{
	static struct pod_facts (*const bases[])(void) = { pod_evicted,  pod_terminating, pod_pull_failing,
							   pod_crashing, pod_finished,    pod_healthy };
	static const int64_t graces[] = { -1, 0, 30, 600, -7 };
	struct pod_facts p = PICK(bases)();

	if (seldom())
		p.ns = pick_str(PICK(namespaces));
	if (seldom())
		p.phase = pick_str(PICK(phases));
	if (seldom())
		p.reason = pick_str(PICK(reasons));
	if (seldom())
		p.owner.kind = pick_str(PICK(kinds));
	if (seldom())
		p.priority_class = pick_str(PICK(classes));
	if (seldom())
		p.deletion = some_time();
	if (seldom())
		p.grace_s = PICK(graces);
	if (rarely())
		p.created = some_time();
	p.disruption_at = some_time();
	p.unready_since = some_time();
	p.ready ^= rarely();
	p.mirror = rarely();
	p.skip = rarely();
	p.annotations.skip = rarely() ? (uint8_t)below(1u << DUTY__MAX) : 0;
	p.annotations.announced[DUTY_EVICTED] = rarely() ? some_time() : 0;
	p.namespace_labels = &worlds[below(2)];
	if (rarely())
		p.namespace_labels = NULL;
	p.labels_mask = rarely() ? SELECT_LABELS_UNKNOWN : 0;
	p.containers_cut = rarely();
	p.has_pvc = below(2) != 0;
	p.scheduled = below(8) != 0;
	p.n_finalizers = rarely() ? (uint32_t)below(40) : 0;
	for (uint32_t i = 0; i < POD_FINALIZERS_MAX; i++)
		p.finalizers[i] = STR_LIT("example.com/a-finalizer-of-some-length");
	if (rarely())
		p.uid = STR_LIT("");
	if (rarely())
		p.name = STR_LIT("");
	if (rarely())
		p.rv = STR_LIT("");
	if (rarely())
		p.owner.uid = STR_LIT("");
	if (seldom())
		p.node = STR_LIT("");
	if (seldom())
		p.n_containers = (uint32_t)below(4);
	for (uint32_t i = 0; i < p.n_containers; i++)
		if (i > 0 || seldom())
			generate_container(&p.containers[i]);
	return p;
}

static struct pod_context generate_context(void)
{
	struct pod_context s = { .stage = (enum judge_stage)below(2),
				 .failing_since =
					 below(4) ? NOW - HOURS - 1 - (int64_t)below(1000) : some_time(),
				 .tally_known = below(2) ? TRI_YES : (enum tri)below(3),
				 .pods = (uint32_t)below(3),
				 .ready = rarely() ? 1 : 0,
				 .node_exists = (enum tri)below(3),
				 .node_ready = (enum tri)below(3),
				 .node_out_of_service = (enum tri)below(3),
				 .volume_attached = (enum tri)below(3),
				 .others_refused = (enum tri)below(3),
				 .failing_nodes = (uint32_t)below(3) };

	s.others_pulled_at = below(2) ? time_add(s.failing_since, (int64_t)below(3) - 1) : 0;
	s.failing = below(4) ? s.pods : (uint32_t)below(3);
	return s;
}

static void generate_policy(void)
{
	static const char *const lists[] = {
		"*", "*",          "shop",  "shop,kube-system", "*,cleaner",
		"",  "sh*,kube-*", "!bank", "label:team=a",     "*,!label:team=a"
	};
	static const char *const causes[] = { "permanent", "permanent,auth", "permanent,unknown",
					      "permanent,auth,misconfigured,unknown" };
	static const int64_t hours[] = { HOURS, HOURS, HOURS, 0, 0, -1, INT64_MAX };

	for (int d = 0; d < DUTY__MAX; d++) {
		policy.duty[d].enable = !rarely();
		policy.duty[d].hours_ms = PICK(hours);
		policy.duty[d].include_jobs = below(2) != 0;
		policy.duty[d].include_bare_pods = below(2) != 0;
		policy.duty[d].announce_ms = seldom() ? HOUR : 0;
		list_set(&policy.duty[d].causes, PICK(causes));
		policy.duty[d].unreachable_nodes = below(2) != 0;
		list_set(&policy.duty[d].namespaces, PICK(lists));
	}
	list_set(&policy.exclude_namespaces, rarely() ? "shop" : "");
}

/* Its condition Ready counts while it is not over and its node exists; the cache does not know the node. */
static bool ready_forbids(const struct pod_facts *p, const struct pod_context *s, enum duty d)
{
	const bool looks = s->stage == STAGE_CACHE && s->node_exists == TRI_UNKNOWN && !str_empty(p->node);

	return p->ready && !str_is(p->phase, "Failed") && !str_is(p->phase, "Succeeded") &&
	       !(d == DUTY_TERMINATING && (s->node_exists == TRI_NO || looks));
}

/* Its list read a second time, as far as generate_policy writes lists. */
static bool is_selected(const struct str_list *l, const struct pod_facts *p)
{
	const struct namespace_labels *labels = p->namespace_labels;
	const bool known = labels != NULL, team_a = known && labels->n > 0;

	if (str_list_has(l, STR_LIT("!label:team=a")))
		return known && !team_a;
	if (str_list_has(l, STR_LIT("!bank")))
		return !str_is(p->ns, "bank");
	if (str_list_has(l, STR_LIT("label:team=a")))
		return team_a;
	if (str_list_has(l, STR_LIT("sh*")) && p->ns.n >= 2 && memcmp(p->ns.p, "sh", 2) == 0)
		return true;
	return str_list_has(l, p->ns) || str_list_has(l, STR_LIT("*"));
}

/* What must be true of a pod before any duty may touch it, written down a second time. */
static void assert_may_act(const struct pod_facts *p, const struct pod_context *s, const struct verdict *v)
{
	const struct duty_policy *dp = &policy.duty[v->duty];
	bool named = str_list_has(&dp->namespaces, p->ns);

	ck_assert(dp->enable && dp->hours_ms >= 0);
	ck_assert(is_selected(&dp->namespaces, p));
	ck_assert(!str_list_has(&policy.exclude_namespaces, p->ns));
	if (str_is(p->ns, "kube-system") || str_is(p->ns, "cleaner") ||
	    str_is(p->priority_class, "system-node-critical"))
		ck_assert(named);
	ck_assert(!ready_forbids(p, s, v->duty));
	ck_assert(!p->mirror && !p->skip && !p->containers_cut);
	ck_assert(!(p->annotations.skip & 1u << v->duty));
	ck_assert(!str_empty(p->uid) && !str_empty(p->name) && !str_empty(p->ns));
	ck_assert(p->created > 0 && p->created <= NOW + JUDGE_SKEW_MS);
	if (s->stage == STAGE_LIVE)
		ck_assert(!str_empty(p->rv));
}

/* Nobody asked to delete it; or somebody did by force, nothing holds it, and it is still there. */
static void assert_not_deleted_whole(const struct pod_facts *p)
{
	ck_assert(p->deletion == 0 ||
		  (p->grace_s == 0 && p->n_finalizers == 0 && NOW - p->deletion > FINISH));
}

static void assert_evicted(const struct pod_facts *p)
{
	ck_assert(str_is(p->phase, "Failed") && str_is(p->reason, "Evicted"));
	assert_not_deleted_whole(p);
	ck_assert(!str_is(p->owner.kind, "Job") || policy.duty[DUTY_EVICTED].include_jobs);
}

static void assert_finished(const struct pod_facts *p)
{
	const struct duty_policy *dp = &policy.duty[DUTY_FINISHED];

	ck_assert(str_is(p->phase, "Failed"));
	assert_not_deleted_whole(p);
	ck_assert(str_is(p->reason, "NodeShutdown") || str_is(p->reason, "NodeLost") || str_empty(p->reason));
	ck_assert(time_add(p->unready_since, dp->hours_ms) < NOW &&
		  time_add(p->disruption_at, dp->hours_ms) < NOW);
	ck_assert(p->unready_since > 0 || p->disruption_at > 0 || p->n_containers > 0 || p->start_time > 0);
	ck_assert(!str_is(p->owner.kind, "Job") || dp->include_jobs);
	ck_assert(!str_empty(p->owner.uid) || dp->include_bare_pods);
}

static void assert_terminating(const struct pod_facts *p, const struct pod_context *s)
{
	const struct duty_policy *dp = &policy.duty[DUTY_TERMINATING];
	bool running = false;

	ck_assert(p->deletion > 0 && p->n_finalizers == 0);
	ck_assert(NOW - p->deletion > (p->grace_s == 0 ? FINISH : dp->hours_ms));
	if (s->stage == STAGE_CACHE || (str_empty(p->node) && !p->scheduled))
		return;
	ck_assert_int_ne(s->node_exists, TRI_UNKNOWN);
	if (s->node_exists == TRI_NO || (s->node_out_of_service == TRI_YES && s->node_ready == TRI_NO))
		return;
	for (uint32_t i = 0; i < p->n_containers; i++)
		running |= p->containers[i].state == CONTAINER_RUNNING;
	ck_assert_int_ne(s->node_ready, TRI_UNKNOWN);
	if (s->node_ready == TRI_NO)
		ck_assert(dp->unreachable_nodes);
	else
		ck_assert(!running && (!p->has_pvc || s->volume_attached == TRI_NO));
}

/* A Ready workload is never scaled, and live only a failure whose cause is listed counts. */
static void assert_workload(enum duty d, const struct pod_facts *p, const struct pod_context *s)
{
	uint32_t c;

	ck_assert(judge_fails(d, p, &policy, NOW, &c));
	if (s->stage == STAGE_LIVE && d == DUTY_IMAGE_PULL) {
		const enum pull_cause cause = cause_of(&p->containers[c]);

		ck_assert(cause_may_act(&policy.duty[DUTY_IMAGE_PULL], cause, s->failing_since,
					s->others_pulled_at));
		ck_assert(cause != CAUSE_NODE || s->failing_nodes == 2);
		ck_assert(cause != CAUSE_AUTH || s->others_refused == TRI_NO ||
			  NOW - s->failing_since > 24 * HOUR);
	}
	ck_assert(judge_fails(d, p, &policy, NOW, NULL) && p->deletion == 0);
	ck_assert(s->failing_since > 0 && NOW - s->failing_since > policy.duty[d].hours_ms);
	ck_assert(!str_empty(p->owner.uid) && !str_is(p->owner.kind, "Node"));
	if (s->tally_known == TRI_YES)
		ck_assert(s->pods > 0 && s->failing == s->pods && s->ready == 0);
	else
		ck_assert_int_eq(s->stage, STAGE_CACHE);
}

static void assert_text(const struct verdict *v)
{
	const struct str bytes = facts_bytes(&v->evidence);
	struct facts again;

	ck_assert_int_eq(facts_read(bytes.p, bytes.n, &again, NULL), 0);
	ck_assert_int_lt((int)v->reason, (int)REASON__MAX);
}

/* Time alone never turns an ACT back, and a wait ends when it says and not before. */
static void assert_monotone(const struct pod_facts *p, const struct pod_context *s, const struct verdict *v)
{
	struct verdict later;

	if (v->kind == VERDICT_ACT) {
		judge_duty(v->duty, p, &policy, s, NOW + (int64_t)below((size_t)(24 * 365 * HOUR)), &later);
		ck_assert_int_eq(later.kind, VERDICT_ACT);
	} else if (v->kind == VERDICT_WAIT && v->at_ms > 0 && v->at_ms < INT64_MAX) {
		ck_assert_int_gt(v->at_ms, NOW);
		judge_duty(v->duty, p, &policy, s, v->at_ms - 1, &later);
		ck_assert_int_eq(later.kind, VERDICT_WAIT);
		judge_duty(v->duty, p, &policy, s, v->at_ms, &later);
		/* When a time has come, or a half-deleted pod may be finished, the threshold may have to
		 * follow. */
		if ((v->reason == REASON_TIME_IN_FUTURE || v->reason == REASON_BEING_DELETED) &&
		    later.kind == VERDICT_WAIT)
			ck_assert(later.at_ms == 0 || later.at_ms > v->at_ms);
		else
			ck_assert_msg(later.kind != VERDICT_WAIT, "%s waits for %s, then for %s until %lld",
				      duty_name(v->duty), reason_code(v->reason), reason_code(later.reason),
				      (long long)(later.at_ms - NOW));
	}
}

/* Live, every single fact of the context that is not known is enough not to act, and so is a pod that
 * says nothing of its cause. */
static void assert_unknown_never_acts(const struct pod_facts *p, const struct pod_context *s, enum duty d)
{
	struct pod_context q[4] = { *s, *s, *s, *s };
	struct pod_facts silent = *p;
	struct verdict v;

	if (s->stage != STAGE_LIVE)
		return;
	q[0].tally_known = TRI_UNKNOWN;
	q[1].failing_since = 0;
	q[2].node_exists = TRI_UNKNOWN;
	q[3].node_ready = TRI_UNKNOWN;
	for (size_t i = 0; i < 4; i++) {
		judge_duty(d, p, &policy, &q[i], NOW, &v);
		if (duty_desc(d)->key == KEY_WORKLOAD && i < 2)
			ck_assert_int_ne(v.kind, VERDICT_ACT);
		if (d == DUTY_TERMINATING && i == 2 && !str_empty(p->node))
			ck_assert_int_ne(v.kind, VERDICT_ACT);
		if (d == DUTY_TERMINATING && i == 3 && !str_empty(p->node) && s->node_exists == TRI_YES)
			ck_assert_int_ne(v.kind, VERDICT_ACT);
	}
	if (d != DUTY_IMAGE_PULL || str_list_has(&policy.duty[d].causes, STR_LIT("unknown")))
		return;
	for (uint32_t i = 0; i < silent.n_containers; i++)
		silent.containers[i].message = STR_LIT("");
	judge_duty(d, &silent, &policy, s, NOW, &v);
	ck_assert_int_ne(v.kind, VERDICT_ACT);
}

/* What was ACT is not any more once one fact condemns it. */
static void assert_fragile(const struct pod_facts *p, const struct pod_context *s, enum duty d)
{
	struct pod_facts q[5] = { *p, *p, *p, *p, *p };
	struct pod_context blind = { .stage = STAGE_LIVE, .failing_since = s->failing_since };
	struct verdict v;

	q[0].ready = true;
	q[1].mirror = true;
	q[2].uid = STR_LIT("");
	q[3].created = 0;
	q[4].skip = true;
	for (size_t i = 0; i < 5; i++) {
		judge_duty(d, &q[i], &policy, s, NOW, &v);
		ck_assert_int_eq(v.kind == VERDICT_ACT, i == 0 && !ready_forbids(&q[0], s, d));
	}
	if (d == DUTY_IMAGE_PULL || (d == DUTY_TERMINATING && p->scheduled)) {
		judge_duty(d, p, &policy, &blind, NOW, &v);
		ck_assert_int_ne(v.kind, VERDICT_ACT);
	}
	str_list_add(&policy.exclude_namespaces, p->ns.p, p->ns.n);
	judge_duty(d, p, &policy, s, NOW, &v);
	ck_assert_int_eq(v.reason, REASON_NAMESPACE_EXCLUDED);
	list_set(&policy.exclude_namespaces, "");
}

static void one_pod(unsigned acts[static DUTY__MAX])
{
	struct pod_facts p = generate_pod();
	struct pod_context s = generate_context();
	struct verdict v, whole;

	judge_pod(&p, &policy, &s, NOW, &whole);
	assert_text(&whole);
	for (enum duty d = 0; d < DUTY__MAX; d++) {
		judge_duty(d, &p, &policy, &s, NOW, &v);
		assert_text(&v);
		acts[d] += v.kind == VERDICT_ACT;
		if (!duty_acts(d))
			continue;
		assert_monotone(&p, &s, &v);
		if (v.kind != VERDICT_ACT)
			continue;
		ck_assert_int_eq(whole.kind, VERDICT_ACT);
		assert_may_act(&p, &s, &v);
		if (d == DUTY_EVICTED)
			assert_evicted(&p);
		else if (d == DUTY_FINISHED)
			assert_finished(&p);
		else if (d == DUTY_TERMINATING)
			assert_terminating(&p, &s);
		else
			assert_workload(d, &p, &s);
		assert_fragile(&p, &s, d);
		assert_unknown_never_acts(&p, &s, d);
	}
}

TEST_LOOP(generated_pods, 0, 3)
{
	unsigned acts[DUTY__MAX] = { 0 };
	char own[] = "cleaner";

	state = UINT64_C(0x5eed) + (uint64_t)_i;
	policy.own_namespace = own;
	for (int i = 0; i < PODS; i++) {
		if (i % 50 == 0)
			generate_policy();
		one_pod(acts);
	}
	/* The generator must reach what it is about. */
	for (int d = 0; d < DUTY__MAX; d++)
		ck_assert_msg(acts[d] > 50, "duty %d acted only %u times", d, acts[d]);
}

TEST_MAIN("rules/property")
{
	tcase_add_checked_fixture(t, policy_setup, policy_teardown);
	tcase_set_timeout(t, 60);
}
