/* compose.h - what a report says: workloads that restart too often, as new, worse, still, or recovered since
 * the last report, for each sink by its language, its clusters and namespaces, and its `top`.
 * Layer: process (reporter), report.  Pure: rows, samples and the last report go in, a document comes out.
 *
 * Worse: more restarts an hour than in the window of the last report, by a quarter at least. What did not
 * restart in the window is no row; when the last report had it, it has recovered, unless it still crashes and
 * the window is shorter than the pauses that a kubelet makes between two tries. The first `top` rows by
 * restarts in the window are shown, in their sections; a section says how many more it has. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_REPORT_COMPOSE_H
#define REPORTER_REPORT_COMPOSE_H

#include "config/settings.h"
#include "reporter/report/report_entry.h"

/* Borrows all that it was made from. */
struct report {
	struct report_row *rows; /* worst first */
	size_t n;
	const struct reported **recovered; /* what restarted most then comes first */
	size_t n_recovered;
	const struct reported **quiet; /* no restart, but the window is too short to say more */
	size_t n_quiet;
};

void report_build(const struct report_input *in, struct report *ret);
void report_done(struct report *r);

/* The rows that the sink is shown, worst first: at most s->top indexes into r->rows, in ret. Returns how
 * many.
 */
size_t report_shown(const struct report *r, const struct sink_settings *s, size_t *ret);

/* The document of a sink; lost: earlier reports that it did not (surely) get. False, and *ret is empty, when
 * there is nothing to tell it. */
bool report_compose(const struct report *r, const struct report_input *in, const struct sink_settings *s,
		    int64_t lost, struct document *ret);

#endif
