/* rights.h - what the program asks of an API server, from model/rights.def, and the kinds that it knows
 * without asking, from model/kinds.def. Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_RIGHTS_H
#define MODEL_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "model/rights.def"

/* What a configuration asks for, as bits. */
enum rights_need {
	NEED_ALWAYS = 0,
	NEED_DELETES = 1,          /* deletes pods */
	NEED_FORCES = 2,           /* deletes them by force */
	NEED_SCALES = 4,           /* scales workloads to 0 */
	NEED_SUSPENDS = 8,         /* suspends Jobs */
	NEED_ANNOUNCES = 16,       /* announces on the object */
	NEED_ELECTION = 32,        /* replicas agree on a Lease, or notice each other by it, ... */
	NEED_ELECTION_NAMED = 64,  /* ... of this name; always both */
	NEED_NAMESPACES = 128,     /* goes by labels of namespaces */
	NEED_KINDS = 256,          /* scales workloads of kinds that only discovery tells */
	NEED_REPORTS = 512,        /* makes reports */
	NEED_JOB_PODS = 1024,      /* deletes pods of Jobs */
	NEED_SUSPENDS_CRON = 2048, /* suspends CronJobs */
	NEED_LOGS = 4096,          /* keeps the end of logs */
	NEED_SHARES = 8192,        /* replicas share several clusters, ... */
	NEED_SHARES_NAMED = 16384, /* ... by Leases of these names; always both */
	NEED_ACTS = NEED_DELETES | NEED_SCALES,
	/* Any of these: whose pod is it, if it is of a kind that is scaled, */
	NEED_OWNERS = NEED_SCALES | NEED_DELETES | NEED_REPORTS,
	/* of one that is suspended, of neither. Where a scale has no selector, the pods beside it count. */
	NEED_JOBS = NEED_SUSPENDS | NEED_JOB_PODS | NEED_REPORTS | NEED_KINDS,
	NEED_OTHERS = NEED_DELETES | NEED_REPORTS | NEED_KINDS,
};

enum account { ACCOUNT_READER, ACCOUNT_WRITER, ACCOUNT_BOTH };
enum role_scope { SCOPE_CLUSTER, SCOPE_SPREAD, SCOPE_HOME };
enum role_bound { BOUND_ALONE, BOUND_GUARDED };

enum right_role {
#define ROLE_ID(ID, ...) ROLE_OF_##ID,
	ROLE_LIST(ROLE_ID)
#undef ROLE_ID
		ROLE_OF__MAX
};

struct role_desc {
	const char *name; /* "reader" */
	enum account account;
	enum role_scope scope;
	enum role_bound bound;
};

/* Which objects a right is for: what its row names, or kinds of model/kinds.def. */
enum right_set {
	SET_ONE,
	SET_SCALES,        /* can be scaled: */
	SET_WHOLES,        /*   in a write of the object itself, */
	SET_BY_SCALE,      /*   by /scale alone */
	SET_SUSPENDS,      /* can be suspended: */
	SET_SUSPENDS_JOB,  /*   what runs, */
	SET_SUSPENDS_CRON, /*   what makes such by a schedule */
	SET_OTHERS,        /* can own a pod, and is neither scaled nor suspended */
};

struct right_desc {
	enum right_role role;
	enum right_set set;
	const char *group;     /* NULL unless SET_ONE */
	const char *resources; /* "pods"; else what follows the name of the kind: "/scale" */
	const char *verbs;     /* "get, list" */
	enum rights_need needs;
	const char *why; /* NULL: as the row before */
};

enum kind_suspend { SUSPEND_NO, SUSPEND_JOB, SUSPEND_CRON };

struct kind_desc {
	const char *group, *resource, *kind; /* kind NULL: known by its resource alone */
	bool namespaced, scale;
	enum kind_suspend suspend;
	bool whole; /* its replicas are spec.replicas of the object itself */
};

/* The rows in their order; NULL behind the last. */
const struct right_desc *right_at(size_t i);
const struct kind_desc *kind_at(size_t i);
/* Pod, or a kind of them, by its name, its plural or the short name that kubectl takes, in any case; NULL: it
 * is none. */
const char *kind_named(struct str said);
/* Its row. r is below ROLE_OF__MAX. */
const struct role_desc *role_of(enum right_role r);
/* Is this kind one of those? */
bool right_is_for(enum right_set set, const struct kind_desc *k);

#endif
