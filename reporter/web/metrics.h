/* metrics.h - named numbers with labels, written as Prometheus text 0.0.4. Described in
 * reporter/web/metrics.def. Layer: process (reporter). Bounded: a metric holds METRICS_SERIES_MAX
 * combinations of labels; more are added up in one whose labels are all "other". */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_WEB_METRICS_H
#define REPORTER_WEB_METRICS_H

#include <stddef.h>

#define METRICS_LABELS_MAX 4
#define METRICS_SERIES_MAX 2048u

enum metric {
#define M(ID, ...) METRIC_##ID,
#include "reporter/web/metrics.def"
#undef M
	METRIC__MAX
};

/* Field of WATCH_STATS that it shows, "" = none. */
const char *metric_field(enum metric id);

struct metrics;
struct metric_labels {
	const char *v[METRICS_LABELS_MAX]; /* in the order of the table, then NULL */
};
#define METRIC_LABELS(...) (&(const struct metric_labels){ { __VA_ARGS__ } })
#define METRIC_NO_LABELS   (&(const struct metric_labels){ { NULL } })

struct metrics *metrics_new(void);
void metrics_free(struct metrics **m);
/* Label values are copied. */
void metrics_set(struct metrics *m, enum metric id, double value, const struct metric_labels *labels);
void metrics_add(struct metrics *m, enum metric id, double by, const struct metric_labels *labels);
/* Present value; 0 when there is no such series. */
double metrics_get(const struct metrics *m, enum metric id, const struct metric_labels *labels);
/* Text 0.0.4; the caller frees it. */
char *metrics_text(const struct metrics *m, size_t *ret_size);
#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

#endif
