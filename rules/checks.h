/* checks.h - how a duty is judged: a table of checks, walked until one decides; and the checks that every
 * duty asks alike.  Layer: rules, private to it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_CHECKS_H
#define RULES_CHECKS_H

#include "model/pod.h"
#include "model/policy.h"
#include "rules/verdict.h"

/* One judgement on its way through a table. */
struct evaluation {
	enum duty duty;
	const struct pod_facts *p;
	const struct policy *policy;
	const struct pod_context *s;
	int64_t now;
	const struct duty_policy *dp; /* of this duty, with overrides applied */
	const struct duty_ops *ops;
	struct verdict *v;
	bool brief; /* nobody reads the evidence of VERDICT_NONE: most pods end there, and facts cost */
	check_report_fn *report; /* who listens, or NULL */
	void *ctx;
	struct facts *found; /* by the check; NULL: nobody listens, so that nothing is written */
	/* what one check finds for those after it */
	struct str state; /* of the container that is reported */
	int64_t until;    /* due strictly after it; 0 = not known */
	bool due;
};

struct check {
	const char *rule;
	enum text question;
	bool (*decides)(struct evaluation *l); /* true: the verdict is set; false: passed, go on */
};

/* A duty is one file that defines one of these; model/duties.def names it. */
struct duty_ops {
	enum reason reason; /* of its action, or of its place in the digest */
	const struct check *checks;
	size_t n;
	/* When the state that is judged began by our evidence, Unix ms; 0 or less: nothing tells. NULL: when
	 * the revision was first seen failing. */
	int64_t (*began)(const struct pod_facts *p);
	/* Of a duty that concerns workloads: does this pod fail (*ret_container, when not NULL: which of its
	 * containers), and does it prove that its revision does not? */
	bool (*fails)(const struct pod_facts *p, const struct policy *policy, int64_t now,
		      uint32_t *ret_container);
	bool (*works)(const struct pod_facts *p, int64_t now);
	/* Until when did it show that its revision did not fail, Unix ms? 0: nothing tells. NULL: it never
	 * does. */
	int64_t (*worked_at)(const struct pod_facts *p, int64_t now);
	/* Has it begun to fail, though it does not yet? NULL: it fails at once. */
	bool (*begins)(const struct pod_facts *p);
	/* Is it no fault of the revision that this pod fails by that container? NULL: it never is. */
	bool (*excused)(const struct pod_facts *p, uint32_t container);
	/* Of a duty that keeps the newest of what has ended: is the pod in its state? *ret_at: since when, 0
	 * or less: nothing tells. NULL: it keeps none. */
	bool (*is_ended)(const struct pod_facts *p, const struct duty_policy *dp, int64_t *ret_at);
};
#define DUTY_OPS(X, ID, rules, ...) extern const struct duty_ops duty_##rules;
DUTY_LIST(DUTY_OPS, )
#undef DUTY_OPS

/* Add to what the check found, when somebody listens. */
static inline void found(const struct evaluation *l, enum text statement)
{
	if (l->found)
		facts_finding(l->found, statement);
}
static inline void found_name(const struct evaluation *l, enum fact key, struct str name)
{
	if (l->found)
		facts_name(l->found, key, name);
}
static inline void found_bool(const struct evaluation *l, enum fact key, bool value)
{
	found_name(l, key, value ? STR_LIT("true") : STR_LIT("false"));
}
/* What the check found is the evidence. */
static inline void found_evidence(const struct evaluation *l)
{
	if (l->found)
		facts_add(l->found, &l->v->evidence);
}
/* Begin the evidence anew, with a statement. */
struct facts *evaluation_evidence(struct evaluation *l, enum text statement);
/* Add what goes with the pod: the message of its status, cut at a character and marked where it would take
 * the room of the rest, and the node that a finished pod was on. */
/* How a container ended, and its reason where it has one; for people. */
void evaluation_add_end(struct str container, int32_t exit_code, struct str reason, struct facts *f);
void evaluation_last_words(const struct pod_facts *p, struct facts *f);

/* Of which kind its controller is. */
void evaluation_found_controller(const struct evaluation *l);

/* Set the verdict and return true; evidence stays as it is. */
bool evaluation_decide(struct evaluation *l, enum verdict_kind kind, enum reason reason);
/* Wait until `at` (0 = until something changes). */
bool evaluation_wait(struct evaluation *l, enum reason reason, int64_t at);
/* Is `at`, a time that must be past, still to come? Then a clock is wrong, and may be right in a moment: wait
 * until it is past by now, or until the clock is put right (watcher/controller/controller.h). */
bool evaluation_future(struct evaluation *l, int64_t at);

/* The checks before the state of the pod is looked at ... */
bool check_enabled(struct evaluation *l);
bool check_selected(struct evaluation *l);
/* ... facts that must hold before any rule may believe the rest ... */
bool check_facts(struct evaluation *l);
bool check_times(struct evaluation *l);
/* ... and guards that hold for all time. */
bool check_own_pod(struct evaluation *l);
bool check_excluded(struct evaluation *l);
bool check_mirror(struct evaluation *l);
bool check_priority(struct evaluation *l);
bool check_ignored(struct evaluation *l);
bool check_skipped(struct evaluation *l);
/* What duties ask that need it: deletionTimestamp is not set; not Ready, unless it is over; the grace
 * announced on the pod is over. */
bool check_not_deleted(struct evaluation *l);
/* The same, but a pod that is half-deleted for longer than finishDeletionsAfter passes: the duty finishes it.
 */
bool check_not_deleted_whole(struct evaluation *l);
bool check_not_ready(struct evaluation *l);
bool check_announced(struct evaluation *l);
/* It is none of the newest of its owner, which are kept. Only the watcher counts them, as it does budgets. */
bool check_newest(struct evaluation *l);
/* It is no pod of a Job, nor of what runs to completion like one (model/job_kinds.h), or includeJobs is set.
 */
bool check_job(struct evaluation *l);
/* The last one of every duty. */
bool check_act(struct evaluation *l);

#define CHECK(rule, question, decides)                                                                       \
	{                                                                                                    \
		rule, TEXT_##question, decides                                                               \
	}
#define CHECKS_BEGIN                                                                                         \
	CHECK("Duty", ASK_ENABLED, check_enabled), CHECK("Namespace", ASK_SELECTED, check_selected)
#define CHECKS_FACTS CHECK("Facts", ASK_COMPLETE, check_facts), CHECK("Times", ASK_TIMES, check_times)
#define CHECKS_GUARDS                                                                                        \
	CHECK("R29", ASK_NOT_OWN_POD, check_own_pod), CHECK("R29", ASK_NOT_EXCLUDED, check_excluded),        \
		CHECK("R14", ASK_NO_MIRROR, check_mirror), CHECK("R29", ASK_NOT_CRITICAL, check_priority),   \
		CHECK("Ignore", ASK_NOT_IGNORED, check_ignored),                                             \
		CHECK("Skip", ASK_NOT_SKIPPED, check_skipped)

#endif
