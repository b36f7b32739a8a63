/* plan.c - see plan.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/digest/plan.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

int plan_from_settings(const struct settings *s, struct digest_plan *ret, const char **reterr)
{
	_cleanup_(digest_plan_done) struct digest_plan p = { 0 };
	size_t pos = 0;

	p.enable = policy_enables(&s->policy, DUTY_RESTARTS) && s->api_url && *s->api_url;
	if (p.enable && cron_parse(s->schedule ? s->schedule : "", &p.cron, &pos, reterr) < 0)
		return -EINVAL;
	if (p.enable && s->zone_size > 0 && zone_parse(s->zone_data, s->zone_size, &p.zone) < 0) {
		*reterr = "tooManyRestart.timeZone: its data is damaged";
		return -EINVAL;
	}
	p.schedule = xasprintf("%s|%s", s->schedule ? s->schedule : "", s->time_zone ? s->time_zone : "UTC");
	p.title = digest_clean(s->msg_title ? s->msg_title : "");
	p.secret = xstrdup(s->api_secret ? s->api_secret : "");
	for (size_t i = 0; i < s->cluster_names.n; i++)
		str_list_add(&p.clusters, s->cluster_names.v[i], strlen(s->cluster_names.v[i]));
	*ret = p;
	p = (struct digest_plan){ 0 };
	return 0;
}
