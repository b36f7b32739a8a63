/* stats.c - see stats.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/web/stats.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "model/duties.h"
#include "model/guards.h"
#include "model/reasons.h"
#include "base/xalloc.h"
#include "build_id.h"
#include "base/memory.h"
#include "reporter/web/health.h"

static double seconds(int64_t ms)
{
	return (double)ms / 1000.0;
}

static void set(struct stats *s, enum metric id, double value)
{
	metrics_set(s->metrics, id, value, METRIC_NO_LABELS);
}

void stats_init(struct stats *s, const struct state *state, const struct str_list *clusters)
{
	*s = (struct stats){ .metrics = metrics_new(), .state = state, .clusters = clusters };
	s->statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	metrics_set(s->metrics, METRIC_BUILD_INFO, 1, METRIC_LABELS(OPC_VERSION, __VERSION__));
	set(s, METRIC_START, seconds(clock_wall_ms()));
	set(s, METRIC_COMMIT_FAILURES, 0);
	set(s, METRIC_HISTORY_DROPPED, 0);
}

void stats_done(struct stats *s)
{
	if (!s->metrics)
		return;
	metrics_free(&s->metrics);
	if (s->statm_fd >= 0)
		(void)close(s->statm_fd);
}

/* Prometheus sees no increase in a series whose first value is 1. */
static void begin_at_zero(struct stats *s, const char *cluster)
{
	static const enum outcome outcomes[] = { OUTCOME_DONE, OUTCOME_MARKED, OUTCOME_FAILED,
						 OUTCOME_FORBIDDEN };

	for (enum duty d = 0; d < DUTY__MAX; d++)
		for (size_t i = 0; duty_acts(d) && i < ARRAY_SIZE(outcomes); i++)
			metrics_add(
				s->metrics, METRIC_ACTIONS, 0,
				METRIC_LABELS(duty_name(d), outcome_name(outcomes[i]), cluster, "enforce"));
}

void stats_use_settings(struct stats *s, bool observe)
{
	metrics_set(s->metrics, METRIC_MODE, !observe, METRIC_LABELS("enforce"));
	metrics_set(s->metrics, METRIC_MODE, observe, METRIC_LABELS("observe"));
	set(s, METRIC_CONFIG_TIME, seconds(clock_wall_ms()));
	for (size_t i = 0; i < s->clusters->n; i++)
		if (*s->clusters->v[i])
			begin_at_zero(s, s->clusters->v[i]);
}

/* -- messages -- */

static double value_of(const struct msg *m, const struct msg_field *f)
{
	const void *p = (const char *)&m->u + f->off;

	switch (f->kind) {
	case KIND_U64:
		return (double)*(const uint64_t *)p;
	case KIND_I64:
		return seconds(*(const int64_t *)p);
	case KIND_BOOL:
		return *(const bool *)p;
	default:
		return *(const char *)p != '\0';
	}
}

static void show_watch(struct stats *s, const char *cluster, const struct msg *m)
{
	const struct msg_desc *d = msg_desc(m->type);

	for (enum metric id = 0; id < METRIC__MAX; id++)
		for (size_t i = 0; i < d->n; i++)
			if (strcmp(metric_field(id), d->fields[i].name) == 0)
				metrics_set(s->metrics, id, value_of(m, &d->fields[i]),
					    metric_labels(id) == 2 ? METRIC_LABELS(cluster, cluster)
								   : METRIC_LABELS(cluster));
}

/* What READY says, as "nnp,no landlock,seccomp" or "landlock7": a number behind a name is its version. */
static void set_sandbox(struct stats *s, const char *text, const char *role, const char *number,
			const char *cluster)
{
	for (struct str rest = STR_C(text); rest.n > 0;) {
		struct str name = str_cut(&rest, ',');
		const bool missing = name.n >= 3 && strncmp(name.p, "no ", 3) == 0;

		if (missing)
			name = (struct str){ name.p + 3, name.n - 3 };
		while (name.n > 1 && name.p[name.n - 1] >= '0' && name.p[name.n - 1] <= '9')
			name.n--;
		_cleanup_free_ char *feature = xstrndup(name.p, name.n);

		metrics_set(s->metrics, METRIC_SANDBOX, !missing && !sandbox_is_weak(feature),
			    METRIC_LABELS(role, number, cluster, feature));
	}
}

static void show_child(struct stats *s, const char *cluster, const struct msg *said)
{
	const struct msg_child_stats *m = &said->u.child_stats;
	char number[24];

	if (m->pid == 0 && strcmp(m->state, "resting") == 0)
		return; /* nobody needs it */
	(void)snprintf(number, sizeof(number), "%u", (unsigned)m->number);
	const struct metric_labels *l = METRIC_LABELS(m->role, number, cluster);

	metrics_set(s->metrics, METRIC_CHILD_UP, strcmp(m->state, "ready") == 0, l);
	metrics_set(s->metrics, METRIC_CHILD_RESTARTS, (double)m->restarts, l);
	metrics_set(s->metrics, METRIC_CHILD_RSS, (double)m->rss_kb * 1024.0, l);
	metrics_set(s->metrics, METRIC_CHILD_LEASES, (double)m->leases, l);
	metrics_set(s->metrics, METRIC_CHILD_START, seconds(m->started), l);
	if (*m->sandbox)
		metrics_set(s->metrics, METRIC_CHILD_SANDBOX, !sandbox_is_weak(m->sandbox), l);
	set_sandbox(s, m->sandbox, m->role, number, cluster);
}

static void show_workers(struct stats *s, const char *cluster, const struct msg *said)
{
	const struct msg_worker_stats *m = &said->u.worker_stats;

	metrics_set(s->metrics, METRIC_WORKERS, (double)m->workers, METRIC_LABELS(cluster));
	metrics_set(s->metrics, METRIC_WORKERS_LIMIT, (double)m->workers_limit,
		    METRIC_LABELS(cluster, m->workers_why));
}

static void show_trouble(struct stats *s, const char *cluster, const struct msg *said)
{
	const struct msg_trouble_row *m = &said->u.trouble_row;

	metrics_set(s->metrics, METRIC_TROUBLE, (double)m->n,
		    METRIC_LABELS(trouble_desc((enum trouble)m->trouble)->name, cluster));
	if (m->trouble == TROUBLE_SETTINGS)
		set(s, METRIC_CONFIG_OK, m->n == 0);
}

static void show_due(struct stats *s, const char *cluster, const struct msg *said)
{
	const struct msg_due_row *m = &said->u.due_row;
	const struct metric_labels *l =
		METRIC_LABELS(cluster, duty_name((enum duty)m->duty),
			      due_state_name((enum due_state)m->state), reason_find(m->reason)->code);

	metrics_set(s->metrics, METRIC_DUE, (double)m->n, l);
	metrics_set(s->metrics, METRIC_DUE_OLDEST, seconds(m->oldest), l);
}

/* Which families are of the state, and what each of its messages says for them. */
static const struct {
	enum msg_type type;
	void (*show)(struct stats *s, const char *cluster, const struct msg *m);
} shown[] = {
	{ MSG_WATCH_STATS, show_watch },    { MSG_CHILD_STATS, show_child },
	{ MSG_WORKER_STATS, show_workers }, { MSG_TROUBLE_ROW, show_trouble },
	{ MSG_DUE_ROW, show_due },
};
static const enum metric of_state[] = {
	METRIC_WATCH_SYNCED, METRIC_CHILD_UP,      METRIC_CHILD_RESTARTS, METRIC_CHILD_RSS,
	METRIC_CHILD_LEASES, METRIC_CHILD_START,   METRIC_CHILD_SANDBOX,  METRIC_SANDBOX,
	METRIC_WORKERS,      METRIC_WORKERS_LIMIT, METRIC_TROUBLE,        METRIC_DUE,
	METRIC_DUE_OLDEST,
};

void stats_read_state(struct stats *s)
{
	const struct state_entry *e;

	for (size_t i = 0; i < ARRAY_SIZE(of_state); i++)
		metrics_forget(s->metrics, of_state[i], METRIC_NO_LABELS);
	for (enum metric id = 0; id < METRIC__MAX; id++)
		if (*metric_field(id))
			metrics_forget(s->metrics, id, METRIC_NO_LABELS);
	set(s, METRIC_CONFIG_OK, 1);
	for (size_t i = 0; i < s->clusters->n; i++) {
		const char *cluster = s->clusters->v[i];
		const struct msg_watch_stats *watch = state_watch(s->state, cluster);

		if (!*cluster)
			continue;
		metrics_set(s->metrics, METRIC_WATCH_SYNCED, watch && watch->synced, METRIC_LABELS(cluster));
		metrics_set(s->metrics, METRIC_LEADER, watch && watch->leading, METRIC_LABELS(cluster));
	}
	for (size_t k = 0; k < ARRAY_SIZE(shown); k++)
		for (size_t i = 0; (e = state_at(s->state, shown[k].type, i)); i++)
			shown[k].show(s, e->cluster, e->m);
}

static void count_action(struct stats *s, const struct msg_record *m, const char *duty, const char *cluster,
			 const char *mode)
{
	metrics_add(s->metrics, METRIC_ACTIONS, 1,
		    METRIC_LABELS(duty, outcome_name((enum outcome)m->outcome), cluster, mode));
	metrics_add(s->metrics, METRIC_ACTION_REASONS, 1,
		    METRIC_LABELS(cluster, duty, reason_find(m->reason)->code, mode));
}

void stats_committed(struct stats *s, const struct history_entry *e)
{
	const char *duty = duty_name((enum duty)e->duty);

	if (e->effect != HISTORY_NEW)
		return;
	if (e->m->type == MSG_RECORD)
		count_action(s, &e->m->u.record, duty, e->cluster_name, e->observe ? "observe" : "enforce");
	if (e->m->type == MSG_REFUSAL)
		metrics_add(s->metrics, METRIC_REFUSALS, 1,
			    METRIC_LABELS(e->cluster_name, duty, reason_find(e->m->u.refusal.reason)->code));
}

void stats_timing(struct stats *s, const char *cluster, enum timing t, uint64_t us)
{
	metrics_observe(s->metrics, metric_of_timing(t), timing_bucket(us), 1, us, METRIC_LABELS(cluster));
}

void stats_requests(struct stats *s, const char *cluster, const struct msg_requests *m)
{
	char code[8] = "none";

	if (m->code > 0)
		(void)snprintf(code, sizeof(code), "%u", (unsigned)m->code);
	metrics_add(s->metrics, METRIC_API_REQUESTS, (double)m->n,
		    METRIC_LABELS(cluster, api_verb_name((enum api_verb)m->verb), code));
}

void stats_timings(struct stats *s, const char *cluster, const struct msg_timing *m)
{
	metrics_observe(s->metrics, metric_of_timing((enum timing)m->timing), (unsigned)m->bucket, m->n,
			m->sum_us, METRIC_LABELS(cluster));
}

/* -- sinks -- */

void stats_outbox(struct stats *s, const char *sink, uint64_t n, int64_t oldest_ms)
{
	metrics_set(s->metrics, METRIC_OUTBOX_PENDING, (double)n, METRIC_LABELS(sink));
	if (oldest_ms > 0)
		metrics_set(s->metrics, METRIC_OUTBOX_OLDEST, seconds(oldest_ms), METRIC_LABELS(sink));
	else
		metrics_forget(s->metrics, METRIC_OUTBOX_OLDEST, METRIC_LABELS(sink));
}

void stats_sink_message(struct stats *s, const char *sink, const char *outcome)
{
	metrics_add(s->metrics, METRIC_SINK_MESSAGES, 1, METRIC_LABELS(sink, outcome));
}

void stats_sink_gone(struct stats *s, const char *sink)
{
	metrics_forget(s->metrics, METRIC_OUTBOX_PENDING, METRIC_LABELS(sink));
	metrics_forget(s->metrics, METRIC_OUTBOX_OLDEST, METRIC_LABELS(sink));
	metrics_forget(s->metrics, METRIC_SINK_MESSAGES, METRIC_LABELS(sink));
}

/* -- read when asked for -- */

/* Nothing where the history cannot be read: nothing is not 0. */
static void refresh_guards(struct stats *s, const struct history *h)
{
	uint64_t at_zero[CLUSTERS_MAX];

	if (history_count(h, DB_AT_ZERO_COUNTS, at_zero) < 0)
		return;
	for (size_t i = 0; i < s->clusters->n; i++) {
		const char *cluster = s->clusters->v[i];

		if (!*cluster)
			continue;
		metrics_set(s->metrics, METRIC_AT_ZERO, (double)at_zero[i], METRIC_LABELS(cluster));
		metrics_set(s->metrics, METRIC_BREAKER_OPEN,
			    history_has_saved(h, cluster, guard_desc(GUARD_BREAKER)->saved),
			    METRIC_LABELS(cluster));
		for (enum duty d = 0; d < DUTY__MAX; d++)
			if (duty_acts(d))
				metrics_set(s->metrics, METRIC_PAUSED, history_is_paused(h, cluster, d),
					    METRIC_LABELS(duty_name(d), cluster));
	}
}

static void refresh(struct stats *s, const struct history *h)
{
	uint64_t mapped, resident;
	struct timespec ts;

	s->is_writable = history_writable(h);
	stats_read_state(s);
	set(s, METRIC_INTENTS_OPEN, (double)history_open_intents(h));
	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts) == 0)
		set(s, METRIC_CPU, (double)ts.tv_sec + (double)ts.tv_nsec / 1e9);
	if (memory_read(s->statm_fd, &mapped, &resident)) {
		set(s, METRIC_VSIZE, (double)mapped);
		set(s, METRIC_RSS, (double)resident);
	}
	refresh_guards(s, h);
}

/* -- answers -- */

static bool in_group(const char *path, const char *name)
{
	const size_t n = strlen(name);

	return strncmp(path + 1, name, n) == 0 && (path[n + 1] == '\0' || path[n + 1] == '/');
}

/* Of clusters one suffices; each is red until its watcher says otherwise. */
static int answer_ready(const struct stats *s, const char *path, const char *query, char **ret)
{
	_cleanup_free_ struct health_check *v = xcalloc(1 + s->clusters->n, sizeof(*v));
	size_t n = 1;

	v[0] = (struct health_check){ "history", s->is_writable, false };
	for (size_t i = 0; i < s->clusters->n; i++) {
		const char *cluster = s->clusters->v[i];
		const struct msg_watch_stats *watch = state_watch(s->state, cluster);

		if (!*cluster)
			continue;
		v[n] = (struct health_check){ .ok = watch && watch->synced, .any = true };
		(void)snprintf(v[n].name, sizeof(v[n].name), "watch-%s", cluster);
		n++;
	}
	return health_answer(v, n, "readyz", path, query, ret);
}

bool stats_is_ready(struct stats *s, const struct history *h)
{
	_cleanup_free_ char *text = NULL;

	refresh(s, h);
	return answer_ready(s, "/readyz", NULL, &text) == 200;
}

/* healthz is what livez is, as long as both exist: liveness never depends on the API server. */
static int answer_health(const struct stats *s, const struct web_request *r, char **ret)
{
	static const char *const live[] = { "healthz", "livez" };
	static const struct health_check loop = { "loop", true, false };

	for (size_t i = 0; i < ARRAY_SIZE(live); i++)
		if (in_group(r->path, live[i]))
			return health_answer(&loop, 1, live[i], r->path, r->query, ret);
	if (in_group(r->path, "readyz"))
		return answer_ready(s, r->path, r->query, ret);
	*ret = xstrdup("404 page not found\n");
	return 404;
}

static void serve_metrics(const struct stats *s, const char *accept, struct listener_answer *ret)
{
	const enum metrics_format format = metrics_format(accept);

	ret->share = LISTENER_LARGE;
	ret->status = 200;
	ret->content_type = metrics_content_type(format);
	ret->body = metrics_text(s->metrics, format, &ret->size);
}

void stats_serve(struct stats *s, const struct history *h, const struct web_request *request,
		 struct listener_answer *ret)
{
	refresh(s, h);
	if (strcmp(request->path, "/metrics") == 0) {
		serve_metrics(s, request->accept, ret);
		return;
	}
	ret->status = answer_health(s, request, &ret->body);
	ret->size = strlen(ret->body);
}
