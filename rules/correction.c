/* correction.c - see correction.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/correction.h"

/* Is this the mark of that action, and do both say the same number? */
static bool is_its_mark(const struct correction_facts *f)
{
	uint64_t action, from;

	return f->is_of_history && str_to_u64(f->marked.p, f->marked.n, &action) == 0 &&
	       action == f->action && str_to_u64(f->from.p, f->from.n, &from) == 0 && f->replicas > 0 &&
	       from == (uint64_t)f->replicas;
}

static void decide(struct verdict *v, enum verdict_kind kind, enum reason reason, enum text why)
{
	*v = (struct verdict){ .kind = kind, .reason = reason, .rule = "R20", .override = "" };
	facts_finding(&v->evidence, why);
}

void correction_judge(const struct duty_policy *policy, const struct correction_facts *f, struct verdict *ret)
{
	const bool changed = !str_empty(f->template) && !str_empty(f->now) && !str_eq(f->template, f->now);

	if (policy->restore != RESTORE_WHEN_TEMPLATE_CHANGES)
		decide(ret, VERDICT_REFUSE, REASON_RESTORE_OFF, TEXT_RESTORE_NEVER);
	else if (!is_its_mark(f))
		decide(ret, VERDICT_REFUSE, REASON_NOT_MARKED, TEXT_MARK_GONE);
	else if (str_is(f->asked, "now"))
		decide(ret, VERDICT_ACT, REASON_CORRECTED, TEXT_RESTORE_ASKED);
	else if (changed)
		decide(ret, VERDICT_ACT, REASON_CORRECTED, TEXT_TEMPLATE_CHANGED);
	else
		decide(ret, VERDICT_REFUSE, REASON_TEMPLATE_UNCHANGED,
		       str_empty(f->template) ? TEXT_TEMPLATE_UNKNOWN : TEXT_TEMPLATE_SAME);
}
