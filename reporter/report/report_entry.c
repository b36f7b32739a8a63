/* report_entry.c - see report_entry.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/report/report_entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "model/phrases.h"
#include "model/reasons.h"
#include "reporter/news/words.h"

#define HOUR_MS    3600000.0
#define NUMBER_MAX 32

/* -- what is known -- */

static const struct msg_digest_row *first(const struct report_row *r)
{
	return &r->workload->pods[0].row;
}

static const char *workload_of(const struct report_row *r)
{
	return r->inspection && *r->inspection->workload ? r->inspection->workload : first(r)->workload;
}

/* Without a look a pod says no more than that a ReplicaSet made it, and whose that is nobody knows. */
static const char *kind_of(const struct report_row *r)
{
	const char *kind = r->inspection && *r->inspection->kind ? r->inspection->kind : first(r)->kind;

	return strcmp(kind, "ReplicaSet") == 0 && !r->inspection ? "" : kind;
}

static const char *reason_of(const struct report_row *r)
{
	const struct msg_digest_row *d = first(r);

	return r->inspection && *r->inspection->reason ? r->inspection->reason
	       : *d->last_reason                       ? d->last_reason
						       : d->reason;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* How many nodes its pods are on. */
static size_t count_nodes(const struct digest_workload *w)
{
	_cleanup_free_ const char **nodes = xcalloc(w->n, sizeof(*nodes));
	size_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		nodes[i] = w->pods[i].row.node;
	qsort(nodes, w->n, sizeof(*nodes), compare_texts);
	for (size_t i = 0; i < w->n; i++)
		n += *nodes[i] && (i == 0 || strcmp(nodes[i], nodes[i - 1]) != 0);
	return n;
}

/* The oldest of its pods; 0 = not known. */
static int64_t created_at(const struct digest_workload *w)
{
	int64_t ret = 0;

	for (size_t i = 0; i < w->n; i++) {
		const int64_t at = w->pods[i].row.created;

		if (at > 0 && (ret == 0 || at < ret))
			ret = at;
	}
	return ret;
}

/* Restarts an hour of the window, or of the life of its pods, which may be shorter. */
static void format_rate(const struct report_row *r, const struct report_input *in,
			char ret[static NUMBER_MAX])
{
	const int64_t created = created_at(r->workload);
	const int64_t from = created > in->from_ms ? created : in->from_ms;
	const double hours = (double)(in->at_ms - from) / HOUR_MS;
	const double rate = (double)r->workload->delta / (hours < 1.0 / 60 ? 1.0 / 60 : hours);

	if (rate < 0.1)
		(void)snprintf(ret, NUMBER_MAX, "<0.1");
	else
		(void)snprintf(ret, NUMBER_MAX, rate < 9.95 ? "%.1f" : "%.0f", rate);
}

static const char *signal_name(uint64_t number)
{
	static const char *const names[] = {
		[1] = "SIGHUP",   [2] = "SIGINT",   [3] = "SIGQUIT",  [4] = "SIGILL",  [5] = "SIGTRAP",
		[6] = "SIGABRT",  [7] = "SIGBUS",   [8] = "SIGFPE",   [9] = "SIGKILL", [11] = "SIGSEGV",
		[13] = "SIGPIPE", [14] = "SIGALRM", [15] = "SIGTERM", [31] = "SIGSYS"
	};

	return number < ARRAY_SIZE(names) ? names[number] : NULL;
}

/* Of a container that nobody looked at, by what a shell makes of a signal. */
static const char *signal_of(const struct report_row *r)
{
	const int64_t code = first(r)->exit_code;

	if (r->inspection)
		return signal_name(r->inspection->signal);
	return code > 128 ? signal_name((uint64_t)(code - 128)) : NULL;
}

/* -- as lines -- */

/* A line of parts; `part` is freed. */
static void add_part(char **line, const char *between, char *part)
{
	xappend(line, between, part);
	free(part);
}

static const char *comma(enum language l)
{
	return l == LANGUAGE_ZH ? "，" : ", ";
}

static void add_ended(const struct report_row *r, enum language l, struct entry *e)
{
	const int64_t code = r->inspection ? r->inspection->exit_code : first(r)->exit_code;
	const char *signal = signal_of(r);
	_cleanup_free_ char *line =
		xconcat(first(r)->container, l == LANGUAGE_ZH ? "：" : ": ", reason_of(r), NULL);

	if (r->inspection && *r->inspection->memory && strcmp(reason_of(r), "OOMKilled") == 0)
		add_part(&line, comma(l), xasprintf(phrase(REPORT_MEMORY, l), r->inspection->memory));
	if (signal)
		add_part(&line, comma(l), xasprintf(phrase(REPORT_EXIT_SIGNAL, l), code, signal));
	else
		add_part(&line, comma(l), xasprintf(phrase(REPORT_EXIT, l), code));
	document_add(&e->lines, line);
}

static void add_where(const struct report_row *r, const struct report_input *in, enum language l,
		      struct entry *e)
{
	const size_t nodes = count_nodes(r->workload);
	const int64_t created = created_at(r->workload);
	_cleanup_free_ char *line = xasprintf(phrase(REPORT_PODS, l), (int64_t)r->workload->n);
	char since[WHEN_TEXT_MAX];

	if (nodes > 1)
		add_part(&line, comma(l), xasprintf(phrase(REPORT_ON_NODES, l), (int64_t)nodes));
	else if (nodes == 1 && *first(r)->node)
		add_part(&line, comma(l), xasprintf(phrase(REPORT_ON_NODE, l), first(r)->node));
	if (created > 0) {
		when_format(created, in->zone, since);
		add_part(&line, comma(l), xasprintf(phrase(REPORT_AGE, l), since));
	}
	document_add(&e->lines, line);
}

static void add_inspection(const struct msg_inspected *k, const struct report_input *in, enum language l,
			   struct entry *e)
{
	char since[WHEN_TEXT_MAX];

	when_format(k->rolled_at, in->zone, since);
	if (*k->image && k->rolled_at > 0)
		document_addf(&e->lines, phrase(REPORT_IMAGE_SINCE, l), k->image, since);
	else if (*k->image)
		document_addf(&e->lines, phrase(REPORT_IMAGE, l), k->image);
	if (*k->message)
		document_addf(&e->lines, phrase(REPORT_SAID, l), k->message);
	if (*k->contact)
		document_add(&e->mentions, k->contact);
}

/* -- as facts -- */

static void fact_text(struct entry *e, const char *key, const char *v)
{
	if (*v)
		entry_add_fact(e, key, v);
}

static void add_facts(const struct report_row *r, const char *rate, struct entry *e)
{
	static const char *const classes[REPORT_CLASS__MAX] = { "new", "worse", "still" };
	const struct msg_digest_row *d = first(r);

	fact_text(e, "cluster", r->cluster);
	fact_text(e, "namespace", d->ns);
	fact_text(e, "workload", workload_of(r));
	fact_text(e, "kind", kind_of(r));
	fact_text(e, "duty", duty_name(DUTY_RESTARTS));
	fact_text(e, "state", classes[r->class]);
	fact_text(e, "container", d->container);
	fact_text(e, "pod", d->pod);
	fact_text(e, "reason", reason_of(r));
	if (r->workload->delta != DELTA_UNKNOWN) {
		entry_add_number(e, "restarts", r->workload->delta);
		fact_text(e, "restartsPerHour", rate);
	}
	entry_add_number(e, "restartsTotal", (int64_t)r->workload->restarts);
	entry_add_number(e, "count", (int64_t)r->workload->n);
	entry_add_number(e, "exitCode", r->inspection ? r->inspection->exit_code : d->exit_code);
	if (count_nodes(r->workload) == 1)
		fact_text(e, "node", d->node);
	if (!r->inspection)
		return;
	fact_text(e, "memoryLimit", r->inspection->memory);
	fact_text(e, "image", r->inspection->image);
	fact_text(e, "message", r->inspection->message);
	fact_text(e, "contact", r->inspection->contact);
}

/* -- entries -- */

/* "[prod] shop/web (Deployment)"; one cluster needs no name. The caller frees it. */
static char *name_of(const struct report_input *in, const char *cluster, const char *ns, const char *workload,
		     const char *kind, enum language l)
{
	_cleanup_free_ char *prefix = cluster_prefix(in->clusters, cluster);
	char *name = xconcat(prefix, ns, "/", workload, NULL);

	if (!*kind)
		return name;
	char *ret = xasprintf(phrase(NEWS_WHY, l), name, kind);

	free(name);
	return ret;
}

static struct entry *add_entry(struct section *s, char *title, const char *cluster, const char *ns,
			       const char *workload)
{
	struct entry *e = section_add_entry(s, title);

	free(title);
	entry_set_key(e, "restarts/%s/%s/%s", cluster, ns, workload);
	return e;
}

void report_entry_add(const struct report_row *r, const struct report_input *in, enum language l,
		      struct section *s)
{
	const struct digest_workload *w = r->workload;
	_cleanup_free_ char *name = name_of(in, r->cluster, first(r)->ns, workload_of(r), kind_of(r), l);
	char rate[NUMBER_MAX];
	char *title;

	format_rate(r, in, rate);
	if (w->delta == DELTA_UNKNOWN)
		title = xasprintf(phrase(REPORT_ROW_TOTAL, l), name, (int64_t)w->restarts);
	else
		title = xasprintf(phrase(REPORT_ROW, l), name, w->delta, rate, (int64_t)w->restarts);
	struct entry *e = add_entry(s, title, r->cluster, first(r)->ns, first(r)->workload);

	e->begin_ms = created_at(w);
	add_ended(r, l, e);
	add_where(r, in, l, e);
	if (r->inspection)
		add_inspection(r->inspection, in, l, e);
	add_facts(r, rate, e);
}

void report_entry_add_recovered(const struct reported *p, const struct report_input *in, enum language l,
				struct section *s)
{
	const char *kind = strcmp(p->kind, "ReplicaSet") == 0 ? "" : p->kind;
	_cleanup_free_ char *name = name_of(in, p->cluster, p->ns, p->workload, kind, l);
	/* What was in no window was counted as kubectl does. */
	char *title = p->window_ms > 0
			      ? xasprintf(phrase(REPORT_ROW_OVER, l), name, (int64_t)p->restarts)
			      : xasprintf(phrase(REPORT_ROW_OVER_TOTAL, l), name, (int64_t)p->restarts);
	struct entry *e = add_entry(s, title, p->cluster, p->ns, p->workload);

	e->is_over = true;
	e->end_ms = in->at_ms;
	fact_text(e, "cluster", p->cluster);
	fact_text(e, "namespace", p->ns);
	fact_text(e, "workload", p->workload);
	fact_text(e, "duty", duty_name(DUTY_RESTARTS));
	fact_text(e, "state", "recovered");
}

void report_entry_add_attention(const struct attention_group *g, const struct report_input *in,
				enum language l, struct section *s)
{
	const struct reason_desc *reason = reason_find(g->reason);
	_cleanup_free_ char *prefix = cluster_prefix(in->clusters, g->cluster);
	_cleanup_free_ char *title =
		xconcat(prefix, g->duty >= 0 ? duty_name((enum duty)g->duty) : "", g->duty >= 0 ? ": " : "",
			g->reason, l == LANGUAGE_ZH ? "：" : ": ", reason->text[l].sentence, NULL);
	char since[WHEN_TEXT_MAX];
	struct entry *e = section_add_entry(s, title);

	when_format(g->first_at, in->zone, since);
	_cleanup_free_ char *when = xasprintf(phrase(NEWS_SINCE, l), since);

	e->begin_ms = g->first_at;
	if (*g->names)
		document_add(&e->lines, g->names);
	if (!facts_empty(g->detail))
		add_part(&when, l == LANGUAGE_ZH ? "：" : ": ", facts_in_zone(g->detail, in->zone, l));
	document_add(&e->lines, when);
	document_addf(&e->lines, phrase(NEWS_REMEDY, l), reason->text[l].remedy);
	fact_text(e, "cluster", g->cluster);
	fact_text(e, "reason", g->reason);
}

struct hint_row report_entry_hint(const struct report_row *r, const struct report_input *in)
{
	return (struct hint_row){
		.node = count_nodes(r->workload) == 1 ? first(r)->node : "",
		.image = r->inspection ? r->inspection->image : "",
		.reason = reason_of(r),
		.rolled_at = r->inspection ? r->inspection->rolled_at : 0,
		.began_at = in->from_ms,
		.cluster = r->cluster,
		.name = name_of(in, r->cluster, first(r)->ns, workload_of(r), "", LANGUAGE_EN),
	};
}
