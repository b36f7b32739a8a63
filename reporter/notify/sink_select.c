/* sink_select.c - see sink_select.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/notify/sink_select.h"

#include "model/duties.h"
#include "model/namespaces.h"

bool select_news(const struct sink_settings *s, enum news news)
{
	return s->news >> news & 1;
}

bool select_any(const struct settings *s, enum news news)
{
	for (size_t i = 0; i < s->n_sinks; i++)
		if (select_news(&s->sinks[i], news))
			return true;
	return false;
}

bool select_object(const struct sink_settings *s, const char *cluster, const char *ns, int64_t duty)
{
	const bool of_duty = duty < 0 || duty >= DUTY__MAX || s->duties.n == 0 ||
			     str_list_has(&s->duties, STR_C(duty_name((enum duty)duty)));
	const bool of_namespace =
		s->namespaces.n == 0 || !*ns || namespaces_match(&s->namespaces, STR_C(ns), NULL) == TRI_YES;
	const bool of_cluster =
		s->clusters.n == 0 || !*cluster || str_list_globs(&s->clusters, STR_C(cluster));

	return of_duty && of_namespace && of_cluster;
}
