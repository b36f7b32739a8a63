/* escalation.c - see escalation.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/escalation.h"

enum escalation escalation_next(const struct duty_policy *dp, int64_t tried, int64_t now, int64_t *ret_at)
{
	*ret_at = 0;
	if (dp->fresh_attempt_ms <= 0)
		return ESCALATION_DUTY;
	if (tried <= 0)
		return ESCALATION_RETRY;
	if (tried > now)
		tried = now;
	if (now - tried > dp->fresh_attempt_ms)
		return ESCALATION_DUTY;
	*ret_at = tried + dp->fresh_attempt_ms + 1;
	return ESCALATION_WAIT;
}
