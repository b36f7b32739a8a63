/* cluster_watch.c - see cluster_watch.h.
 * One timer runs the controller: at once while there is work, else when the next deadline is due. Between two
 * runs the loop reads the socket, so reading always comes first and a storm of events never starves the
 * judging. */
// SPDX-License-Identifier: Apache-2.0
#include "watcher/cluster_watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "http/client.h"
#include "ipc/timer.h"
#include "kube/reflector.h"
#include "process/cluster_endpoint.h"
#include "process/meter.h"
#include "process/process.h"
#include "rules/select.h"
#include "text/facts_text.h"
#include "watcher/controller/questions.h"
#include "watcher/replica.h"
#include "watcher/server_version.h"

#define RUN_LATEST_MS                                                                                        \
	2000u /* while anything waits: timers count no suspended time, and no event tells of a clock that is \
		 set */
#define SAVED_GET_MS  10000u
#define CREDENTIAL_MS 10000u
#define PAUSE_MS      100u
#define BAD_OBJECT_MS 10000u
#define STATS_MS      2000u

struct cluster_watch {
	struct event_base *base;
	struct process *process;
	uint64_t cluster;
	struct settings settings;
	struct str_list namespaces; /* to fall back on, lives as long as the reflector */
	struct http_client *client;
	struct meter *meter;
	struct reflector *reflector;
	struct server_version *version;
	struct reflector *namespace_reflector; /* NULL: no labels of namespaces are asked for */
	struct facts namespace_trouble;        /* why they are not kept in step; none when they are */
	struct replica *replica;
	struct controller *controller;
	struct questions *questions;
	struct outlet out;
	struct timer *run_timer, *saved_get_timer, *stats_timer;
	struct reflector_stats before; /* sums of reflectors that are gone */
	struct msg stats;              /* sent last */
	bool news;                     /* there may be: stats_timer runs; an idle watcher never wakes */
	bool run_now;                  /* the timer is due at once */
	bool stopped;
	unsigned lists;   /* that are being read */
	uint64_t list_us; /* boot time: since when any is */
	bool due_again;   /* the reporter has asked */
	long trouble;     /* HTTP status of the present trouble, 0 = none or not HTTP's */
	struct facts trouble_why;
	bool names_suffice;    /* the duties list names only */
	struct facts narrowed; /* else: why no other namespaces are watched; none: all are */
	uint64_t credential_at, credential_generation, bad_object_at, bad_objects;
};

static int send_msg(void *ctx, const struct msg *m)
{
	struct cluster_watch *w = ctx;
	const int r = process_send(w->process, m);

	if (r == 0 && m->type == MSG_SAVED)
		replica_note(w->replica, m);
	return r;
}

/* -- stats: what `status` and the metrics say about this watcher, when something changed -- */

static void touch_stats(struct cluster_watch *w)
{
	if (w->news)
		return;
	w->news = true;
	timer_set(w->stats_timer, STATS_MS);
}

/* Over all reflectors so far. */
static struct reflector_stats sums(const struct cluster_watch *w)
{
	struct reflector_stats s = w->before, now;

	if (w->reflector) {
		reflector_stats(w->reflector, &now);
		s.events += now.events;
		s.lists += now.lists;
	}
	return s;
}

/* Again when the channel is full. */
static void tell_due(struct cluster_watch *w)
{
	if (controller_tell_due(w->controller, w->due_again) < 0)
		touch_stats(w);
	w->due_again = false;
}

static void send_watch_stats(struct cluster_watch *w)
{
	const bool narrowed = facts_empty(&w->trouble_why) && !facts_empty(&w->narrowed);
	const struct facts *trouble = narrowed                       ? &w->narrowed
				      : facts_empty(&w->trouble_why) ? &w->namespace_trouble
								     : &w->trouble_why;
	const long http = narrowed ? 403 : w->trouble;
	const enum text stale = cluster_stale(controller_cluster(w->controller));
	const struct reflector_stats r = sums(w);
	struct msg m;

	memset(&m, 0, sizeof(m)); /* compared as bytes */
	m.type = MSG_WATCH_STATS;
	(void)controller_stats(w->controller, &m);
	m.u.watch_stats.events = r.events;
	m.u.watch_stats.lists = r.lists;
	m.u.watch_stats.host_ahead = cluster_host_is_ahead(controller_cluster(w->controller));
	m.u.watch_stats.shared = w->settings.cluster.shared;
	replica_tell(w->replica, &m.u.watch_stats);
	m.u.watch_stats.failing = !facts_empty(trouble);
	m.u.watch_stats.http = http > 0 && http <= 999 ? (uint64_t)http : 0;
	if (!facts_empty(trouble))
		facts_set(&m.u.watch_stats.error, trouble);
	else if (stale < TEXT__MAX)
		facts_finding(&m.u.watch_stats.error, stale);
	msg_text(&m, watch_stats.kubernetes, server_version_text(w->version));
	w->news = false;
	timer_stop(w->stats_timer);
	tell_due(w);
	if (memcmp(&m, &w->stats, sizeof(m)) == 0)
		return;
	if (send_msg(w, &m) == 0)
		w->stats = m;
	else
		touch_stats(w);
}

static void on_stats_timer(void *ctx)
{
	send_watch_stats(ctx);
}

/* -- runs -- */

static void schedule(struct cluster_watch *w)
{
	uint64_t now, next, delay;

	if (w->run_now || w->stopped)
		return;
	next = questions_open(w->questions) ? 0 : controller_next(w->controller);
	if (next == UINT64_MAX) { /* so it is for every pod of a first list: no clock is asked */
		timer_stop(w->run_timer);
		return;
	}
	now = clock_boot_ms();
	delay = next > now ? next - now : 0;
	if (delay > RUN_LATEST_MS)
		delay = RUN_LATEST_MS;
	w->run_now = delay == 0;
	timer_set(w->run_timer, delay);
}

/* Who waits for a list to be judged (`plan`) need not wait for the next figures. */
static bool is_done_with_list(const struct cluster_watch *w)
{
	return w->stats.u.watch_stats.queue > 0 && controller_is_idle(w->controller);
}

static void on_run_timer(void *ctx)
{
	struct cluster_watch *w = ctx;
	int r;

	w->run_now = false;
	if (w->stopped)
		return;
	(void)controller_run(w->controller);
	if (w->news && questions_open(w->questions)) /* who asks looks at the figures, too */
		send_watch_stats(w);
	r = questions_step(w->questions);
	if (is_done_with_list(w))
		send_watch_stats(w);
	else
		touch_stats(w);
	if (r == -EAGAIN) /* cluster_watch_on_room goes on; should nobody call it, a short pause does */
		timer_set(w->run_timer, PAUSE_MS);
	else
		schedule(w);
}

static void changed(struct cluster_watch *w)
{
	touch_stats(w);
	schedule(w);
}

/* -- what is saved -- */

static void send_saved_get(void *ctx)
{
	struct cluster_watch *w = ctx;
	const struct msg m = { .type = MSG_SAVED_GET, .u.saved_get = { .cluster = w->cluster } };

	if (controller_cluster(w->controller)->sync.remembered || w->stopped)
		return;
	(void)send_msg(w, &m);
	timer_set(w->saved_get_timer, SAVED_GET_MS);
}

/* The first time, when the API server has told the time: how old a row is this host's clock does not tell
 * alone. */
static void ask_for_saved(struct cluster_watch *w)
{
	if (!timer_is_set(w->saved_get_timer))
		send_saved_get(w);
}

/* -- what the reflector reports -- */

static void on_list(void *ctx, const char *ns)
{
	struct cluster_watch *w = ctx;

	if (w->lists++ == 0)
		w->list_us = clock_boot_us();
	controller_list(w->controller, STR_C(ns));
	touch_stats(w);
}

static void on_bad_object(void *ctx, const char *text)
{
	struct cluster_watch *w = ctx;
	uint64_t now = clock_boot_ms();

	w->bad_objects++;
	if (w->bad_object_at && now < w->bad_object_at + BAD_OBJECT_MS)
		return;
	w->bad_object_at = now;
	(void)log_warn(0, "object of the API server left out: it is malformed", kv_s("object", text),
		       kv_u("so_far", w->bad_objects));
}

static void on_pod(void *ctx, const struct pod_facts *pod)
{
	struct cluster_watch *w = ctx;
	char name[320];

	if (controller_pod(w->controller, pod) < 0) {
		(void)str_copy_printable(name, sizeof(name), pod->name.p ? pod->name.p : "", pod->name.n);
		on_bad_object(w, name);
	}
	changed(w);
}

static void on_delete(void *ctx, const struct pod_facts *pod)
{
	struct cluster_watch *w = ctx;

	controller_delete(w->controller, pod);
	changed(w);
}

static void on_sync(void *ctx, const char *ns)
{
	struct cluster_watch *w = ctx;
	const struct store *store = controller_cluster(w->controller)->store;

	if (w->lists > 0 && --w->lists == 0)
		meter_time(w->meter, TIMING_SYNC, clock_boot_us() - w->list_us);
	controller_sync(w->controller, STR_C(ns));
	if (!*ns)
		w->narrowed = (struct facts){ 0 };
	ask_for_saved(w); /* of a server that tells no time */
	log_info("list complete", kv_s("namespace", *ns ? ns : "*"), kv_u("pods", store_count(store)),
		 kv_u("bytes", store_bytes(store)));
	send_watch_stats(w);
	schedule(w);
}

static void on_list_failed(void *ctx, const char *ns)
{
	struct cluster_watch *w = ctx;

	w->lists -= w->lists > 0;
	controller_list_failed(w->controller, STR_C(ns));
	changed(w);
}

static void on_alive(void *ctx, int64_t server_date_ms)
{
	struct cluster_watch *w = ctx;

	/* Headers come with refusals, too: they tell the time, but keep no cache fresh. */
	if (server_date_ms > 0) {
		controller_server_date(w->controller, server_date_ms);
		ask_for_saved(w);
	} else {
		controller_alive(w->controller);
	}
	if (facts_empty(&w->trouble_why))
		server_version_ask(w->version, false);
	changed(w);
}

/* The credential was refused: the loader has to bring another one. */
static void send_credential(void *ctx)
{
	struct cluster_watch *w = ctx;
	uint64_t now = clock_boot_ms(), generation = process_generation(w->process);
	struct msg m = { .type = MSG_CREDENTIAL,
			 .u.credential = { .cluster = w->cluster, .generation = generation } };

	if (w->credential_generation == generation && now < w->credential_at + CREDENTIAL_MS)
		return;
	if (send_msg(w, &m) == 0) {
		w->credential_generation = generation;
		w->credential_at = now;
	}
}

static void on_trouble(void *ctx, long status, const struct facts *why)
{
	struct cluster_watch *w = ctx;
	const bool healed = !why && !facts_empty(&w->trouble_why);

	w->trouble = why ? status : 0;
	w->trouble_why = why ? *why : (struct facts){ 0 };
	touch_stats(w);
	if (status == 401 && why)
		send_credential(w);
	if (healed) {
		controller_healthy(w->controller);
		server_version_ask(w->version, true);
	}
	schedule(w);
}

/* Nobody minds where the duties ask for no other namespace. */
static void on_narrowed(void *ctx, const struct facts *why)
{
	struct cluster_watch *w = ctx;

	w->narrowed = w->names_suffice ? (struct facts){ 0 } : *why;
	touch_stats(w);
}

/* While a list is read, pods that it does not name any more are still there beside those that it does. */
static bool is_full(void *ctx, const struct pod_facts *pod)
{
	const struct cluster_watch *w = ctx;
	const struct store *store = controller_cluster(w->controller)->store;
	const uint64_t max = w->settings.max_pods * (w->lists > 0 ? 2 : 1);

	return max && store_count(store) >= max && !store_find(store, pod->ns, pod->name);
}

static const struct reflector_ops reflector_ops = {
	on_list,  on_pod,     on_delete,     on_sync, on_list_failed,
	on_alive, on_trouble, on_bad_object, is_full, on_narrowed,
};

/* -- the labels of namespaces, where the configuration asks for some. Bytes of this stream say nothing about
 * the pods in the cache: they do not keep it fresh -- */

static void on_namespace_list(void *ctx, const char *ns)
{
	(void)ns;
	controller_list_namespaces(((struct cluster_watch *)ctx)->controller);
}

static void on_namespace(void *ctx, const struct pod_facts *ns)
{
	struct cluster_watch *w = ctx;

	controller_namespace(w->controller, ns);
	changed(w);
}

static void on_namespace_gone(void *ctx, const struct pod_facts *ns)
{
	struct cluster_watch *w = ctx;

	controller_namespace_gone(w->controller, ns);
	changed(w);
}

static void on_namespaces_sync(void *ctx, const char *ns)
{
	struct cluster_watch *w = ctx;

	(void)ns;
	controller_sync_namespaces(w->controller);
	log_info("list of namespaces complete");
	changed(w);
}

static void on_namespaces_alive(void *ctx, int64_t server_date_ms)
{
	if (server_date_ms > 0)
		controller_server_date(((struct cluster_watch *)ctx)->controller, server_date_ms);
}

static void on_namespaces_trouble(void *ctx, long status, const struct facts *why)
{
	struct cluster_watch *w = ctx;

	w->namespace_trouble = why ? *why : (struct facts){ 0 };
	/* Anything else hinders the pods' stream as well, and passes. */
	if (why && status >= 400 && status <= 499)
		controller_namespaces_failed(w->controller);
	if (why && status == 401)
		send_credential(w);
	changed(w);
}

static void start_namespaces(struct cluster_watch *w)
{
	static const struct reflector_ops ops = {
		on_namespace_list,   on_namespace,          on_namespace_gone, on_namespaces_sync, NULL,
		on_namespaces_alive, on_namespaces_trouble, on_bad_object,
	};
	const struct reflector_config config = { .what = REFLECT_NAMESPACES };

	if (w->namespace_reflector || !policy_needs_namespaces(&w->settings.policy))
		return;
	controller_reset_namespaces(w->controller);
	w->namespace_reflector = reflector_new(w->base, w->client, &config, &ops, w);
}

/* What is known of them is forgotten. */
static void stop_namespaces(struct cluster_watch *w)
{
	if (!w->namespace_reflector)
		return;
	reflector_free(&w->namespace_reflector);
	w->namespace_trouble = (struct facts){ 0 };
	controller_reset_namespaces(w->controller);
}

/* -- other replicas -- */

static void on_leads(void *ctx, bool leading, const char *holder)
{
	struct cluster_watch *w = ctx;

	controller_set_leader(w->controller, leading, holder);
	schedule(w);
}

static void on_recall(void *ctx, const struct msg *m)
{
	controller_on_msg(((struct cluster_watch *)ctx)->controller, m);
}

static void on_news(void *ctx)
{
	touch_stats(ctx);
}

static const struct replica_ops replica_ops = { send_msg, on_leads, on_recall, on_news, send_credential };

/* -- settings -- */

/* The namespaces to be content with when the cluster-wide list is forbidden: those that the duties name, or
 * the credential's own. *ret_suffice: the duties ask for no others. */
static struct str_list namespaces_of(const struct settings *s, bool *ret_suffice)
{
	struct str_list ret = { 0 };

	*ret_suffice = policy_list_namespaces(&s->policy, &ret);
	if (ret.n == 0 && s->cluster.namespace && *s->cluster.namespace)
		str_list_add(&ret, s->cluster.namespace, strlen(s->cluster.namespace));
	return ret;
}

/* In any order. */
static bool same_names(const struct str_list *a, const struct str_list *b)
{
	for (size_t i = 0; i < a->n; i++)
		if (!str_list_has(b, STR_C(a->v[i])))
			return false;
	return a->n == b->n;
}

/* Takes the contents of *s over; what *ret points to belongs to them. */
static void take_settings(struct cluster_watch *w, struct settings *s, struct http_endpoint *ret)
{
	if (s->cluster.shared && !w->settings.cluster.shared && s->policy.mode == MODE_ENFORCE)
		(void)log_warn(
			0, "watcher and workers have one credential: what is read from the cluster is parsed "
			   "by a process that may write; give the workers their own (writerKubeconfig)");
	settings_done(&w->settings);
	w->settings = *s;
	settings_init(s);
	str_list_done(&w->namespaces);
	w->namespaces = namespaces_of(&w->settings, &w->names_suffice);
	cluster_endpoint(&w->settings.cluster, "ops-pod-cleaner", ret);
}

static void set_place(struct cluster_watch *w)
{
	controller_set_place(w->controller, w->settings.cluster.name, w->settings.window_zones,
			     w->settings.window_zones_size);
}

static void start_reflector(struct cluster_watch *w)
{
	const struct reflector_config config = { .namespaces = w->namespaces.v,
						 .n_namespaces = w->namespaces.n,
						 .max_objects = w->settings.max_pods };

	w->reflector = reflector_new(w->base, w->client, &config, &reflector_ops, w);
}

static void stop_reflector(struct cluster_watch *w)
{
	w->before = sums(w);
	w->lists = 0;
	w->narrowed = (struct facts){ 0 };
	reflector_free(&w->reflector);
}

void cluster_watch_set_settings(struct cluster_watch *w, struct settings *s)
{
	bool suffice;
	struct str_list namespaces = namespaces_of(s, &suffice);
	struct http_endpoint e;
	const bool moved = strcmp(s->cluster.server, w->settings.cluster.server) != 0,
		   other = moved || !same_names(&namespaces, &w->namespaces);
	/* The cache keeps of labels only which overrides they match: list again when others are asked for. */
	const bool again = other || suffice != w->names_suffice ||
			   !select_labels_alike(&s->policy, &w->settings.policy) || w->trouble == 401 ||
			   w->trouble == 403;

	const bool judge_anew = !settings_judge_alike(s, &w->settings);

	str_list_done(&namespaces);
	if (again) {
		stop_reflector(w);
		w->trouble = 0; /* what was refused is of another time: the next list says how it is now */
		w->trouble_why = (struct facts){ 0 };
		touch_stats(w);
	}
	take_settings(w, s, &e);
	http_client_set_endpoint(w->client, &e);
	set_place(w);
	if (judge_anew)
		controller_judge_anew(w->controller);
	else
		controller_healthy(w->controller); /* what was given up for want of a right may have it now */
	controller_set_policy(w->controller, &w->settings.policy, w->settings.startup_quiet_ms);
	if (other) {
		controller_reset(w->controller);
		server_version_forget(w->version);
	}
	if (again && !w->stopped)
		start_reflector(w);
	if (again || !policy_needs_namespaces(&w->settings.policy))
		stop_namespaces(w);
	if (!w->stopped)
		start_namespaces(w);
	replica_set_settings(w->replica, &w->settings);
	if (moved)
		replica_server_changed(w->replica);
	send_watch_stats(w); /* no pod need change for it */
	schedule(w);
}

/* -- start and end -- */

static void on_version(void *ctx)
{
	send_watch_stats(ctx); /* with the first list there is no news for long */
}

static void timed(void *ctx, enum timing t, uint64_t us)
{
	meter_time(((struct cluster_watch *)ctx)->meter, t, us);
}

struct cluster_watch *cluster_watch_new(struct event_base *base, uint64_t cluster, uint64_t instance,
					struct settings *s, struct process *process)
{
	struct cluster_watch *w = xcalloc(1, sizeof(*w));
	struct http_endpoint e;

	w->base = base;
	w->process = process;
	w->cluster = cluster;
	settings_init(&w->settings);
	take_settings(w, s, &e);
	w->client = http_client_new(base, &e);
	w->version = server_version_new(w->client, on_version, w);
	w->meter = meter_new(base, cluster, send_msg, w);
	http_client_watch(w->client, meter_request, w->meter);
	w->out = (struct outlet){ send_msg, w, timed };
	w->controller = controller_new(cluster, &w->settings.policy, w->settings.startup_quiet_ms, &w->out);
	set_place(w);
	w->questions = questions_new(w->controller, &w->out);
	w->stats_timer = timer_new(base, on_stats_timer, w);
	w->run_timer = timer_new(base, on_run_timer, w);
	w->saved_get_timer = timer_new(base, send_saved_get, w);
	w->replica = replica_new(base, w->client, controller_cluster(w->controller), instance, &w->settings,
				 &replica_ops, w);
	return w;
}

void cluster_watch_start(struct cluster_watch *w)
{
	start_reflector(w);
	start_namespaces(w);
	replica_start(w->replica);
	send_watch_stats(w);
}

/* Nothing is read, judged or said from now on. */
static void stop(struct cluster_watch *w)
{
	w->stopped = true;
	stop_reflector(w);
	stop_namespaces(w);
	server_version_forget(w->version);
	timer_stop(w->run_timer);
	timer_stop(w->saved_get_timer);
}

void cluster_watch_drain(struct cluster_watch *w, void (*drained)(void *ctx), void *ctx)
{
	stop(w);
	meter_flush(w->meter);
	replica_leave(w->replica, drained, ctx);
}

void cluster_watch_free(struct cluster_watch **w)
{
	struct cluster_watch *old = *w;

	if (!old)
		return;
	stop(old);
	replica_free(&old->replica);
	questions_free(&old->questions);
	controller_free(&old->controller);
	server_version_free(&old->version);
	http_client_free(&old->client);
	meter_free(&old->meter);
	timer_free(&old->run_timer);
	timer_free(&old->saved_get_timer);
	timer_free(&old->stats_timer);
	str_list_done(&old->namespaces);
	settings_done(&old->settings);
	free(old);
	*w = NULL;
}

/* -- messages -- */

/* Would it count twice? It answers a question that has met the end of the answer before. */
static bool is_known_already(const struct cluster_watch *w, enum msg_type type)
{
	return controller_cluster(w->controller)->sync.remembered &&
	       (type == MSG_SAVED_ROW || type == MSG_ACTION_ROW || type == MSG_SAVED_END);
}

void cluster_watch_on_msg(struct cluster_watch *w, const struct msg *m)
{
	if (is_known_already(w, m->type))
		return;
	if (m->type == MSG_DUE_GET)
		w->due_again = true;
	if (!replica_on_msg(w->replica, m) && !questions_on_msg(w->questions, m))
		controller_on_msg(w->controller, m);
	replica_note(w->replica, m);
	if (m->type == MSG_SAVED_END)
		send_watch_stats(w);
	changed(w);
}

void cluster_watch_on_room(struct cluster_watch *w)
{
	controller_on_room(w->controller);
	schedule(w);
}
