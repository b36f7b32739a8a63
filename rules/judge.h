/* judge.h - the decisions: (facts, context, policy, now) -> verdict. Pure: no I/O, no clock, no
 * allocation. The watcher judges what its cache holds (STAGE_CACHE), the worker judges again what it has just
 * read (STAGE_LIVE) with the same functions. A fact that is unknown never leads to ACT in STAGE_LIVE. Layer:
 * rules.  Rules R1-R31: docs/judgement.md. */
// SPDX-License-Identifier: Apache-2.0
#ifndef RULES_JUDGE_H
#define RULES_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/pod.h"
#include "model/policy.h"
#include "model/reasons.h"
#include "model/verdicts.h"

struct verdict {
	enum verdict_kind kind;
	enum duty duty;
	enum reason reason;
	int64_t at_ms;        /* VERDICT_WAIT: judge again at this wall time (0 = when something changes) */
	const char *rule;     /* which check decided: "R7", "Namespace"; never NULL */
	const char *override; /* name of the override in force, "" = none; borrowed from the policy */
	char evidence[256];   /* facts and thresholds in one line, printable */
};

/* A time this far in the future is clock skew between hosts; further is garbage, and nothing is done on it.
 */
#define JUDGE_SKEW_MS 300000
/* A running container counts as restarting when it last ended at most this long ago: twice the kubelet's
 * longest back-off (5 min). */
#define JUDGE_RECENT_MS 600000

enum judge_stage { STAGE_CACHE, STAGE_LIVE };

/* What is known beyond the pod itself. Zero-initialised = nothing is known. */
struct pod_context {
	enum judge_stage stage;
	/* image pull: first seen failing, by owner uid + revision (0 = not yet), and the tally of that
	 * owner's pods */
	int64_t failing_since;
	enum tri tally_known;
	uint32_t pods;    /* pods of the workload's newest revision that are not terminating */
	uint32_t failing; /* of those, how many fail to pull */
	uint32_t ready;   /* Ready pods of the whole workload, every revision */
	/* terminating: the pod's node, read live */
	enum tri node_exists, node_ready, node_out_of_service;
	enum tri volume_attached; /* a VolumeAttachment of one of its claims to that node exists */
};

/* One duty each. now is Unix ms by the API server's clock. */
void judge_evicted(const struct pod_facts *p, const struct policy *policy, const struct pod_context *s,
		   int64_t now, struct verdict *ret);
void judge_terminating(const struct pod_facts *p, const struct policy *policy, const struct pod_context *s,
		       int64_t now, struct verdict *ret);
void judge_image_pull(const struct pod_facts *p, const struct policy *policy, const struct pod_context *s,
		      int64_t now, struct verdict *ret);
/* VERDICT_ACT = belongs into the digest; ret->evidence; *ret_container is the container that counts. */
void judge_restarts(const struct pod_facts *p, const struct policy *policy, int64_t now, struct verdict *ret,
		    uint32_t *ret_container);

/* By duty (not DUTY_RESTARTS). */
void judge_duty(enum duty d, const struct pod_facts *p, const struct policy *policy,
		const struct pod_context *s, int64_t now, struct verdict *ret);
/* The chain evicted -> terminating -> image pull: the first ACT wins, else the WAIT with the earliest at_ms,
 * else the first REFUSE, else NONE. */
void judge_pod(const struct pod_facts *p, const struct policy *policy, const struct pod_context *s,
	       int64_t now, struct verdict *ret);

/* One check of a duty, told by judge_trace. Texts are valid during the call. */
struct check_report {
	enum duty duty;
	const char *rule;              /* "R7", "Facts", ...: at most 24 bytes */
	const char *name;              /* what is asked, for people */
	enum tri holds;                /* TRI_YES: passed; TRI_NO: it decided; TRI_UNKNOWN: not reached */
	const char *fact;              /* what was found, with thresholds and times; may be empty */
	const struct verdict *verdict; /* as it is after this check; meaningful when it decided */
};
typedef void check_report_fn(void *ctx, const struct check_report *told);

/* As judge_duty (here also DUTY_RESTARTS), and tells every check of the duty in order: those before the
 * decision, the one that decided, and those not reached. */
void judge_trace(enum duty d, const struct pod_facts *p, const struct policy *policy,
		 const struct pod_context *s, int64_t now, check_report_fn *told, void *ctx,
		 struct verdict *ret);

/* Does the duty serve this namespace? "*" or its name selects; excludeNamespaces beats both; namespaces
 * protected by default (and our own) yield to being named. *ret is set when false. */
bool judge_namespace(const struct policy *policy, enum duty d, struct str ns, enum reason *ret);

/* Is this pod failing to pull an image by the policy's `status` list (R1, R2)? *ret_container is which. */
bool judge_is_pull_failure(const struct pod_facts *p, const struct policy *policy, uint32_t *ret_container);
/* Has every image of this pod been pulled (every main container has run)? Ends a revision's clock. */
bool judge_has_pulled(const struct pod_facts *p);

#endif
