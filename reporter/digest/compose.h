/* compose.h - a report as a message for one sink.  Layer: process (reporter), digest.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_DIGEST_COMPOSE_H
#define REPORTER_DIGEST_COMPOSE_H

#include "config/settings.h"
#include "reporter/digest/digest.h"
#include "reporter/news/document.h"

/* *ret is initialised here; the caller frees it with document_done(). at_ms: now. */
void digest_compose(const struct digest *d, const struct digest_context *ctx, const char *title,
		    const struct sink_settings *s, int64_t at_ms, struct document *ret);

#endif
