/* walk.c - see walk.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/steps/walk.h"

#include "worker/action_state.h"
#include "worker/steps/approve.h"
#include "worker/steps/autoscaler.h"
#include "worker/steps/pull_events.h"
#include "worker/steps/node.h"
#include "worker/steps/object.h"
#include "worker/steps/owner.h"
#include "worker/steps/granted_pod.h"
#include "worker/steps/restore.h"
#include "worker/steps/scale.h"
#include "worker/steps/suspend.h"

enum {
	WRITES = STEP_WRITES,
	MAY_FAIL = STEP_MAY_FAIL,
	POD = 1u << ACTION_DELETE,
	FORCE = 1u << ACTION_FORCE_DELETE,
	SCALE = 1u << ACTION_SCALE_DOWN | 1u << ACTION_FRESH_ATTEMPT,
	RESTORE = 1u << ACTION_RESTORE,
	SUSPEND = 1u << ACTION__MAX,
};

static const struct step_row {
	struct step_desc desc;
	unsigned kinds;
	enum step more, doubt;
} rows[] = {
#define STEP(ID, what, kinds, more, doubt, flags, ...)                                                       \
	{ { what, flags, __VA_ARGS__ }, kinds, STEP_##more, STEP_##doubt },
#include "worker/steps/steps.def"
#undef STEP
};

const struct step_desc *step_desc(enum step step)
{
	return &rows[step].desc;
}

static bool is_due(const struct action *a, enum step step)
{
	const struct step_row *row = &rows[step];

	if (!(row->kinds & (a->found.suspends ? SUSPEND : 1u << a->grant.action)))
		return false;
	if (row->desc.flags & STEP_WRITES)
		return a->write == step;
	return !row->desc.needed || row->desc.needed(a);
}

static enum step first_due(const struct action *a, enum step from)
{
	while (from < STEP__MAX && !is_due(a, from))
		from++;
	return from;
}

enum step step_following(const struct action *a, enum step_then then)
{
	const struct step_row *row = &rows[a->step];

	switch (then) {
	case STEP_NEXT:
		return first_due(a, a->step + 1);
	case STEP_MORE:
		return row->more == a->step ? a->step : first_due(a, row->more);
	case STEP_FIRST:
		return first_due(a, 0);
	case STEP_DOUBT:
		return row->doubt;
	default:
		return STEP_NONE;
	}
}
