/* guard.h - how a duty is judged: a table of checks, walked until one decides; and the checks that every duty
 * asks alike.  Layer: rules, private to it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_GUARD_H
#define RULES_GUARD_H

#include "rules/judge.h"

/* One judgement on its way through a table. */
struct evaluation {
	const struct pod_facts *p;
	const struct policy *policy;
	const struct duty_policy *dp; /* of this duty, with overrides applied */
	const struct pod_context *s;
	int64_t now;
	enum duty duty;
	struct verdict *v;
	bool brief; /* nobody reads the evidence of VERDICT_NONE: most pods end there, and text costs */
	char *fact; /* what the check found; NULL when nobody listens */
	size_t fact_size;
	/* what one check finds for those after it */
	uint32_t container;
	struct str state; /* of the container that is reported */
	int64_t until;    /* due strictly after it; 0 = not known */
	bool due;
};

struct check {
	const char *rule, *name;
	bool (*decides)(struct evaluation *l); /* true: the verdict is set; false: passed, go on */
};

struct duty_checks {
	const struct check *checks;
	size_t n;
};
extern const struct duty_checks checks_evicted, checks_terminating, checks_image_pull, checks_restarts;

/* Told to who listens (judge_trace); costs nothing otherwise. */
#define SAY(l, ...)                                                                                          \
	do {                                                                                                 \
		if ((l)->fact)                                                                               \
			evaluation_say((l), __VA_ARGS__);                                                    \
	} while (0)
#define EVIDENCE_OF_NONE(l, ...)                                                                             \
	do {                                                                                                 \
		if (!(l)->brief)                                                                             \
			text_evidence((l)->v, __VA_ARGS__);                                                  \
	} while (0)
void evaluation_say(struct evaluation *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Set the verdict and return true; evidence stays as it is. */
bool evaluation_decide(struct evaluation *l, enum verdict_kind kind, enum reason reason);
/* Wait until `at` (0 = until something changes). */
bool evaluation_wait(struct evaluation *l, enum reason reason, int64_t at);
/* A guard that holds for all time forbids the act: a refusal when it is due; until then a wait, so that the
 * refusal comes in time; none when it is not known when it will be due. */
bool evaluation_forbid(struct evaluation *l, enum reason reason);

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
/* The grace announced on the pod itself. */
bool check_announced(struct evaluation *l);

#define CHECKS_BEGIN                                                                                         \
	{ "Duty", "is it enabled", check_enabled },                                                          \
	{                                                                                                    \
		"Namespace", "is the namespace selected", check_selected                                     \
	}
#define CHECKS_FACTS                                                                                         \
	{ "Facts", "is the pod complete and free of contradictions", check_facts },                          \
	{                                                                                                    \
		"Times", "are its times plausible", check_times                                              \
	}
#define CHECKS_GUARDS                                                                                        \
	{ "R29", "is it not this program itself", check_own_pod },                                           \
		{ "R29", "is the namespace not excluded", check_excluded },                                  \
		{ "R14", "is it no mirror of a static pod", check_mirror },                                  \
		{ "R29", "is it not critical to the system", check_priority },                               \
		{ "Ignore", "is it not marked ops-pod-cleaner.io/ignore", check_ignored },                   \
	{                                                                                                    \
		"Skip", "is it not marked ops-pod-cleaner.io/skip for this duty", check_skipped              \
	}

/* a + b, held at the ends of the type. */
int64_t time_add(int64_t a, int64_t b);
/* Phase Succeeded or Failed. */
bool phase_terminal(const struct pod_facts *p);

#endif
