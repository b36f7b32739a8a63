/* read.c - see read.h. */
// SPDX-License-Identifier: Apache-2.0
#include "worker/read.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/fnv.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"

const json_t *read_at(const json_t *o, const char *const path[])
{
	for (; o && *path; path++)
		o = json_object_get(o, *path);
	return o;
}

static struct str text_of(const json_t *o)
{
	if (!json_is_string(o))
		return (struct str){ "", 0 };
	return (struct str){ json_string_value(o), json_string_length(o) };
}

struct str read_text(const json_t *o, const char *const path[])
{
	return text_of(read_at(o, path));
}

int64_t read_time(const json_t *o, const char *const path[])
{
	const struct str s = read_text(o, path);
	int64_t ms;

	return rfc3339_parse(s.p, s.n, &ms) == 0 && ms > 0 ? ms : 0;
}

int64_t read_created(const json_t *o)
{
	return READ_TIME(o, "metadata", "creationTimestamp");
}

const json_t *read_condition(const json_t *o, const char *type)
{
	const json_t *conditions = READ_AT(o, "status", "conditions"), *c;
	size_t i;

	json_array_foreach (conditions, i, c)
		if (str_is(READ_TEXT(c, "type"), type))
			return c;
	return NULL;
}

int64_t read_unavailable(const json_t *o)
{
	const json_t *c = read_condition(o, "Available");

	return str_is(READ_TEXT(c, "status"), "False") ? READ_TIME(c, "lastTransitionTime") : 0;
}

json_t *read_controller_ref(const json_t *o)
{
	const json_t *refs = READ_AT(o, "metadata", "ownerReferences");
	json_t *ref;
	size_t i;

	json_array_foreach (refs, i, ref)
		if (json_is_true(json_object_get(ref, "controller")))
			return ref;
	return NULL;
}

struct owner_facts read_owner(const json_t *ref)
{
	return (struct owner_facts){ .api_version = READ_TEXT(ref, "apiVersion"),
				     .kind = READ_TEXT(ref, "kind"),
				     .name = READ_TEXT(ref, "name"),
				     .uid = READ_TEXT(ref, "uid") };
}

bool read_controller(const json_t *o, struct owner_facts *ret)
{
	const json_t *ref = read_controller_ref(o);

	if (ref)
		*ret = read_owner(ref);
	return ref;
}

enum tri read_node_ready(const json_t *node)
{
	return str_is(READ_TEXT(read_condition(node, "Ready"), "status"), "True") ? TRI_YES : TRI_NO;
}

enum tri read_node_out_of_service(const json_t *node)
{
	const json_t *taints = READ_AT(node, "spec", "taints"), *t;
	size_t i;

	json_array_foreach (taints, i, t)
		if (str_is(READ_TEXT(t, "key"), "node.kubernetes.io/out-of-service"))
			return TRI_YES;
	return TRI_NO;
}

bool read_observed(const json_t *o)
{
	const json_t *generation = READ_AT(o, "metadata", "generation");
	const json_t *observed = READ_AT(o, "status", "observedGeneration");
	struct str text = text_of(observed); /* Rollouts write it as text */
	uint64_t n;

	if (!json_is_integer(generation))
		return true;
	if (json_is_integer(observed))
		return json_integer_value(observed) >= json_integer_value(generation);
	return str_to_u64(text.p, text.n, &n) < 0 || n >= (uint64_t)json_integer_value(generation);
}

uint64_t read_revision(const json_t *rs)
{
	static const char *const keys[] = { "deployment.kubernetes.io/revision",
					    "rollout.argoproj.io/revision" };
	uint64_t n;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		struct str s = READ_TEXT(rs, "metadata", "annotations", keys[i]);

		if (str_to_u64(s.p, s.n, &n) == 0)
			return n;
	}
	return 0;
}

bool read_scale(const json_t *o, struct scale_facts *ret)
{
	const json_t *replicas = READ_AT(o, "spec", "replicas");

	*ret = (struct scale_facts){ .uid = READ_TEXT(o, "metadata", "uid"),
				     .rv = READ_TEXT(o, "metadata", "resourceVersion"),
				     .selector = READ_TEXT(o, "status", "selector"),
				     .replicas = json_integer_value(replicas) };
	return str_is(READ_TEXT(o, "kind"), "Scale") && !str_empty(ret->uid) && !str_empty(ret->rv) &&
	       (!replicas || json_is_integer(replicas)) && ret->replicas >= 0 && ret->replicas <= INT32_MAX;
}

long read_failure(const json_t *o)
{
	if (!str_is(READ_TEXT(o, "kind"), "Status") || !str_is(READ_TEXT(o, "status"), "Failure"))
		return 0;
	long code = (long)json_integer_value(json_object_get(o, "code"));

	return code >= 400 && code <= 599 ? code : 500;
}

bool read_is_unserved(const char *body, size_t n)
{
	json_auto_t *o = json_loadb(body, n, JSON_ALLOW_NUL, NULL);

	return str_is(READ_TEXT(o, "kind"), "Status") ||
	       str_is(str_trim((struct str){ body, n }, " \r\n"), "404 page not found");
}

bool read_is_absent(const char *body, size_t n)
{
	json_auto_t *o = json_loadb(body, n, JSON_ALLOW_NUL, NULL);

	return str_is(READ_TEXT(o, "kind"), "Status") && str_is(READ_TEXT(o, "reason"), "NotFound") &&
	       !str_empty(READ_TEXT(o, "details", "name"));
}

/* "pods \"web\" is forbidden: User \"u\" cannot delete resource ...": what kube-apiserver says when no
 * authorizer allows it (apiserver pkg/endpoints/handlers/responsewriters/errors.go). Admission speaks
 * otherwise: "admission webhook \"w\" denied the request: ...", "... is forbidden: exceeded quota ...". */
static bool is_by_rights(struct str text)
{
	static const char because[] = "forbidden: User \"", what[] = "\" cannot ";
	const char *at = text.n ? memmem(text.p, text.n, because, sizeof(because) - 1) : NULL;

	return at && !(text.n >= 9 && memcmp(text.p, "admission", 9) == 0) &&
	       memmem(at, text.n - (size_t)(at - text.p), what, sizeof(what) - 1);
}

void read_refusal(const char *body, size_t n, struct refusal *ret)
{
	json_auto_t *o = json_loadb(body, n, JSON_ALLOW_NUL, NULL);
	struct str text = str_trim((struct str){ body, n }, " \t\r\n\v\f");
	const json_int_t after = json_integer_value(READ_AT(o, "details", "retryAfterSeconds"));
	const bool is_status = str_is(READ_TEXT(o, "kind"), "Status");

	if (is_status)
		text = READ_TEXT(o, "message");
	else if (o || (!str_empty(text) && (*text.p == '<' || *text.p == '{')))
		text.n = 0;
	*ret = (struct refusal){ .retry_after_s = !is_status || after < 0 ? 0
						  : after > INT32_MAX     ? INT32_MAX
									  : after,
				 .by_rights = is_status && is_by_rights(text) };
	(void)str_copy_printable(ret->message, sizeof(ret->message), text.p, text.n);
}

void read_template_labels(const json_t *workload, struct pod_facts *ret)
{
	json_t *labels =
		json_object_get(json_object_get(READ_AT(workload, "spec", "template"), "metadata"), "labels");
	const char *key;
	json_t *value;

	ret->n_labels = 0;
	json_object_foreach (labels, key, value) {
		ret->labels_cut = ret->n_labels == POD_LABELS_MAX;
		if (ret->labels_cut)
			return;
		ret->labels[ret->n_labels++] = (struct label){ STR_C(key), text_of(value) };
	}
}

bool read_object_name(const char *text, struct object_name *ret)
{
	struct str rest = STR_C(text), what = str_cut(&rest, '/');
	const bool has_group = memchr(what.p, '.', what.n);

	ret->resource = str_cut(&what, '.');
	ret->group = what;
	ret->ns = str_cut(&rest, '/');
	ret->name = rest;
	return !str_empty(ret->resource) && (!has_group || !str_empty(ret->group)) && !str_empty(ret->ns) &&
	       !str_empty(ret->name) && !memchr(ret->name.p, '/', ret->name.n);
}

void read_annotations(const json_t *o, struct annotations *ret)
{
	json_t *annotations = json_object_get(json_object_get(o, "metadata"), "annotations"), *value;
	const char *key;

	*ret = (struct annotations){ 0 };
	json_object_foreach (annotations, key, value) {
		if (json_is_string(value))
			(void)annotations_add(ret, (struct str){ key, strlen(key) }, text_of(value));
	}
}

struct str read_contact(const json_t *o, const char *keys)
{
	struct str rest = STR_C(keys ? keys : ""), value = { "", 0 };

	while (rest.n > 0 && str_empty(value)) {
		const struct str key = str_trim(str_cut(&rest, ','), " \t");
		_cleanup_free_ char *text = xstrndup(key.p, key.n);

		value = str_trim(READ_TEXT(o, "metadata", "annotations", text), " \t\r\n");
	}
	return value;
}

/* -- the hash of a template -- */

static const char *const of_metadata[] = { "labels", "annotations", NULL };
static const char *const of_spec[] = { "imagePullSecrets", "serviceAccountName", "nodeSelector", "volumes",
				       NULL };
static const char *const of_container[] = {
	"name",    "image",     "imagePullPolicy", "command",       "args",         "workingDir", "env",
	"envFrom", "resources", "volumeMounts",    "livenessProbe", "startupProbe", NULL
};

static json_t *pick(const json_t *o, const char *const keys[])
{
	json_t *picked = json_object();

	for (; *keys; keys++)
		(void)json_object_set_new(picked, *keys, json_incref(json_object_get(o, *keys)));
	return picked;
}

static json_t *pick_each(const json_t *list)
{
	json_t *all = json_array(), *container;
	size_t i;

	json_array_foreach (list, i, container)
		(void)json_array_append_new(all, pick(container, of_container));
	return all;
}

void template_hash(const json_t *workload, char ret[static TEMPLATE_HASH_MAX])
{
	const json_t *template = READ_AT(workload, "spec", "template");
	const json_t *spec = json_object_get(template, "spec");

	ret[0] = '\0';
	if (!json_is_object(spec))
		return;
	json_auto_t *all = json_pack(
		"{s:o, s:o, s:o, s:o}", "metadata", pick(json_object_get(template, "metadata"), of_metadata),
		"spec", pick(spec, of_spec), "containers", pick_each(json_object_get(spec, "containers")),
		"initContainers", pick_each(json_object_get(spec, "initContainers")));
	_cleanup_free_ char *text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);

	(void)snprintf(ret, TEMPLATE_HASH_MAX, "%016" PRIx64, fnv_text(FNV_START, text ? text : ""));
}
