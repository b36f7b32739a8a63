/* attach.c - see attach.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/report/attach.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "config/zone.h"
#include "reporter/report/series_load.h"
#include "reporter/notify/sink_select.h"
#include "reporter/page/report.h"

/* object: "namespace/name", or a namespace, or "". */
static bool concerns(const struct sink_settings *s, const char *cluster, const char *object, int64_t duty)
{
	_cleanup_free_ char *ns = xstrndup(object, strcspn(object, "/"));

	return select_object(s, cluster, ns, duty);
}

/* Leaves what concerns the sink. Actions by day say nothing of where they were: whoever is told of a part is
 * shown none. */
static void restrict_to(const struct sink_settings *s, struct series *series)
{
	struct series kept = { .begin_ms = series->begin_ms,
			       .end_ms = series->end_ms,
			       .utc_offset_s = series->utc_offset_s };

	if (s->clusters.n + s->namespaces.n + s->duties.n == 0)
		return;
	for (size_t i = 0; i < series->n_worst; i++) {
		const struct series_line *l = &series->worst[i];

		if (concerns(s, l->cluster, l->name, DUTY_RESTARTS))
			memcpy(series_add_line(&kept, l->cluster, l->name)->by_hour, l->by_hour,
			       sizeof(l->by_hour));
	}
	for (size_t i = 0; i < series->n_held; i++) {
		const struct series_held *h = &series->held[i];

		if (!concerns(s, h->cluster, h->object, h->duty))
			continue;
		struct series_held *copy =
			series_add_held(&kept, h->cluster, h->object, h->reason, h->detail);

		copy->duty = h->duty;
		copy->since_ms = h->since_ms;
	}
	for (size_t i = 0; i < series->n_tiles; i++) {
		const struct series_tile *t = &series->tiles[i];

		if (!concerns(s, t->cluster, t->ns, DUTY_ALL))
			continue;
		struct series_tile *copy = series_add_tile(&kept, t->cluster, t->ns);

		copy->restarts = t->restarts;
		copy->actions = t->actions;
		copy->held = t->held;
	}
	series_done(series);
	*series = kept;
}

void digest_attach_page(struct db *db, const struct sink_settings *s, const struct zone *zone,
			bool is_of_one_cluster, struct document *d)
{
	int64_t until = 0;
	struct series series;

	if (series_load(db, d->at_ms, zone_offset(zone, d->at_ms / 1000, &until), &series) < 0)
		series = (struct series){ .end_ms = d->at_ms };
	if (s)
		restrict_to(s, &series);
	series.is_of_one_cluster = is_of_one_cluster;
	free(d->html);
	d->html = page_report(d, &series);
	series_done(&series);
}
