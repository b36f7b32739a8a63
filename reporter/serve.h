/* serve.h - the answers of the HTTP listener.  Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_SERVE_H
#define REPORTER_SERVE_H

#include "reporter/figures.h"
#include "reporter/listener.h"

/* /metrics, /healthz, /livez, /readyz; anything else is 404. */
void serve_path(struct figures *f, const struct history *h, const char *path, const char *query,
		struct listener_answer *ret);

#endif
