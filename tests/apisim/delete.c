// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/util.h"
#include "tests/apisim/verbs.h"

#include <stdlib.h>
#include <string.h>

/* The rules are those of k8s.io/apiserver registry/rest/delete.go BeforeDelete,
 * registry/generic/registry/store.go Delete and of the pod strategy's CheckGracefulDelete, at v0.34.1. */

struct deletion {
	struct call *c;
	struct obj *old; /* counted */
	json_t *tree;    /* of old */
	bool has_grace;
	int64_t grace;
};

static json_t *conflict(const struct call *c, const char *fmt, const char *wanted, const char *have)
{
	char *why =
		util_format("the %s in the precondition (%.80s) does not match the %s in record (%s). The "
			    "object might have "
			    "been %s",
			    fmt, wanted, fmt, have, *fmt == 'U' ? "deleted and then recreated" : "modified");
	/* The real server names the kind here, not the resource. */
	struct kind named = *c->kind;
	json_t *s;

	named.plural = c->kind->kind;
	s = status_conflict(&named, "", c->name, why);
	free(why);
	return s;
}

static json_t *check_preconditions(const struct call *c, const struct obj *o)
{
	const json_t *p = json_object_get(c->body, "preconditions");
	const char *uid = util_str(p, "uid"), *rv = util_str(p, "resourceVersion");
	char have[64];

	object_uid(o, have);
	if (uid && strcmp(uid, have) != 0)
		return conflict(c, "UID", uid, have);
	util_number(o->rv, have);
	if (rv && strcmp(rv, have) != 0)
		return conflict(c, "ResourceVersion", rv, have);
	return NULL;
}

/* Answers; false. */
static bool refuse_dry_run(struct call *c, const json_t *dry)
{
	char *list = json_dumps(dry, 0), *why;

	why = util_format("Unsupported value: %s: supported values: \"All\"", list);
	call_answer_status(c, status_invalid_document("meta.k8s.io", "DeleteOptions", "", "dryRun",
						      "FieldValueNotSupported", why));
	free(why);
	free(list);
	return false;
}

/* Options in the body, else in the query; false: answered already. */
static bool read_options(struct deletion *d)
{
	json_t *dry = json_object_get(d->c->body, "dryRun"),
	       *grace = json_object_get(d->c->body, "gracePeriodSeconds"), *v;
	const char *query = call_query(d->c, "gracePeriodSeconds");
	size_t i;

	json_array_foreach (dry, i, v) {
		if (!util_streq(json_string_value(v), "All"))
			return refuse_dry_run(d->c, dry);
		d->c->dry_run = true;
	}
	if (json_is_integer(grace)) {
		d->has_grace = true;
		d->grace = (int64_t)json_integer_value(grace);
	} else if (!d->c->body && query && util_parse_int(query, &d->grace)) {
		d->has_grace = true;
	}
	if (d->has_grace && d->grace < 0)
		d->grace = 1;
	return true;
}

/* Seconds until the pod is removed, when this is its first deletion. */
static int64_t first_grace(const struct deletion *d)
{
	const char *node = json_string_value(object_at(d->tree, "spec.nodeName"));
	const char *phase = json_string_value(object_at(d->tree, "status.phase"));

	if (!node || !*node || util_streq(phase, "Failed") || util_streq(phase, "Succeeded"))
		return 0;
	if (d->has_grace)
		return d->grace;
	return (int64_t)json_integer_value(object_at(d->tree, "spec.terminationGracePeriodSeconds"));
}

static struct obj *store_or_pretend(struct deletion *d, json_t *tree)
{
	if (d->c->dry_run)
		return object_new(d->c->kind, tree, d->old->rv);
	return object_ref(store_put(d->c->sim->store, d->c->kind, tree));
}

/* Writes deletionTimestamp and grace; removes the object when the grace is 0 and nothing holds it. */
static struct obj *mark(struct deletion *d, int64_t at, int64_t grace)
{
	json_int_t generation = json_integer_value(object_at(d->tree, "metadata.generation"));
	bool first = !object_at(d->tree, "metadata.deletionTimestamp");
	bool held = json_array_size(object_at(d->tree, "metadata.finalizers")) > 0;
	json_t *tree = json_incref(d->tree);
	struct obj *marked, *last;
	char text[21];

	util_time_format(at, text);
	tree = object_with(tree, "metadata.deletionTimestamp", json_string(text));
	tree = object_with(tree, "metadata.deletionGracePeriodSeconds", json_integer(grace));
	if (first && generation > 0)
		tree = object_with(tree, "metadata.generation", json_integer(generation + 1));
	marked = store_or_pretend(d, tree);
	if (grace > 0 || held || d->c->dry_run)
		return marked;
	last = object_ref(store_delete(d->c->sim->store, marked));
	object_unref(marked);
	return last;
}

static struct obj *remove_now(struct deletion *d)
{
	if (d->c->dry_run)
		return object_ref(d->old);
	return object_ref(store_delete(d->c->sim->store, d->old));
}

/* Of a pod that is being deleted already: its time may only become shorter. */
static struct obj *delete_again(struct deletion *d, int64_t had, bool held)
{
	const char *text = json_string_value(object_at(d->tree, "metadata.deletionTimestamp"));
	int64_t at = 0, now = (int64_t)util_now(), grace = d->grace;

	if (had == 0)
		return held ? object_ref(d->old) : remove_now(d);
	if (!d->has_grace || grace >= had)
		return object_ref(d->old);
	util_time_parse(text, &at);
	at += grace - had;
	if (at < now) {
		at = now;
		grace = grace ? 1 : 0;
	}
	return mark(d, at, grace);
}

static struct obj *delete_object(struct deletion *d)
{
	bool deleting = object_at(d->tree, "metadata.deletionTimestamp") != NULL;
	bool held = json_array_size(object_at(d->tree, "metadata.finalizers")) > 0;
	int64_t now = (int64_t)util_now(), grace;

	if (d->c->kind != kinds_pods()) {
		if (!held)
			return remove_now(d);
		return deleting ? object_ref(d->old) : mark(d, now, 0);
	}
	if (deleting)
		return delete_again(d,
				    (int64_t)json_integer_value(
					    object_at(d->tree, "metadata.deletionGracePeriodSeconds")),
				    held);
	grace = first_grace(d);
	return mark(d, now + grace, grace);
}

static void answer_deleted(struct call *c, const struct obj *o)
{
	json_t *s;
	char q[64];

	if (c->kind == kinds_pods() || object_at(o->tree, "metadata.deletionTimestamp")) {
		call_answer_object(c, 200, (struct obj *)(uintptr_t)o);
		return;
	}
	s = json_pack("{s:s, s:s, s:{}, s:s, s:{s:s, s:s, s:s, s:s}}", "kind", "Status", "apiVersion", "v1",
		      "metadata", "status", "Success", "details", "name", o->name, "group", c->kind->group,
		      "kind", c->kind->plural, "uid", object_uid(o, q));
	call_answer_json(c, 200, s);
}

void verb_delete(struct call *c)
{
	struct deletion d = { .c = c, .old = store_get(c->sim->store, c->kind, c->ns, c->name) };
	json_t *error;
	struct obj *o;

	if (!read_options(&d))
		return;
	if (!d.old) {
		call_answer_status(c, status_not_found(c->kind, "", c->name));
		return;
	}
	call_note_before(c, d.old);
	error = check_preconditions(c, d.old);
	if (error) {
		call_answer_status(c, error);
		return;
	}
	object_ref(d.old);
	d.tree = object_tree(d.old);
	o = delete_object(&d);
	call_note_after(c, o);
	answer_deleted(c, o);
	object_unref(o);
	json_decref(d.tree);
	object_unref(d.old);
}
