/* alertmanager.c - news as alerts of an Alertmanager, which wakes whom it wakes: pagers, phones and every
 * other receiver are its business. Sources: prometheus/alertmanager, api/v2/openapi.yaml (POST
 * /api/v2/alerts, a list of alerts; 200 with no body, 400 with a text), doc "Alerts API" (endsAt in the past
 * resolves; one without is over after resolve_timeout; label names [a-zA-Z_][a-zA-Z0-9_]*; the labels alone
 * say which alert it is; empty ones are none).
 *
 * When an alert ends:
 * - Attention lasts until its end is told, which is the same alert with its end in the past. But an
 *   Alertmanager forgets all alerts when it starts again (its own documents: clients send them again), so
 * what stands is sent again every ALERTMANAGER_AGAIN_MS, and holds for three times as long: two of these may
 * be lost. It holds from when it is sent, not from when it was written down: what waited in the outbox while
 *   nobody answered is as good as new. A program that is removed leaves nothing that stands for ever.
 * - What was done, and the report, have no end: they stand for a quarter of an hour, which is longer than the
 *   group_wait and group_interval of most (30 s, 5 m; what ends before the first is told to nobody), and end
 * by themselves. What can change from the begin of an alert to its end is no label: neither its severity nor
 * its texts. */
// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/unicode.h"
#include "base/xalloc.h"
#include "reporter/sinks/sink.h"

/* Above any that an Alertmanager, or a proxy before it, refuses by default. */
#define LIMIT        ((size_t)512 * 1024)
#define HOLD_MS      (3 * ALERTMANAGER_AGAIN_MS)
#define BY_ITSELF_MS (15 * 60 * INT64_C(1000))
#define LABEL_MAX    256u

/* -- labels -- */

/* "credential-kept" -> "CredentialKept", behind the name of the program. */
static json_t *alert_name(const char *what)
{
	char name[96] = "OpsPodCleaner";
	size_t n = strlen(name);
	bool up = true;

	for (; *what && n + 1 < sizeof(name); what++) {
		if (!isascii((unsigned char)*what) || !isalnum((unsigned char)*what)) {
			up = true;
			continue;
		}
		name[n++] = (char)(up ? toupper((unsigned char)*what) : *what);
		up = false;
	}
	name[n] = '\0';
	return json_string(name);
}

/* The same at the begin and at the end: no tone of a message that says "resolved". */
static const char *severity_of(const struct document *d)
{
	if (d->kind == NEWS_ATTENTION || d->is_test)
		return "warning";
	return d->tone == TONE_BAD ? "critical" : d->tone == TONE_WARNING ? "warning" : "info";
}

static void put(json_t *o, const char *key, const char *s, size_t max)
{
	if (s && *s)
		(void)json_object_set_new(o, key, json_stringn(s, unicode_cut(s, strlen(s), max)));
}

static json_t *labels_of(const struct document *d, const struct entry *e)
{
	static const char *const facts[] = { "cluster", "namespace", "duty",      "workload",
					     "pod",     "kind",      "container", "node" };
	const char *reason = e ? entry_fact(e, "reason") : NULL;
	json_t *o = json_object();

	(void)json_object_set_new(o, "alertname",
				  alert_name(d->is_test          ? "test"
					     : reason && *reason ? reason
								 : news_name(d->kind)));
	put(o, "severity", severity_of(d), LABEL_MAX);
	put(o, "news", news_name(d->kind), LABEL_MAX);
	for (size_t i = 0; e && i < ARRAY_SIZE(facts); i++)
		put(o, facts[i], entry_fact(e, facts[i]), LABEL_MAX);
	/* Two that are alike in all else are still two. */
	put(o, "subject", e ? e->key : NULL, LABEL_MAX);
	return o;
}

/* -- texts and times -- */

static void put_lines(json_t *o, const char *key, const struct str_list *l, const struct sink_view *v)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		abort();
	for (size_t i = 0; i < l->n && i < v->part.lines_max; i++)
		(void)fprintf(f, "%s%.*s", i == 0 ? "" : "\n",
			      (int)unicode_cut(l->v[i], strlen(l->v[i]), v->part.text_max), l->v[i]);
	(void)fclose(f);
	put(o, key, text, size);
	free(text);
}

/* Of one that is all of a document: its lines, and what stands in it. */
static void put_contents(json_t *o, const struct sink_view *v)
{
	_cleanup_(str_list_done) struct str_list lines = { 0 };
	const struct sink_view all = { .part = { .lines_max = SIZE_MAX, .text_max = v->part.text_max } };

	str_list_add_all(&lines, &v->doc->lines);
	for (size_t i = 0; i < v->part.sections; i++)
		for (size_t k = 0; k < v->part.shown[i]; k++) {
			const char *title = v->doc->sections[i].entries[k].title;

			str_list_add(&lines, title, strlen(title));
		}
	put_lines(o, "description", &lines, &all);
}

static json_t *annotations_of(const struct sink_view *v, const struct entry *e)
{
	json_t *o = json_object();

	put(o, "summary", e ? e->title : v->doc->title, v->part.text_max);
	if (!e) {
		put_contents(o, v);
		return o;
	}
	put_lines(o, "description", &e->lines, v);
	put(o, "remedy", entry_fact(e, "remedy"), v->part.text_max);
	put(o, "undo", entry_fact(e, "undo"), v->part.text_max);
	put(o, "command", e->command, v->part.text_max);
	put_lines(o, "mentions", &e->mentions, v);
	for (size_t i = 0; i < e->n_links; i++) {
		_cleanup_free_ char *key = xconcat(e->links[i].key, "_url", NULL);

		if (strlen(e->links[i].value) <= v->part.text_max)
			put(o, key, e->links[i].value, v->part.text_max);
	}
	return o;
}

static void put_time(json_t *o, const char *key, int64_t at_ms)
{
	char text[RFC3339_MAX];

	rfc3339_format(at_ms, true, text);
	(void)json_object_set_new(o, key, json_string(text));
}

static int64_t end_of(const struct sink_view *v, const struct entry *e)
{
	if (e && e->is_over) /* never in the future, whatever the clocks say */
		return e->end_ms > 0 && e->end_ms < v->now_ms ? e->end_ms : v->now_ms;
	return v->now_ms + (v->doc->kind == NEWS_ATTENTION && !v->doc->is_test ? HOLD_MS : BY_ITSELF_MS);
}

static void add(json_t *alerts, const struct sink_view *v, const struct entry *e)
{
	const int64_t begin = e && e->begin_ms > 0 ? e->begin_ms : v->doc->at_ms, end = end_of(v, e);
	json_t *o = json_object();

	(void)json_object_set_new(o, "labels", labels_of(v->doc, e));
	(void)json_object_set_new(o, "annotations", annotations_of(v, e));
	put_time(o, "startsAt", begin < end ? begin : end); /* an alert that ends first is refused */
	put_time(o, "endsAt", end);
	(void)json_array_append_new(alerts, o);
}

/* Entries are alerts; of the report, and of what has none, the document is one. */
static char *render(const struct sink_view *v)
{
	json_t *alerts = json_array();

	if (v->doc->kind != NEWS_REPORT && !v->doc->is_test)
		for (size_t i = 0; i < v->part.sections; i++)
			for (size_t k = 0; k < v->part.shown[i]; k++)
				add(alerts, v, &v->doc->sections[i].entries[k]);
	if (json_array_size(alerts) == 0)
		add(alerts, v, NULL);
	char *ret = json_dumps(alerts, JSON_COMPACT);

	json_decref(alerts);
	return ret;
}

/* -- request and answer -- */

/* "http://alertmanager:9093/prefix/" is enough. */
static void request(const struct sink_settings *s, const struct document *doc, int64_t now_ms,
		    struct sink_request *rq)
{
	static const char api[] = "/api/v2/alerts";
	size_t n = strlen(rq->path);

	(void)s;
	(void)doc;
	(void)now_ms;
	while (n > 0 && rq->path[n - 1] == '/')
		n--;
	if (n >= sizeof(api) - 1 && memcmp(rq->path + n - (sizeof(api) - 1), api, sizeof(api) - 1) == 0)
		n -= sizeof(api) - 1;
	char *path = xasprintf("%.*s%s", (int)n, rq->path, api);

	free(rq->path);
	rq->path = path;
}

const struct sink_ops sink_alertmanager = {
	.size_max = LIMIT,
	.knows_ids = true, /* by its labels */
	.again_ms = ALERTMANAGER_AGAIN_MS,
	.content_type = "application/json",
	.render = render,
	.request = request,
};
