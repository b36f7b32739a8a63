/* known_failures.c - see known_failures.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/known_failures.h"

#include "base/clock.h"
#include "base/log.h"
#include "model/actions.h"
#include "model/duties.h"

#define SLACK_MS 2000

int64_t known_failures_since(const struct supervisor *s, uint64_t action, const struct failing_since_key *key)
{
	const int64_t now = clock_wall_ms();

	if (duty_workload((enum duty)key->duty) < 0 || action == ACTION_RESTORE)
		return 0;
	const int64_t since = failing_since_get(own_state_failing_since(s->own), key);

	return since > 0 && since < now ? since : now;
}

void known_failures_add(struct supervisor *s, const struct failing_since_key *key, int64_t at)
{
	if (failing_since_add(own_state_failing_since(s->own), key, at) || s->failing_is_full)
		return;
	s->failing_is_full = true;
	(void)log_warn(
		0, "more workloads fail than can be kept in mind: what begins to fail now is not scaled down",
		kv_s("cluster", key->cluster_name), kv_u("kept", FAILING_SINCE_MAX));
}

void known_failures_note(struct supervisor *s, const struct failing_since_key *key, bool fails)
{
	if (fails)
		known_failures_add(s, key, clock_wall_ms() - SLACK_MS);
	else
		failing_since_remove(own_state_failing_since(s->own), key);
}
