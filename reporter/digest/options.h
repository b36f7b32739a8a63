/* options.h - what the settings say about the digest, ready for use.  Layer: process (reporter), digest. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_DIGEST_OPTIONS_H
#define REPORTER_DIGEST_OPTIONS_H

#include <stdbool.h>

#include "config/cron.h"
#include "config/settings.h"
#include "config/zone.h"
#include "reporter/sinks/sink.h"

struct digest_options {
	bool enable;
	struct cron cron;
	struct zone *zone; /* NULL = UTC */
	char *schedule;    /* expression and zone: runs of another one are not this one's */
	char *title, *secret;
	const struct sink_ops *sink;
	struct str_list clusters;
};

/* 0, or -EINVAL with a sentence for people in *reterr (static or this thread's, until the next call). *ret is
 * disabled when the duty is, or when no address to send to is set. */
int digest_options_from_settings(const struct settings *s, struct digest_options *ret, const char **reterr);
void digest_options_done(struct digest_options *o);

#endif
