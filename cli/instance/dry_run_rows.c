/* dry_run_rows.c - see dry_run_rows.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/instance/dry_run_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "cli/view/output.h"
#include "cli/view/json.h"
#include "model/duties.h"

/* Questions to workers under way at once: enough that no worker waits for this program. */
#define WINDOW 64u
/* How far back a refusal is still news, and how many are looked through. */
#define REFUSED_MS   INT64_C(86400000)
#define REFUSALS_MAX 10000u
#define HISTORY_MS   UINT64_C(30000)

void dry_run_rows_done(struct dry_run_rows *l)
{
	free(l->v);
	rows_done(&l->refusals);
	*l = (struct dry_run_rows){ 0 };
}

void dry_run_rows_add(struct dry_run_rows *l, const struct msg_ctl_plan_row *row)
{
	l->v = xreallocarray(l->v, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = (struct dry_run_row){ .row = *row };
}

/* Would be written now, if at all but for an operator's pause: a worker is asked. */
static bool is_due(const struct dry_run_row *r)
{
	return r->row.verdict == VERDICT_ACT ||
	       (r->row.verdict == VERDICT_WAIT && strcmp(r->row.reason, "Paused") == 0);
}

bool dry_run_was_declined(const struct dry_run_row *r)
{
	return r->dry_run.id && r->dry_run.outcome != OUTCOME_WOULD;
}

/* -- the history -- */

/* The first of that key, which is the newest, or NULL. */
static const struct msg_ctl_history_row *newest(const struct dry_run_rows *l, const char *key)
{
	const struct msg_ctl_history_row *v = l->refusals.ctl_history_row.v;
	const size_t n = l->refusals.ctl_history_row.n;
	size_t from = 0, to = n;

	while (from < to) {
		const size_t middle = from + (to - from) / 2;

		if (strcmp(v[middle].action_key, key) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from < n && strcmp(v[from].action_key, key) == 0 ? &v[from] : NULL;
}

void dry_run_rows_find_refusals(struct dry_run_rows *l, struct ctl *c, const char *ns)
{
	struct msg ask = { .type = MSG_CTL_HISTORY,
			   .u.ctl_history = { .since = clock_wall_ms() - REFUSED_MS,
					      .limit = REFUSALS_MAX,
					      .duty = DUTY_ALL,
					      .outcomes = UINT64_C(1) << OUTCOME_REFUSED |
							  UINT64_C(1) << OUTCOME_FORBIDDEN } };

	if (l->n == 0)
		return;
	if (ns)
		msg_set(&ask, ctl_history.ns, ns, strlen(ns));
	(void)ctl_request(c, &ask, HISTORY_MS, rows_take, &l->refusals);
	rows_sort_history(&l->refusals);
	for (size_t i = 0; i < l->n; i++)
		l->v[i].refused = newest(l, l->v[i].row.action_key);
}

/* -- the workers -- */

static void progress(size_t done, size_t all)
{
	if (all > 1 && isatty(STDERR_FILENO))
		(void)fputc('\r', stderr), (void)fprintf(stderr, TEXT(LIVE_ASKING), done, all),
			(void)fputs(done == all ? "\n" : "", stderr);
}

static int take_answer(struct dry_run_rows *l, struct ctl *c, uint64_t timeout_ms)
{
	struct msg m;

	for (;;) {
		const int code = ctl_recv(c, timeout_ms, &m);

		if (code != EXIT_CODE_OK)
			return code;
		if (m.type == MSG_CTL_END && m.u.ctl_end.code != EXIT_CODE_OK) {
			output_complain_facts(&m.u.ctl_end.why);
			return (int)m.u.ctl_end.code;
		}
		if (m.type != MSG_CTL_DRY_RUN_RESULT || m.u.ctl_dry_run_result.id == 0 ||
		    m.u.ctl_dry_run_result.id > l->n)
			continue;
		l->v[m.u.ctl_dry_run_result.id - 1].dry_run = m.u.ctl_dry_run_result;
		return EXIT_CODE_OK;
	}
}

static int send_question(const struct dry_run_rows *l, struct ctl *c, size_t i)
{
	const struct msg row = { .type = MSG_CTL_PLAN_ROW, .u.ctl_plan_row = l->v[i].row };
	struct msg m = { .type = MSG_CTL_DRY_RUN };

	msg_copy_fields(&m, &row);
	m.u.ctl_dry_run.conn = 0;
	m.u.ctl_dry_run.id = i + 1;
	return ctl_send(c, &m);
}

int dry_run_rows_ask_workers(struct dry_run_rows *l, struct ctl *c, uint64_t timeout_ms)
{
	size_t all = 0, asked = 0, done = 0, next = 0;
	int code = EXIT_CODE_OK;

	for (size_t i = 0; i < l->n; i++)
		all += is_due(&l->v[i]);
	while (code == EXIT_CODE_OK && done < all) {
		if (asked == all || asked - done == WINDOW) {
			code = take_answer(l, c, timeout_ms);
			progress(++done, all);
			continue;
		}
		while (!is_due(&l->v[next]))
			next++;
		code = send_question(l, c, next++);
		asked++;
	}
	return code;
}

/* -- printing -- */

const char *dry_run_refusal_text(const struct dry_run_row *r, const struct table_view *view,
				 char buf[static DRY_RUN_REFUSAL_MAX])
{
	char when[RFC3339_MAX];

	buf[0] = '\0';
	if (!r->refused)
		return buf;
	output_time(view, r->refused->result_at, when);
	(void)snprintf(buf, DRY_RUN_REFUSAL_MAX, TEXT(LIVE_REFUSED), when, r->refused->reason);
	return buf;
}

json_t *dry_run_refusal_json(const struct dry_run_row *r)
{
	return r->refused ? json_explain_reason(json_of(MSG_CTL_HISTORY_ROW, r->refused)) : json_null();
}

json_t *dry_run_answer_json(const struct dry_run_row *r)
{
	return r->dry_run.id ? json_of(MSG_CTL_DRY_RUN_RESULT, &r->dry_run) : json_null();
}

static void print_remedy(const char *reason, const struct table_view *view, bool printed[static REASON__MAX])
{
	const enum reason r = reason_parse(reason);

	if (r >= REASON__MAX || printed[r] || !output_remedy(reason, language_of_environment())[0])
		return;
	printed[r] = true;
	table_text(stdout, view, "%s: %s", reason, output_remedy(reason, language_of_environment()));
}

void dry_run_rows_print_remedies(const struct dry_run_rows *l, const struct table_view *view)
{
	bool printed[REASON__MAX] = { false };

	for (size_t i = 0; i < l->n; i++) {
		if (dry_run_was_declined(&l->v[i]))
			print_remedy(l->v[i].dry_run.reason, view, printed);
		if (l->v[i].refused)
			print_remedy(l->v[i].refused->reason, view, printed);
	}
}
