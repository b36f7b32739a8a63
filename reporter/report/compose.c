/* compose.c - see compose.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/report/compose.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/phrases.h"
#include "reporter/report/patterns.h"
#include "reporter/report/report_entry.h"
#include "reporter/news/words.h"
#include "reporter/notify/sink_select.h"

/* What crashes in a loop restarts at least this often: a kubelet waits five minutes at most, and runs it. */
#define QUIET_MS INT64_C(900000)
/* No more clusters are named in one line. */
#define NAMES_MAX 8

/* -- what became of each workload -- */

static int compare_past(const void *key, const void *past)
{
	const struct report_row *r = key;
	const struct msg_digest_row *d = &r->workload->pods[0].row;
	const struct reported *p = past;
	int c = strcmp(r->cluster, p->cluster);

	c = c ? c : strcmp(d->ns, p->ns);
	c = c ? c : strcmp(d->kind, p->kind);
	return c ? c : strcmp(d->workload, p->workload);
}

/* Then by name, as they stand. */
static int by_restarts(const void *pa, const void *pb)
{
	const struct reported *a = *(const struct reported *const *)pa;
	const struct reported *b = *(const struct reported *const *)pb;

	if (a->restarts != b->restarts)
		return a->restarts < b->restarts ? 1 : -1;
	return (a > b) - (a < b);
}

static const char *cluster_name(const struct report_input *in, uint64_t cluster)
{
	return cluster < in->clusters->n ? in->clusters->v[cluster] : "?";
}

static enum report_class class_of(const struct report_row *r, const struct reported *then, int64_t window_ms)
{
	const double hours = (double)window_ms, hours_then = (double)then->window_ms;

	if (r->workload->delta == DELTA_UNKNOWN || window_ms <= 0 || then->window_ms <= 0)
		return REPORT_STILL;
	return (double)r->workload->delta / hours > 1.25 * ((double)then->restarts / hours_then)
		       ? REPORT_WORSE
		       : REPORT_STILL;
}

static bool answered(const struct report_input *in, const char *cluster)
{
	for (size_t i = 0; i < in->clusters->n; i++)
		if (in->answered[i] && strcmp(in->clusters->v[i], cluster) == 0)
			return true;
	return false;
}

void report_build(const struct report_input *in, struct report *ret)
{
	const size_t n = in->digest->n_workloads;
	const int64_t window = in->at_ms - in->from_ms;
	_cleanup_free_ bool *seen = xcalloc(in->n_past + 1, sizeof(*seen));

	*ret = (struct report){ .rows = xcalloc(n + 1, sizeof(*ret->rows)),
				.recovered = xcalloc(in->n_past + 1, sizeof(*ret->recovered)),
				.quiet = xcalloc(in->n_past + 1, sizeof(*ret->quiet)) };
	for (size_t i = 0; i < n; i++) {
		const struct digest_workload *w = &in->digest->workloads[i];
		struct report_row *r = &ret->rows[ret->n];

		*r = (struct report_row){ .workload = w,
					  .cluster = cluster_name(in, w->pods[0].row.cluster) };
		const struct reported *then =
			in->n_past ? bsearch(r, in->past, in->n_past, sizeof(*in->past), compare_past) : NULL;

		if (then && w->delta == 0 && window < QUIET_MS)
			ret->quiet[ret->n_quiet++] = then;
		if (then && (w->delta != 0 || window < QUIET_MS))
			seen[then - in->past] = true;
		if (w->delta == 0)
			continue;
		r->class = then ? class_of(r, then, window) : REPORT_NEW;
		ret->n++;
	}
	for (size_t i = 0; i < in->n_past; i++)
		if (!seen[i] && answered(in, in->past[i].cluster))
			ret->recovered[ret->n_recovered++] = &in->past[i];
	qsort(ret->recovered, ret->n_recovered, sizeof(*ret->recovered), by_restarts);
}

void report_done(struct report *r)
{
	free(r->rows);
	free(r->recovered);
	free(r->quiet);
	*r = (struct report){ 0 };
}

/* -- whom it concerns -- */

static bool is_for(const struct sink_settings *s, const struct report_row *r)
{
	return select_object(s, r->cluster, r->workload->pods[0].row.ns, DUTY_RESTARTS);
}

static bool needs(const struct sink_settings *s, const struct attention_group *g)
{
	return select_object(s, g->cluster, "", g->duty);
}

size_t report_shown(const struct report *r, const struct sink_settings *s, size_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n && n < s->top; i++)
		if (is_for(s, &r->rows[i]))
			ret[n++] = i;
	return n;
}

/* -- the document -- */

/* Of what concerns one sink. */
struct sums {
	int64_t restarts, workloads, pods;
	int64_t uncounted; /* workloads of which nobody knows how often they restarted in the window */
	size_t of_class[REPORT_CLASS__MAX], recovered;
};

static struct sums sum_up(const struct report *r, const struct sink_settings *s)
{
	struct sums ret = { 0 };

	for (size_t i = 0; i < r->n; i++) {
		const struct digest_workload *w = r->rows[i].workload;

		if (!is_for(s, &r->rows[i]))
			continue;
		ret.workloads++;
		ret.pods += (int64_t)w->n;
		ret.uncounted += w->delta == DELTA_UNKNOWN;
		ret.restarts += w->delta == DELTA_UNKNOWN ? 0 : w->delta;
		ret.of_class[r->rows[i].class]++;
	}
	for (size_t i = 0; i < r->n_recovered; i++)
		ret.recovered +=
			select_object(s, r->recovered[i]->cluster, r->recovered[i]->ns, DUTY_RESTARTS);
	return ret;
}

/* Of the clusters that the sink is told of, all, or those that gave no full answer; "" = none. The caller
 * frees it. */
static char *names_of_clusters(const struct report_input *in, const struct sink_settings *s, bool unanswered,
			       enum language l)
{
	const bool is_titled = in->cluster_title && cluster_names_count(in->clusters, NULL) == 1;
	struct name_list names = { .max = NAMES_MAX };

	for (size_t i = 0; i < in->clusters->n; i++)
		if (*in->clusters->v[i] && select_object(s, in->clusters->v[i], "", DUTY_ALL) &&
		    !(unanswered && in->answered[i]))
			name_list_add(&names, is_titled ? in->cluster_title : in->clusters->v[i]);
	return name_list_end(&names, l);
}

/* What is counted: from when to when, by which clock, where. */
static void put_window(const struct report_input *in, const struct sink_settings *s, struct document *d)
{
	_cleanup_free_ char *clusters = names_of_clusters(in, s, false, d->language);
	char from[WHEN_TEXT_MAX], at[WHEN_TEXT_MAX], from_zone[WHEN_TEXT_MAX], zone[WHEN_TEXT_MAX];

	when_format(in->from_ms, in->zone, from);
	when_format(in->at_ms, in->zone, at);
	when_format_zone(in->from_ms, in->zone, from_zone);
	when_format_zone(in->at_ms, in->zone, zone);
	const bool is_same = strcmp(zone, from_zone) == 0; /* else the clock was changed in between */
	_cleanup_free_ char *begin = xconcat(from, is_same ? "" : " ", is_same ? "" : from_zone, NULL);

	document_addf(&d->lines, phrase(REPORT_WINDOW, d->language), begin, at, zone, clusters);
}

static void put_head(const struct report_input *in, const struct sink_settings *s, const struct sums *sums,
		     int64_t lost, struct document *d)
{
	const enum language l = d->language;
	_cleanup_free_ char *unanswered = names_of_clusters(in, s, true, l);

	put_window(in, s, d);
	if (sums->workloads > sums->uncounted)
		document_addf(&d->lines, phrase(REPORT_HEAD, l), sums->restarts, sums->workloads, sums->pods);
	else if (sums->workloads > 0)
		document_addf(&d->lines, phrase(REPORT_HEAD_UNCOUNTED, l), sums->workloads, sums->pods);
	else
		document_add(&d->lines, phrase(REPORT_QUIET, l));
	if (in->late)
		document_add(&d->lines, phrase(REPORT_LATE, l));
	if (lost > 0)
		document_addf(&d->lines, phrase(REPORT_LOST, l), lost);
	if (*unanswered)
		document_addf(&d->lines, phrase(REPORT_INCOMPLETE, l), unanswered);
	if (in->digest->dropped > 0)
		document_addf(&d->lines, phrase(REPORT_DROPPED, l), (int64_t)in->digest->dropped);
	if (sums->workloads > 0)
		document_set(&d->footer, phrase(REPORT_FOOTER, l));
}

static void put_hints(const struct report *r, const struct report_input *in, const size_t *shown, size_t n,
		      struct document *d)
{
	_cleanup_free_ struct hint_row *rows = xcalloc(n + 1, sizeof(*rows));
	char *hints[HINTS_MAX];

	for (size_t i = 0; i < n; i++)
		rows[i] = report_entry_hint(&r->rows[shown[i]], in);
	const size_t found = hints_of(rows, n, d->language, in->zone, hints);

	for (size_t i = 0; i < n; i++)
		free(rows[i].name);
	if (found == 0)
		return;
	struct section *s = document_add_section(d, phrase(REPORT_HINTS, d->language));

	for (size_t i = 0; i < found; i++) {
		(void)section_add_entry(s, hints[i]);
		free(hints[i]);
	}
}

static const char *class_title(enum report_class c, bool is_first, enum language l)
{
	static const enum phrase titles[REPORT_CLASS__MAX] = { PHRASE_REPORT_NEW, PHRASE_REPORT_WORSE,
							       PHRASE_REPORT_STILL };

	return phrase_text(is_first ? PHRASE_REPORT_FIRST : titles[c], l);
}

static void put_class(const struct report *r, const struct report_input *in, enum report_class class,
		      const size_t *shown, size_t n, size_t of_class, struct document *d)
{
	if (of_class == 0)
		return;
	struct section *s = document_add_section(d, class_title(class, in->is_first, d->language));

	s->more = of_class;
	for (size_t i = 0; i < n; i++) {
		const struct report_row *row = &r->rows[shown[i]];

		if (row->class != class)
			continue;
		report_entry_add(row, in, d->language, s);
		s->more--;
	}
}

static void put_recovered(const struct report *r, const struct report_input *in,
			  const struct sink_settings *to, size_t n, struct document *d)
{
	if (n == 0)
		return;
	struct section *s = document_add_section(d, phrase(REPORT_RECOVERED, d->language));

	s->more = n;
	for (size_t i = 0; i < r->n_recovered && s->n < to->top; i++) {
		const struct reported *p = r->recovered[i];

		if (!select_object(to, p->cluster, p->ns, DUTY_RESTARTS))
			continue;
		report_entry_add_recovered(p, in, d->language, s);
		s->more--;
	}
}

static size_t count_attention(const struct report_input *in, const struct sink_settings *s)
{
	size_t n = 0;

	for (size_t i = 0; in->attention && i < in->attention->n; i++)
		n += needs(s, &in->attention->v[i]);
	return n;
}

static void put_attention(const struct report_input *in, const struct sink_settings *to, size_t n,
			  struct document *d)
{
	if (n == 0)
		return;
	struct section *s = document_add_section(d, phrase(REPORT_ATTENTION, d->language));

	for (size_t i = 0; i < in->attention->n && s->n < DIGEST_ATTENTION_MAX; i++)
		if (needs(to, &in->attention->v[i]))
			report_entry_add_attention(&in->attention->v[i], in, d->language, s);
	s->more = n - s->n;
}

static enum tone tone_of(const struct sums *sums, bool has_attention)
{
	return sums->of_class[REPORT_NEW] + sums->of_class[REPORT_WORSE] > 0 || has_attention ? TONE_WARNING
	       : sums->workloads > 0                                                          ? TONE_INFO
											      : TONE_GOOD;
}

bool report_compose(const struct report *r, const struct report_input *in, const struct sink_settings *s,
		    int64_t lost, struct document *ret)
{
	_cleanup_free_ size_t *shown = xcalloc(s->top + 1, sizeof(*shown));
	const struct sums sums = sum_up(r, s);
	const size_t n = report_shown(r, s, shown);
	const bool is_default = strcmp(in->title, phrase(REPORT_TITLE, LANGUAGE_EN)) == 0;
	const enum language l = (enum language)s->language;

	*ret = (struct document){ 0 };
	const size_t attention = count_attention(in, s);

	const bool has_routine = in->routine && routine_any(in->routine, s);

	if (sums.workloads == 0 && sums.recovered == 0 && attention == 0 && !has_routine)
		return false;
	document_init(ret, NEWS_REPORT, l, in->at_ms);
	document_set(&ret->title, is_default ? phrase(REPORT_TITLE, l) : in->title);
	ret->tone = tone_of(&sums, attention > 0);
	put_head(in, s, &sums, lost, ret);
	put_hints(r, in, shown, n, ret);
	for (enum report_class c = 0; c < REPORT_CLASS__MAX; c++)
		put_class(r, in, c, shown, n, sums.of_class[c], ret);
	put_recovered(r, in, s, sums.recovered, ret);
	put_attention(in, s, attention, ret);
	if (has_routine)
		routine_put(in->routine, s, in->clusters, ret);
	return true;
}
