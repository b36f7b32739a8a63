/* ladder.c - see ladder.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/ladder.h"

enum rung ladder_rung(const struct duty_policy *dp, int64_t tried, int64_t now, int64_t *ret_at)
{
	*ret_at = 0;
	if (dp->fresh_attempt_ms <= 0)
		return RUNG_DUTY;
	if (tried <= 0)
		return RUNG_RETRY;
	if (tried > now)
		tried = now;
	if (now - tried > dp->fresh_attempt_ms)
		return RUNG_DUTY;
	*ret_at = tried + dp->fresh_attempt_ms + 1;
	return RUNG_WAIT;
}
