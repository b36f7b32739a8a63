/* texts.h - short statements of ours, in every language, by text/texts.def. Facts and messages carry their
 * codes; people read their sentences. Layer: text.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TEXT_TEXTS_H
#define TEXT_TEXTS_H

#include "model/facts.h"

enum text {
#define T(ID, code, en, zh) TEXT_##ID,
#include "text/texts.def"
#undef T
	TEXT__MAX
};

/* "NodeGone". */
const char *text_code(enum text t);
/* The statement of that code; TEXT__MAX when there is none. */
enum text text_find(struct str code);
/* "node is gone". */
const char *text_in(enum text t, enum language l);

/* Add a fact of kind TEXT. */
static inline void facts_text(struct facts *f, enum fact key, enum text value)
{
	facts_code(f, key, text_code(value));
}

/* Add a statement (FACT_FINDING). Its places are filled from the facts, wherever in them they stand. */
static inline void facts_finding(struct facts *f, enum text statement)
{
	facts_text(f, FACT_FINDING, statement);
}

/* Facts of one statement. */
static inline struct facts facts_of(enum text statement)
{
	struct facts f = { .n = 0 };

	facts_finding(&f, statement);
	return f;
}

#endif
