/* readiness.h - how long a pod of a workload was Ready within the last window of time: a crash loop in which
 * somebody is served is none. Layer: rules.  Pure: times are milliseconds of one clock; when it steps back
 * nothing is counted. What is older than the window is forgotten bit by bit: the window before the present
 * one counts as if it had been spread evenly. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_READINESS_H
#define RULES_READINESS_H

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised: nothing is measured. */
struct readiness {
	int64_t window;        /* how long it is */
	int64_t from;          /* the present one began */
	int64_t ready, before; /* in it, and in the one before */
	int64_t ready_from;    /* since when a pod is Ready; 0: none is */
	int64_t counted;       /* up to when that is in `ready` */
	int64_t untold;        /* was counted since somebody was told */
};

/* Measures from `now` on; `before`: what was measured in the window that ends now. */
void readiness_begin(struct readiness *r, int64_t window, int64_t before, int64_t now);
/* A pod is Ready, or none is. */
void readiness_set(struct readiness *r, bool ready, int64_t now);
/* How long within the last window. */
int64_t readiness_within(const struct readiness *r, int64_t now);
/* Has a pod been Ready for as long as shows that it works (JUDGE_STEADY_MS)? */
bool readiness_steady(const struct readiness *r, int64_t now);
/* Has so much been counted since the last call that gave true that it should be kept? */
bool readiness_tell(struct readiness *r);

#endif
