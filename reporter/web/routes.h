/* routes.h - the answers of the HTTP listener.  Layer: process (reporter), web. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_WEB_ROUTES_H
#define REPORTER_WEB_ROUTES_H

#include "reporter/web/stats.h"
#include "reporter/web/listener.h"

/* /metrics, /healthz, /livez, /readyz; anything else is 404. */
void routes_serve(struct stats *s, const struct history *h, const char *path, const char *query,
		  struct listener_answer *ret);

#endif
