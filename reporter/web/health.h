/* health.h - /livez, /readyz and /healthz as kube-apiserver answers them: "ok", or one line a check and
 * status 500; ?verbose, ?exclude=NAME, /readyz/NAME.
 * Layer: process (reporter). Source: Kubernetes pkg/healthz. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_WEB_HEALTH_H
#define REPORTER_WEB_HEALTH_H

#include <stdbool.h>
#include <stddef.h>

struct health_check {
	char name[80];
	bool ok;
	bool any; /* of these one suffices */
};

/* Answer to a request for `path` (which begins with "/" + group) with query string (NULL = none), by n checks
 * in the order they are shown. Returns the HTTP status and a text the caller frees; 404 for a check that does
 * not exist. */
int health_answer(const struct health_check *v, size_t n, const char *group, const char *path,
		  const char *query, char **ret);

#endif
