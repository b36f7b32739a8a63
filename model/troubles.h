/* troubles.h - what can be wrong with the program itself, from model/troubles.def, which says what the
 * columns mean. Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_TROUBLES_H
#define MODEL_TROUBLES_H

#include "model/reasons.h"

enum trouble {
#define TROUBLE(ID, ...) TROUBLE_##ID,
#include "model/troubles.def"
#undef TROUBLE
	TROUBLE__MAX
};

enum trouble_severity { TROUBLE_IS_DEGRADED, TROUBLE_IS_BLIND };

struct trouble_desc {
	const char *name; /* "cluster-waits" */
	enum trouble_severity severity;
	bool said;          /* the log is told when it begins */
	const char *finder; /* the one role that may say it */
	bool by_one;        /* of replicas that share clusters, one notifies of it */
	struct {
		const char *sentence, *remedy; /* for people */
	} text[LANGUAGE__MAX];
};

/* Its row. t is below TROUBLE__MAX. */
const struct trouble_desc *trouble_desc(enum trouble t);

#endif
