/* sink_select.h - which sink is told what.  Layer: process (reporter), notify.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NOTIFY_SINK_SELECT_H
#define REPORTER_NOTIFY_SINK_SELECT_H

#include "config/settings.h"
#include "model/news.h"

/* Is the sink told news of this kind at all? */
bool select_news(const struct sink_settings *s, enum news news);
/* Is any of the sinks? */
bool select_any(const struct settings *s, enum news news);
/* And of this? A cluster or namespace that is "" and a duty of DUTY_ALL concern everyone. */
bool select_object(const struct sink_settings *s, const char *cluster, const char *ns, int64_t duty);

#endif
