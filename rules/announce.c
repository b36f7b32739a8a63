/* announce.c - see announce.h. */
// SPDX-License-Identifier: Apache-2.0
#include "rules/announce.h"

#include "rules/times.h"

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
