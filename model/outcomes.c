/* outcomes.c - see outcomes.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/outcomes.h"

const char *outcome_name(enum outcome outcome)
{
	static const char *const names[OUTCOME__MAX] = {
		[OUTCOME_DONE] = "done",
		[OUTCOME_GONE] = "gone",
		[OUTCOME_REFUSED] = "refused",
		[OUTCOME_CONFLICT] = "conflict",
		[OUTCOME_FORBIDDEN] = "forbidden",
		[OUTCOME_FAILED] = "failed",
		[OUTCOME_UNCONFIRMED] = "unconfirmed",
		[OUTCOME_ANNOUNCED] = "announced",
		[OUTCOME_WOULD] = "would",
	};

	return (unsigned)outcome < OUTCOME__MAX ? names[outcome] : "open";
}
