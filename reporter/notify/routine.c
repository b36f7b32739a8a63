/* routine.c - see routine.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/notify/routine.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/actions.h"
#include "model/duties.h"
#include "model/phrases.h"
#include "reporter/news/words.h"
#include "reporter/notify/sink_select.h"
#include "text/facts_text.h"
#include "text/texts.h"

uint64_t routine_duties(const struct settings *s)
{
	uint64_t ret = 0;

	for (enum duty d = 0; d < DUTY__MAX && policy_enables(&s->policy, DUTY_RESTARTS); d++)
		if (str_list_has(&s->with_report, STR_C(duty_name(d))))
			ret |= UINT64_C(1) << d;
	return ret;
}

bool routine_concerns(const struct sink_settings *s, uint64_t duties, int64_t duty)
{
	return select_news(s, NEWS_ACTIONS) && select_news(s, NEWS_REPORT) && duty >= 0 && duty < DUTY__MAX &&
	       (duties >> duty & 1);
}

int routine_read(struct db *db, uint64_t duties, int64_t from_ms, int64_t to_ms, struct routine *ret)
{
	sqlite3_stmt *st =
		db_stmt(db, DB_ROUTINE, db_i("duties", duties), db_i("from", from_ms), db_i("to", to_ms),
			db_i("delete", ACTION_DELETE), db_i("written", OUTCOMES_WRITTEN));
	uint32_t room = 0;
	int r;

	*ret = (struct routine){ 0 };
	while ((r = db_step(st)) > 0) {
		ret->v = xgrow(ret->v, &room, (uint32_t)ret->n, sizeof(*ret->v));
		ret->v[ret->n++] =
			(struct routine_row){ db_text_dup(st, 0), db_text_dup(st, 1),
					      sqlite3_column_int64(st, 2), sqlite3_column_int64(st, 3) };
	}
	return r;
}

void routine_done(struct routine *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->v[i].cluster);
		free(r->v[i].ns);
	}
	free(r->v);
	*r = (struct routine){ 0 };
}

/* "[prod] shop: deleted 5 evicted pods" */
static void add_row(const struct routine_row *row, const struct str_list *clusters, enum language l,
		    struct section *s)
{
	const enum text counts = row->duty == DUTY_EVICTED    ? TEXT_TITLE_EVICTED
				 : row->duty == DUTY_FINISHED ? TEXT_TITLE_FINISHED
							      : TEXT_TITLE_PODS;
	struct facts f = { 0 };

	facts_count(&f, FACT_SEEN, row->deleted);
	_cleanup_free_ char *count = facts_fill(text_in(counts, l), &f, NULL);
	_cleanup_free_ char *prefix = cluster_prefix(clusters, row->cluster);
	_cleanup_free_ char *place = xconcat(prefix, row->ns, NULL);
	_cleanup_free_ char *title = xasprintf(phrase(NEWS_OF, l), place, count);
	_cleanup_free_ char *all = xasprintf("ops-pod-cleaner history --cluster %s -n %s --duty %s",
					     row->cluster, row->ns, duty_name((enum duty)row->duty));
	struct entry *e = section_add_entry(s, title);

	document_set(&e->command, all);
	entry_add_fact(e, "cluster", row->cluster);
	entry_add_fact(e, "namespace", row->ns);
	entry_add_fact(e, "duty", duty_name((enum duty)row->duty));
}

static bool is_for(const struct routine_row *row, const struct sink_settings *s)
{
	return select_news(s, NEWS_ACTIONS) && select_object(s, row->cluster, row->ns, row->duty);
}

bool routine_any(const struct routine *r, const struct sink_settings *s)
{
	for (size_t i = 0; i < r->n; i++)
		if (is_for(&r->v[i], s))
			return true;
	return false;
}

void routine_put(const struct routine *r, const struct sink_settings *s, const struct str_list *clusters,
		 struct document *d)
{
	struct section *section = NULL;

	for (size_t i = 0; i < r->n; i++) {
		const struct routine_row *row = &r->v[i];

		if (!is_for(row, s))
			continue;
		section = section ? section : document_add_section(d, phrase(REPORT_ROUTINE, d->language));
		if (section->n < s->top)
			add_row(row, clusters, d->language, section);
		else
			section->more++;
	}
}
