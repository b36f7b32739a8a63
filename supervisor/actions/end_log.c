/* end_log.c - see end_log.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/actions/end_log.h"

#include <string.h>

#include "base/cleanup.h"
#include "model/duties.h"
#include "model/reasons.h"
#include "text/facts_text.h"

#define FAILED (UINT64_C(1) << OUTCOME_FORBIDDEN | UINT64_C(1) << OUTCOME_FAILED)
#define COUNTED                                                                                              \
	(UINT64_C(1) << OUTCOME_GONE | UINT64_C(1) << OUTCOME_REFUSED | UINT64_C(1) << OUTCOME_CONFLICT)

static bool is_one_of(uint64_t outcomes, uint64_t outcome)
{
	return outcomes >> outcome & 1;
}

void end_log_note(struct end_log *e, const char *cluster_name, const struct msg_intent *i,
		  const struct msg_record *r)
{
	const bool failed = is_one_of(FAILED, r->outcome), counted = is_one_of(COUNTED, r->outcome);
	struct end_log_cluster *c = &e->clusters[i->cluster];
	_cleanup_free_ char *detail = facts_render(&r->detail, NULL);
	struct log_quota *before = log_charge(is_one_of(OUTCOMES_WRITTEN, r->outcome) ? NULL : &c->lines);

	c->counted[r->outcome] += counted;
	(void)LOG_(failed    ? LOG_LEVEL_WARN
		   : counted ? LOG_LEVEL_DEBUG
			     : LOG_LEVEL_INFO,
		   0, "action ended", kv_u("id", i->id), kv_s("cluster", cluster_name),
		   kv_s("duty", duty_name((enum duty)i->duty)), kv_s("namespace", i->ns),
		   kv_s("pod", i->name), kv_s("uid", i->uid),
		   kv_s("outcome", outcome_name((enum outcome)r->outcome)), kv_s("reason", r->reason),
		   kv_s("target", r->target), kv_s("mode", i->observe ? "observe" : "enforce"),
		   kv_s("detail", detail),
		   kv_s("remedy", failed ? reason_find(r->reason)->text[LANGUAGE_EN].remedy : ""));
	(void)log_charge(before);
}

/* Said once, however many workers meet it: what would be done is known all the same. */
void end_log_note_dry_run(struct end_log *e, uint64_t cluster, const char *cluster_name,
			  const struct msg_result *r)
{
	struct end_log_cluster *c = &e->clusters[cluster];
	const bool before = c->dry_run_forbidden;
	_cleanup_free_ char *detail = facts_render(&r->detail, NULL);

	if (r->outcome != OUTCOME_WOULD || r->http == 0)
		return;
	c->dry_run_forbidden = r->http == 403;
	if (!before && c->dry_run_forbidden)
		(void)log_warn(0,
			       "observe: no write permission: server-side dry run skipped, showing local "
			       "evaluation",
			       kv_s("remedy",
				    "none is needed; to hear the server's judgement as well, grant the "
				    "verbs of deploy/rbac.yaml"),
			       kv_s("cluster", cluster_name), kv_s("detail", detail));
}

static void sum(struct end_log_cluster *c, const char *cluster_name)
{
	const uint64_t *n = c->counted;

	if (n[OUTCOME_GONE] + n[OUTCOME_REFUSED] + n[OUTCOME_CONFLICT] == 0)
		return;
	log_info("actions ended with nothing to do", kv_s("cluster", cluster_name),
		 kv_u("refused", n[OUTCOME_REFUSED]), kv_u("gone", n[OUTCOME_GONE]),
		 kv_u("conflict", n[OUTCOME_CONFLICT]));
	memset(c->counted, 0, sizeof(c->counted));
}

void end_log_tick(struct end_log *e, const char (*names)[64], uint64_t n, uint64_t now_ms)
{
	if (now_ms - e->summed_ms < END_LOG_SUM_MS)
		return;
	e->summed_ms = now_ms;
	for (uint64_t c = 0; c < n; c++) {
		const uint64_t left_out = log_quota_left_out(&e->clusters[c].lines);

		sum(&e->clusters[c], names[c]);
		if (left_out)
			(void)log_warn(0, "more actions ended than the log tells: the history has them all",
				       kv_s("cluster", names[c]), kv_u("lines_left_out", left_out));
	}
}
