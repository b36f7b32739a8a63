/* guards.h - the guards beyond the single object, from model/guards.def, in the order in which they are
 * asked. Layer: model.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_GUARDS_H
#define MODEL_GUARDS_H

#include "model/reasons.h"

enum guard {
#define GUARD(ID, ...) GUARD_##ID,
#include "model/guards.def"
#undef GUARD
	GUARD__MAX
};
#define GUARD_BIT(ID) (1u << GUARD_##ID)

/* What a block is about: objects that share it are blocked and released together. LIMIT: the budget says
 * which. */
enum block_scope {
	BLOCK_ALL,
	BLOCK_DUTY,
	BLOCK_NAMESPACE,
	BLOCK_NODE,
	BLOCK_WORKLOAD,
	BLOCK_WORKLOAD_NODE,
	BLOCK_LIMIT
};

struct guard_desc {
	const char *name; /* "Budget" */
	enum reason reason;
	enum block_scope scope;
	bool every;        /* it concerns every duty that acts; else those that name it */
	bool reported;     /* what it blocks first is a refusal in the history */
	const char *saved; /* kind of its saved state; "" = nothing is saved */
};

/* Its row. g is below GUARD__MAX. */
const struct guard_desc *guard_desc(enum guard g);
/* Its name; "?" outside the table. */
const char *guard_name(enum guard g);

#endif
