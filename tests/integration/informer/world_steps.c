/* world_steps.c - what each step of a history does; see world_state.h. */
// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/informer/world_state.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"

/* What a step does: to a pod, or by a request of that path to the server's control interface. */
struct row {
	void (*act)(struct world *w, struct op op);
	const char *text, *phase, *reason;
	bool retold;
};
static const struct row rows[OP__MAX];

static int request(struct world *w, const char *method, size_t i, const char *sub, const char *body)
{
	char ns[32], name[32];

	model_name(i, ns, name);
	const bool create = strcmp(method, "POST") == 0;
	_cleanup_free_ char *path =
		xasprintf("/api/v1/namespaces/%s/pods%s%s%s", ns, create ? "" : "/", create ? "" : name, sub);

	return inside_request(w->server, method, path, body);
}

static void create(struct world *w, struct op op)
{
	static const char owner[] =
		"\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\","
		"\"name\":\"p\",\"uid\":\"00000000-0000-4000-8000-000000000001\","
		"\"controller\":true}],";
	char ns[32], name[32];

	model_name(op.arg, ns, name);
	_cleanup_free_ char *body = xasprintf(
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{%s\"name\":\"%s\"},"
		"\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\",\"image\":\"op.arg\"}]}}",
		op.arg % 2 ? owner : "", name);

	if (request(w, "POST", op.arg, "", body) == 201)
		w->pods[op.arg] = (struct model_pod){ .exists = true, .phase = "Pending", .reason = "" };
	model_learn(w, op.arg);
}

static void set_status(struct world *w, struct op op)
{
	const struct row *row = &rows[op.kind];
	_cleanup_free_ char *body = xasprintf("{\"status\":{\"phase\":\"%s\",\"reason\":\"%s\"%s}}",
					      row->phase, row->reason, row->text);

	(void)request(w, "PATCH", op.arg, "/status", body);
	w->pods[op.arg].phase = row->phase;
	w->pods[op.arg].reason = row->reason;
	model_learn(w, op.arg);
}

static void terminate(struct world *w, struct op op)
{
	struct model_pod *p = &w->pods[op.arg];

	/* Of a pod that has ended nothing has to stop: the server removes it at once. When it is being
	 * deleted already, only a shorter grace would change anything. */
	(void)request(w, "DELETE", op.arg, "", "{\"gracePeriodSeconds\":30}");
	p->exists = p->deleting || strcmp(p->phase, "Failed") != 0;
	p->deleting = true;
	model_learn(w, op.arg);
}

static void delete (struct world *w, struct op op)
{
	(void)request(w, "DELETE", op.arg, "", "{\"gracePeriodSeconds\":0}");
	w->pods[op.arg].exists = w->pods[op.arg].held = false;
	model_learn(w, op.arg);
}

static void recreate(struct world *w, struct op op)
{
	delete (w, op);
	create(w, op);
}

/* Moves the version on without any pod. */
static void other(struct world *w, struct op op)
{
	(void)op;
	(void)inside_request(
		w->server, "POST", "/api/v1/namespaces/ns-0/configmaps",
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"generateName\":\"c-\"}}");
}

static void admin(struct world *w, const char *path, const char *body)
{
	if (inside_request(w->server, "POST", path, body) != 200)
		world_find(w, "the server refuses to make trouble (a fault of the test)");
}

static void fail(struct world *w, struct op op)
{
	admin(w, "/_sim/faults", fault_table[op.arg].rule);
}

/* The path ends with the number, when it asks for one. */
static void admin_number(struct world *w, const char *path, uint16_t n)
{
	_cleanup_free_ char *with = xasprintf("%s%u", path, n);

	admin(w, path[strlen(path) - 1] == '=' ? with : path, NULL);
}

static void trouble(struct world *w, struct op op)
{
	w->retold = w->retold || rows[op.kind].retold;
	admin_number(w, rows[op.kind].text, op.arg);
}

static void close_watches(struct world *w, struct op op)
{
	admin_number(w, op.arg ? "/_sim/close-watches?error=" : "/_sim/close-watches", op.arg);
}

static void wait_ms(struct world *w, struct op op)
{
	w->wait_until = clock_boot_ms() + op.arg;
}

static void rest(struct world *w, struct op op)
{
	(void)op;
	w->wait_until = clock_boot_ms() + REST_MS;
	w->resting = true;
}

#define CONTAINER(ready, id, state)                                                                          \
	",\"containerStatuses\":[{\"name\":\"c\",\"ready\":" ready ",\"restartCount\":0,\"image\":\"i\","    \
	"\"imageID\":\"" id "\",\"state\":{" state "}}]"

static const struct row rows[OP__MAX] = {
	[OP_CREATE] = { create },
	[OP_EVICT] = { set_status, .phase = "Failed", .reason = "Evicted", .text = "" },
	[OP_RUN] = { set_status, .phase = "Running", .reason = "",
		     .text = CONTAINER("true", "i", "\"running\":{\"startedAt\":\"2026-01-01T00:00:00Z\"}") },
	[OP_PULL] = { set_status, .phase = "Pending", .reason = "",
		      .text = CONTAINER("false", "", "\"waiting\":{\"reason\":\"ImagePullBackOff\"}") },
	[OP_TERMINATE] = { terminate },
	[OP_DELETE] = { delete },
	[OP_RECREATE] = { recreate },
	[OP_OTHER] = { other },
	[OP_FAIL] = { fail },
	[OP_CLOSE] = { close_watches },
	[OP_CUT] = { trouble, "/_sim/close-connections" },
	[OP_COMPACT] = { trouble, "/_sim/compact" },
	[OP_BOOKMARKS] = { trouble, "/_sim/bookmarks?count=" },
	[OP_BEHIND] = { trouble, "/_sim/bookmarks?count=1&behind=", .retold = true },
	[OP_REPEAT] = { trouble, "/_sim/repeat-events?count=", .retold = true },
	[OP_PAUSE] = { trouble, "/_sim/pause-watches?ms=" },
	[OP_WAIT] = { wait_ms },
	[OP_REST] = { rest },
};

void steps_act(struct world *w, struct op op)
{
	w->counts->steps++;
	if (op_table[op.kind].arg == ARG_POD && op.kind != OP_CREATE && op.kind != OP_RECREATE &&
	    !w->pods[op.arg].exists)
		return; /* there is nothing to do it to */
	rows[op.kind].act(w, op);
}
