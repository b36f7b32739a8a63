/* action_title.c - see action_title.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/notify/action_title.h"

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/duties.h"
#include "model/phrases.h"
#include "text/facts_text.h"
#include "text/texts.h"

static enum tally tally_of(const struct action_group *k)
{
	static const enum tally of_actions[ACTION__MAX] = {
		[ACTION_DELETE] = TALLY_PODS,        [ACTION_FORCE_DELETE] = TALLY_FORCED,
		[ACTION_SCALE_DOWN] = TALLY_SCALED,  [ACTION_RESTORE] = TALLY_RESTORED,
		[ACTION_FRESH_ATTEMPT] = TALLY_PODS,
	};

	if (k->part == SECTION_FAILED)
		return TALLY_FAILED;
	if (k->outcome == OUTCOME_ANNOUNCED)
		return TALLY_ANNOUNCED;
	if (k->suspended)
		return TALLY_SUSPENDED;
	if (k->action == ACTION_DELETE && k->duty == DUTY_EVICTED)
		return TALLY_EVICTED;
	if (k->action == ACTION_DELETE && k->duty == DUTY_FINISHED)
		return TALLY_FINISHED;
	return of_actions[k->action];
}

void action_title_count(struct action_title *t, const struct action_group *k)
{
	t->n[k->observe || k->outcome == OUTCOME_WOULD][tally_of(k)]++;
}

/* "scaled 2 workloads to 0, deleted 5 evicted pods"; "" = none of them. */
static char *counts_of(const struct action_title *t, bool observed, enum language l)
{
	static const enum text says[TALLY__MAX] = {
		[TALLY_SCALED] = TEXT_TITLE_SCALED,     [TALLY_SUSPENDED] = TEXT_TITLE_SUSPENDED,
		[TALLY_RESTORED] = TEXT_TITLE_RESTORED, [TALLY_ANNOUNCED] = TEXT_TITLE_ANNOUNCED,
		[TALLY_FORCED] = TEXT_TITLE_FORCED,     [TALLY_EVICTED] = TEXT_TITLE_EVICTED,
		[TALLY_FINISHED] = TEXT_TITLE_FINISHED, [TALLY_PODS] = TEXT_TITLE_PODS,
		[TALLY_FAILED] = TEXT_TITLE_FAILED,
	};
	char *ret = xstrdup("");

	for (enum tally k = 0; k < TALLY__MAX; k++) {
		struct facts f = { 0 };

		if (t->n[observed][k] == 0)
			continue;
		facts_count(&f, FACT_SEEN, (int64_t)t->n[observed][k]);
		_cleanup_free_ char *count = facts_fill(text_in(says[k], l), &f, NULL), *before = ret;

		ret = *before ? xasprintf(phrase(NEWS_AND, l), before, count) : xstrdup(count);
	}
	return ret;
}

char *action_title_text(const struct action_title *t, const char *cluster, enum language l)
{
	_cleanup_free_ char *prefix = *cluster ? xasprintf("[%s] ", cluster) : xstrdup("");
	_cleanup_free_ char *done = counts_of(t, false, l), *observed = counts_of(t, true, l);
	_cleanup_free_ char *what =
		*done ? xstrdup(done) : xasprintf(phrase(NEWS_OBSERVED_TITLE, l), observed);

	if (*what >= 'a' && *what <= 'z')
		*what = (char)(*what - 'a' + 'A');
	return xconcat(prefix, what, NULL);
}

bool action_title_warns(const struct action_title *t)
{
	uint64_t n = t->n[true][TALLY_FAILED];

	for (enum tally k = 0; k < TALLY__MAX; k++)
		if (k != TALLY_EVICTED && k != TALLY_FINISHED && k != TALLY_PODS)
			n += t->n[false][k];
	return n > 0;
}
