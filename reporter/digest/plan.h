/* plan.h - settings -> plan of the digests.  Layer: process (reporter). */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_DIGEST_PLAN_H
#define REPORTER_DIGEST_PLAN_H

#include "config/settings.h"
#include "reporter/digest/run.h"

/* 0, or -EINVAL with a sentence for people in *reterr (static or this thread's, until the next call). *ret is
 * disabled when the duty is, or when no address to send to is set. */
int plan_from_settings(const struct settings *s, struct digest_plan *ret, const char **reterr);

#endif
