/* escalation.c - see escalation.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/escalation.h"

#include "rules/verdict.h"

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

enum announce announce_judge(const struct annotations *m, enum duty d, const struct duty_policy *dp,
			     int64_t now, int64_t *ret_until)
{
	const int64_t at = m->announced[d];

	*ret_until = 0;
	if (m->ignore || (m->skip & 1u << d))
		return ANNOUNCE_REFUSED;
	if (dp->announce_ms <= 0)
		return ANNOUNCE_GO;
	if (at <= 0 || at > time_add(now, JUDGE_SKEW_MS))
		return ANNOUNCE_NEEDED;
	*ret_until = time_add(time_add(at, dp->announce_ms), m->extend_ms);
	return now > *ret_until ? ANNOUNCE_GO : ANNOUNCE_WAIT;
}
