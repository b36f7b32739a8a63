/* policy.h - what the operator asked for, as the rules read it. Made by config/, read by rules/; it stands
 * here because those two layers do not see one another. Layer: base.  Owner: whoever filled it
 * (config/settings frees it). Times are milliseconds. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_POLICY_H
#define MODEL_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "model/duties.h"
#include "base/str.h"

/* Causes of a failed pull (rules/cause.h), as bits: which of them may lead to a write. */
enum pull_cause {
	CAUSE_UNKNOWN,
	CAUSE_PERMANENT,
	CAUSE_AUTH,
	CAUSE_MISCONFIGURED,
	CAUSE_TRANSIENT,
	CAUSE_NODE, /* transient, and of the node that pulls: another may have the image */
	CAUSE__MAX
};

/* A pod that hangs in an older revision, and holds up the order in which a StatefulSet replaces its pods. */
enum ordinal_mode { ORDINAL_REPORT, ORDINAL_DELETE };

/* Do replicas that were taken come back when somebody has corrected the workload? */
enum restore_mode { RESTORE_NEVER, RESTORE_WHEN_TEMPLATE_CHANGES };

struct duty_policy {
	bool enable;
	struct str_list namespaces; /* model/namespaces.h; empty means none */
	int64_t hours_ms;           /* threshold; the key is called `hours`, its value is a Go duration */
	struct str_list status; /* reasons that count: of containers; deleteFinishedPod: of pods, "*" any */
	struct str_list phases; /* deleteFinishedPod: Failed, Succeeded */
	int64_t counts;         /* restarts that are too many (tooManyRestart, crashLoop) */
	int64_t log_lines;      /* crashLoop: so many of a container's log are kept; 0: none */
	int64_t keep_newest; /* deleteEvictedPod, deleteFinishedPod: so many of an owner are kept; 0: none */
	bool include_jobs;   /* duties that delete: also pods of Jobs, which carry exit information */
	bool include_bare_pods; /* deleteFinishedPod: also pods without a controller */
	bool unreachable_nodes; /* deleteTerminatingPod: force where the node is NotReady: dangerous */
	struct str_list causes; /* errImagePull: that may act: words of cause_name() */
	bool suspend_jobs;      /* errImagePull: suspend the Job above the pod (R24) */
	bool suspend_cron_jobs; /* errImagePull: and the CronJob above that */
	enum ordinal_mode ordinal_stuck; /* errImagePull */
	enum restore_mode restore;       /* of the duties that scale workloads down */
	int64_t fresh_attempt_ms;        /* errImagePull: first delete one failing pod, then wait; 0 = no */
	int64_t announce_ms;             /* grace announced on the object before the act; 0 = none */
	struct str_list windows;         /* when it may act: "CRON for DURATION"; empty = always */
	/* Budgets: at most so many acts in a sliding minute, hour, day, over the cluster and in one
	 * namespace, and at most this share of the pods of one namespace or node within an hour. 0 = no
	 * limit.
	 */
	int64_t max_per_minute, max_per_hour, max_per_day, max_per_namespace_hour;
	int64_t max_percent_namespace, max_percent_node;
};

/* Holds errImagePull when many workloads begin to fail together (R25). 0 = that condition is off. */
struct breaker_policy {
	int64_t workloads;  /* more than this many that began within `within_ms` */
	int64_t percent;    /* more than this share of all workloads with pods */
	int64_t same_host;  /* more than this many of them pull from one registry host */
	int64_t same_node;  /* more than this many of them fail on one node only */
	int64_t within_ms;  /* what counts as together */
	int64_t release_ms; /* closed again when the condition has been gone this long */
};

/* Other settings of the duties for some objects. The most specific one wins as a whole (rules/select.h). */
#define OVERRIDES_MAX 31
struct policy_override {
	struct duty_policy duty[DUTY__MAX]; /* complete: what it does not name is as in the policy; first, as
					     * there: the rows of config/settings.def hold for both */
	char *name;                         /* for people */
	struct str_list namespaces;         /* model/namespaces.h; empty = any */
	struct str_list labels;             /* "key=value", all of them on the pod; empty = any */
};

enum policy_mode { MODE_ENFORCE, MODE_OBSERVE };

struct policy {
	struct duty_policy duty[DUTY__MAX];
	enum policy_mode mode;
	bool plans_only;    /* nothing is nominated, not even for a dry run */
	int64_t finish_ms;  /* a half-deleted pod is due again this long after its deadline */
	int64_t restore_ms; /* what was scaled down is looked at this often, where it may come back */
	struct policy_override *overrides;
	size_t n_overrides; /* at most OVERRIDES_MAX */
	struct breaker_policy breaker;
	struct str_list exclude_namespaces;         /* the operator's: beats `namespaces` */
	struct str_list default_exclude_namespaces; /* ours: yields to a namespace named explicitly */
	struct str_list job_kinds; /* owners whose pods are kept like those of Jobs (model/job_kinds.h) */
	char *own_namespace;       /* NULL outside a cluster; treated as a default exclusion */
	char *own_pod;             /* NULL outside a cluster; never acted on */
};

/* Does any duty keep the newest of what has ended, for any object? */
static inline bool policy_keeps_newest(const struct policy *p)
{
	for (int d = 0; d < DUTY__MAX; d++) {
		if (p->duty[d].keep_newest > 0)
			return true;
		for (size_t i = 0; i < p->n_overrides; i++)
			if (p->overrides[i].duty[d].keep_newest > 0)
				return true;
	}
	return false;
}

/* Does this duty work for any object at all: by the policy, or by an override alone? */
static inline bool policy_enables(const struct policy *p, enum duty d)
{
	for (size_t i = 0; i < p->n_overrides; i++)
		if (p->overrides[i].duty[d].enable)
			return true;
	return p->duty[d].enable;
}

#endif
