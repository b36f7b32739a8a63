/* history.c - see history.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/history/history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "model/duties.h"
#include "base/xalloc.h"
#include "reporter/history/attention.h"
#include "text/texts.h"

/* The memory of a failing revision outlives the history: losing it restarts that workload's clock. */
#define SAVED_DAYS  400
#define PRUNE_LIMIT 2000
/* Of the file: nearly full, and no longer so. */
#define FULL_PERCENT 90
#define ROOM_PERCENT 70
/* Probes and scrapes ask for counts again and again: where that takes so long it is a twentieth of the time
 * at most. */
#define COUNT_SLOW_MS 100u
#define COUNT_PAUSE   20

struct queued {
	struct msg *m; /* only as long as its own struct */
	struct history_entry e;
	char cluster_name[64]; /* of a RECORD: as its intent has it */
};

/* By cluster. */
struct counted {
	uint64_t until_ms; /* boot clock: they are new enough */
	uint64_t n[CLUSTERS_MAX];
};

struct history {
	struct db *db;
	const struct str_list *clusters;
	history_committed_fn *on_committed;
	void *ctx;
	struct queued *queue;
	size_t n;
	uint32_t room;
	bool broken;
	bool follows; /* deletions have been followed since it was opened, so some may be */
	uint64_t open;
	uint64_t days;           /* kept less than configured, as the file is nearly full; 0 = it is not */
	bool pruning;            /* the last prune has left some */
	struct counted *counted; /* of DB_DONE_COUNTS, of DB_AT_ZERO_COUNTS */
};

struct history *history_new(struct db *db, const struct str_list *clusters,
			    history_committed_fn *on_committed, void *ctx)
{
	struct history *h = xcalloc(1, sizeof(*h));

	*h = (struct history){ .db = db, .clusters = clusters, .on_committed = on_committed, .ctx = ctx };
	h->counted = xcalloc(2, sizeof(*h->counted));
	history_opened(h);
	return h;
}

void history_opened(struct history *h)
{
	int64_t open = 0, follows = 0;

	h->broken = db_number(db_stmt(h->db, DB_OPEN_COUNT), &open) < 0 ||
		    db_number(db_stmt(h->db, DB_UNSETTLED_ANY), &follows) < 0;
	h->open = (uint64_t)open;
	h->follows = follows != 0;
}

void history_free(struct history **h)
{
	if (!*h)
		return;
	for (size_t i = 0; i < (*h)->n; i++)
		free((*h)->queue[i].m);
	free((*h)->queue);
	free((*h)->counted);
	free(*h);
	*h = NULL;
}

const char *history_cluster_name(const struct history *h, uint64_t cluster)
{
	return cluster < h->clusters->n ? h->clusters->v[cluster] : "unknown";
}

int history_cluster_index(const struct history *h, const char *name)
{
	for (size_t i = 0; i < h->clusters->n; i++)
		if (strcmp(h->clusters->v[i], name) == 0)
			return (int)i;
	return -1;
}

/* -- what each message writes -- */

static int run(struct history *h, enum db_stmt id, const struct queued *q, int *ret_changes)
{
	return db_run(db_stmt_msg(h->db, id, q->m, db_s("cluster_name", q->e.cluster_name)), ret_changes);
}

static int apply_intent(struct history *h, struct queued *q)
{
	int changes = 0;
	int64_t one = 0;
	int r = run(h, DB_INTENT_PUT, q, &changes);

	if (r < 0)
		return r;
	if (changes)
		return db_do(h->db, DB_OPEN_PUT, db_i("id", q->m->u.intent.id));
	r = db_number(db_stmt_msg(h->db, DB_INTENT_SAME, q->m), &one);
	q->e.effect = r == -ENOENT ? HISTORY_CONFLICT : HISTORY_KNOWN;
	return r == -ENOENT ? 0 : r;
}

/* Which cluster and duty a result belongs to stands in its intent. */
static int find_intent(struct history *h, struct queued *q)
{
	sqlite3_stmt *st = db_stmt(h->db, DB_INTENT_OF, db_i("id", q->m->u.record.id));
	int r;

	while ((r = db_step(st)) > 0) {
		(void)snprintf(q->cluster_name, sizeof(q->cluster_name), "%s", db_text(st, 0));
		q->e.duty = (uint64_t)sqlite3_column_int64(st, 1);
		q->e.observe = sqlite3_column_int64(st, 2) != 0;
	}
	return r;
}

/* Also when its id had a result before: what has one is not open. */
static int close_intent(struct history *h, const struct queued *q)
{
	return db_do(h->db, DB_OPEN_DELETE, db_i("id", q->m->u.record.id));
}

/* A deletion whose end is not known, and what else was done to its pod: only one of them did it. */
static int follow(struct history *h, const struct msg_record *m)
{
	const struct db_value id = db_i("id", m->id), on_pods = db_i("on_pods", ACTIONS_ON_PODS),
			      done = db_i("done", OUTCOME_DONE);
	const bool is_followed = OUTCOMES_FOLLOWED >> m->outcome & 1;
	int r = 0;

	if (m->outcome == OUTCOME_DONE)
		return h->follows ? db_do(h->db, DB_UNSETTLED_JOIN, id, on_pods) : 0;
	h->follows |= is_followed;
	if (is_followed)
		r = db_do(h->db, DB_UNSETTLED_PUT, id, on_pods, db_s("target_uid", m->target_uid));
	if (r == 0 && m->outcome == OUTCOME_UNCONFIRMED)
		r = db_do(h->db, DB_UNSETTLED_DONE, id, on_pods, done);
	return r;
}

static int apply_record(struct history *h, struct queued *q)
{
	int changes = 0;
	int r = find_intent(h, q);

	if (r == 0)
		r = run(h, DB_RESULT_PUT, q, &changes);
	if (r < 0)
		return r;
	if (!changes) {
		q->e.effect = HISTORY_KNOWN;
		return close_intent(h, q);
	}
	r = follow(h, &q->m->u.record);
	return r < 0 ? r : close_intent(h, q);
}

/* Not yet while an action on the pod is open: its result may have to be settled, too. */
static int apply_settled(struct history *h, struct queued *q)
{
	int64_t one = 0;
	int r = db_number(db_stmt_msg(h->db, DB_SETTLED_EARLY, q->m, db_s("cluster_name", q->e.cluster_name)),
			  &one);

	if (r == 0)
		q->e.effect = HISTORY_CONFLICT;
	if (r != -ENOENT)
		return r;
	r = db_do_msg(h->db, DB_SETTLED_PUT, q->m, db_s("cluster_name", q->e.cluster_name),
		      db_i("done", OUTCOME_DONE), db_i("marked", OUTCOME_MARKED));
	return r < 0 ? r : run(h, DB_SETTLED_FORGET, q, NULL);
}

/* Fields are offsets into struct msg; 0 = the message has no such field. */
#define AT(field) offsetof(struct msg, u.field)
static const struct kind {
	size_t cluster, cluster_name, duty, observe;
	int (*apply)(struct history *h, struct queued *q); /* NULL: as the following say */
	enum db_stmt put, forget;
	size_t since, on; /* forget: where this is 0, or false */
} kinds[MSG__MAX] = {
	[MSG_INTENT] = { .cluster = AT(intent.cluster),
			 .duty = AT(intent.duty),
			 .observe = AT(intent.observe),
			 .apply = apply_intent },
	[MSG_RECORD] = { .apply = apply_record },
	[MSG_QUOTE] = { .put = DB_QUOTE_PUT },
	[MSG_REFUSAL] = { .cluster = AT(refusal.cluster), .duty = AT(refusal.duty), .put = DB_REFUSAL_PUT },
	[MSG_FAILING_SINCE] = { .cluster = AT(failing_since.cluster),
				.put = DB_FAILING_SINCE_PUT,
				.forget = DB_FAILING_SINCE_FORGET,
				.since = AT(failing_since.at) },
	[MSG_SAVED] = { .cluster = AT(saved.cluster),
			.put = DB_SAVED_PUT,
			.forget = DB_SAVED_FORGET,
			.since = AT(saved.at) },
	[MSG_SETTLED] = { .cluster = AT(settled.cluster), .apply = apply_settled },
	[MSG_PAUSE] = { .cluster_name = AT(pause.cluster_name),
			.put = DB_PAUSE_PUT,
			.forget = DB_PAUSE_FORGET,
			.on = AT(pause.on) },
};

/* -- queue -- */

bool history_add(struct history *h, const struct msg *m)
{
	const struct kind *k = &kinds[m->type];
	const size_t limit = m->type == MSG_REFUSAL ? HISTORY_QUEUE_MAX / 2 : HISTORY_QUEUE_MAX;

	if ((!k->apply && !k->put) || h->n >= limit)
		return false;
	h->queue = xgrow(h->queue, &h->room, (uint32_t)h->n, sizeof(*h->queue));
	h->queue[h->n++].m = msg_dup(m);
	return true;
}

static const void *field(const struct msg *m, size_t at)
{
	return (const char *)m + at;
}

static int apply(struct history *h, const struct kind *k, struct queued *q)
{
	if (k->apply)
		return k->apply(h, q);
	const bool is_over = (k->since && *(const int64_t *)field(q->m, k->since) == 0) ||
			     (k->on && !*(const bool *)field(q->m, k->on));

	return run(h, is_over ? k->forget : k->put, q, NULL);
}

static void prepare(struct history *h, struct queued *q, const struct kind *k)
{
	const struct msg *m = q->m;

	q->cluster_name[0] = '\0';
	q->e = (struct history_entry){ m, HISTORY_NEW, q->cluster_name, DUTY__MAX, false };
	if (k->cluster)
		q->e.cluster_name = history_cluster_name(h, *(const uint64_t *)field(m, k->cluster));
	if (k->cluster_name)
		q->e.cluster_name = field(m, k->cluster_name);
	if (k->duty)
		q->e.duty = *(const uint64_t *)field(m, k->duty);
	if (k->observe)
		q->e.observe = *(const bool *)field(m, k->observe);
}

/* Up to *n, or until then (boot clock, microseconds). Sets *n to how many they were. */
static int apply_first(struct history *h, uint64_t until_us, size_t *n)
{
	size_t i = 0;
	int r = 0;

	for (; r == 0 && i < *n && (i == 0 || clock_boot_us() < until_us); i++) {
		struct queued *q = &h->queue[i];
		const struct kind *k = &kinds[q->m->type];

		prepare(h, q, k);
		r = apply(h, k, q);
		if (r == 0 && q->e.effect == HISTORY_NEW)
			r = attention_note(h->db, q->m, q->e.cluster_name);
	}
	*n = i;
	return r;
}

/* The callback may add more. */
static void report_first(struct history *h, size_t n)
{
	struct queued *queue = TAKE_PTR(h->queue);

	h->n -= n;
	h->room = (uint32_t)h->n;
	if (h->n > 0)
		h->queue = xmemdup(queue + n, h->n * sizeof(*queue));
	for (size_t i = 0; i < n; i++) {
		const struct history_entry *e = &queue[i].e;

		if (e->effect == HISTORY_NEW && e->m->type == MSG_INTENT)
			h->open++;
		if (e->effect == HISTORY_NEW && e->m->type == MSG_RECORD && e->duty < DUTY__MAX &&
		    h->open > 0)
			h->open--;
		h->on_committed(h->ctx, e);
		free(queue[i].m);
	}
	free(queue);
}

static int commit_first(struct history *h, size_t n, uint64_t until_us)
{
	size_t written = n;

	if (n == 0)
		return 0;
	int r = db_begin(h->db);

	if (r == 0)
		r = apply_first(h, until_us, &written);
	r = db_end(h->db, r);
	h->broken = r < 0;
	if (r < 0)
		return r;
	report_first(h, written);
	return written < n;
}

int history_flush(struct history *h)
{
	return commit_first(h, h->n, UINT64_MAX);
}

/* Move them to the front; both parts keep their order. Returns how many they are. */
static size_t urgent_first(struct history *h)
{
	_cleanup_free_ struct queued *others = xcalloc(h->n, sizeof(*others));
	size_t urgent = 0, n = 0;

	for (size_t i = 0; i < h->n; i++) {
		const struct msg *m = h->queue[i].m;

		if (m->type == MSG_INTENT && !m->u.intent.in_bulk)
			h->queue[urgent++] = h->queue[i];
		else
			others[n++] = h->queue[i];
	}
	memcpy(h->queue + urgent, others, n * sizeof(*others));
	return urgent;
}

int history_flush_part(struct history *h, bool urgent)
{
	const size_t n = urgent && h->n > 0 ? urgent_first(h) : h->n;

	return commit_first(h, n, clock_boot_us() + HISTORY_PART_US);
}

size_t history_queued(const struct history *h)
{
	return h->n;
}

bool history_writable(const struct history *h)
{
	return !h->broken;
}

uint64_t history_open_intents(const struct history *h)
{
	return h->open;
}

static int count(const struct history *h, enum db_stmt counts, uint64_t ret[static CLUSTERS_MAX])
{
	sqlite3_stmt *st =
		db_stmt(h->db, counts, db_s("cluster_name", ""), db_i("scale_down", ACTION_SCALE_DOWN),
			db_i("written", OUTCOMES_WRITTEN), db_i("done", OUTCOME_DONE));
	int r;

	memset(ret, 0, CLUSTERS_MAX * sizeof(*ret));
	while ((r = db_step(st)) > 0) {
		const int cluster = history_cluster_index(h, db_text(st, 0));

		if (cluster >= 0)
			ret[cluster] = (uint64_t)sqlite3_column_int64(st, 1);
	}
	return r;
}

int history_count(const struct history *h, enum db_stmt counts, uint64_t *ret)
{
	struct counted *c = &h->counted[counts == DB_AT_ZERO_COUNTS];
	const uint64_t begin = clock_boot_ms();
	int r = 0;

	if (begin >= c->until_ms) {
		r = count(h, counts, c->n);
		const uint64_t end = clock_boot_ms();
		const bool is_slow = r == 0 && end - begin >= COUNT_SLOW_MS;

		c->until_ms = is_slow ? end + COUNT_PAUSE * (end - begin) : 0;
	}
	memcpy(ret, c->n, h->clusters->n * sizeof(*ret));
	return r;
}

static bool is_any(sqlite3_stmt *count)
{
	int64_t n = 0;

	return db_number(count, &n) == 0 && n > 0;
}

bool history_is_paused(const struct history *h, const char *cluster_name, uint64_t duty)
{
	return is_any(db_stmt(h->db, DB_PAUSED, db_s("cluster_name", cluster_name), db_i("duty", duty)));
}

bool history_has_saved(const struct history *h, const char *cluster_name, const char *kind)
{
	return is_any(db_stmt(h->db, DB_SAVED_COUNT, db_s("cluster_name", cluster_name), db_s("kind", kind)));
}

/* -- housekeeping -- */

static void end_orphan(struct history *h, uint64_t id)
{
	struct msg m = { .type = MSG_RECORD,
			 .u.record = { .id = id,
				       .outcome = OUTCOME_UNCONFIRMED,
				       .replicas = -1,
				       .at = clock_wall_ms() } };

	msg_text(&m, record.reason, reason_code(REASON_CLUSTER_REMOVED));
	facts_finding(&m.u.record.detail, TEXT_CLUSTER_IS_REMOVED);
	(void)history_add(h, &m);
}

int history_end_orphans(struct history *h, uint64_t *ret)
{
	sqlite3_stmt *st = db_stmt(h->db, DB_OPEN_CLUSTERS);
	int r;

	*ret = 0;
	while ((r = db_step(st)) > 0) {
		if (history_cluster_index(h, db_text(st, 1)) >= 0)
			continue;
		end_orphan(h, (uint64_t)sqlite3_column_int64(st, 0));
		*ret += 1;
	}
	return r == 0 ? history_flush(h) : r;
}

/* Half as long each time that all older is gone and it is still nearly full. */
static void shorten(struct history *h, uint64_t *days)
{
	const unsigned fill = db_fill(h->db);

	if (fill < ROOM_PERCENT)
		h->days = 0;
	else if (fill >= FULL_PERCENT && !h->pruning && h->days != HISTORY_DAYS_MIN)
		h->days = (h->days ? h->days : *days) / 2;
	if (h->days && h->days < HISTORY_DAYS_MIN)
		h->days = HISTORY_DAYS_MIN;
	if (h->days && h->days < *days)
		*days = h->days;
}

/* So many actions were forgotten that changed nothing, because the file is nearly full. */
static int prune_unwritten(struct history *h, int *ret_n)
{
	*ret_n = 0;
	return db_fill(h->db) < FULL_PERCENT
		       ? 0
		       : db_run(db_stmt(h->db, DB_PRUNE_UNWRITTEN, db_i("rows_max", (int64_t)db_share(h->db)),
					db_i("written", OUTCOMES_WRITTEN), db_i("limit", PRUNE_LIMIT)),
				ret_n);
}

int history_prune(struct history *h, uint64_t *days, bool *ret_more)
{
	static const enum db_stmt steps[] = {
		DB_PRUNE_REFUSALS_MANY, DB_PRUNE_SAVED_MANY,    DB_PRUNE_FAILING_SINCE_MANY,
		DB_PRUNE_INTENTS,       DB_PRUNE_RESULTS,       DB_PRUNE_REFUSALS,
		DB_PRUNE_DIGESTS,       DB_PRUNE_FAILING_SINCE, DB_PRUNE_SAVED,
		DB_PRUNE_PAUSES,        DB_PRUNE_ATTENTION,     DB_PRUNE_SAMPLES,
		DB_PRUNE_SAMPLES_MANY,  DB_PRUNE_SAMPLED,       DB_PRUNE_OUTBOX,
		DB_PRUNE_REPORTED
	};
	const int64_t now = clock_wall_ms();

	int unwritten;
	const int err = prune_unwritten(h, &unwritten);

	if (err < 0)
		return err;
	h->pruning = h->pruning || unwritten > 0;
	shorten(h, days);
	h->pruning = unwritten > 0;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		int changes = 0;
		const int r = db_run(db_stmt(h->db, steps[i], db_i("before", now - (int64_t)*days * DAY_MS),
					     db_i("long_before", now - SAVED_DAYS * DAY_MS),
					     db_i("samples_before", now - HISTORY_SAMPLE_DAYS * DAY_MS),
					     db_i("samples_max", HISTORY_SAMPLES_MAX),
					     db_i("rows_max", (int64_t)db_share(h->db)),
					     db_i("limit", PRUNE_LIMIT)),
				     &changes);

		if (r < 0)
			return r;
		h->pruning = h->pruning || changes == PRUNE_LIMIT;
	}
	*ret_more = h->pruning || (db_fill(h->db) >= FULL_PERCENT && *days > HISTORY_DAYS_MIN);
	return 0;
}
