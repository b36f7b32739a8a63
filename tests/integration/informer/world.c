/* world.c - see world.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/informer/world.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "kube/reflector.h"
#include "tests/apisim/inside.h"
#include "watcher/judging.h"

#define REST_MS  200u   /* a step that waits for the informer waits no longer */
#define LIMIT_MS 60000u /* a history that has not come to rest by then never will */

/* What a pod must be; uid and rv are the server's. */
struct model_pod {
	bool exists, deleting;
	bool held; /* the cache had it: it must not forget it */
	const char *phase, *reason;
	char uid[64];
	uint64_t rv;
};

struct world {
	struct event_base *base;
	struct world_counts *counts;
	enum plant plant;
	struct inside *server;
	struct http_client *client;
	struct reflector *reflector;
	struct judging *judging;
	const struct history *history;
	size_t at;
	uint64_t wait_until, limit;
	bool resting, ending;
	bool retold; /* old events came again: for a while the cache may go back in time */
	char trouble[160];
	struct model_pod pods[PODS + NAMESPACES]; /* the last ones mark the end */
	bool listing[NAMESPACES + 1], synced[NAMESPACES + 1];
	char verdict[256];
};

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

static void find(struct world *w, const char *what)
{
	if (!*w->verdict)
		(void)snprintf(w->verdict, sizeof(w->verdict), "%s", what);
}

/* -- what the reflector says -----------------------------------------------------------------------------
 */

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
		find(w, "a list begins in a list");
	w->listing[i] = true;
	w->counts->lists++;
	if (w->plant != PLANT_NO_SWEEP || !w->synced[i])
		judging_list(w->judging, STR_C(ns));
}

static void on_sync(void *ctx, const char *ns)
{
	struct world *w = ctx;
	const unsigned i = index_of(STR_C(ns));

	if (!w->listing[i])
		find(w, "a list ends that did not begin");
	w->listing[i] = false;
	if (w->plant != PLANT_NO_SWEEP || !w->synced[i])
		judging_sync(w->judging, STR_C(ns));
	w->synced[i] = true;
}

static void on_list_failed(void *ctx, const char *ns)
{
	struct world *w = ctx;
	const unsigned i = index_of(STR_C(ns));

	if (!w->listing[i])
		find(w, "a list is given up that did not begin");
	w->listing[i] = false;
	w->counts->given_up++;
	if (w->plant == PLANT_EAGER_SWEEP && w->synced[i])
		judging_sync(w->judging, STR_C(ns));
	else
		judging_list_failed(w->judging, STR_C(ns));
}

static bool is_reborn(struct world *w, const struct pod_facts *p)
{
	static struct pod_facts old;
	struct store *s = judging_store(w->judging);
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
		find(w, "a pod comes outside of any list, before the first one was complete");
	if (w->plant == PLANT_LOSE_REBORN && is_reborn(w, p))
		return;
	if (judging_pod(w->judging, p) < 0)
		find(w, "the cache refuses a pod");
}

static void on_delete(void *ctx, const struct pod_facts *p)
{
	struct world *w = ctx;

	w->counts->events++;
	judging_delete(w->judging, p);
}

static void on_alive(void *ctx, int64_t date)
{
	struct world *w = ctx;

	if (date)
		judging_server_date(w->judging, date);
	else
		judging_alive(w->judging);
}

static void on_trouble(void *ctx, long status, const char *text)
{
	struct world *w = ctx;

	(void)status;
	w->counts->troubles += *text != '\0';
	(void)snprintf(w->trouble, sizeof(w->trouble), "%s", text);
}

static void on_bad_object(void *ctx, const char *text)
{
	struct world *w = ctx;

	(void)text;
	w->counts->bad_objects++;
}

static const struct reflector_ops ops = { on_list,        on_pod,   on_delete,  on_sync,
					  on_list_failed, on_alive, on_trouble, on_bad_object };

/* -- the dictionary ---------------------------------------------------------------------------------------
 */

static void name_of(size_t i, char ns[32], char name[32])
{
	const size_t of = i < PODS ? i / NAMES : i - PODS;

	(void)snprintf(ns, 32, "ns-%zu", of);
	if (i < PODS)
		(void)snprintf(name, 32, "p-%zu", i % NAMES);
	else
		(void)snprintf(name, 32, "end");
}

/* The uid and version that the server gave; and whether it has done at all what the step means. */
static void learn(struct world *w, size_t i)
{
	struct model_pod *p = &w->pods[i];
	char ns[32], name[32];
	const bool there = (name_of(i, ns, name), inside_pod(w->server, ns, name, p->uid, &p->rv));

	if (there != p->exists)
		find(w, there ? "the server has a pod that should not be (a fault of the test)"
			      : "the server lacks a pod (a fault of the test)");
}

static uint32_t cached(struct world *w, size_t i, struct pod_facts *f)
{
	struct store *s = judging_store(w->judging);
	char ns[32], name[32];

	name_of(i, ns, name);
	const uint32_t h = store_find(s, STR_C(ns), STR_C(name));

	if (h)
		store_get(s, h, f);
	return h;
}

static const char *pod_difference(struct world *w, size_t i)
{
	static struct pod_facts f;
	static char text[200];
	const struct model_pod *p = &w->pods[i];
	const uint32_t h = cached(w, i, &f);
	char ns[32], name[32], rv[24];

	name_of(i, ns, name);
	if (!h || !p->exists) {
		(void)snprintf(text, sizeof(text), "%s/%s is %s", ns, name, h ? "still here" : "missing");
		return !h == !p->exists ? NULL : text;
	}
	(void)snprintf(rv, sizeof(rv), "%llu", (unsigned long long)p->rv);
	(void)snprintf(text, sizeof(text),
		       "%s/%s: uid %.8s rv %s %s %s%s there, uid %.8s rv %.*s %.*s %.*s%s here", ns, name,
		       p->uid, rv, p->phase, p->reason, p->deleting ? " deleting" : "", f.uid.p,
		       STR_ARG(f.rv), STR_ARG(f.phase), STR_ARG(f.reason), f.deletion ? " deleting" : "");
	return str_is(f.uid, p->uid) && str_is(f.rv, rv) && str_is(f.phase, p->phase) &&
			       str_is(f.reason, p->reason) && (f.deletion != 0) == p->deleting
		       ? NULL
		       : text;
}

static const char *difference(struct world *w)
{
	const char *diff = NULL;
	size_t n = 0;

	for (size_t i = 0; i < PODS + NAMESPACES && !diff; i++) {
		diff = pod_difference(w, i);
		n += w->pods[i].exists;
	}
	if (!diff && n != store_count(judging_store(w->judging)))
		diff = "the cache has more pods than it can name";
	return diff;
}

static bool is_quiet(const struct world *w)
{
	const bool narrow = w->history->mode == MODE_NARROW;

	for (unsigned i = narrow; i <= (narrow ? NAMESPACES : 0); i++)
		if (w->listing[i] || !w->synced[i])
			return false;
	return true;
}

/* -- the steps --------------------------------------------------------------------------------------------
 */

/* At no time a pod is missing that was there and is there: no list takes away what it has not finished to
 * tell. */
static void check_held(struct world *w)
{
	static struct pod_facts f;

	if (w->retold)
		return;
	for (size_t i = 0; i < PODS; i++) {
		struct model_pod *p = &w->pods[i];
		const bool here = p->exists && cached(w, i, &f) && str_is(f.uid, p->uid);

		if (p->exists && p->held && !here)
			find(w, "a pod that exists is forgotten for a while");
		p->held = here;
	}
}

static int request(struct world *w, const char *method, size_t i, const char *sub, const char *body)
{
	char ns[32], name[32];

	name_of(i, ns, name);
	const bool create = strcmp(method, "POST") == 0;
	_cleanup_free_ char *path =
		xasprintf("/api/v1/namespaces/%s/pods%s%s%s", ns, create ? "" : "/", create ? "" : name, sub);

	return inside_request(w->server, method, path, body);
}

static void create(struct world *w, uint16_t i)
{
	static const char owner[] =
		"\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\","
		"\"name\":\"p\",\"uid\":\"00000000-0000-4000-8000-000000000001\","
		"\"controller\":true}],";
	char ns[32], name[32];

	name_of(i, ns, name);
	_cleanup_free_ char *body =
		xasprintf("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{%s\"name\":\"%s\"},"
			  "\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
			  i % 2 ? owner : "", name);

	if (request(w, "POST", i, "", body) == 201)
		w->pods[i] = (struct model_pod){ .exists = true, .phase = "Pending", .reason = "" };
	learn(w, i);
}

static void set_status(struct world *w, uint16_t i, const char *phase, const char *reason, const char *more)
{
	_cleanup_free_ char *body =
		xasprintf("{\"status\":{\"phase\":\"%s\",\"reason\":\"%s\"%s}}", phase, reason, more);

	(void)request(w, "PATCH", i, "/status", body);
	w->pods[i].phase = phase;
	w->pods[i].reason = reason;
	learn(w, i);
}

static void evict(struct world *w, uint16_t i)
{
	set_status(w, i, "Failed", "Evicted", "");
}

static void run(struct world *w, uint16_t i)
{
	set_status(
		w, i, "Running", "",
		",\"containerStatuses\":[{\"name\":\"c\",\"ready\":true,\"restartCount\":0,\"image\":\"i\","
		"\"imageID\":\"i\",\"state\":{\"running\":{\"startedAt\":\"2026-01-01T00:00:00Z\"}}}]");
}

static void pull(struct world *w, uint16_t i)
{
	set_status(
		w, i, "Pending", "",
		",\"containerStatuses\":[{\"name\":\"c\",\"ready\":false,\"restartCount\":0,\"image\":\"i\","
		"\"imageID\":\"\",\"state\":{\"waiting\":{\"reason\":\"ImagePullBackOff\"}}}]");
}

static void terminate(struct world *w, uint16_t i)
{
	struct model_pod *p = &w->pods[i];

	/* Of a pod that has ended nothing has to stop: the server removes it at once. When it is being
	 * deleted already, only a shorter grace would change anything. */
	(void)request(w, "DELETE", i, "", "{\"gracePeriodSeconds\":30}");
	p->exists = p->deleting || strcmp(p->phase, "Failed") != 0;
	p->deleting = true;
	learn(w, i);
}

static void delete (struct world *w, uint16_t i)
{
	(void)request(w, "DELETE", i, "", "{\"gracePeriodSeconds\":0}");
	w->pods[i].exists = w->pods[i].held = false;
	learn(w, i);
}

static void recreate(struct world *w, uint16_t i)
{
	delete (w, i);
	create(w, i);
}

/* Moves the version on without any pod. */
static void other(struct world *w, uint16_t i)
{
	(void)i;
	(void)inside_request(
		w->server, "POST", "/api/v1/namespaces/ns-0/configmaps",
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"generateName\":\"c-\"}}");
}

static void admin(struct world *w, const char *path, const char *body)
{
	if (inside_request(w->server, "POST", path, body) != 200)
		find(w, "the server refuses to make trouble (a fault of the test)");
}

static void fail(struct world *w, uint16_t which)
{
	admin(w, "/_sim/faults", fault_table[which].rule);
}

static void admin_number(struct world *w, const char *format, uint16_t n)
{
	_cleanup_free_ char *path = xasprintf("/_sim/%s%u", format, n);

	admin(w, path, NULL);
}

static void close_watches(struct world *w, uint16_t code)
{
	if (code)
		admin_number(w, "close-watches?error=", code);
	else
		admin(w, "/_sim/close-watches", NULL);
}

static void cut(struct world *w, uint16_t n)
{
	(void)n;
	admin(w, "/_sim/close-connections", NULL);
}

static void compact(struct world *w, uint16_t n)
{
	(void)n;
	admin(w, "/_sim/compact", NULL);
}

static void bookmarks(struct world *w, uint16_t n)
{
	admin_number(w, "bookmarks?count=", n);
}

static void behind(struct world *w, uint16_t n)
{
	w->retold = true;
	admin_number(w, "bookmarks?count=1&behind=", n);
}

static void repeat(struct world *w, uint16_t n)
{
	w->retold = true;
	admin_number(w, "repeat-events?count=", n);
}

static void pause_watches(struct world *w, uint16_t ms)
{
	admin_number(w, "pause-watches?ms=", ms);
}

static void wait_ms(struct world *w, uint16_t ms)
{
	w->wait_until = clock_boot_ms() + ms;
}

static void rest(struct world *w, uint16_t n)
{
	(void)n;
	w->wait_until = clock_boot_ms() + REST_MS;
	w->resting = true;
}

static void (*const acts[OP__MAX])(struct world *w, uint16_t arg) = {
	[OP_CREATE] = create,
	[OP_EVICT] = evict,
	[OP_RUN] = run,
	[OP_PULL] = pull,
	[OP_TERMINATE] = terminate,
	[OP_DELETE] = delete,
	[OP_RECREATE] = recreate,
	[OP_OTHER] = other,
	[OP_FAIL] = fail,
	[OP_CLOSE] = close_watches,
	[OP_CUT] = cut,
	[OP_COMPACT] = compact,
	[OP_BOOKMARKS] = bookmarks,
	[OP_BEHIND] = behind,
	[OP_REPEAT] = repeat,
	[OP_PAUSE] = pause_watches,
	[OP_WAIT] = wait_ms,
	[OP_REST] = rest,
};

static void act(struct world *w, struct op op)
{
	w->counts->steps++;
	if (op_table[op.kind].arg == ARG_POD && op.kind != OP_CREATE && op.kind != OP_RECREATE &&
	    !w->pods[op.arg].exists)
		return; /* there is nothing to do it to */
	acts[op.kind](w, op.arg);
}

/* -- a life ------------------------------------------------------------------------------------------------
 */

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
	judging_free(&w->judging);
}

struct world *world_new(struct event_base *base, enum plant plant, struct world_counts *counts)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->base = base;
	w->plant = plant;
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
	w->limit = clock_boot_ms() + LIMIT_MS;
	w->resting = w->ending = w->retold = false;
	memset(w->pods, 0, sizeof(w->pods));
	memset(w->listing, 0, sizeof(w->listing));
	memset(w->synced, 0, sizeof(w->synced));
	*w->verdict = *w->trouble = '\0';
	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u", inside_port(w->server));
	const struct http_endpoint e = { .base_url = url, .user_agent = "test" };
	struct reflector_config config = settings[h->mode].config;

	config.backoff_base_ms = 1;
	w->judging = judging_new(1, &no_duties, 0, send_nothing, NULL);
	w->client = http_client_new(w->base, &e);
	w->reflector = reflector_new(w->base, w->client, &config, &ops, w);
}

/* No more trouble; and a pod in each namespace whose arrival says that everything before it has arrived. */
static void begin_end(struct world *w)
{
	w->ending = true;
	(void)inside_request(w->server, "DELETE", "/_sim/faults", NULL);
	for (uint16_t i = PODS; i < PODS + NAMESPACES; i++)
		create(w, i);
}

static void find_restless(struct world *w)
{
	(void)snprintf(w->verdict, sizeof(w->verdict), "it never comes to rest: %s; %s",
		       is_quiet(w) ? "in step, but the last pods do not come" : "no complete list",
		       *w->trouble ? w->trouble : "no trouble was told");
}

static bool is_over(struct world *w)
{
	const char *diff;

	for (size_t i = PODS; i < PODS + NAMESPACES && !*w->verdict; i++)
		if (!is_quiet(w) || pod_difference(w, i)) {
			if (clock_boot_ms() < w->limit)
				return false;
			find_restless(w);
		}
	diff = difference(w);
	if (diff)
		find(w, diff);
	w->counts->histories++;
	return true;
}

bool world_step(struct world *w)
{
	check_held(w);
	while (!*w->verdict && w->at < w->history->n) {
		if (w->resting && is_quiet(w) && !difference(w))
			w->wait_until = 0;
		if (clock_boot_ms() < w->wait_until)
			return false;
		w->resting = false;
		act(w, w->history->ops[w->at++]);
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
