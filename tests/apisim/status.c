// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/status.h"
#include "tests/apisim/util.h"

#include <stdarg.h>
#include <stdlib.h>

json_t *status_new(int code, const char *reason, const char *fmt, ...)
{
	char *message = NULL;
	va_list ap;
	json_t *s;

	va_start(ap, fmt);
	if (vasprintf(&message, fmt, ap) < 0)
		util_die(71, "out of memory");
	va_end(ap);
	s = json_pack("{s:s, s:s, s:{}, s:s, s:s, s:s*, s:i}", "kind", "Status", "apiVersion", "v1",
		      "metadata", "status", "Failure", "message", message, "reason", reason, "code", code);
	free(message);
	return s;
}

/* What names the resource in details is called "kind" there. */
static json_t *with_details(json_t *s, const struct kind *kind, const char *sub, const char *name)
{
	char plural[128];
	json_t *d = json_object();

	snprintf(plural, sizeof(plural), "%s%s%s", kind->plural, *sub ? "/" : "", sub);
	if (*name)
		json_object_set_new(d, "name", json_string(name));
	if (*kind->group)
		json_object_set_new(d, "group", json_string(kind->group));
	json_object_set_new(d, "kind", json_string(plural));
	json_object_set_new(s, "details", d);
	return s;
}

json_t *status_not_found(const struct kind *kind, const char *sub, const char *name)
{
	char q[128];

	return with_details(
		status_new(404, "NotFound", "%s \"%s\" not found", kinds_qualified(kind, sub, q), name), kind,
		sub, name);
}

json_t *status_already_exists(const struct kind *kind, const char *name)
{
	char q[128];

	return with_details(status_new(409, "AlreadyExists", "%s \"%s\" already exists",
				       kinds_qualified(kind, "", q), name),
			    kind, "", name);
}

json_t *status_conflict(const struct kind *kind, const char *sub, const char *name, const char *why)
{
	char q[128];

	return with_details(status_new(409, "Conflict", "Operation cannot be fulfilled on %s \"%s\": %s",
				       kinds_qualified(kind, sub, q), name, why),
			    kind, sub, name);
}

json_t *status_invalid_document(const char *group, const char *kind, const char *name, const char *field,
				const char *cause, const char *why)
{
	json_t *s = status_new(422, "Invalid", "%s%s%s \"%s\" is invalid: %s: %s", kind, *group ? "." : "",
			       group, name, field, why);
	json_t *d = json_object();

	if (*name)
		json_object_set_new(d, "name", json_string(name));
	if (*group)
		json_object_set_new(d, "group", json_string(group));
	json_object_set_new(d, "kind", json_string(kind));
	json_object_set_new(d, "causes",
			    json_pack("[{s:s, s:s, s:s}]", "reason", cause, "message", why, "field", field));
	json_object_set_new(s, "details", d);
	return s;
}

json_t *status_invalid(const struct kind *kind, const char *name, const char *field, const char *cause,
		       const char *why)
{
	return status_invalid_document(kind->group, kind->kind, name, field, cause, why);
}

json_t *status_list_options(const char *field, const char *why)
{
	return status_invalid_document("meta.k8s.io", "ListOptions", "", field,
				       *why == 'U' ? "FieldValueNotSupported" : "FieldValueForbidden", why);
}

json_t *status_forbidden(const struct kind *kind, const char *sub, const char *name, const char *user,
			 const char *verb, const char *ns)
{
	char q[128], quoted[300] = "", where[300] = "at the cluster scope";
	json_t *s;

	if (*name)
		snprintf(quoted, sizeof(quoted), " \"%s\"", name);
	if (*ns)
		snprintf(where, sizeof(where), "in the namespace \"%s\"", ns);
	s = status_new(403, "Forbidden",
		       "%s%s is forbidden: User \"%s\" cannot %s resource \"%s%s%s\" in API group \"%s\" %s",
		       kinds_qualified(kind, "", q), quoted, user, verb, kind->plural, *sub ? "/" : "", sub,
		       kind->group, where);
	return with_details(s, kind, "", name);
}

json_t *status_too_large(unsigned long long asked, unsigned long long current)
{
	json_t *s = status_new(504, "Timeout", "Timeout: Too large resource version: %llu, current: %llu",
			       asked, current);

	json_object_set_new(s, "details",
			    json_pack("{s:[{s:s, s:s}], s:i}", "causes", "reason", "ResourceVersionTooLarge",
				      "message", "Too large resource version", "retryAfterSeconds", 1));
	return s;
}
