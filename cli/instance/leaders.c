/* leaders.c - see leaders.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/instance/leaders.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "base/xalloc.h"
#include "cli/instance/answers.h"
#include "cli/instance/ctl.h"
#include "cli/view/output.h"

#define NAMES_MAX 4 /* that are written out; one more is a number */
#define ASK_MS    2000u

bool leaders_is_here(const struct msg_leader *l)
{
	return l->leading && clock_boot_ms() < l->valid_until;
}

void leaders_add(struct cluster_leaders *l, const char *cluster, const struct msg_leader *leader)
{
	(void)snprintf(l->v[l->n].cluster, sizeof(l->v[0].cluster), "%s", cluster);
	(void)snprintf(l->v[l->n].holder, sizeof(l->v[0].holder), "%s", leader->holder);
	l->v[l->n++].here = leaders_is_here(leader);
}

static bool is_alike(const struct cluster_leaders *l, size_t a, size_t b)
{
	return l->v[a].here == l->v[b].here && (l->v[a].here || strcmp(l->v[a].holder, l->v[b].holder) == 0);
}

static bool is_first(const struct cluster_leaders *l, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (is_alike(l, k, i))
			return false;
	return true;
}

/* The clusters of who leads cluster i: "a, b, c and 30 more". Owned by the caller. */
static char *names_like(const struct cluster_leaders *l, size_t i, size_t *ret_n)
{
	char *names = NULL;

	*ret_n = 0;
	for (size_t k = i; k < l->n; k++)
		if (is_alike(l, k, i) && (*ret_n)++ < NAMES_MAX)
			xappend(&names, ", ", l->v[k].cluster);
	if (*ret_n > NAMES_MAX) {
		char *longer = xasprintf(TEXT(NAMES_AND_MORE), names, *ret_n - NAMES_MAX);

		free(names);
		names = longer;
	}
	return names;
}

static void print_group(const struct cluster_leaders *l, size_t i, FILE *out, const struct table_view *view)
{
	size_t n;
	_cleanup_free_ char *names = names_like(l, i, &n);

	if (l->v[i].here)
		table_text(out, view, TEXT(STATUS_LEADS_OF), n, l->n, names);
	else if (l->v[i].holder[0])
		table_text(out, view, TEXT(STATUS_OTHER_LEADS), l->v[i].holder, n, l->n, names);
	else
		table_text(out, view, TEXT(STATUS_NO_LEADER), names);
}

void leaders_print(const struct cluster_leaders *l, FILE *out, const struct table_view *view)
{
	if (l->n == 1 && l->v[0].here)
		table_text(out, view, TEXT(STATUS_LEADS), l->v[0].cluster);
	else if (l->n == 1 && l->v[0].holder[0])
		table_text(out, view, TEXT(STATUS_STANDBY), l->v[0].cluster, l->v[0].holder);
	else
		for (int here = 1; here >= 0; here--)
			for (size_t i = 0; i < l->n; i++)
				if (l->v[i].here == here && is_first(l, i))
					print_group(l, i, out, view);
}

/* -- of an instance -- */

struct asked {
	char names[CLUSTERS_MAX][64];
	struct cluster_leaders leaders;
};

static void on_row(void *ctx, const struct msg *m)
{
	struct asked *a = ctx;

	if (m->type == MSG_CTL_CLUSTER)
		memcpy(a->names[m->u.ctl_cluster.cluster], m->u.ctl_cluster.cluster_name,
		       sizeof(a->names[0]));
	if (m->type == MSG_LEADER && m->u.leader.cluster < CLUSTERS_MAX)
		leaders_add(&a->leaders, a->names[m->u.leader.cluster], &m->u.leader);
}

void leaders_tell_others(const char *socket, const struct table_view *view)
{
	const struct msg request = { .type = MSG_CTL_STATUS };
	_cleanup_free_ struct asked *a = xcalloc(1, sizeof(*a));

	if (answers_are_joined() || ctl_ask(socket, &request, ASK_MS, on_row, a) != EXIT_CODE_OK)
		return;
	for (size_t i = 0; i < a->leaders.n; i++)
		if (!a->leaders.v[i].here && a->leaders.v[i].holder[0] && is_first(&a->leaders, i))
			print_group(&a->leaders, i, stderr, view);
}
