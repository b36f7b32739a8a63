/* report_run.c - see report_run.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/report/report_run.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "reporter/news/words.h"
#include "reporter/report/compose.h"

struct inspection {
	size_t row; /* of the report */
	enum { INSPECTION_WAITS, INSPECTION_ASKED, INSPECTION_DONE } state;
	struct msg_inspected answer;
};

struct report_run {
	struct digest digest;
	struct str_list clusters;
	char *incomplete;
	struct reported *past;
	struct report_input in;
	struct report report;
	struct routine routine;
	struct inspection *inspections;
	size_t n_inspections;
	uint64_t number; /* of the question about looks[0] */
};

struct report_run *report_run_new(void)
{
	return xcalloc(1, sizeof(struct report_run));
}

void report_run_free(struct report_run **e)
{
	struct report_run *g = *e;

	if (!g)
		return;
	for (size_t i = 0; i < g->in.n_past; i++) {
		free(g->past[i].cluster);
		free(g->past[i].ns);
		free(g->past[i].kind);
		free(g->past[i].workload);
	}
	free(g->past);
	free(g->inspections);
	free(g->incomplete);
	report_done(&g->report);
	routine_done(&g->routine);
	digest_done(&g->digest);
	str_list_done(&g->clusters);
	free(g);
	*e = NULL;
}

void report_run_add(struct report_run *e, const struct msg_digest_row *row)
{
	digest_add(&e->digest, row);
}

/* -- from the history -- */

static const char *cluster_of(const struct report_run *e, const struct msg_digest_row *row)
{
	return row->cluster < e->clusters.n ? e->clusters.v[row->cluster] : "?";
}

static int put_samples(const struct report_run *e, struct db *db, int64_t now_ms)
{
	int r = db_begin(db);

	for (size_t i = 0; r == 0 && i < e->digest.n_pods; i++)
		r = samples_put(db, &e->digest.pods[i].row, cluster_of(e, &e->digest.pods[i].row), now_ms);
	return db_end(db, r);
}

static int count_window(struct report_run *e, struct db *db, bool is_preview)
{
	int r = is_preview ? 0 : put_samples(e, db, e->in.at_ms);

	for (size_t i = 0; r == 0 && i < e->digest.n_pods; i++) {
		struct digest_pod *p = &e->digest.pods[i];

		r = samples_delta(db, &p->row, cluster_of(e, &p->row), e->in.from_ms, &p->delta);
	}
	return r;
}

static int load_past(struct report_run *e, struct db *db)
{
	sqlite3_stmt *st = db_stmt(db, DB_REPORTED_ALL);
	uint32_t room = 0;
	int r;

	while ((r = db_step(st)) > 0) {
		e->past = xgrow(e->past, &room, (uint32_t)e->in.n_past, sizeof(*e->past));
		e->past[e->in.n_past++] = (struct reported){ db_text_dup(st, 0),
							     db_text_dup(st, 1),
							     db_text_dup(st, 2),
							     db_text_dup(st, 3),
							     (uint64_t)sqlite3_column_int64(st, 4),
							     sqlite3_column_int64(st, 5) };
	}
	return r;
}

static char *names_without(const struct str_list *clusters, const bool *answered)
{
	struct name_list names = { .max = UINT64_MAX };

	for (size_t i = 0; i < clusters->n; i++)
		if (!answered[i])
			name_list_add(&names, clusters->v[i]);
	return name_list_end(&names, LANGUAGE_EN);
}

static int64_t since_last(const struct report_run_options *o, int64_t now_ms)
{
	return o->last_at > 0 && o->last_at < now_ms ? o->last_at : now_ms - REPORT_RUN_FIRST_MS;
}

/* Where the window begins. */
static int64_t window_begin(const struct report_schedule *schedule, const struct report_run_options *o,
			    int64_t now_ms)
{
	return schedule->window_ms > 0 ? now_ms - schedule->window_ms : since_last(o, now_ms);
}

int report_run_collected(struct report_run *e, struct db *db, const struct report_schedule *schedule,
			 const struct report_run_options *o, const bool *answered, struct scheduled_run *run)
{
	const int64_t now_ms = run->collected_at;

	str_list_add_all(&e->clusters, o->clusters);
	e->incomplete = names_without(&e->clusters, answered);
	e->number = o->number;
	e->in = (struct report_input){ .digest = &e->digest,
				       .clusters = &e->clusters,
				       .answered = answered,
				       .is_first = o->last_at == 0,
				       .from_ms = window_begin(schedule, o, now_ms),
				       .at_ms = now_ms,
				       .late = run->late };
	digest_finish(&e->digest);
	const int counted = count_window(e, db, o->is_preview), loaded = load_past(e, db);
	/* Since the last report, whatever restarts are counted in: none is summed up twice, or left out. */
	const int summed = routine_read(db, schedule->routine, since_last(o, now_ms), now_ms, &e->routine);

	e->in.past = e->past;
	e->in.routine = &e->routine;
	digest_group(&e->digest);
	report_build(&e->in, &e->report);
	run->incomplete = e->incomplete;
	run->workloads = e->report.n;
	for (size_t i = 0; i < e->report.n; i++)
		run->pods += e->report.rows[i].workload->n;
	return counted < 0 ? counted : loaded < 0 ? loaded : summed;
}

/* -- looks -- */

static bool is_wanted(const struct report_run *e, size_t row)
{
	for (size_t i = 0; i < e->n_inspections; i++)
		if (e->inspections[i].row == row)
			return true;
	return false;
}

void report_run_want_inspections(struct report_run *e, const struct sink_settings *s)
{
	size_t *rows = xcalloc(s->top + 1, sizeof(*rows));
	const size_t n = report_shown(&e->report, s, rows);

	for (size_t i = 0; i < n && e->n_inspections < REPORT_RUN_INSPECTIONS_MAX; i++) {
		if (is_wanted(e, rows[i]))
			continue;
		e->inspections = xreallocarray(e->inspections, e->n_inspections + 1, sizeof(*e->inspections));
		e->inspections[e->n_inspections++] = (struct inspection){ .row = rows[i] };
	}
	free(rows);
}

bool report_run_next_inspection(struct report_run *e, struct msg *ret)
{
	size_t open = 0, next = e->n_inspections;

	for (size_t i = e->n_inspections; i-- > 0;) {
		open += e->inspections[i].state == INSPECTION_ASKED;
		next = e->inspections[i].state == INSPECTION_WAITS ? i : next;
	}
	if (next == e->n_inspections || open >= REPORT_RUN_INSPECTIONS_OPEN)
		return false;
	const struct report_row *row = &e->report.rows[e->inspections[next].row];
	const struct msg of = { .type = MSG_DIGEST_ROW, .u.digest_row = row->workload->pods[0].row };

	*ret = (struct msg){ .type = MSG_INSPECT, .u.inspect.inspection = e->number + next };
	msg_copy_fields(ret, &of);
	e->inspections[next].state = INSPECTION_ASKED;
	return true;
}

bool report_run_on_inspected(struct report_run *e, const struct msg_inspected *m)
{
	struct inspection *k = m->inspection >= e->number && m->inspection - e->number < e->n_inspections
				       ? &e->inspections[m->inspection - e->number]
				       : NULL;

	if (!k || k->state != INSPECTION_ASKED)
		return false;
	struct report_row *row = &e->report.rows[k->row];

	if (row->workload->pods[0].row.cluster != m->cluster)
		return false;
	k->state = INSPECTION_DONE;
	k->answer = *m;
	return true;
}

bool report_run_waits_for_inspections(const struct report_run *e)
{
	for (size_t i = 0; i < e->n_inspections; i++)
		if (e->inspections[i].state != INSPECTION_DONE)
			return true;
	return false;
}

/* -- the end -- */

bool report_run_compose(const struct report_run *e, const struct report_schedule *schedule,
			const struct sink_settings *s, int64_t lost, const struct attention *attention,
			struct document *ret)
{
	struct report_input in = e->in;

	in.zone = schedule->zone;
	in.title = schedule->title;
	in.cluster_title = schedule->cluster_title;
	in.attention = attention;
	for (size_t i = 0; i < e->n_inspections; i++)
		if (e->inspections[i].state == INSPECTION_DONE && e->inspections[i].answer.found)
			e->report.rows[e->inspections[i].row].inspection = &e->inspections[i].answer;
	return report_compose(&e->report, &in, s, lost, ret);
}

static int remember_row(const struct report_run *e, struct db *db, const struct report_row *row)
{
	const struct msg m = { .type = MSG_DIGEST_ROW, .u.digest_row = row->workload->pods[0].row };
	const int64_t delta = row->workload->delta;
	const bool known = delta != DELTA_UNKNOWN;

	/* Nobody knows how fast it was: nothing can be worse than that. */
	return db_do_msg(db, DB_REPORTED_PUT, &m, db_s("cluster_name", row->cluster),
			 db_i("window_restarts", known ? delta : (int64_t)row->workload->restarts),
			 db_i("window_ms", known ? e->in.at_ms - e->in.from_ms : 0), db_i("at", e->in.at_ms));
}

/* As it was. */
static int remember_quiet(const struct report_run *e, struct db *db, const struct reported *p)
{
	return db_do(db, DB_REPORTED_PUT, db_s("cluster_name", p->cluster), db_s("ns", p->ns),
		     db_s("kind", p->kind), db_s("workload", p->workload),
		     db_i("window_restarts", p->restarts), db_i("window_ms", p->window_ms),
		     db_i("at", e->in.at_ms));
}

int report_run_remember(const struct report_run *e, struct db *db)
{
	int r = 0;

	for (size_t c = 0; r == 0 && c < e->clusters.n; c++)
		if (e->in.answered[c])
			r = db_do(db, DB_REPORTED_CLEAR, db_s("cluster_name", e->clusters.v[c]));
	for (size_t i = 0; r == 0 && i < e->report.n; i++)
		r = remember_row(e, db, &e->report.rows[i]);
	for (size_t i = 0; r == 0 && i < e->report.n_quiet; i++)
		r = remember_quiet(e, db, e->report.quiet[i]);
	return r;
}
