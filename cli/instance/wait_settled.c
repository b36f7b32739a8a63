/* wait_settled.c - see wait_settled.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/instance/wait_settled.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "cli/view/output.h"
#include "model/guards.h"
#include "model/troubles.h"
#include "text/facts_text.h"

#define FIRST_MS  5u /* between two looks, later an eighth of what was waited, up to */
#define EVERY_MS  100u
#define ANSWER_MS UINT64_C(20000)
/* Watchers say every 2 s what has changed: what has been quiet for longer is over. */
#define QUIET_MS 5000u
/* What cannot be written down is tried again: for so long that is no reason to give up. */
#define HISTORY_MS        3000
#define HTTP_UNAUTHORIZED 401

/* One answer to CTL_STATUS. */
struct state {
	uint64_t quiet_ms, pods, guards;
	size_t clusters, judged, children, ready;
	uint64_t end;         /* behind the last index; one between may be of no cluster */
	char no_history[800]; /* why nothing can be written down; "" = it can */
	struct {
		bool judged, refused;
		bool lasts; /* the trouble will hardly go away in a moment */
		uint64_t failing_ms;
		char name[64], trouble[400]; /* trouble "": there is none */
	} at[CLUSTERS_MAX];
};

static void note_trouble(struct state *s, uint64_t cluster, const struct facts *f)
{
	_cleanup_free_ char *told = facts_render_in(f, language_of_environment());

	if (*told && !s->at[cluster].trouble[0])
		(void)snprintf(s->at[cluster].trouble, sizeof(s->at[0].trouble), TEXT(ROUND_TROUBLE),
			       s->at[cluster].name, told);
}

static void on_cluster(struct state *s, const struct msg_ctl_cluster *m)
{
	s->clusters++;
	s->end = m->cluster + 1;
	s->judged += m->judged;
	s->at[m->cluster].judged = m->judged;
	s->at[m->cluster].failing_ms = m->failing_ms;
	s->at[m->cluster].lasts = !facts_empty(&m->problem);
	memcpy(s->at[m->cluster].name, m->cluster_name, sizeof(m->cluster_name));
	note_trouble(s, m->cluster, &m->problem);
}

static void on_watch_stats(struct state *s, const struct msg_watch_stats *m)
{
	s->pods += m->pods;
	s->guards |= m->guards;
	if (m->cluster >= s->end || !m->failing)
		return;
	s->at[m->cluster].refused = m->http == HTTP_UNAUTHORIZED;
	s->at[m->cluster].lasts |= s->at[m->cluster].refused;
	note_trouble(s, m->cluster, &m->error);
}

static void note_no_history(struct state *s, const struct facts *particulars)
{
	const enum language l = language_of_environment();
	_cleanup_free_ char *told = facts_render_in(particulars, l);

	(void)snprintf(s->no_history, sizeof(s->no_history), "%s: %s",
		       trouble_desc(TROUBLE_HISTORY)->text[l].sentence, told);
}

static void on_row(struct state *s, const struct msg *m)
{
	switch (m->type) {
	case MSG_CTL_SUPERVISOR:
		s->quiet_ms = m->u.ctl_supervisor.quiet_ms;
		break;
	case MSG_CTL_CLUSTER: /* before its WATCH_STATS */
		on_cluster(s, &m->u.ctl_cluster);
		break;
	case MSG_WATCH_STATS:
		on_watch_stats(s, &m->u.watch_stats);
		break;
	case MSG_CHILD_STATS:
		s->children++;
		s->ready += strcmp(m->u.child_stats.state, "ready") == 0;
		break;
	case MSG_TROUBLE_ROW:
		if (m->u.trouble_row.trouble == TROUBLE_HISTORY &&
		    clock_wall_ms() - m->u.trouble_row.since >= HISTORY_MS)
			note_no_history(s, &m->u.trouble_row.particulars);
		break;
	default:
		break;
	}
}

/* An instance that is still starting answers with an error, which is not worth a line. */
static int ask_state(struct ctl *c, struct state *ret)
{
	const struct msg ask = { .type = MSG_CTL_STATUS };
	struct msg m = { 0 };

	*ret = (struct state){ 0 };
	int code = ctl_send(c, &ask);

	while (code == EXIT_CODE_OK && m.type != MSG_CTL_END) {
		code = ctl_recv(c, ANSWER_MS, &m);
		if (code == EXIT_CODE_OK)
			on_row(ret, &m);
	}
	return code;
}

static void show_progress(const struct state *s, bool end)
{
	if (!isatty(STDERR_FILENO))
		return;
	(void)fprintf(stderr, "\r\033[K");
	if (!end)
		(void)fprintf(stderr, TEXT(ROUND_LISTING), s->pods, s->judged, s->clusters);
}

/* Is all judged and, where it acts, done? What guards hold back only for a moment is waited for. */
static bool is_settled(const struct state *s, const struct wait_limits *limits, uint64_t waited_ms)
{
	const bool soon = s->guards >> GUARD_QUIET & 1 ||
			  (s->guards >> GUARD_LEADER & 1 && waited_ms < limits->leader_ms);

	return s->clusters > 0 && s->judged == s->clusters && s->ready == s->children &&
	       (!limits->acts || (s->quiet_ms >= QUIET_MS && !soon));
}

static bool is_lost(const struct state *s, size_t cluster, const struct wait_limits *limits)
{
	return s->at[cluster].trouble[0] &&
	       (s->at[cluster].failing_ms >= limits->trouble_ms || (s->at[cluster].lasts && !limits->acts));
}

static int give_up(const struct state *s, size_t cluster)
{
	output_complain(NULL, "%s", s->at[cluster].trouble);
	return s->at[cluster].refused ? EXIT_CODE_CREDENTIAL : EXIT_CODE_UNAVAILABLE;
}

/* True when no more can come: `ret` holds what was given up, and the code. */
static bool is_over_without(const struct state *s, const struct wait_limits *limits, bool all_needed,
			    struct wait_lost *ret)
{
	size_t lost = 0;

	*ret = (struct wait_lost){ .code = EXIT_CODE_OK };
	for (size_t i = 0; i < s->end; i++) {
		ret->is[i] = s->at[i].name[0] && (all_needed || !s->at[i].judged) && is_lost(s, i, limits);
		lost += ret->is[i];
	}
	if (lost == 0 || (!all_needed && s->judged + lost < s->clusters))
		return false;
	for (size_t i = 0; i < s->end; i++)
		/* Where nothing is left the first one is enough. */
		if (ret->is[i] && (ret->code == EXIT_CODE_OK || (!all_needed && s->judged > 0))) {
			const int code = give_up(s, i);

			ret->code = ret->code != EXIT_CODE_OK ? ret->code : code;
		}
	return true;
}

/* A small cluster is judged within a few milliseconds, a large one is not asked about it all the time. */
static void rest(uint64_t waited_ms)
{
	const uint64_t ms = waited_ms / 8 < FIRST_MS   ? FIRST_MS
			    : waited_ms / 8 < EVERY_MS ? waited_ms / 8
						       : EVERY_MS;
	const struct timespec pause = { 0, (long)ms * 1000000L };

	(void)nanosleep(&pause, NULL);
}

int wait_settled(struct ctl *c, const struct wait_limits *limits, struct wait_lost *ret_lost)
{
	const uint64_t begin = clock_boot_ms();
	struct wait_lost lost;
	struct state s;

	for (;;) {
		const int code = ask_state(c, &s);
		const uint64_t waited_ms = clock_boot_ms() - begin;
		const bool settled = is_settled(&s, limits, waited_ms);

		show_progress(&s, code != EXIT_CODE_OK || settled);
		if (code == EXIT_CODE_OK && limits->acts && s.no_history[0]) {
			show_progress(&s, true);
			output_complain(NULL, "%s", s.no_history);
			return EXIT_CODE_CONFIG;
		}
		if (code != EXIT_CODE_OK || settled)
			return code;
		if (is_over_without(&s, limits, !ret_lost, &lost)) {
			if (ret_lost)
				*ret_lost = lost;
			return ret_lost && s.judged > 0 ? EXIT_CODE_OK : lost.code;
		}
		rest(waited_ms);
	}
}

int wait_ready(struct ctl *c, uint64_t timeout_ms)
{
	const uint64_t begin = clock_boot_ms();
	struct state s;

	do {
		const int code = ask_state(c, &s);

		if (code != EXIT_CODE_OK || (s.children > 0 && s.ready == s.children))
			return code;
		for (size_t i = 0; i < s.end; i++)
			if (s.at[i].trouble[0] && s.at[i].lasts)
				return give_up(&s, i);
		rest(clock_boot_ms() - begin);
	} while (clock_boot_ms() - begin < timeout_ms);
	output_complain(NULL, "%s", TEXT(ROUND_NOT_READY));
	return EXIT_CODE_UNAVAILABLE;
}
