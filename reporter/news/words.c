/* words.c - see words.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/news/words.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "config/settings.h"
#include "model/phrases.h"
#include "text/facts_text.h"

void when_format(int64_t at_ms, const struct zone *zone, char ret[static WHEN_TEXT_MAX])
{
	int64_t until = 0;
	char local[RFC3339_MAX];

	if (at_ms <= 0) {
		(void)snprintf(ret, WHEN_TEXT_MAX, "?");
		return;
	}
	rfc3339_format(at_ms + (int64_t)zone_offset(zone, at_ms / 1000, &until) * 1000, false, local);
	(void)snprintf(ret, WHEN_TEXT_MAX, "%.10s %.5s", local, local + 11);
}

void when_format_zone(int64_t at_ms, const struct zone *zone, char ret[static WHEN_TEXT_MAX])
{
	int64_t until = 0;
	const int minutes = zone_offset(zone, at_ms / 1000, &until) / 60;

	if (minutes == 0)
		(void)snprintf(ret, WHEN_TEXT_MAX, "UTC");
	else if (minutes % 60 == 0)
		(void)snprintf(ret, WHEN_TEXT_MAX, "UTC%+d", minutes / 60);
	else
		(void)snprintf(ret, WHEN_TEXT_MAX, "UTC%c%d:%02d", minutes < 0 ? '-' : '+', abs(minutes) / 60,
			       abs(minutes) % 60);
}

void when_format_in_zone(int64_t at_ms, const struct zone *zone, char ret[static WHEN_IN_ZONE_MAX])
{
	char when[WHEN_TEXT_MAX], name[WHEN_TEXT_MAX];

	when_format(at_ms, zone, when);
	when_format_zone(at_ms, zone, name);
	(void)snprintf(ret, WHEN_IN_ZONE_MAX, at_ms > 0 ? "%s %s" : "%s", when, name);
}

static void format_time(const void *zone, int64_t at_ms, char ret[static RFC3339_MAX])
{
	char when[WHEN_IN_ZONE_MAX];

	when_format_in_zone(at_ms, zone, when);
	(void)snprintf(ret, RFC3339_MAX, "%.*s", RFC3339_MAX - 1, when);
}

char *facts_in_zone(const struct facts *f, const struct zone *zone, enum language l)
{
	return facts_render(f, &(const struct facts_view){ l, format_time, zone });
}

char *cluster_prefix(const struct str_list *clusters, const char *name)
{
	return cluster_names_count(clusters, NULL) > 1 && *name ? xasprintf("[%s] ", name) : xstrdup("");
}

void name_list_add(struct name_list *l, const char *name)
{
	if (l->n++ < l->max)
		xappend(&l->shown, ", ", name);
}

char *name_list_end(struct name_list *l, enum language language)
{
	_cleanup_free_ char *shown = l->shown ? l->shown : xstrdup("");

	l->shown = NULL;
	return l->n > l->max ? xasprintf(phrase(NEWS_AND_MORE, language), shown, l->n - l->max)
			     : TAKE_PTR(shown);
}
