/* inspection.c - see inspection.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/inspection.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "kube/path.h"
#include "model/namespaces.h"
#include "worker/owner_kinds.h"
#include "worker/read.h"

#define TIMEOUT_MS 4000u
#define OWNERS_MAX 4u
#define BODY_MAX   (2u << 20)

struct inspection {
	struct inspections *inspections;
	struct http_request *request; /* NULL = free */
	struct msg_inspect question;
	struct msg answer;
	char *keys;
	unsigned owners; /* read so far, or being read; 0: the pod is */
	char uid[64];    /* of the owner that is read */
	char *next;      /* its path, while the revision of the pod is read before it; else NULL */
};

struct inspections {
	struct http_client *client;
	void (*answer)(void *ctx, const struct msg *m);
	void *ctx;
	struct owner_kinds *kinds;
	struct inspection v[INSPECTIONS_MAX];
	uint64_t minute; /* of the boot clock */
	unsigned begun;  /* in it */
};

struct inspections *inspections_new(struct http_client *client,
				    void (*answer)(void *ctx, const struct msg *m), void *ctx)
{
	struct inspections *l = xcalloc(1, sizeof(*l));

	l->client = client;
	l->answer = answer;
	l->ctx = ctx;
	l->kinds = owner_kinds_new();
	return l;
}

void inspections_free(struct inspections **l)
{
	if (!*l)
		return;
	for (size_t i = 0; i < INSPECTIONS_MAX; i++) {
		http_request_cancel(&(*l)->v[i].request);
		free((*l)->v[i].next);
		free((*l)->v[i].keys);
	}
	owner_kinds_free(&(*l)->kinds);
	free(TAKE_PTR(*l));
}

static void end(struct inspection *k)
{
	const struct msg answer = k->answer;
	struct inspections *l = k->inspections;

	free(k->next);
	free(k->keys);
	*k = (struct inspection){ 0 };
	l->answer(l->ctx, &answer);
}

/* -- what an answer says -- */

/* The element of an array whose name is that. */
static const json_t *named(const json_t *array, const char *name)
{
	const json_t *o;
	size_t i;

	json_array_foreach (array, i, o)
		if (str_is(READ_TEXT(o, "name"), name))
			return o;
	return NULL;
}

/* A container or an init container; `what` is of the spec or of the status. */
static const json_t *container_of(const json_t *pod, const char *where, const char *const what[2],
				  const char *name)
{
	const json_t *found = named(READ_AT(pod, where, what[0]), name);

	return found ? found : named(READ_AT(pod, where, what[1]), name);
}

/* The last line that says something. */
static struct str last_line(struct str s)
{
	s = str_trim(s, " \t\r\n");
	for (size_t i = s.n; i > 0; i--)
		if (s.p[i - 1] == '\n')
			return str_trim((struct str){ s.p + i, s.n - i }, " \t\r");
	return s;
}

static void read_end(const json_t *status, struct msg *ret)
{
	const json_t *now = READ_AT(status, "state", "terminated");
	const json_t *ended = now ? now : READ_AT(status, "lastState", "terminated");
	const struct str reason = READ_TEXT(ended, "reason"), text = last_line(READ_TEXT(ended, "message"));
	const json_int_t code = json_integer_value(READ_AT(ended, "exitCode"));
	const json_int_t signal = json_integer_value(READ_AT(ended, "signal"));

	msg_set(ret, inspected.reason, reason.p, reason.n);
	msg_set(ret, inspected.message, text.p, text.n);
	ret->u.inspected.exit_code = code >= INT32_MIN && code <= INT32_MAX ? code : 0;
	/* What a shell makes of a signal; the runtime says only this. */
	ret->u.inspected.signal = signal > 0 && signal <= 255      ? (uint64_t)signal
				  : code > 128 && code <= 128 + 64 ? (uint64_t)(code - 128)
								   : 0;
}

static void note_contact(struct inspection *k, const json_t *o)
{
	const struct str contact = read_contact(o, k->keys);

	if (!str_empty(contact))
		msg_set(&k->answer, inspected.contact, contact.p, contact.n);
}

static void read_pod(struct inspection *k, const json_t *pod)
{
	static const char *const statuses[2] = { "containerStatuses", "initContainerStatuses" };
	static const char *const containers[2] = { "containers", "initContainers" };
	const json_t *spec = container_of(pod, "spec", containers, k->question.container);
	const struct str memory = READ_TEXT(spec, "resources", "limits", "memory");
	const struct str image = READ_TEXT(spec, "image");

	k->answer.u.inspected.found = true;
	read_end(container_of(pod, "status", statuses, k->question.container), &k->answer);
	msg_set(&k->answer, inspected.memory, memory.p, memory.n);
	msg_set(&k->answer, inspected.image, image.p, image.n);
}

/* -- one object after the other -- */

static void on_done(void *ctx, const struct http_result *r);

/* accept NULL: all of the object. */
static void ask(struct inspection *k, char *path, const char *accept)
{
	const struct http_call call = { .method = "GET",
					.path = path,
					.accept = accept,
					.max_body = BODY_MAX,
					.total_timeout_ms = TIMEOUT_MS,
					.on_done = on_done,
					.ctx = k };

	k->request = path ? http_client_start(k->inspections->client, &call) : NULL;
	free(path);
	if (!k->request)
		end(k);
}

/* The ControllerRevision that a pod was made from, NULL when its controller keeps none. The pod's label is
 * its name (StatefulSet), or what follows the controller's (DaemonSet). */
static char *revision_path(const struct inspection *k, const json_t *pod, const struct owner_facts *owner,
			   const struct kind_info *kind)
{
	const struct str label = READ_TEXT(pod, "metadata", "labels", "controller-revision-hash");
	const bool is_set = str_is(owner->kind, "StatefulSet"), is_daemon = str_is(owner->kind, "DaemonSet");

	if (str_empty(label) || strcmp(kind->group, "apps") != 0 || (!is_set && !is_daemon))
		return NULL;
	_cleanup_free_ char *name =
		is_set ? xstrndup(label.p, label.n)
		       : xasprintf("%.*s-%.*s", (int)owner->name.n, owner->name.p, (int)label.n, label.p);

	return path_format("apps", kind->version, k->question.ns, "controllerrevisions", name, NULL, NULL);
}

/* The controller of what was read: name it, and read it where its kind is known. */
static void go_up(struct inspection *k, const json_t *o)
{
	struct owner_facts owner;
	struct kind_info kind;

	if (!read_controller(o, &owner) || k->owners == OWNERS_MAX || owner.uid.n >= sizeof(k->uid)) {
		end(k);
		return;
	}
	msg_set(&k->answer, inspected.kind, owner.kind.p, owner.kind.n);
	msg_set(&k->answer, inspected.workload, owner.name.p, owner.name.n);
	if (owner_kinds_find(k->inspections->kinds, owner.api_version, owner.kind, clock_boot_ms(), &kind) !=
	    OWNER_KINDS_FOUND) {
		end(k);
		return;
	}
	_cleanup_free_ char *name = xstrndup(owner.name.p, owner.name.n);

	(void)memcpy(k->uid, owner.uid.p, owner.uid.n);
	k->uid[owner.uid.n] = '\0';
	k->owners++;
	char *path = path_format(kind.group, kind.version, kind.namespaced ? k->question.ns : NULL,
				 kind.resource, name, NULL, NULL);
	char *revision = path && k->owners == 1 ? revision_path(k, o, &owner, &kind) : NULL;

	k->next = revision ? path : NULL;
	ask(k, revision ? revision : path, revision ? READ_METADATA : NULL);
}

/* One that may not be read, or is gone, is left out; its controller is read all the same. */
static void take_revision(struct inspection *k, const json_t *o)
{
	struct owner_facts owner;

	if (o && read_controller(o, &owner) && str_is(owner.uid, k->uid))
		k->answer.u.inspected.rolled_at = read_created(o);
	ask(k, TAKE_PTR(k->next), NULL);
}

static void take(struct inspection *k, const json_t *o)
{
	const char *want = k->owners ? k->uid : k->question.uid;
	const bool is_it = !*want || str_is(READ_TEXT(o, "metadata", "uid"), want);

	if (!is_it) {
		end(k);
		return;
	}
	if (k->owners == 0)
		read_pod(k, o);
	else if (k->owners == 1 && strcmp(k->answer.u.inspected.kind, "ReplicaSet") == 0)
		k->answer.u.inspected.rolled_at = read_created(o);
	note_contact(k, o);
	go_up(k, o);
}

static void on_done(void *ctx, const struct http_result *r)
{
	struct inspection *k = ctx;
	const bool ok = r->failure == HTTP_OK && r->status == 200;
	json_auto_t *o = ok ? json_loadb(r->body, r->body_len, JSON_ALLOW_NUL, NULL) : NULL;

	k->request = NULL;
	if (k->next)
		take_revision(k, o);
	else if (o)
		take(k, o);
	else
		end(k);
}

/* -- what is answered -- */

/* Whoever took the reporter over may ask for any name: where a report shows nothing, nothing is read. Labels
 * of the namespace are not known here, and where they would decide it is read. */
static bool is_reported(const struct policy *policy, const char *name)
{
	const struct str_list *wanted = &policy->duty[DUTY_RESTARTS].namespaces;
	const struct str ns = STR_C(name);
	const bool is_protected =
		namespaces_match(&policy->default_exclude_namespaces, ns, NULL) == TRI_YES ||
		(policy->own_namespace && str_is(ns, policy->own_namespace));

	return policy_enables(policy, DUTY_RESTARTS) && namespaces_match(wanted, ns, NULL) != TRI_NO &&
	       namespaces_match(&policy->exclude_namespaces, ns, NULL) != TRI_YES &&
	       (!is_protected || namespaces_name(wanted, ns));
}

static struct inspection *begin(struct inspections *l)
{
	const uint64_t minute = clock_boot_ms() / (uint64_t)MINUTE_MS;

	l->begun = minute == l->minute ? l->begun : 0;
	l->minute = minute;
	for (size_t i = 0; l->begun < INSPECTIONS_PER_MINUTE && i < INSPECTIONS_MAX; i++)
		if (!l->v[i].request) {
			l->begun++;
			return &l->v[i];
		}
	return NULL;
}

void inspections_ask(struct inspections *l, const struct msg_inspect *question, const struct policy *policy,
		     const char *contact_keys)
{
	struct inspection *k = is_reported(policy, question->ns) ? begin(l) : NULL;
	struct msg answer = { .type = MSG_INSPECTED,
			      .u.inspected = { .cluster = question->cluster,
					       .inspection = question->inspection } };

	if (!k) {
		l->answer(l->ctx, &answer);
		return;
	}
	*k = (struct inspection){ .inspections = l,
				  .question = *question,
				  .answer = answer,
				  .keys = xstrdup(contact_keys ? contact_keys : "") };
	ask(k, path_format("", "v1", question->ns, "pods", question->pod, NULL, NULL), NULL);
}
