/* metrics.h - named numbers with labels, written as Prometheus text 0.0.4 or as OpenMetrics 1.0.0. Described
 * in reporter/web/metrics.def. Layer: process (reporter). Bounded: a metric holds METRICS_SERIES_MAX
 * combinations of labels; more are added up in one whose labels are all "other". */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_WEB_METRICS_H
#define REPORTER_WEB_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "model/measures.h"

#define METRICS_LABELS_MAX 4
#define METRICS_SERIES_MAX 2048u

enum metric {
#define M(ID, ...) METRIC_##ID,
#define H(ID, ...) METRIC_##ID,
#include "reporter/web/metrics.def"
#undef M
#undef H
	METRIC__MAX
};

/* Field of WATCH_STATS that it shows, "" = none. */
const char *metric_field(enum metric id);
/* How many labels it has. */
unsigned metric_labels(enum metric id);
/* The histogram of this timing. */
enum metric metric_of_timing(enum timing t);

struct metrics;
struct metric_labels {
	const char *v[METRICS_LABELS_MAX]; /* in the order of the table, then NULL; one that is missing is "",
					    * one that the family does not have is left out */
};
#define METRIC_LABELS(...) (&(const struct metric_labels){ { __VA_ARGS__ } })
#define METRIC_NO_LABELS   (&(const struct metric_labels){ { NULL } })

struct metrics *metrics_new(void);
void metrics_free(struct metrics **m);
/* Label values are copied. */
void metrics_set(struct metrics *m, enum metric id, double value, const struct metric_labels *labels);
void metrics_add(struct metrics *m, enum metric id, double by, const struct metric_labels *labels);
/* A histogram: n more in this bucket (model/measures.h), which took so long together. */
void metrics_observe(struct metrics *m, enum metric id, unsigned bucket, uint64_t n, uint64_t sum_us,
		     const struct metric_labels *labels);
/* No series is left that has these labels; of the first few of the table, all that begin so. */
void metrics_forget(struct metrics *m, enum metric id, const struct metric_labels *labels);
/* Present value, of a histogram the sum in seconds; 0 when there is no such series. */
double metrics_get(const struct metrics *m, enum metric id, const struct metric_labels *labels);

enum metrics_format { METRICS_TEXT, METRICS_OPENMETRICS };
/* Which of them suits the Accept of a request best (NULL = none was sent): OpenMetrics where it is asked for
 * by name and nothing else is liked better. Source: RFC 9110 12.5.1; the versions are those that Prometheus
 * asks for. */
enum metrics_format metrics_format(const char *accept);
const char *metrics_content_type(enum metrics_format f);
/* The caller frees it. */
char *metrics_text(const struct metrics *m, enum metrics_format f, size_t *ret_size);

#endif
