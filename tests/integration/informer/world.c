/* world.c - see world.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/informer/world_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "tests/facts_en.h"

static const struct policy no_duties;
static char *const namespaces[] = { (char[]){ "ns-0" }, (char[]){ "ns-1" } };

static const struct {
	const char *flags[6];
	struct reflector_config config;
} settings[MODE__MAX] = {
	[MODE_WATCHLIST] = { { "--watch-backlog", "100", "--history", "200" }, { 0 } },
	[MODE_PAGES] = { { "--watch-backlog", "100", "--history", "200", "--no-watchlist" },
			 { .page_size = 3 } },
	[MODE_SHORT] = { { "--watch-backlog", "3", "--history", "6" }, { 0 } },
	[MODE_OLD] = { { "--watch-backlog", "3", "--history", "6" },
		       { .no_watchlist = true, .page_size = 2 } },
	[MODE_NARROW] = { { "--watch-backlog", "100", "--history", "200" },
			  { .namespaces = namespaces,
			    .n_namespaces = NAMESPACES,
			    .only_namespaces = true,
			    .page_size = 2 } },
};

void world_find(struct world *w, const char *what)
{
	if (!*w->verdict)
		(void)snprintf(w->verdict, sizeof(w->verdict), "%s", what);
}

/* -- what the reflector says -- */

static unsigned index_of(struct str ns)
{
	return ns.n ? 1u + (unsigned)(ns.p[ns.n - 1] - '0') : 0;
}

static unsigned stream_of(const struct world *w, struct str ns)
{
	return w->history->mode == MODE_NARROW ? index_of(ns) : 0;
}

static void on_list(void *ctx, const char *ns)
{
	struct world *w = ctx;
	const unsigned i = index_of(STR_C(ns));

	if (w->listing[i])
		world_find(w, "a list begins in a list");
	w->listing[i] = true;
	w->counts->lists++;
	if (w->plant != PLANT_NO_SWEEP || !w->synced[i])
		controller_list(w->controller, STR_C(ns));
}

static void on_sync(void *ctx, const char *ns)
{
	struct world *w = ctx;
	const unsigned i = index_of(STR_C(ns));

	if (!w->listing[i])
		world_find(w, "a list ends that did not begin");
	w->listing[i] = false;
	if (w->plant != PLANT_NO_SWEEP || !w->synced[i])
		controller_sync(w->controller, STR_C(ns));
	w->synced[i] = true;
}

static void on_list_failed(void *ctx, const char *ns)
{
	struct world *w = ctx;
	const unsigned i = index_of(STR_C(ns));

	if (!w->listing[i])
		world_find(w, "a list is given up that did not begin");
	w->listing[i] = false;
	w->counts->given_up++;
	if (w->plant == PLANT_EAGER_SWEEP && w->synced[i])
		controller_sync(w->controller, STR_C(ns));
	else
		controller_list_failed(w->controller, STR_C(ns));
}

static bool is_reborn(struct world *w, const struct pod_facts *p)
{
	static struct pod_facts old;
	struct store *s = controller_cluster(w->controller)->store;
	const uint32_t h = store_find(s, p->ns, p->name);

	if (!h)
		return false;
	store_get(s, h, &old);
	return !str_eq(old.uid, p->uid);
}

static void on_pod(void *ctx, const struct pod_facts *p)
{
	struct world *w = ctx;
	const unsigned i = stream_of(w, p->ns);

	w->counts->events++;
	if (!w->listing[i] && !w->synced[i])
		world_find(w, "a pod comes outside of any list, before the first one was complete");
	if (w->plant == PLANT_LOSE_REBORN && is_reborn(w, p))
		return;
	if (controller_pod(w->controller, p) < 0)
		world_find(w, "the cache refuses a pod");
}

static void on_delete(void *ctx, const struct pod_facts *p)
{
	struct world *w = ctx;

	w->counts->events++;
	controller_delete(w->controller, p);
}

static void on_alive(void *ctx, int64_t date)
{
	struct world *w = ctx;

	if (date)
		controller_server_date(w->controller, date);
	else
		controller_alive(w->controller);
}

static void on_trouble(void *ctx, long status, const struct facts *why)
{
	struct world *w = ctx;

	(void)status;
	w->counts->troubles += why != NULL;
	(void)snprintf(w->trouble, sizeof(w->trouble), "%s", why ? EN(*why) : "");
}

static void on_bad_object(void *ctx, const char *text)
{
	struct world *w = ctx;

	(void)text;
	w->counts->bad_objects++;
}

static const struct reflector_ops ops = { on_list,        on_pod,   on_delete,  on_sync,
					  on_list_failed, on_alive, on_trouble, on_bad_object };

/* -- a life -- */

static int send_nothing(void *ctx, const struct msg *m)
{
	(void)ctx;
	(void)m;
	return 0;
}

static void leave(struct world *w)
{
	reflector_free(&w->reflector);
	http_client_free(&w->client);
	controller_free(&w->controller);
}

struct world *world_new(struct event_base *base, enum plant plant, uint64_t limit_ms,
			struct world_counts *counts)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->base = base;
	w->plant = plant;
	w->limit_ms = limit_ms;
	w->counts = counts;
	w->server = inside_new(base, settings[0].flags);
	return w;
}

void world_free(struct world **w)
{
	if (!*w)
		return;
	leave(*w);
	inside_free(&(*w)->server);
	free(*w);
	*w = NULL;
}

void world_begin(struct world *w, const struct history *h)
{
	char url[64];

	leave(w);
	inside_reset(w->server, settings[h->mode].flags);
	w->history = h;
	w->at = 0;
	w->wait_until = 0;
	w->limit = clock_boot_ms() + w->limit_ms;
	w->resting = w->ending = w->retold = false;
	memset(w->pods, 0, sizeof(w->pods));
	memset(w->listing, 0, sizeof(w->listing));
	memset(w->synced, 0, sizeof(w->synced));
	*w->verdict = *w->trouble = '\0';
	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u", inside_port(w->server));
	const struct http_endpoint e = { .base_url = url, .user_agent = "test" };
	struct reflector_config config = settings[h->mode].config;

	config.backoff_base_ms = 1;
	w->controller =
		controller_new(1, &no_duties, 0, &(struct outlet){ .send = send_nothing, .ctx = NULL });
	w->client = http_client_new(w->base, &e);
	w->reflector = reflector_new(w->base, w->client, &config, &ops, w);
}

/* No more trouble; and a pod in each namespace whose arrival says that everything before it has arrived. */
static void begin_end(struct world *w)
{
	w->ending = true;
	(void)inside_request(w->server, "DELETE", "/_sim/faults", NULL);
	for (uint16_t i = PODS; i < PODS + NAMESPACES; i++)
		steps_act(w, (struct op){ OP_CREATE, i });
}

static void find_restless(struct world *w)
{
	(void)snprintf(w->verdict, sizeof(w->verdict), "it never comes to rest: %s; %s",
		       world_is_quiet(w) ? "in step, but the last pods do not come" : "no complete list",
		       *w->trouble ? w->trouble : "no trouble was told");
}

static bool is_over(struct world *w)
{
	const char *diff;

	for (size_t i = PODS; i < PODS + NAMESPACES && !*w->verdict; i++)
		if (!world_is_quiet(w) || model_pod_difference(w, i)) {
			if (clock_boot_ms() < w->limit)
				return false;
			find_restless(w);
		}
	diff = model_difference(w);
	if (diff)
		world_find(w, diff);
	w->counts->histories++;
	return true;
}

bool world_step(struct world *w)
{
	model_check_held(w);
	while (!*w->verdict && w->at < w->history->n) {
		if (w->resting && world_is_quiet(w) && !model_difference(w))
			w->wait_until = 0;
		if (clock_boot_ms() < w->wait_until)
			return false;
		w->resting = false;
		steps_act(w, w->history->ops[w->at++]);
	}
	if (!*w->verdict && clock_boot_ms() < w->wait_until)
		return false;
	if (!w->ending)
		begin_end(w);
	return is_over(w);
}

const char *world_verdict(const struct world *w)
{
	return *w->verdict ? w->verdict : NULL;
}
