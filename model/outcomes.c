/* outcomes.c - see outcomes.h. */
// SPDX-License-Identifier: Apache-2.0
#include "model/outcomes.h"

static const struct outcome_desc outcomes[OUTCOME__MAX] = {
#define OUTCOME(ID, id, name, written, doc) [id] = { name, WRITTEN_##written, doc },
#include "model/outcomes.def"
#undef OUTCOME
};

const struct outcome_desc *outcome_desc(enum outcome o)
{
	return &outcomes[o];
}

const char *outcome_name(enum outcome o)
{
	return (unsigned)o < OUTCOME__MAX ? outcomes[o].name : "open";
}
