/* instance_status.c - see instance_status.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/instance/instance_status.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/instance/answers.h"
#include "cli/view/output.h"
#include "text/texts.h"

#define ASK_MS    10000u
#define SINKS_MS  2000u
#define NAMES_MAX 4 /* that are written out; one more is a number */

/* -- asking -- */

struct wanted {
	const struct option_names *clusters;
	struct rows *rows;
};

/* NULL: it is not there. */
static const struct msg_ctl_cluster *find_cluster(const struct rows *r, uint64_t cluster)
{
	for (size_t i = 0; i < r->ctl_cluster.n; i++)
		if (r->ctl_cluster.v[i].cluster == cluster)
			return &r->ctl_cluster.v[i];
	return NULL;
}

/* A LEADER comes behind its CTL_CLUSTER. */
static void take_wanted(void *ctx, const struct msg *m)
{
	const struct wanted *w = ctx;
	const char *cluster = msg_cluster_name(m);

	if (*cluster && !option_names_take(w->clusters, cluster))
		return;
	if (m->type != MSG_LEADER || find_cluster(w->rows, m->u.leader.cluster))
		rows_take(w->rows, m);
}

int instance_status_request(struct ctl *c, const struct option_names *clusters, struct rows *ret)
{
	const struct msg request = { .type = MSG_CTL_STATUS };
	struct wanted w = { clusters, ret };
	const int code = ctl_request(c, &request, ASK_MS, take_wanted, &w);

	if (code != EXIT_CODE_OK || ret->ctl_cluster.n > 0 || clusters->n == 0)
		return code;
	output_complain(NULL, "%s", text_in(TEXT_UNKNOWN_CLUSTER, language_of_environment()));
	return EXIT_CODE_USAGE;
}

/* Who answers may be down, which the answer so far says. */
static void ask_reporter(struct ctl *c, const struct option_names *clusters, struct rows *ret)
{
	const struct msg request = { .type = MSG_CTL_SINKS };
	struct wanted w = { clusters, ret };

	for (size_t i = 0; i < ret->child_stats.n; i++)
		if (strcmp(ret->child_stats.v[i].role, role_name(ROLE_REPORTER)) == 0 &&
		    strcmp(ret->child_stats.v[i].state, "ready") == 0)
			(void)ctl_request(c, &request, SINKS_MS, take_wanted, &w);
}

int instance_status_ask(const struct options *o, const char *socket, bool reporter, struct rows *ret)
{
	struct ctl *c = NULL;
	int code = ctl_open(socket, &c);

	if (code == EXIT_CODE_OK)
		code = instance_status_request(c, &o->clusters, ret);
	if (code == EXIT_CODE_OK && reporter)
		ask_reporter(c, &o->clusters, ret);
	ctl_close(&c);
	return code;
}

/* -- its parts -- */

const struct msg_ctl_supervisor *supervisor_status(const struct rows *r)
{
	static const struct msg_ctl_supervisor none;

	return r->ctl_supervisor.n ? r->ctl_supervisor.v : &none;
}

struct cluster_status cluster_status_of(const struct rows *r, size_t i)
{
	static const struct msg_watch_stats no_watch;
	static const struct msg_worker_stats no_workers;
	static const struct msg_ctl_tally_row no_tally;
	struct cluster_status ret = { &r->ctl_cluster.v[i], &no_watch, &no_workers, &no_tally, NULL };

	for (size_t k = 0; k < r->watch_stats.n; k++)
		if (r->watch_stats.v[k].cluster == ret.at->cluster)
			ret.watch = &r->watch_stats.v[k];
	for (size_t k = 0; k < r->worker_stats.n; k++)
		if (r->worker_stats.v[k].cluster == ret.at->cluster)
			ret.workers = &r->worker_stats.v[k];
	for (size_t k = 0; k < r->ctl_tally_row.n; k++)
		if (strcmp(r->ctl_tally_row.v[k].cluster_name, ret.at->cluster_name) == 0)
			ret.tally = &r->ctl_tally_row.v[k];
	for (size_t k = 0; k < r->leader.n; k++)
		if (r->leader.v[k].cluster == ret.at->cluster)
			ret.leader = &r->leader.v[k];
	return ret;
}

bool cluster_status_leads(const struct cluster_status *c)
{
	return !c->leader || leaders_is_here(c->leader);
}

/* -- leaders -- */

bool leaders_is_here(const struct msg_leader *l)
{
	return l->leading && clock_boot_ms() < l->valid_until;
}

/* Is it the same replica that leads? */
static bool is_alike(const struct msg_leader *a, const struct msg_leader *b)
{
	const bool here = leaders_is_here(a);

	return here == leaders_is_here(b) && (here || strcmp(a->holder, b->holder) == 0);
}

static bool is_first(const struct rows *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (is_alike(&r->leader.v[k], &r->leader.v[i]))
			return false;
	return true;
}

void names_add(char **names, size_t *n, const char *name)
{
	if ((*n)++ < NAMES_MAX)
		xappend(names, ", ", name);
}

char *names_end(char *names, size_t n)
{
	if (n <= NAMES_MAX)
		return names;
	_cleanup_free_ char *first = names;

	return xasprintf(TEXT(NAMES_AND_MORE), first, n - NAMES_MAX);
}

/* The clusters of who leads cluster i, as names_end(). */
static char *names_like(const struct rows *r, size_t i, size_t *ret_n)
{
	char *names = NULL;

	*ret_n = 0;
	for (size_t k = i; k < r->leader.n; k++)
		if (is_alike(&r->leader.v[k], &r->leader.v[i]))
			names_add(&names, ret_n, find_cluster(r, r->leader.v[k].cluster)->cluster_name);
	return names_end(names, *ret_n);
}

static void print_group(const struct rows *r, size_t i, FILE *out, const struct table_view *view)
{
	const struct msg_leader *l = &r->leader.v[i];
	size_t n;
	_cleanup_free_ char *names = names_like(r, i, &n);

	if (leaders_is_here(l))
		table_text(out, view, TEXT(STATUS_LEADS_OF), n, r->leader.n, names);
	else if (l->holder[0])
		table_text(out, view, TEXT(STATUS_OTHER_LEADS), l->holder, n, r->leader.n, names);
	else
		table_text(out, view, TEXT(STATUS_NO_LEADER), names);
}

void leaders_print(const struct rows *status, FILE *out, const struct table_view *view)
{
	const struct msg_leader *l = status->leader.v;
	const char *only = status->leader.n == 1 ? find_cluster(status, l->cluster)->cluster_name : NULL;

	if (only && leaders_is_here(l))
		table_text(out, view, TEXT(STATUS_LEADS), only);
	else if (only && l->holder[0])
		table_text(out, view, TEXT(STATUS_STANDBY), only, l->holder);
	else
		for (int here = 1; here >= 0; here--)
			for (size_t i = 0; i < status->leader.n; i++)
				if (leaders_is_here(&l[i]) == here && is_first(status, i))
					print_group(status, i, out, view);
}

void leaders_tell_others(const struct options *o)
{
	const struct options all = { .clusters = { .n = 0 } };
	const struct table_view view = options_view(o);
	struct rows r = { 0 };

	if (o->output != OUTPUT_JSON && !answers_are_joined() &&
	    instance_status_ask(&all, o->socket, false, &r) == EXIT_CODE_OK)
		for (size_t i = 0; i < r.leader.n; i++)
			if (!leaders_is_here(&r.leader.v[i]) && r.leader.v[i].holder[0] && is_first(&r, i))
				print_group(&r, i, stderr, &view);
	rows_done(&r);
}
