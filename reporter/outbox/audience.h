/* audience.h - which sink is told what.  Layer: process (reporter), outbox.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_OUTBOX_AUDIENCE_H
#define REPORTER_OUTBOX_AUDIENCE_H

#include "config/settings.h"
#include "model/news.h"

/* Is the sink told news of this kind at all? */
bool audience_is_told(const struct sink_settings *s, enum news news);
/* And of this? A cluster or namespace that is "" and a duty of DUTY_ALL concern everyone. */
bool audience_concerns(const struct sink_settings *s, const char *cluster, const char *ns, int64_t duty);

#endif
