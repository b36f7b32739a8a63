/* world_steps.c - what each step of a history does; see world_state.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/informer/world_state.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"

static int request(struct world *w, const char *method, size_t i, const char *sub, const char *body)
{
	char ns[32], name[32];

	model_name(i, ns, name);
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

	model_name(i, ns, name);
	_cleanup_free_ char *body =
		xasprintf("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{%s\"name\":\"%s\"},"
			  "\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
			  i % 2 ? owner : "", name);

	if (request(w, "POST", i, "", body) == 201)
		w->pods[i] = (struct model_pod){ .exists = true, .phase = "Pending", .reason = "" };
	model_learn(w, i);
}

static void set_status(struct world *w, uint16_t i, const char *phase, const char *reason, const char *more)
{
	_cleanup_free_ char *body =
		xasprintf("{\"status\":{\"phase\":\"%s\",\"reason\":\"%s\"%s}}", phase, reason, more);

	(void)request(w, "PATCH", i, "/status", body);
	w->pods[i].phase = phase;
	w->pods[i].reason = reason;
	model_learn(w, i);
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
	model_learn(w, i);
}

static void delete (struct world *w, uint16_t i)
{
	(void)request(w, "DELETE", i, "", "{\"gracePeriodSeconds\":0}");
	w->pods[i].exists = w->pods[i].held = false;
	model_learn(w, i);
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
		world_find(w, "the server refuses to make trouble (a fault of the test)");
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

void steps_act(struct world *w, struct op op)
{
	w->counts->steps++;
	if (op_table[op.kind].arg == ARG_POD && op.kind != OP_CREATE && op.kind != OP_RECREATE &&
	    !w->pods[op.arg].exists)
		return; /* there is nothing to do it to */
	acts[op.kind](w, op.arg);
}
