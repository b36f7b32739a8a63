/* metav1.Status documents as kube-apiserver words them (k8s.io/apimachinery pkg/api/errors). Results are the
 * caller's. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_STATUS_H
#define APISIM_STATUS_H

#include "tests/apisim/kinds.h"

#include <jansson.h>

/* reason NULL: the server has none for it, as for some of its 500s. */
json_t *status_new(int code, const char *reason, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
#define status_bad_request(...) status_new(400, "BadRequest", __VA_ARGS__)
#define status_expired(...)     status_new(410, "Expired", __VA_ARGS__)

/* With details of the object; sub "" or the subresource, which is part of the resource's name in some
 * messages. */
json_t *status_not_found(const struct kind *kind, const char *sub, const char *name);
json_t *status_already_exists(const struct kind *kind, const char *name);
json_t *status_conflict(const struct kind *kind, const char *sub, const char *name, const char *why);

/* 422 for one field. cause: "FieldValueInvalid" and the like; why begins with what it means ("Invalid value:
 * ..."). */
json_t *status_invalid(const struct kind *kind, const char *name, const char *field, const char *cause,
		       const char *why);

/* The same for documents that are no resource: "ListOptions", "DeleteOptions" of meta.k8s.io, "Scale" of
 * autoscaling. */
json_t *status_invalid_document(const char *group, const char *kind, const char *name, const char *field,
				const char *cause, const char *why);
/* That for a field of ListOptions. */
json_t *status_list_options(const char *field, const char *why);
json_t *status_forbidden(const struct kind *kind, const char *sub, const char *name, const char *user,
			 const char *verb, const char *ns);

/* 504 with the cause ResourceVersionTooLarge. */
json_t *status_too_large(unsigned long long asked, unsigned long long current);

#define STATUS_OPTIMISTIC_LOCK                                                                               \
	"the object has been modified; please apply your changes to the latest version and try again"

#endif
