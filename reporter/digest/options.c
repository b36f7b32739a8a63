/* options.c - see options.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/digest/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "reporter/digest/render.h"

int digest_options_from_settings(const struct settings *s, struct digest_options *ret, const char **reterr)
{
	_cleanup_(digest_options_done) struct digest_options o = { 0 };
	const char *url = s->api_url ? s->api_url : "", *schedule = s->schedule ? s->schedule : "";

	o.enable = policy_enables(&s->policy, DUTY_RESTARTS) && *url;
	if (o.enable && cron_parse(schedule, &o.cron, NULL) < 0) {
		*reterr = "tooManyRestart.duration: it is no schedule";
		return -EINVAL;
	}
	if (o.enable && s->zone_size > 0 && zone_parse(s->zone_data, s->zone_size, &o.zone) < 0) {
		*reterr = "tooManyRestart.timeZone: its data is damaged";
		return -EINVAL;
	}
	o.schedule = xasprintf("%s|%s", schedule, s->time_zone ? s->time_zone : "UTC");
	o.title = digest_clean(s->msg_title ? s->msg_title : "");
	o.secret = xstrdup(s->api_secret ? s->api_secret : "");
	o.sink = sink_of(url);
	for (size_t i = 0; i < s->cluster_names.n; i++)
		str_list_add(&o.clusters, s->cluster_names.v[i], strlen(s->cluster_names.v[i]));
	*ret = o;
	o = (struct digest_options){ 0 };
	return 0;
}

void digest_options_done(struct digest_options *o)
{
	zone_free(&o->zone);
	free(o->schedule);
	free(o->title);
	free(o->secret);
	str_list_done(&o->clusters);
	*o = (struct digest_options){ 0 };
}
