/* action_messages.c - see action_messages.h. Rows are read once; a message is made of them for each sink. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/notify/action_messages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "model/annotations.h"
#include "model/object_events.h"
#include "model/duties.h"
#include "model/phrases.h"
#include "reporter/news/words.h"
#include "reporter/notify/sink_select.h"
#include "reporter/notify/outbox.h"
#include "reporter/notify/routine.h"
#include "reporter/notify/finished_actions.h"
#include "text/short_line.h"

/* Actions of one message at most. */
#define BATCH 1000
/* Of a log, at most. */
#define LOG_LINES 10
/* Of the ids of a count: the rest is left out. */
#define IDS_MAX 2000
/* A blank, a number and its end. */
#define ID_SIZE 24

/* -- words -- */

struct composer {
	const struct settings *settings;
	const struct sink_settings *sink;
	const struct zone *zone;
	enum language language;
	struct db *db;
	const struct finished_actions *rows;
	bool *concerns;       /* by kind: whether the sink is told of it */
	struct count *counts; /* by action_group.count */
	struct document *doc;
	struct action_title title;
};

/* "deployments.apps/shop/web": its kind, or its resource where that is not known; its name. */
static char *kind_of(const struct action_details *t)
{
	static const struct {
		const char *kind, *resource;
	} kinds[] = {
		{ "Pod", "pods" },
#define KIND(group, version, kind, resource, ...) { kind, resource },
#include "model/kinds.def"
#undef KIND
	};
	const struct str resource = { t->result.target, strcspn(t->result.target, "./") };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (str_is(resource, kinds[i].resource))
			return xstrdup(kinds[i].kind);
	return xasprintf("%.*s", STR_ARG(resource));
}

static const char *name_of(const struct action_details *t)
{
	const char *slash = strrchr(t->result.target, '/');

	return action_desc((enum action_kind)t->intent.action)->target == TARGET_WORKLOAD && slash
		       ? slash + 1
		       : t->intent.name;
}

static char *object_of(const struct composer *c, const struct action_details *t)
{
	_cleanup_free_ char *kind = kind_of(t),
			    *cluster = cluster_prefix(&c->settings->cluster_names, t->kind->cluster),
			    *name = NULL;

	if (action_desc((enum action_kind)t->intent.action)->target == TARGET_WORKLOAD && *kind)
		name = xasprintf(phrase(NEWS_OBJECT_KIND, c->language), t->kind->ns, name_of(t), kind);
	else
		name = xasprintf("%s/%s", t->kind->ns, name_of(t));
	return xasprintf("%s%s", cluster, name);
}

static enum scale_way way_of(const struct action_details *t)
{
	static const enum reason reasons[] = {
		[SCALE_SUSPENDS] = REASON_SUSPENDED, [SCALE_DELETES] = REASON_ORDINAL_DELETED
	};

	for (int way = SCALE_SUSPENDS; way <= SCALE_DELETES; way++)
		if (strcmp(t->result.reason, reason_code(reasons[way])) == 0)
			return (enum scale_way)way;
	return SCALE_TO_ZERO;
}

/* "scaled from 3 to 0" */
static char *verb_of(const struct composer *c, const struct action_details *t)
{
	return object_event_say_done((enum action_kind)t->intent.action, way_of(t), t->result.replicas,
				     c->language);
}

static char *announcement_of(const struct composer *c, const struct action_details *t)
{
	char when[WHEN_IN_ZONE_MAX];
	const enum phrase verb = object_event_of((enum action_kind)t->intent.action, way_of(t))->will_phrase;

	when_format_in_zone(t->result.at + (int64_t)t->result.retry_ms, c->zone, when);
	return xasprintf(phrase(NEWS_EARLIEST, c->language), phrase_text(verb, c->language), when);
}

/* Nothing was written. */
static bool is_observed(int64_t outcome, bool observe)
{
	return outcome == OUTCOME_WOULD || observe;
}

/* The same as surely as it is known. */
static char *said_of(const struct composer *c, const struct action_details *t)
{
	if (t->kind->outcome == OUTCOME_ANNOUNCED)
		return announcement_of(c, t);
	if (is_observed(t->kind->outcome, t->kind->observe))
		return object_event_say_would((enum action_kind)t->intent.action, way_of(t),
					      t->result.replicas, c->language);
	_cleanup_free_ char *verb = verb_of(c, t);

	if (t->kind->outcome == OUTCOME_UNCONFIRMED)
		return xasprintf(phrase(NEWS_MAYBE, c->language), verb);
	if (t->kind->outcome == OUTCOME_MARKED)
		return xasprintf(phrase(NEWS_MARKED, c->language), verb);
	return xstrdup(verb);
}

static void add_facts(struct entry *e, const struct action_details *t)
{
	entry_add_fact(e, "cluster", t->kind->cluster);
	entry_add_fact(e, "namespace", t->kind->ns);
	entry_add_fact(e, "duty", duty_name((enum duty)t->kind->duty));
	entry_add_fact(e, "outcome", outcome_name((enum outcome)t->kind->outcome));
	entry_add_fact(e, "reason", t->kind->part == SECTION_FAILED ? t->result.reason : t->intent.reason);
}

/* -- entries -- */

/* Why, at a glance: the image and the answer, or the eviction. Returns it, "" where there is none; the caller
 * frees it. */
static char *add_short(const struct composer *c, struct entry *e, const struct action_details *t)
{
	char *line = short_line(&t->result.detail, &t->result.evidence, c->language);

	if (*line)
		entry_add_fact(e, "short", line);
	return line;
}

static void add_why(const struct composer *c, struct entry *e, const struct action_details *t)
{
	const char *sentence = reason_find(t->intent.reason)->text[c->language].sentence;
	char when[WHEN_IN_ZONE_MAX];

	document_addf(&e->lines, phrase(NEWS_WHY, c->language), sentence, t->intent.reason);
	if (t->intent.since > 0) {
		when_format_in_zone(t->intent.since, c->zone, when);
		document_addf(&e->lines, phrase(NEWS_SINCE, c->language), when);
	}
}

/* "kubectl -n shop scale deployments.apps web --replicas=3": for whoever reads it and is no operator of ours.
 */
static void add_kubectl(const struct composer *c, struct entry *e, const struct action_details *t)
{
	_cleanup_free_ char *kind = xstrndup(t->result.target, strcspn(t->result.target, "/"));

	if (t->result.replicas > 0)
		document_addf(&e->lines, phrase(NEWS_UNDO_KUBECTL, c->language), t->kind->ns, kind,
			      name_of(t), t->result.replicas);
}

/* How somebody who does not want what was announced refuses it. */
static void add_refusal(const struct composer *c, struct entry *e, const struct action_details *t)
{
	_cleanup_free_ char *kind = xstrndup(t->result.target, strcspn(t->result.target, "/"));

	if (t->kind->outcome == OUTCOME_ANNOUNCED && *kind)
		document_addf(&e->lines, phrase(NEWS_REFUSE_KUBECTL, c->language), t->kind->ns, kind,
			      name_of(t), ANNOTATION_SKIP, duty_name((enum duty)t->kind->duty));
}

/* Of a text, so many of its last lines, each marked as not ours. */
static void add_last_lines(struct entry *e, const char *text)
{
	const char *from = text + strlen(text);

	for (size_t n = 0; n < LOG_LINES && from > text; n++)
		for (from--; from > text && from[-1] != '\n'; from--)
			;
	for (struct str rest = STR_C(from), line; rest.n > 0;) {
		line = str_cut(&rest, '\n');
		document_addf(&e->lines, "│ %.*s", STR_ARG(line));
	}
}

/* Words that were kept with it; of logs only where the settings say so, as they may hold secrets. */
static int add_quotes(const struct composer *c, struct entry *e, const struct action_details *t)
{
	sqlite3_stmt *st = db_stmt(c->db, DB_QUOTES_OF, db_i("id", t->id));
	struct msg m = { .type = MSG_QUOTE };
	const struct msg_quote *q = &m.u.quote;
	int r;

	while ((r = db_step(st)) > 0) {
		db_read_msg(st, &m);
		if (q->quote == QUOTE_LOG && !c->settings->tell_logs)
			continue;
		_cleanup_free_ char *title = quote_title((enum quote_kind)q->quote, STR_C(q->pod),
							 STR_C(q->container), STR_C(q->image), c->language);

		document_add(&e->lines, title);
		add_last_lines(e, q->text);
	}
	return r;
}

/* One by one: a workload, or a forced deletion with its certificate. */
static int add_single(struct composer *c, struct section *s, const struct action_details *t)
{
	_cleanup_free_ char *object = object_of(c, t), *said = said_of(c, t), *kind = kind_of(t);
	_cleanup_free_ char *title = xasprintf(phrase(NEWS_OF, c->language), object, said);
	struct entry *e = section_add_entry(s, title);

	entry_set_key(e, "action/%" PRId64, t->id);
	e->begin_ms = t->result.at;
	_cleanup_free_ char *at_a_glance = add_short(c, e, t);

	if (*at_a_glance)
		document_add(&e->lines, at_a_glance);
	add_why(c, e, t);
	add_refusal(c, e, t);
	add_facts(e, t);
	entry_add_contact(e, &t->result.evidence);
	entry_add_number(e, "actionId", t->id);
	entry_add_fact(e, t->kind->part == SECTION_WORKLOAD ? "workload" : "pod", name_of(t));
	if (*t->kind->node)
		entry_add_fact(e, "node", t->kind->node);
	if (t->kind->part == SECTION_FORCED) {
		_cleanup_free_ char *live = facts_in_zone(&t->result.evidence, c->zone, c->language);

		document_addf(&e->lines, phrase(NEWS_CERTIFICATE, c->language), live);
		return 0;
	}
	if (!facts_empty(&t->intent.evidence)) {
		_cleanup_free_ char *evidence = facts_in_zone(&t->intent.evidence, c->zone, c->language);

		document_add(&e->lines, evidence);
	}
	entry_add_fact(e, "kind", kind);
	if (t->result.replicas >= 0)
		entry_add_number(e, "replicas", t->result.replicas);
	const int r = add_quotes(c, e, t);

	if (t->intent.action == ACTION_SCALE_DOWN && (OUTCOMES_WRITTEN >> t->kind->outcome & 1) &&
	    way_of(t) == SCALE_TO_ZERO) {
		_cleanup_free_ char *undo = xasprintf("ops-pod-cleaner restore %" PRId64, t->id);

		document_set(&e->command, undo);
		entry_add_fact(e, "undo", undo);
		add_kubectl(c, e, t); /* beside the command, which comes last */
	}
	return r;
}

static char *place_of(const struct composer *c, const struct action_details *t)
{
	_cleanup_free_ char *cluster = cluster_prefix(&c->settings->cluster_names, t->kind->cluster);
	_cleanup_free_ char *place =
		*t->kind->node ? xasprintf(phrase(NEWS_ON_NODE, c->language), t->kind->ns, t->kind->node)
			       : xstrdup(t->kind->ns);

	return xasprintf("%s%s", cluster, place);
}

static char *pods_title(const struct composer *c, const struct action_details *t, uint64_t n)
{
	_cleanup_free_ char *place = place_of(c, t), *said = said_of(c, t);
	_cleanup_free_ char *pods = xasprintf(phrase_of(NEWS_PODS, n, c->language), n, said);

	return xasprintf(phrase(NEWS_OF, c->language), place, pods);
}

static char *failures_title(const struct composer *c, const struct action_details *t, uint64_t n)
{
	const enum phrase how =
		t->kind->outcome == OUTCOME_FORBIDDEN ? PHRASE_NEWS_FORBIDDEN : PHRASE_NEWS_FAILED;
	_cleanup_free_ char *cluster = cluster_prefix(&c->settings->cluster_names, t->kind->cluster);
	_cleanup_free_ char *text = xasprintf(phrase_of(NEWS_FAILURES, n, c->language), n,
					      phrase_text(how, c->language), t->result.reason);

	_cleanup_free_ char *of = xasprintf("%s%s", cluster, duty_name((enum duty)t->kind->duty));

	return xasprintf(phrase(NEWS_OF, c->language), of, text);
}

/* What was evicted from one node for one reason has much the same message. */
static void add_example(const struct composer *c, struct entry *e, const struct action_details *t)
{
	_cleanup_free_ char *at_a_glance = add_short(c, e, t);

	if (*at_a_glance)
		document_addf(&e->lines, phrase(NEWS_EXAMPLE, c->language), t->intent.name, at_a_glance);
	if (*t->kind->node)
		entry_add_fact(e, "node", t->kind->node);
}

static void add_count(struct composer *c, struct section *s, const struct action_details *t, uint64_t n,
		      const char *ids)
{
	const bool failed = t->kind->part == SECTION_FAILED;
	_cleanup_free_ char *title = failed ? failures_title(c, t, n) : pods_title(c, t, n);
	struct entry *e = section_add_entry(s, title);
	const char *code = failed ? t->result.reason : t->intent.reason;

	entry_set_key(e, "action/%" PRId64, t->id);
	e->begin_ms = t->result.at;
	document_addf(&e->lines, phrase(NEWS_WHY, c->language), reason_find(code)->text[c->language].sentence,
		      code);
	if (failed) {
		_cleanup_free_ char *object = object_of(c, t);
		_cleanup_free_ char *detail = facts_in_zone(&t->result.detail, c->zone, c->language);

		document_addf(&e->lines, phrase(NEWS_EXAMPLE, c->language), object, detail);
	} else {
		add_example(c, e, t);
	}
	if (t->kind->outcome == OUTCOME_ANNOUNCED)
		document_addf(&e->lines, phrase(NEWS_REMEDY, c->language),
			      reason_desc(REASON_ANNOUNCED)->text[c->language].remedy);
	add_facts(e, t);
	entry_add_number(e, "count", (int64_t)n);
	entry_add_fact(e, "actionIds", ids);
}

/* -- the message -- */

static const struct {
	enum phrase title;
	bool is_counted; /* entries are of many, not of one */
} parts[SECTION__MAX] = {
	[SECTION_WORKLOAD] = { PHRASE_NEWS_SECTION_WORKLOADS, false },
	[SECTION_FORCED] = { PHRASE_NEWS_SECTION_FORCED, false },
	[SECTION_PODS] = { PHRASE_NEWS_SECTION_PODS, true },
	[SECTION_FAILED] = { PHRASE_NEWS_SECTION_FAILED, true },
};

static bool is_for(const struct composer *c, const struct finished_action *row)
{
	return c->concerns[row->kind->index];
}

/* Zero-initialised counts nothing. */
struct count {
	uint64_t n;
	const struct finished_action *first; /* of those that are counted */
	char *ids;                           /* theirs, NULL = the count is not shown */
	size_t ids_n;
};

static void count_row(struct count *count, const struct finished_action *row)
{
	if (count->ids && count->ids_n < IDS_MAX)
		count->ids_n += (size_t)snprintf(count->ids + count->ids_n, ID_SIZE, "%s%" PRId64,
						 count->n > 0 ? " " : "", row->id);
	count->n++;
}

/* The rows of a part that are for the sink, each by the count that it belongs to. */
static void count_part(struct composer *c, enum section_kind part)
{
	size_t counts = 0;

	for (size_t i = 0; i < c->rows->n; i++) {
		const struct finished_action *row = &c->rows->v[i];
		struct count *count = &c->counts[row->kind->count];

		if (row->kind->part != part || !is_for(c, row))
			continue;
		if (!count->first) {
			count->first = row;
			count->ids = counts++ < c->sink->top ? xmalloc(IDS_MAX + ID_SIZE) : NULL;
		}
		count_row(count, row);
	}
}

/* One entry: of an action, or of all that are counted with it. */
static int add_entry(struct composer *c, struct section *s, const struct finished_action *row)
{
	struct action_details t;
	const struct count *count = &c->counts[row->kind->count];
	const int r = action_details_read(c->db, row, &t);

	if (r < 0)
		return r;
	if (!parts[row->kind->part].is_counted)
		return add_single(c, s, &t);
	add_count(c, s, &t, count->n, count->ids);
	return 0;
}

static int add_part(struct composer *c, enum section_kind part)
{
	struct section *s = NULL;
	int r = 0;

	if (parts[part].is_counted)
		count_part(c, part);
	for (size_t i = 0; r == 0 && i < c->rows->n; i++) {
		const struct finished_action *row = &c->rows->v[i];

		if (row->kind->part != part || !is_for(c, row))
			continue;
		action_title_count(&c->title, row->kind);
		s = s ? s : document_add_section(c->doc, phrase_text(parts[part].title, c->language));
		if (parts[part].is_counted && c->counts[row->kind->count].first != row)
			continue;
		if (s->n >= c->sink->top)
			s->more++;
		else
			r = add_entry(c, s, row);
	}
	return r;
}

/* The one cluster that all of it is about; "" where it is not one. */
static const char *only_cluster(const struct composer *c)
{
	const char *ret = NULL;

	for (size_t i = 0; i < c->rows->n; i++) {
		const struct finished_action *row = &c->rows->v[i];

		if (is_for(c, row) && ret && strcmp(ret, row->kind->cluster) != 0)
			return "";
		if (is_for(c, row))
			ret = row->kind->cluster;
	}
	return ret ? ret : "";
}

/* What was deleted as a matter of routine; of dry runs and announcements there is no sum. */
static bool is_left_to_report(const struct settings *s, const struct sink_settings *sink,
			      const struct action_group *k)
{
	return k->part == SECTION_PODS && k->action == ACTION_DELETE && !k->observe &&
	       (OUTCOMES_WRITTEN >> k->outcome & 1) && routine_concerns(sink, routine_duties(s), k->duty);
}

static bool concerns(const struct settings *s, const struct sink_settings *sink, const struct action_group *k)
{
	return select_object(sink, k->cluster, k->ns, k->duty) && !is_left_to_report(s, sink, k);
}

static void composer_init(struct composer *c)
{
	const struct finished_actions *rows = c->rows;

	c->concerns = xcalloc(rows->n_kinds, sizeof(*c->concerns));
	c->counts = xcalloc(rows->n_kinds, sizeof(*c->counts));
	for (size_t i = 0; i < rows->n_kinds; i++) {
		const struct action_group *k = rows->kinds[i];

		c->concerns[i] = concerns(c->settings, c->sink, k);
	}
}

static void composer_done(struct composer *c)
{
	for (size_t i = 0; i < c->rows->n_kinds; i++)
		free(c->counts[i].ids);
	free(c->counts);
	free(c->concerns);
}

/* 1: something was put; 0: nothing of it is for this sink; or negative errno. */
static int put_for(struct composer *c)
{
	struct document doc;
	int r = 0;

	document_init(&doc, NEWS_ACTIONS, c->language, clock_wall_ms());
	c->doc = &doc;
	composer_init(c);
	for (enum section_kind p = SECTION_WORKLOAD; r == 0 && p < SECTION__MAX; p++)
		r = add_part(c, p);
	doc.tone = action_title_warns(&c->title) ? TONE_WARNING : TONE_INFO;
	_cleanup_free_ char *title = action_title_text(
		&c->title, settings_cluster_title(c->settings, only_cluster(c)), c->language);

	document_set(&doc.title, title);
	const bool put = doc.n_sections > 0;

	document_add_links(&doc, &c->settings->links);
	if (r == 0 && put)
		r = outbox_put(c->db, c->sink->name, &doc);
	composer_done(c);
	document_done(&doc);
	return r < 0 ? r : put;
}

static int put_all(struct db *db, const struct settings *s, const struct zone *zone,
		   const struct finished_actions *rows, bool *ret_put)
{
	for (size_t i = 0; i < s->n_sinks && rows->n > 0; i++) {
		struct composer c = { .settings = s,
				      .sink = &s->sinks[i],
				      .zone = zone,
				      .language = (enum language)s->sinks[i].language,
				      .db = db,
				      .rows = rows };

		if (!select_news(c.sink, NEWS_ACTIONS))
			continue;
		const int r = put_for(&c);

		if (r < 0)
			return r;
		*ret_put = *ret_put || r > 0;
	}
	return 0;
}

/* -- which are told -- */

static int move_on(struct db *db, int64_t up_to, int64_t newest, bool told)
{
	int r = db_do(db, DB_PENDING_FORGET);

	if (r == 0)
		r = db_do(db, DB_PENDING_PUT, db_i("up_to", up_to), db_i("newest", newest));
	if (r == 0)
		r = db_do(db, DB_NOTIFIED_MOVE, db_i("newest", newest), db_i("told", told));
	return r;
}

int action_messages_begin(struct db *db)
{
	return db_do(db, DB_NOTIFIED_BEGIN);
}

struct notified_state {
	int64_t up_to, notified_at, newest;
};

static int read_state(struct db *db, struct notified_state *ret)
{
	sqlite3_stmt *st = db_stmt(db, DB_NOTIFIED, db_i("batch", BATCH));
	int r;

	*ret = (struct notified_state){ 0 };
	while ((r = db_step(st)) > 0)
		*ret = (struct notified_state){ sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
						sqlite3_column_int64(st, 2) };
	return r;
}

/* They are read where a sink is told of them, or where what was done settles what needed an operator. */
static int read_rows(struct db *db, const struct settings *s, const struct notified_state *at,
		     struct finished_actions *ret)
{
	int64_t objects = 0;
	const int r = db_number(db_stmt(db, DB_ATTENTION_OBJECTS), &objects);

	if (r < 0 || (objects == 0 && !select_any(s, NEWS_ACTIONS)))
		return r;
	return finished_actions_read(db, at->up_to, at->newest, objects > 0, ret);
}

/* Is a sink told of anything but failures? */
static bool is_done_told(const struct settings *s, const struct finished_actions *rows)
{
	for (size_t i = 0; i < s->n_sinks; i++)
		for (size_t k = 0; select_news(&s->sinks[i], NEWS_ACTIONS) && k < rows->n_kinds; k++)
			if (rows->kinds[k]->part != SECTION_FAILED &&
			    concerns(s, &s->sinks[i], rows->kinds[k]))
				return true;
	return false;
}

/* Of those, is there one that a sink waits for? */
static bool has_failures(const struct finished_actions *rows)
{
	for (size_t k = 0; k < rows->n_kinds; k++)
		if (rows->kinds[k]->part == SECTION_FAILED)
			return true;
	return false;
}

static int tell(struct db *db, const struct settings *s, const struct zone *zone, bool *ret_put,
		enum actions_left *ret_left)
{
	_cleanup_(finished_actions_done) struct finished_actions rows = { 0 };
	struct notified_state at;
	int r = read_state(db, &at);

	if (r == 0)
		r = read_rows(db, s, &at, &rows);
	if (r < 0)
		return r;
	const bool is_part = at.newest >= at.up_to + BATCH;
	const int64_t silent_ms = clock_wall_ms() - at.notified_at; /* below 0: the clock was ahead */

	/* What stands behind a part does not wait with it. */
	if (!is_part && has_failures(&rows) && !is_done_told(s, &rows) && silent_ms >= 0 &&
	    silent_ms < TELL_FAILURES_MS) {
		*ret_left = ACTIONS_LEFT_LATER;
		return 0;
	}
	*ret_left = is_part ? ACTIONS_LEFT_NOW : ACTIONS_LEFT_NONE;
	r = put_all(db, s, zone, &rows, ret_put);
	return r < 0 ? r : move_on(db, at.up_to, at.newest, *ret_put);
}

int action_messages_put(struct db *db, const struct settings *s, const struct zone *zone, bool *ret_put,
			enum actions_left *ret_left)
{
	int r = db_begin(db);

	*ret_put = false;
	*ret_left = ACTIONS_LEFT_NONE;
	if (r == 0)
		r = tell(db, s, zone, ret_put, ret_left);
	r = db_end(db, r);
	*ret_put = *ret_put && r == 0;
	return r;
}
