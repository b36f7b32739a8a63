/* history_summary.c - see history_summary.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/history_summary.h"

#include <inttypes.h>
#include <jansson.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "cli/instance/answers.h"
#include "cli/instance/ctl.h"
#include "cli/options.h"
#include "cli/view/json.h"
#include "cli/view/output.h"
#include "cli/view/table.h"
#include "model/duties.h"

#define ASK_MS   UINT64_C(30000)
#define ROWS_MAX 100000

/* -- the names of lines, owned by the caller -- */

static char *duty_of(const struct msg_ctl_history_row *h)
{
	return xstrdup(duty_name((enum duty)h->duty));
}

static char *namespace_of(const struct msg_ctl_history_row *h)
{
	return xstrdup(h->ns);
}

static char *cluster_of(const struct msg_ctl_history_row *h)
{
	return xstrdup(h->cluster_name);
}

static char *reason_of(const struct msg_ctl_history_row *h)
{
	return xstrdup(h->reason);
}

/* "-" where the evidence names none: an eviction is no matter of its node alone. */
static char *node_of(const struct msg_ctl_history_row *h)
{
	struct fact_value v;
	struct facts all;

	history_row_facts(h, &all);
	return facts_find(&all, FACT_NODE, &v) ? xstrndup(v.text.p, v.text.n) : xstrdup("-");
}

static const struct {
	const char *column;
	char *(*of)(const struct msg_ctl_history_row *h);
} by[] = {
	[BY_DUTY] = { "DUTY", duty_of },       [BY_NAMESPACE] = { "NAMESPACE", namespace_of },
	[BY_NODE] = { "NODE", node_of },       [BY_CLUSTER] = { "CLUSTER", cluster_of },
	[BY_REASON] = { "REASON", reason_of },
};

enum outcome history_outcome(const struct msg_ctl_history_row *h)
{
	return h->outcome >= 0 ? (enum outcome)h->outcome : h->id ? OUTCOME__MAX : OUTCOME_REFUSED;
}

bool history_is_meant(const struct options *o, const struct msg_ctl_history_row *h)
{
	return option_names_take(&o->clusters, h->cluster_name) && option_names_take(&o->namespaces, h->ns);
}

/* -- counting -- */

struct group {
	char *name;
	uint64_t n[OUTCOME__MAX + 1]; /* by outcome; the last: open */
	uint64_t all;
	int64_t last_ms;
};

struct summary {
	const struct options *o;
	enum option_by by;
	void *tree; /* of groups by name: tsearch(3) */
	struct group **v;
	size_t n;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct group *)a)->name, ((const struct group *)b)->name);
}

static int compare_counts(const void *a, const void *b)
{
	const struct group *x = *(struct group *const *)a, *y = *(struct group *const *)b;

	return x->all != y->all ? (x->all < y->all) - (x->all > y->all) : compare_names(x, y);
}

/* Takes name over. */
static struct group *group_of(struct summary *s, char *name)
{
	struct group wanted = { .name = name };
	struct group *const *found = tfind(&wanted, &s->tree, compare_names);

	if (found) {
		free(wanted.name);
		return *found;
	}
	s->v = xreallocarray(s->v, s->n + 1, sizeof(struct group *));
	s->v[s->n] = xmemdup(&wanted, sizeof(wanted));
	if (!tsearch(s->v[s->n], &s->tree, compare_names))
		abort(); /* no memory */
	return s->v[s->n++];
}

static void take(void *ctx, const struct msg *m)
{
	const struct msg_ctl_history_row *h = &m->u.ctl_history_row;
	struct summary *s = ctx;

	if (m->type != MSG_CTL_HISTORY_ROW || !history_is_meant(s->o, h))
		return;
	struct group *g = group_of(s, by[s->by].of(h));
	const int64_t at = h->result_at ? h->result_at : h->intent_at;
	const uint64_t times = !h->id && h->seen > 1 ? h->seen : 1; /* a refusal that repeats is one row */

	g->n[history_outcome(h)] += times;
	g->all += times;
	g->last_ms = at > g->last_ms ? at : g->last_ms;
}

/* -- printing -- */

static void print_json(const struct summary *s)
{
	json_t *root = json_array();

	for (size_t i = 0; i < s->n; i++) {
		const struct group *g = s->v[i];
		json_t *outcomes = json_object();

		for (enum outcome k = 0; k <= OUTCOME__MAX; k++)
			if (g->n[k] > 0)
				json_object_set_new(outcomes, outcome_name(k),
						    json_integer((json_int_t)g->n[k]));
		json_array_append_new(root, json_pack("{s:s, s:I, s:o, s:o}", option_by_name((int)s->by),
						      g->name, "actions", (json_int_t)g->all, "outcomes",
						      outcomes, "last", json_time(g->last_ms)));
	}
	output_json(root);
}

/* "done 12, refused 3" */
static char *outcomes_text(const struct group *g)
{
	char *ret = xstrdup("");

	for (enum outcome k = 0; k <= OUTCOME__MAX; k++) {
		if (g->n[k] == 0)
			continue;
		char *longer = xasprintf("%s%s%s %" PRIu64, ret, *ret ? ", " : "", outcome_name(k), g->n[k]);

		free(ret);
		ret = longer;
	}
	return ret;
}

static void print_table(const struct summary *s, const struct table_view *view)
{
	const struct table_column columns[] = {
		{ by[s->by].column, 0, 0 },
		{ "ACTIONS", 0, 0 },
		{ "LAST", 1, COLUMN_BELOW },
		{ "OUTCOMES", 0, COLUMN_FLOWS },
	};
	struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < s->n; i++) {
		_cleanup_free_ char *outcomes = outcomes_text(s->v[i]);
		char when[RFC3339_MAX];

		output_time(view, s->v[i]->last_ms, when);
		table_add(t, COLOR_NONE, "%s", s->v[i]->name);
		table_add(t, COLOR_NONE, "%" PRIu64, s->v[i]->all);
		table_add(t, COLOR_DIM, "%s", when);
		table_add(t, COLOR_NONE, "%s", outcomes);
	}
	table_print(t, stdout, view);
	table_free(&t);
}

static void keep(void *group)
{
	(void)group; /* the array has it */
}

int history_summarize(const struct options *o, const struct msg *request)
{
	const struct table_view view = options_view(o);
	struct summary s = { .o = o, .by = o->by < 0 ? BY_DUTY : (enum option_by)o->by };
	struct msg m = *request;

	m.u.ctl_history.limit = o->count ? (uint64_t)o->count : ROWS_MAX;
	int code = EXIT_CODE_OK;

	for (size_t i = 0; code == EXIT_CODE_OK && i <= answers_count(); i++)
		code = ctl_ask(answers_socket(o->socket, i), &m, ASK_MS, take, &s);
	if (s.n > 0)
		qsort(s.v, s.n, sizeof(struct group *), compare_counts);
	if (code == EXIT_CODE_OK && o->output == OUTPUT_JSON)
		print_json(&s);
	else if (code == EXIT_CODE_OK)
		print_table(&s, &view);
	tdestroy(s.tree, keep);
	for (size_t i = 0; i < s.n; i++) {
		free(s.v[i]->name);
		free(s.v[i]);
	}
	free(s.v);
	return code;
}
