/* status.c - `status`: the tree, its processes and its clusters. */
// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "model/duties.h"
#include "model/kubernetes_version.h"
#include "base/exit.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "cli/view/output.h"
#include "cli/commands/command.h"
#include "cli/instance/answers.h"
#include "cli/instance/instance_status.h"
#include "cli/instance/plan_rows.h"
#include "cli/view/table.h"
#include "cli/view/json.h"
#include "text/facts_json.h"
#include "text/texts.h"

/* One cluster as one instance shows it. */
struct shown {
	struct cluster_status s;
	size_t of;
};

/* One instance, or several as one: each cluster as the one shows it that leads it, else as the first. */
struct joined {
	struct rows of[1 + ANSWERS_MAX];
	const char *replica[1 + ANSWERS_MAX];
	size_t n;
	struct shown *clusters;
	size_t n_clusters;
};

static struct shown *find_shown(struct joined *j, const char *cluster)
{
	for (size_t i = 0; i < j->n_clusters; i++)
		if (strcmp(j->clusters[i].s.at->cluster_name, cluster) == 0)
			return &j->clusters[i];
	return NULL;
}

static void add_clusters(struct joined *j, size_t of)
{
	const struct rows *r = &j->of[of];

	j->clusters = xreallocarray(j->clusters, j->n_clusters + r->ctl_cluster.n + 1, sizeof(*j->clusters));
	for (size_t i = 0; i < r->ctl_cluster.n; i++) {
		const struct shown one = { cluster_status_of(r, i), of };
		struct shown *before = find_shown(j, one.s.at->cluster_name);

		if (!before)
			j->clusters[j->n_clusters++] = one;
		else if (!cluster_status_leads(&before->s) && cluster_status_leads(&one.s))
			*before = one;
	}
}

/* -- JSON -- */

/* null: not known, or not yet. */
static json_t *kubernetes_json(const struct msg_watch_stats *w)
{
	static const char *const words[] = {
		[KUBERNETES_OLDER] = "older", [KUBERNETES_TRIED] = "tried", [KUBERNETES_NEWER] = "newer"
	};
	const enum kubernetes_tried tried = kubernetes_version_tried(STR_C(w->kubernetes));

	if (tried == KUBERNETES_UNKNOWN)
		return json_null();
	return json_pack("{s:s, s:s}", "version", w->kubernetes, "isTried", words[tried]);
}

/* null: no election. */
static json_t *leader_json(const struct msg_leader *leader)
{
	if (!leader)
		return json_null();
	struct msg_leader l = *leader;

	l.leading = leaders_is_here(&l);
	return json_of(MSG_LEADER, &l);
}

static json_t *cluster_json(const struct cluster_status *s)
{
	json_t *cluster = s->tally->cluster_name[0] ? json_of(MSG_CTL_TALLY_ROW, s->tally) : json_object();

	json_object_update_new(cluster, json_of(MSG_CTL_CLUSTER, s->at));
	json_object_update_new(cluster, json_of(MSG_WATCH_STATS, s->watch));
	json_object_update_new(cluster, json_of(MSG_WORKER_STATS, s->workers));
	json_object_set_new(cluster, "leader", leader_json(s->leader));
	json_object_set_new(cluster, "kubernetes", kubernetes_json(s->watch));
	return cluster;
}

static json_t *trouble_json(const struct msg_trouble_row *t)
{
	const struct trouble_desc *d = trouble_desc((enum trouble)t->trouble);
	json_t *trouble = json_of(MSG_TROUBLE_ROW, t);

	json_object_set_new(trouble, "facts", facts_json(&t->particulars));
	json_object_set_new(trouble, "severity",
			    json_string(d->severity == TROUBLE_IS_BLIND ? "blind" : "degraded"));
	json_object_set_new(trouble, "sentence", json_string(d->text[LANGUAGE_EN].sentence));
	json_object_set_new(trouble, "remedy", json_string(d->text[LANGUAGE_EN].remedy));
	return trouble;
}

/* Append to a list of the answer, of several instances with the name of its own. Takes `item` over. */
static void append(const struct joined *j, size_t of, json_t *root, const char *list, json_t *item)
{
	if (j->n > 1)
		json_object_set_new(item, "replica", json_string(j->replica[of]));
	json_array_append_new(json_object_get(root, list), item);
}

static void print_json(const struct joined *j)
{
	static const char *const lists[] = { "troubles", "processes", "clusters",
					     "pauses",   "sinks",     "replicas" };
	json_t *root = json_of(MSG_CTL_SUPERVISOR, supervisor_status(&j->of[0]));

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		json_object_set_new(root, lists[i], json_array());
	for (size_t of = 0; of < j->n; of++) {
		const struct rows *r = &j->of[of];

		append(j, of, root, "replicas", json_of(MSG_CTL_SUPERVISOR, supervisor_status(r)));
		for (size_t i = 0; i < r->trouble_row.n; i++)
			append(j, of, root, "troubles", trouble_json(&r->trouble_row.v[i]));
		for (size_t i = 0; i < r->child_stats.n; i++)
			append(j, of, root, "processes", json_of(MSG_CHILD_STATS, &r->child_stats.v[i]));
		for (size_t i = 0; i < r->pause.n; i++)
			append(j, of, root, "pauses", json_of(MSG_PAUSE, &r->pause.v[i]));
		for (size_t i = 0; i < r->ctl_sink_row.n; i++)
			append(j, of, root, "sinks", json_of(MSG_CTL_SINK_ROW, &r->ctl_sink_row.v[i]));
	}
	for (const struct shown *c = j->clusters; c < j->clusters + j->n_clusters; c++)
		append(j, c->of, root, "clusters", cluster_json(&c->s));
	if (j->n == 1)
		json_object_del(root, "replicas");
	output_json(root);
}

/* -- table -- */

static enum table_color state_color(const char *state)
{
	if (strcmp(state, "ready") == 0)
		return COLOR_GOOD;
	return strcmp(state, "degraded") == 0 || strcmp(state, "stopped") == 0 ? COLOR_BAD : COLOR_WARN;
}

/* Processes of one role in one state, or one process alone. */
struct group {
	size_t first, n;
	uint64_t restarts, rss_kb, leases;
	int64_t started; /* of the oldest */
	bool many_clusters;
};

static bool are_alike(const struct msg_child_stats *a, const struct msg_child_stats *b)
{
	return strcmp(a->role, b->role) == 0 && strcmp(a->state, b->state) == 0;
}

static struct group group_of(const struct rows *r, size_t of, bool grouped)
{
	struct group g = { .first = r->child_stats.n, .started = INT64_MAX };

	for (size_t i = 0; i < r->child_stats.n; i++) {
		const struct msg_child_stats *c = &r->child_stats.v[i];

		if (grouped ? !are_alike(c, &r->child_stats.v[of]) : i != of)
			continue;
		g.first = g.n ? g.first : i;
		g.n++;
		g.restarts += c->restarts;
		g.rss_kb += c->rss_kb;
		g.leases += c->leases;
		g.started = c->started < g.started ? c->started : g.started;
		g.many_clusters |= strcmp(c->cluster_name, r->child_stats.v[g.first].cluster_name) != 0;
	}
	return g;
}

static void add_group(struct table *t, const struct msg_child_stats *c, const struct group *g,
		      const char *branch, const char *replica, const struct table_view *view)
{
	_cleanup_free_ char *error = output_facts(&c->error, view);
	const int64_t now = clock_wall_ms();
	char span[32];

	if (g->n > 1)
		table_add(t, COLOR_NONE, "%s %s × %zu", branch, c->role, g->n);
	else
		table_add(t, COLOR_NONE, "%s %s %u", branch, c->role, (unsigned)c->number);
	table_add(t, COLOR_NONE, "%s", replica);
	table_add(t, COLOR_NONE, "%s",
		  g->many_clusters     ? TEXT(STATUS_SEVERAL)
		  : c->cluster_name[0] ? c->cluster_name
				       : "-");
	table_add(t, state_color(c->state), "%s", c->state);
	if (g->n > 1)
		table_add(t, COLOR_NONE, "-");
	else
		table_add(t, COLOR_NONE, "%" PRIu64, c->pid);
	table_add(t, COLOR_NONE, "%s", c->pid ? table_span(now - g->started, span) : "-");
	table_add(t, g->restarts ? COLOR_WARN : COLOR_NONE, "%" PRIu64, g->restarts);
	table_add(t, COLOR_NONE, "%.1f MB", (double)g->rss_kb / 1024);
	table_add(t, COLOR_NONE, "%" PRIu64, g->leases);
	table_add(t, COLOR_DIM, "%s", c->sandbox);
	table_add(t, COLOR_BAD, "%s", error);
}

static void add_processes(struct table *t, const struct rows *r, const char *replica,
			  const struct table_view *view)
{
	const bool grouped = table_is_long(r->child_stats.n, view);
	size_t last = r->child_stats.n;

	while (last > 0 && group_of(r, last - 1, grouped).first != last - 1)
		last--;
	for (size_t i = 0; i < last; i++) {
		const struct group g = group_of(r, i, grouped);

		if (g.first == i)
			add_group(t, &r->child_stats.v[i], &g, i + 1 == last ? "└─" : "├─", replica, view);
	}
}

static void print_processes(const struct joined *j, const struct table_view *view)
{
	static const struct table_column columns[] = {
		{ "PROCESS", 0, 0 },
		{ "REPLICA", 0, COLUMN_FEW },
		{ "CLUSTER", 0, COLUMN_ALIKE }, /* the numbers of processes begin anew in each */
		{ "STATE", 0, 0 },
		{ "PID", 1, 0 },
		{ "UP", 0, 0 },
		{ "RESTARTS", 0, 0 },
		{ "MEMORY", 2, 0 },
		{ "LEASES", 3, 0 },
		{ "SANDBOX", 0, COLUMN_WIDE },
		{ "LAST ERROR", 0, COLUMN_WIDE },
	};
	_cleanup_(table_free) struct table *t = table_new(columns, ARRAY_SIZE(columns));

	for (size_t of = 0; of < j->n; of++)
		add_processes(t, &j->of[of], j->n > 1 ? j->replica[of] : "", view);
	table_print(t, stdout, view);
}

/* What an operator has to know of it first. */
static const char *cluster_state(const struct rows *r, const struct cluster_status *c, enum table_color *ret)
{
	const char *name = c->at->cluster_name;

	*ret = c->watch->synced ? COLOR_WARN : COLOR_BAD;
	if (!c->watch->synced)
		return "blind";
	for (size_t k = 0; k < r->trouble_row.n; k++)
		if (strcmp(r->trouble_row.v[k].cluster_name, name) == 0 ||
		    (!r->trouble_row.v[k].cluster_name[0] &&
		     plan_is_stopped_by((enum trouble)r->trouble_row.v[k].trouble)))
			return "degraded";
	for (size_t k = 0; k < r->pause.n; k++)
		if (!r->pause.v[k].cluster_name[0] || strcmp(r->pause.v[k].cluster_name, name) == 0)
			return "paused";
	*ret = COLOR_GOOD;
	return "running";
}

static void add_tally(struct table *t, enum table_color color, const struct msg_ctl_tally_row *from,
		      uint64_t n)
{
	if (from->cluster_name[0])
		table_add(t, color, "%" PRIu64, n);
	else
		table_add(t, COLOR_DIM, "-");
}

static void print_clusters(const struct joined *j, const struct table_view *view)
{
	static const struct table_column columns[] = {
		{ "CLUSTER", 0, 0 },
		{ "REPLICA", 6, COLUMN_FEW },
		{ "STATE", 0, 0 },
		{ "PODS", 0, 0 },
		{ "DUE", 0, 0 },
		{ "BLOCKED", 0, 0 },
		{ "DONE/24H", 0, 0 },
		{ "AT 0", 0, 0 },
		{ "LAST", 0, 0 },
		{ "CACHE", 4, 0 },
		{ "BYTES/POD", 3, COLUMN_WIDE },
		{ "EVENTS", 5, COLUMN_WIDE },
		{ "QUEUE", 0, COLUMN_WIDE },
		{ "DEADLINES", 2, COLUMN_WIDE },
	};
	_cleanup_(table_free) struct table *t = table_new(columns, ARRAY_SIZE(columns));
	const int64_t now = clock_wall_ms();
	enum table_color color;
	char span[32];

	for (const struct shown *c = j->clusters; c < j->clusters + j->n_clusters; c++) {
		const struct msg_watch_stats *w = c->s.watch;
		const struct msg_ctl_tally_row *tally = c->s.tally;
		const char *state = cluster_state(&j->of[c->of], &c->s, &color);

		table_add(t, COLOR_NONE, "%s", c->s.at->cluster_name);
		table_add(t, COLOR_NONE, "%s", j->n > 1 ? j->replica[c->of] : "");
		table_add(t, color, "%s", state);
		table_add(t, COLOR_NONE, "%" PRIu64, w->pods);
		add_tally(t, COLOR_NONE, tally, tally->due);
		table_add(t, w->blocked ? COLOR_WARN : COLOR_NONE, "%" PRIu64, w->blocked);
		add_tally(t, COLOR_NONE, tally, tally->done);
		add_tally(t, tally->at_zero ? COLOR_WARN : COLOR_NONE, tally, tally->at_zero);
		table_add(t, COLOR_NONE, "%s", w->last_event ? table_span(now - w->last_event, span) : "-");
		table_add(t, COLOR_NONE, "%.1f MB", (double)w->bytes / 1048576);
		table_add(t, COLOR_NONE, "%" PRIu64, w->pods ? w->bytes / w->pods : 0);
		table_add(t, COLOR_NONE, "%" PRIu64, w->events);
		table_add(t, COLOR_NONE, "%" PRIu64, w->queue);
		table_add(t, COLOR_NONE, "%" PRIu64, w->deadlines);
	}
	table_print(t, stdout, view);
}

/* Nobody remembers them by themselves: their pods are gone. */
static void print_at_zero(const struct joined *j, const struct table_view *view)
{
	uint64_t n = 0;

	for (const struct shown *c = j->clusters; c < j->clusters + j->n_clusters; c++)
		n += c->s.tally->at_zero;
	if (n > 0)
		table_text(stdout, view, TEXT_OF(STATUS_AT_ZERO, n), n);
}

static void print_unseen(const struct joined *j, const struct table_view *view)
{
	for (const struct shown *c = j->clusters; c < j->clusters + j->n_clusters; c++) {
		_cleanup_free_ char *why = output_facts(&c->s.watch->unseen, view);

		if (*why)
			table_text(stdout, view, TEXT(STATUS_UNSEEN), c->s.at->cluster_name, why);
	}
}

static void print_pauses(const struct rows *r, const struct table_view *view)
{
	for (size_t i = 0; i < r->pause.n; i++)
		output_pause(&r->pause.v[i], view);
}

static void print_blocked(const struct joined *j, const struct table_view *view)
{
	for (const struct shown *c = j->clusters; c < j->clusters + j->n_clusters; c++) {
		_cleanup_free_ char *by = output_facts(&c->s.watch->blocked_by, view);

		if (c->s.watch->blocked)
			table_text(stdout, view, TEXT(STATUS_BLOCKED), c->s.at->cluster_name,
				   c->s.watch->blocked, by);
	}
}

/* When a cluster that could not be loaded is tried again; "" of everything else. */
static void next_load(const struct rows *r, const struct msg_trouble_row *t, char *ret, size_t size)
{
	const int64_t now = clock_wall_ms();
	char span[32];

	ret[0] = '\0';
	for (size_t i = 0; i < r->ctl_cluster.n; i++) {
		const struct msg_ctl_cluster *c = &r->ctl_cluster.v[i];

		if ((t->trouble != TROUBLE_CLUSTER_WAITS && t->trouble != TROUBLE_CREDENTIAL_KEPT) ||
		    strcmp(c->cluster_name, t->cluster_name) != 0)
			continue;
		if (c->next > now)
			(void)snprintf(ret, size, TEXT(STATUS_TRIED_IN), table_span(c->next - now, span));
		else
			(void)snprintf(ret, size, "%s", TEXT(STATUS_TRIED_NOW));
	}
}

static void print_troubles(const struct rows *r, const struct table_view *view)
{
	const enum language l = language_of_environment();
	char span[32], next[96];

	for (size_t i = 0; i < r->trouble_row.n; i++) {
		const struct msg_trouble_row *t = &r->trouble_row.v[i];
		const struct trouble_desc *d = trouble_desc((enum trouble)t->trouble);

		next_load(r, t, next, sizeof(next));
		_cleanup_free_ char *in = t->cluster_name[0]
						  ? xasprintf(TEXT(STATUS_IN_CLUSTER), t->cluster_name)
						  : xstrdup("");
		_cleanup_free_ char *detail = output_facts(&t->particulars, view);

		table_text(stdout, view, TEXT(STATUS_TROUBLE), in,
			   table_span(clock_wall_ms() - t->since, span), next, d->text[l].sentence,
			   *detail ? TEXT(COLON) : "", detail, d->text[l].remedy);
	}
}

static void print_kubernetes(const struct msg_watch_stats *w, const struct table_view *view)
{
	const enum kubernetes_tried tried = kubernetes_version_tried(STR_C(w->kubernetes));

	if (tried == KUBERNETES_TRIED)
		table_text(stdout, view, TEXT(STATUS_KUBERNETES), w->kubernetes);
	else if (tried != KUBERNETES_UNKNOWN)
		table_text(stdout, view,
			   tried == KUBERNETES_OLDER ? TEXT(STATUS_KUBERNETES_OLDER)
						     : TEXT(STATUS_KUBERNETES_NEWER),
			   w->kubernetes, kubernetes_versions_text());
}

/* Nothing where the configuration fixes the number. */
static void print_workers(const struct msg_worker_stats *w, const struct table_view *view)
{
	const enum text why = text_find(STR_C(w->workers_why));

	if (why != TEXT__MAX && why != TEXT_WORKERS_FIXED)
		table_text(stdout, view, TEXT(STATUS_WORKERS), (unsigned)w->workers,
			   (unsigned)w->workers_limit, text_in(why, language_of_environment()));
}

static void print_place(const struct cluster_status *s, const struct table_view *view)
{
	const struct msg_ctl_cluster *c = s->at;
	_cleanup_free_ char *context =
		c->context[0] ? xasprintf(TEXT(STATUS_CONTEXT), c->context) : xstrdup("");
	_cleanup_free_ char *user = c->user[0] ? xasprintf(TEXT(STATUS_USER), c->user) : xstrdup("");

	table_text(stdout, view, TEXT(STATUS_PLACE), c->cluster_name,
		   c->server[0] ? c->server : TEXT(STATUS_NO_SERVER),
		   c->namespaces[0] ? c->namespaces : TEXT(STATUS_NO_NAMESPACES), context, user,
		   c->kubeconfig);
	print_kubernetes(s->watch, view);
	print_workers(s->workers, view);
	if (c->writer[0])
		table_text(stdout, view, TEXT(STATUS_WRITER), c->writer);
}

/* Of many only those whose version nobody has tried. */
static bool is_place_shown(const struct joined *j, const struct shown *c, const struct table_view *view)
{
	const enum kubernetes_tried t = kubernetes_version_tried(STR_C(c->s.watch->kubernetes));

	return !table_is_long(j->n_clusters, view) || t == KUBERNETES_OLDER || t == KUBERNETES_NEWER;
}

/* Which configuration, and which clusters: so that nobody acts on another one than they think. */
static void print_places(const struct joined *j, const struct table_view *view)
{
	const struct msg_ctl_supervisor *s = supervisor_status(&j->of[0]);
	_cleanup_free_ char *duties = NULL;

	for (enum duty d = 0; d < DUTY__MAX; d++)
		if (s->duties >> d & 1)
			xappend(&duties, ", ", duty_name(d));
	table_text(stdout, view, TEXT(STATUS_PLACES), s->config, duties ? duties : TEXT(NONE));
	if (table_is_long(j->n_clusters, view))
		table_text(stdout, view, TEXT(STATUS_MANY_PLACES), j->n_clusters);
	for (const struct shown *c = j->clusters; c < j->clusters + j->n_clusters; c++)
		if (is_place_shown(j, c, view))
			print_place(&c->s, view);
}

/* Once of them all. */
static void print_shared(const struct joined *j, const struct table_view *view)
{
	_cleanup_free_ char *names = NULL;
	size_t n = 0;

	for (const struct shown *c = j->clusters; c < j->clusters + j->n_clusters; c++)
		if (c->s.watch->shared)
			names_add(&names, &n, c->s.at->cluster_name);
	names = names_end(names, n);
	if (names)
		table_text(stdout, view, TEXT(STATUS_SHARED), names);
}

/* Each way in which it is weaker than it could be, once. */
static void print_sandboxes(const struct rows *r, const struct table_view *view)
{
	for (size_t i = 0; i < r->child_stats.n; i++) {
		const struct msg_child_stats *c = &r->child_stats.v[i];
		size_t first = 0;

		while (strcmp(r->child_stats.v[first].sandbox, c->sandbox) != 0)
			first++;
		if (sandbox_is_weak(c->sandbox) && first == i)
			table_text(stdout, view, TEXT(STATUS_SANDBOX), c->role, c->sandbox,
				   strcmp(c->sandbox, "off") == 0 ? TEXT(STATUS_SANDBOX_OFF)
								  : TEXT(STATUS_SANDBOX_LACKS));
	}
}

/* Only those that something waits for. */
static void print_sinks(const struct rows *r, const struct table_view *view)
{
	char span[32];

	for (size_t i = 0; i < r->ctl_sink_row.n; i++) {
		const struct msg_ctl_sink_row *k = &r->ctl_sink_row.v[i];
		_cleanup_free_ char *error = output_facts(&k->error, view);

		if (k->waiting > 0)
			table_text(stdout, view, TEXT_OF(STATUS_SINK, k->waiting), k->name, k->waiting,
				   table_span(clock_wall_ms() - k->oldest, span), *error ? TEXT(COLON) : "",
				   error);
	}
}

static void print_head(const struct rows *r, const struct table_view *view)
{
	const struct msg_ctl_supervisor *s = supervisor_status(r);
	_cleanup_free_ char *actions = xasprintf(TEXT_OF(STATUS_ACTIONS, s->actions), s->actions);
	_cleanup_free_ char *leases = xasprintf(TEXT(STATUS_LEASES), s->leases);
	_cleanup_free_ char *note = output_facts(&s->note, view);
	char span[32];

	table_text(stdout, view, TEXT(STATUS_HEAD), s->version, s->phase,
		   r->pause.n ? TEXT(STATUS_HEAD_PAUSED) : "", s->observe ? TEXT(STATUS_OBSERVE) : "enforce",
		   table_span(clock_wall_ms() - s->started, span), s->generation, actions, leases,
		   s->pending);
	print_troubles(r, view);
	if (*note)
		table_text(stdout, view, TEXT(STATUS_NOTE), note);
}

static void print_replica(const struct joined *j, size_t of, const struct table_view *view)
{
	size_t leads = 0;

	for (size_t i = 0; i < j->n_clusters; i++)
		leads += j->clusters[i].of == of;
	printf("%s", of ? "\n" : "");
	table_text(stdout, view, TEXT(STATUS_REPLICA), j->replica[of], leads, j->n_clusters);
}

/* Who is running, of each; then the clusters and processes of all. */
static void print_text(const struct joined *j, const struct table_view *view)
{
	for (size_t of = 0; of < j->n; of++) {
		if (j->n > 1)
			print_replica(j, of, view);
		print_head(&j->of[of], view);
		if (of == 0)
			print_places(j, view);
		print_pauses(&j->of[of], view);
	}
	print_blocked(j, view);
	print_at_zero(j, view);
	for (size_t of = 0; of < j->n; of++)
		print_sinks(&j->of[of], view);
	print_shared(j, view);
	for (size_t of = 0; of < j->n; of++)
		print_sandboxes(&j->of[of], view);
	printf("\n");
	print_clusters(j, view);
	printf("\n");
	print_processes(j, view);
	if (j->n == 1)
		leaders_print(&j->of[0], stdout, view);
	print_unseen(j, view);
}

/* One that does not answer says why on stderr, and keeps no other from being asked. The code of the first. */
static int ask_all(const struct options *o, struct joined *j)
{
	int first = EXIT_CODE_OK;

	for (size_t i = 0; i <= answers_count(); i++) {
		const char *socket = answers_socket(o->socket, i);
		const int code = instance_status_ask(o, socket, !o->quiet, &j->of[j->n]);

		j->replica[j->n] = answers_replica(i);
		if (code == EXIT_CODE_OK)
			add_clusters(j, j->n++);
		else
			rows_done(&j->of[j->n]);
		first = first == EXIT_CODE_OK ? code : first;
	}
	return first;
}

int command_status(const struct options *o)
{
	const struct table_view view = options_view(o);
	struct joined j = { .n = 0 };
	const int code = ask_all(o, &j);
	bool well = true;

	if (j.n > 0 && !o->quiet && o->output == OUTPUT_JSON)
		print_json(&j);
	else if (j.n > 0 && !o->quiet)
		print_text(&j, &view);
	for (size_t i = 0; i < j.n; i++) {
		well = well && j.of[i].trouble_row.n + j.of[i].pause.n == 0;
		rows_done(&j.of[i]);
	}
	free(j.clusters);
	return code == EXIT_CODE_OK && !well ? EXIT_CODE_FAILURE : code;
}
