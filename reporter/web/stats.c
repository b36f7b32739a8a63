/* stats.c - see stats.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/web/stats.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "model/duties.h"
#include "base/xalloc.h"
#include "build_id.h"

#define PAGE_BYTES 4096.0

static double seconds(int64_t ms)
{
	return (double)ms / 1000.0;
}

void stats_init(struct stats *f)
{
	*f = (struct stats){ .metrics = metrics_new() };
	f->statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	health_set(&f->live, "loop", true);
	health_set(&f->ready, "history", true);
	metrics_set(f->metrics, METRIC_BUILD_INFO, 1, METRIC_LABELS(OPC_VERSION, __VERSION__));
	metrics_set(f->metrics, METRIC_START, seconds(clock_wall_ms()), METRIC_NO_LABELS);
	metrics_set(f->metrics, METRIC_COMMIT_FAILURES, 0, METRIC_NO_LABELS);
	metrics_set(f->metrics, METRIC_HISTORY_DROPPED, 0, METRIC_NO_LABELS);
}

void stats_done(struct stats *f)
{
	metrics_free(&f->metrics);
	health_done(&f->ready);
	health_done(&f->live);
	str_list_done(&f->clusters);
	if (f->statm_fd >= 0)
		(void)close(f->statm_fd);
	f->statm_fd = -1;
}

static void set_synced(struct stats *f, const char *cluster, bool synced)
{
	_cleanup_free_ char *check = xasprintf("watch-%s", cluster);

	health_set(&f->ready, check, synced);
	metrics_set(f->metrics, METRIC_WATCH_SYNCED, synced, METRIC_LABELS(cluster));
}

void stats_set_clusters(struct stats *f, const struct str_list *clusters)
{
	str_list_done(&f->clusters);
	f->clusters = (struct str_list){ 0 };
	for (size_t i = 0; i < clusters->n; i++)
		str_list_add(&f->clusters, clusters->v[i], strlen(clusters->v[i]));
	for (size_t i = 0; i < clusters->n; i++)
		if (metrics_get(f->metrics, METRIC_WATCH_SYNCED, METRIC_LABELS(clusters->v[i])) == 0)
			set_synced(f, clusters->v[i], false);
}

/* -- messages -------------------------------------------------------------------------------------------- */

void stats_watch(struct stats *f, const char *cluster, const struct msg_watch_stats *s)
{
	const struct {
		enum metric id;
		double value;
	} table[] = {
		{ METRIC_CACHE_PODS, (double)s->pods },
		{ METRIC_CACHE_BYTES, (double)s->bytes },
		{ METRIC_WATCH_TROUBLE, *s->error != '\0' },
		{ METRIC_WATCH_EVENTS, (double)s->events },
		{ METRIC_WATCH_LISTS, (double)s->lists },
		{ METRIC_WATCH_LAST, seconds(s->last_event) },
		{ METRIC_WATCH_NOMINATED, (double)s->nominated },
		{ METRIC_WATCH_DEADLINES, (double)s->deadlines },
		{ METRIC_QUEUE_DEPTH, (double)s->queue },
		{ METRIC_HELD, (double)s->blocked },
		{ METRIC_FIGHTS, (double)s->reverts },
		{ METRIC_QUEUE_DROPPED, (double)s->dropped },
	};

	set_synced(f, cluster, s->synced);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		metrics_set(f->metrics, table[i].id, table[i].value, METRIC_LABELS(cluster));
}

void stats_watch_down(struct stats *f, const char *cluster)
{
	set_synced(f, cluster, false);
}

bool stats_child(struct stats *f, const struct msg_child_stats *s)
{
	const bool up = strcmp(s->state, "ready") == 0;
	char slot[24];

	(void)snprintf(slot, sizeof(slot), "%u", (unsigned)s->number);
	const struct metric_labels *l = METRIC_LABELS(s->role, slot, s->cluster_name);

	metrics_set(f->metrics, METRIC_CHILD_UP, up, l);
	metrics_set(f->metrics, METRIC_CHILD_RESTARTS, (double)s->restarts, l);
	metrics_set(f->metrics, METRIC_CHILD_RSS, (double)s->rss_kb * 1024.0, l);
	metrics_set(f->metrics, METRIC_CHILD_LEASES, (double)s->leases, l);
	metrics_set(f->metrics, METRIC_CHILD_START, seconds(s->started), l);
	return !up && strcmp(s->role, "watcher") == 0;
}

void stats_committed(struct stats *f, const struct history_entry *e)
{
	const char *duty = duty_name((enum duty)e->duty);

	if (e->effect != HISTORY_NEW)
		return;
	if (e->m->type == MSG_RECORD)
		metrics_add(f->metrics, METRIC_ACTIONS, 1,
			    METRIC_LABELS(duty, outcome_name((enum outcome)e->m->u.record.outcome),
					  e->cluster_name, e->observe ? "observe" : "enforce"));
	if (e->m->type == MSG_REFUSAL)
		metrics_add(f->metrics, METRIC_REFUSALS, 1, METRIC_LABELS(duty, e->m->u.refusal.reason));
}

void stats_digest(struct stats *f, const struct digest_end *e)
{
	metrics_add(f->metrics, METRIC_DIGEST_SENDS, 1, METRIC_LABELS(digest_state_name(e->progress.state)));
	if (e->progress.state == DIGEST_STATE_DONE)
		metrics_set(f->metrics, METRIC_DIGEST_SUCCESS, seconds(clock_wall_ms()), METRIC_NO_LABELS);
}

/* -- read when asked for --------------------------------------------------------------------------------- */

static void refresh_memory(struct stats *f)
{
	char buf[128];
	const ssize_t n = f->statm_fd < 0 ? -1 : pread(f->statm_fd, buf, sizeof(buf) - 1, 0);
	uint64_t size = 0, resident = 0;

	if (n <= 0)
		return;
	buf[n] = '\0';
	const size_t first = strcspn(buf, " ");
	const char *second = buf + first + (buf[first] == ' ');

	if (str_to_u64(buf, first, &size) < 0 || str_to_u64(second, strcspn(second, " "), &resident) < 0)
		return;
	metrics_set(f->metrics, METRIC_VSIZE, (double)size * PAGE_BYTES, METRIC_NO_LABELS);
	metrics_set(f->metrics, METRIC_RSS, (double)resident * PAGE_BYTES, METRIC_NO_LABELS);
}

static void refresh_guards(struct stats *f, const struct history *h)
{
	for (size_t i = 0; i < f->clusters.n; i++) {
		const char *cluster = f->clusters.v[i];

		metrics_set(f->metrics, METRIC_BREAKER_OPEN, history_count_memos(h, cluster, "breaker") > 0,
			    METRIC_LABELS(cluster));
		for (enum duty d = 0; d < DUTY__MAX; d++)
			if (duty_acts(d))
				metrics_set(f->metrics, METRIC_PAUSED, history_is_paused(h, cluster, d),
					    METRIC_LABELS(duty_name(d), cluster));
	}
}

void stats_refresh(struct stats *f, const struct history *h)
{
	struct timespec ts;

	metrics_set(f->metrics, METRIC_INTENTS_OPEN, (double)history_open_intents(h), METRIC_NO_LABELS);
	health_set(&f->ready, "history", history_writable(h));
	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts) == 0)
		metrics_set(f->metrics, METRIC_CPU, (double)ts.tv_sec + (double)ts.tv_nsec / 1e9,
			    METRIC_NO_LABELS);
	refresh_memory(f);
	refresh_guards(f, h);
}
