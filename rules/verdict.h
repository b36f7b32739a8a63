/* verdict.h - what a judgement is given beyond the pod, and what it says; arithmetic of times that cannot
 * overflow, and how far clocks may differ.  Layer: rules. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_VERDICT_H
#define RULES_VERDICT_H

#include <stdint.h>

#include "model/duties.h"
#include "model/facts.h"
#include "model/reasons.h"
#include "text/texts.h"

/* A time this far in the future is clock skew between hosts; further is garbage: nothing is done on it. */
#define JUDGE_SKEW_MS 300000

/* a + b, held at the ends of the type. */
static inline int64_t time_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

struct verdict {
	enum verdict_kind kind;
	enum duty duty;
	enum reason reason;
	int64_t at_ms;         /* VERDICT_WAIT: judge again at this wall time (0 = when something changes) */
	uint32_t container;    /* that counts, of a duty that looks at containers */
	const char *rule;      /* which check decided: "R7", "Namespace"; never NULL */
	const char *override;  /* name of the override in force, "" = none; borrowed from the policy */
	struct facts evidence; /* what was found, with thresholds */
};

/* A running container counts as restarting when it last ended at most this long ago: twice the kubelet's
 * longest back-off (5 min). */
#define JUDGE_RECENT_MS 600000

/* A container that has run for this long has started well: the kubelet forgets its back-off (client-go's
 * flowcontrol.Backoff: twice its maximum). */
#define JUDGE_STEADY_MS 600000

enum judge_stage { STAGE_CACHE, STAGE_LIVE };

/* What is known beyond the pod itself. Zero-initialised = nothing is known. */
struct pod_context {
	enum judge_stage stage;
	/* of a duty that concerns workloads, the one by which this pod fails: first seen failing, by owner
	 * uid + revision (0 = not yet), and the tally of that owner's pods */
	int64_t failing_since;
	int32_t restarts_before; /* a crash: how often a container of a pod that was there then had restarted
				  * by that time at most. The watcher's word */
	int64_t ready_ms; /* a crash: how long a pod of it was Ready within the last `hours`. Likewise */
	enum tri tally_known;
	uint32_t pods;          /* of the workload's newest revision, not terminating, that prove something */
	uint32_t failing;       /* of those, how many fail in that way */
	uint32_t otherwise;     /* and how many by another duty that concerns workloads */
	uint32_t silent;        /* further pods of that revision, which prove nothing: judge_proves() */
	uint32_t ready;         /* Ready pods of the whole workload, every revision */
	uint32_t failing_nodes; /* nodes on which those fail, at most 2 = several; 0 = not counted */
	/* a failed pull of cause auth: is another image of the same registry refused with the same pull
	 * secrets, too, or was one let in only just? Only asked for live */
	enum tri others_refused;
	/* a failed pull: when a pod of another workload was seen to start with an image of the same registry
	 * host, long enough ago for this one to have tried again, Unix ms; 0 = never seen. The watcher's
	 * word: a worker cannot find it out */
	int64_t others_pulled_at;
	/* does the kind of the pod's controller scale, where that is not one of model/kinds.def: by discovery
	 */
	enum tri owner_scales;
	/* a failed pull: does the pod hold up the order of its StatefulSet, which makes another revision by
	 * now? Only asked for live */
	enum tri ordinal_stuck;
	/* what has ended: were pods of the same owner counted that are in the state of that duty and ended
	 * later, up to its keepNewest? The watcher's word */
	enum tri newer_known;
	uint32_t newer[DUTY__MAX];
	/* terminating: the pod's node, read live */
	enum tri node_exists, node_ready, node_out_of_service;
	enum tri volume_attached; /* a VolumeAttachment of one of its claims to that node exists */
};

/* One check of a duty, reported by judge_trace. Valid during the call. */
struct check_report {
	enum duty duty;
	const char *rule;          /* "R7", "Facts", ...: at most 24 bytes */
	enum text question;        /* TEXT__MAX: it is a guard */
	enum tri holds;            /* TRI_YES: passed; TRI_NO: it decided; TRI_UNKNOWN: not reached */
	const struct facts *found; /* with thresholds and times; may be empty */
	enum verdict_kind kind;    /* when it decided, else NONE */
	enum reason reason;        /* when it decided, or of a guard that blocks; else NOTHING_TO_DO */
};
typedef void check_report_fn(void *ctx, const struct check_report *report);

#endif
