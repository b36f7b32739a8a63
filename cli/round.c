/* round.c - see round.h. */
// SPDX-License-Identifier: Apache-2.0
#include "cli/round.h"
#include "cli/output.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit.h"
#include "model/language.h"
#include "model/retell.h"
#include "model/guards.h"
#include "model/troubles.h"

#define EVERY_MS  100u
#define ANSWER_MS UINT64_C(20000)
/* Watchers tell every 2 s what has changed: what has been still for longer is over. */
#define STILL_MS 5000u
/* What cannot be written down is tried again: for so long that is no reason to give up. */
#define HISTORY_MS 3000

/* One answer to CTL_STATUS. */
struct state {
	bool known; /* it has settings */
	char names[CLUSTERS_MAX][64];
	size_t clusters, told, synced; /* told: by their watchers */
	uint64_t pods, queue, leases, guards;
	uint64_t moves; /* grows with whatever happens */
	size_t children, ready;
	char no_history[800]; /* why nothing can be written down; "" = it can */
	struct {
		bool synced;
		char trouble[400]; /* the first; "" = none */
		bool lasting;      /* it will hardly go away in a moment */
		size_t down;       /* processes that are not ready */
	} at[CLUSTERS_MAX];
};

/* The credential, by the server. */
static bool is_refused(const char *trouble)
{
	return strstr(trouble, "401");
}

static void note_trouble(struct state *s, uint64_t cluster, const char *text, bool lasting)
{
	if (!text[0] || cluster >= CLUSTERS_MAX || s->at[cluster].trouble[0])
		return;
	_cleanup_free_ char *told = retell(text, language_of_environment());

	(void)snprintf(s->at[cluster].trouble, sizeof(s->at[0].trouble), TEXT(ROUND_TROUBLE),
		       s->names[cluster], told);
	s->at[cluster].lasting = lasting;
}

/* The first cluster that is in trouble; CLUSTERS_MAX: none is. */
static size_t first_troubled(const struct state *s)
{
	size_t i = 0;

	while (i < CLUSTERS_MAX && !s->at[i].trouble[0])
		i++;
	return i;
}

static void on_ctl_cluster(struct state *s, const struct msg_ctl_cluster *m)
{
	(void)snprintf(s->names[m->cluster], sizeof(s->names[0]), "%s", m->cluster_name);
	s->clusters++;
	note_trouble(s, m->cluster, m->problem, true);
}

static void on_watch_stats(struct state *s, const struct msg_watch_stats *m)
{
	s->told++;
	s->synced += m->synced;
	if (m->cluster < CLUSTERS_MAX)
		s->at[m->cluster].synced = m->synced;
	s->pods += m->pods;
	s->queue += m->queue;
	s->guards |= m->guards;
	s->moves += m->nominated + m->dropped;
	if (m->failing)
		note_trouble(s, m->cluster, m->error, is_refused(m->error));
}

static void on_child(struct state *s, const struct msg_child_stats *m)
{
	const bool ready = strcmp(m->state, "ready") == 0;

	s->children++;
	s->ready += ready;
	for (size_t i = 0; i < s->clusters; i++)
		s->at[i].down += !ready && strcmp(s->names[i], m->cluster_name) == 0;
}

static void on_trouble(struct state *s, const struct msg_trouble_row *m)
{
	if (m->trouble == TROUBLE_HISTORY && clock_wall_ms() - m->since >= HISTORY_MS)
		(void)snprintf(s->no_history, sizeof(s->no_history), "%s: %s",
			       trouble_desc(TROUBLE_HISTORY)->text[language_of_environment()].sentence,
			       m->detail);
}

static void on_row(struct state *s, const struct msg *m)
{
	const struct msg_child_stats *c = &m->u.child_stats;

	switch (m->type) {
	case MSG_CTL_SUPERVISOR:
		s->known = true;
		s->leases = m->u.ctl_supervisor.leases;
		s->moves += m->u.ctl_supervisor.actions;
		break;
	case MSG_CTL_CLUSTER:
		on_ctl_cluster(s, &m->u.ctl_cluster);
		break;
	case MSG_WATCH_STATS:
		on_watch_stats(s, &m->u.watch_stats);
		break;
	case MSG_CHILD_STATS:
		on_child(s, c);
		break;
	case MSG_TROUBLE_ROW:
		on_trouble(s, &m->u.trouble_row);
		break;
	default:
		break;
	}
}

/* What it says while it is still starting is not worth a line. */
static int take_state(struct ctl *c, struct state *ret)
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

static void progress(const struct state *s, bool end)
{
	if (!isatty(STDERR_FILENO))
		return;
	(void)fprintf(stderr, "\r\033[K");
	if (!end)
		(void)fprintf(stderr, TEXT(ROUND_LISTING), s->pods, s->synced, s->clusters);
}

static bool is_judged(const struct state *s)
{
	return s->known && s->clusters > 0 && s->told == s->clusters && s->synced == s->clusters &&
	       s->ready == s->children && s->queue == 0;
}

/* Since when which of these lasts, boot time; 0 = not. */
struct since {
	uint64_t begin, still;
	uint64_t moves; /* at `still` */
	uint64_t trouble[CLUSTERS_MAX];
};

static bool is_still(const struct state *s, struct since *t, uint64_t now)
{
	if (s->leases || s->moves != t->moves || !t->still)
		t->still = now;
	t->moves = s->moves;
	return now - t->still >= STILL_MS;
}

/* What passes by itself and soon. */
static bool guards_wait(const struct state *s, const struct round_limits *limits, const struct since *t,
			uint64_t now)
{
	return s->guards >> GUARD_QUIET & 1 ||
	       (s->guards >> GUARD_LEADER & 1 && now - t->begin < limits->leader_ms);
}

static bool is_over(const struct state *s, const struct round_limits *limits, struct since *t, uint64_t now)
{
	if (!is_judged(s)) {
		t->still = 0;
		return false;
	}
	return !limits->acts || (is_still(s, t, now) && !guards_wait(s, limits, t, now));
}

static int give_up(const struct state *s, size_t cluster)
{
	const char *trouble = s->at[cluster].trouble;

	output_complain(NULL, "%s", trouble);
	return is_refused(trouble) ? EXIT_CODE_CREDENTIAL : EXIT_CODE_UNAVAILABLE;
}

/* Has its trouble lasted? */
static bool is_lost(const struct state *s, size_t cluster, const struct round_limits *limits,
		    const struct since *t, uint64_t now)
{
	return s->at[cluster].trouble[0] &&
	       (now - t->trouble[cluster] >= limits->trouble_ms || (s->at[cluster].lasting && !limits->acts));
}

static void note_since(struct since *t, const struct state *s, uint64_t now)
{
	for (size_t i = 0; i < CLUSTERS_MAX; i++)
		t->trouble[i] = !s->at[i].trouble[0] ? 0 : t->trouble[i] ? t->trouble[i] : now;
}

/* Is every cluster through or lost, and one of them through? Then what is wrong with the others is said. */
static bool is_over_without(const struct state *s, const struct round_limits *limits, const struct since *t,
			    uint64_t now, struct round_lost *ret)
{
	size_t lost = 0, down = s->children - s->ready;

	if (!s->known || s->told != s->clusters || s->synced == 0 || s->queue > 0)
		return false;
	for (size_t i = 0; i < s->clusters; i++) {
		ret->is[i] = !s->at[i].synced && is_lost(s, i, limits, t, now);
		lost += ret->is[i];
		down -= ret->is[i] ? s->at[i].down : 0;
	}
	if (lost == 0 || s->synced + lost != s->clusters || down > 0)
		return false;
	for (size_t i = 0; i < s->clusters; i++) {
		const int code = ret->is[i] ? give_up(s, i) : EXIT_CODE_OK;

		ret->code = ret->code != EXIT_CODE_OK ? ret->code : code;
	}
	return true;
}

/* Can none of the clusters get through? */
static bool is_lost_altogether(const struct state *s, const struct round_limits *limits,
			       const struct since *t, uint64_t now)
{
	for (size_t i = 0; i < s->clusters; i++)
		if (!is_lost(s, i, limits, t, now))
			return false;
	return s->clusters > 0;
}

int round_await(struct ctl *c, const struct round_limits *limits, struct round_lost *ret_lost)
{
	const struct timespec pause = { 0, EVERY_MS * 1000000L };
	struct since t = { .begin = clock_boot_ms() };
	struct state s;

	for (;;) {
		const int code = take_state(c, &s);
		const uint64_t now = clock_boot_ms();
		const bool over = is_over(&s, limits, &t, now);

		note_since(&t, &s, now);
		const size_t first = first_troubled(&s);
		const bool lost = first < CLUSTERS_MAX && (ret_lost ? is_lost_altogether(&s, limits, &t, now)
								    : is_lost(&s, first, limits, &t, now));

		progress(&s, code != EXIT_CODE_OK || over || lost);
		if (code == EXIT_CODE_OK && limits->acts && s.no_history[0]) {
			output_complain(NULL, "%s", s.no_history);
			return EXIT_CODE_CONFIG;
		}
		if (code != EXIT_CODE_OK || over)
			return code;
		if (lost)
			return give_up(&s, first);
		if (ret_lost && is_over_without(&s, limits, &t, now, ret_lost))
			return EXIT_CODE_OK;
		(void)nanosleep(&pause, NULL);
	}
}

int round_await_workers(struct ctl *c, uint64_t timeout_ms)
{
	const struct timespec pause = { 0, EVERY_MS * 1000000L };
	const uint64_t end = clock_boot_ms() + timeout_ms;
	struct state s;

	for (;;) {
		const int code = take_state(c, &s);

		if (code != EXIT_CODE_OK || (s.children > 0 && s.ready == s.children))
			return code;
		const size_t first = first_troubled(&s);

		if (first < CLUSTERS_MAX && s.at[first].lasting)
			return give_up(&s, first);
		if (clock_boot_ms() >= end)
			break;
		(void)nanosleep(&pause, NULL);
	}
	output_complain(NULL, "%s", TEXT(ROUND_NOT_READY));
	return EXIT_CODE_UNAVAILABLE;
}
