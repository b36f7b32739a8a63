/* facts.h - what a verdict, result or answer carries beside its reason: keys and values of the table
 * model/facts.def, without a language. text/facts_text.h makes sentences and JSON of them at the edge.
 * Layer: model.  Pure.
 *
 *	struct facts f = { 0 };
 *
 *	facts_name(&f, FACT_NODE, pod->node);
 *	facts_duration(&f, FACT_THRESHOLD, policy->hours_ms);
 *
 * The bytes are a msgpack map {key: value}, as they stand in messages and in the history. */
// SPDX-License-Identifier: Apache-2.0
#ifndef MODEL_FACTS_H
#define MODEL_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "model/language.h"

#define FACTS_MAX 1024u /* bytes */

enum fact {
#define FACT(ID, ...) FACT_##ID,
#include "model/facts.def"
#undef FACT
	FACT__MAX
};

enum fact_kind {
	FACT_KIND_TIME,
	FACT_KIND_DURATION,
	FACT_KIND_COUNT,
	FACT_KIND_NAME,
	FACT_KIND_TEXT,
	FACT_KIND_QUOTED,
	FACT_KIND_SENTENCE,
	FACT_KIND_FACTS,
};

/* Zero-initialised: none. */
struct facts {
	uint16_t n; /* bytes used */
	uint8_t bytes[FACTS_MAX];
};

static inline void facts_clear(struct facts *f)
{
	f->n = 0;
}
/* Add one fact. A key that is no FACT_LIST and is there already keeps its value. A fact that does not fit is
 * left out; of words of others the beginning is kept, which then ends with "…". */
void facts_time(struct facts *f, enum fact key, int64_t unix_ms); /* 0 or less: unknown, adds nothing */
void facts_duration(struct facts *f, enum fact key, int64_t ms);  /* below 0 counts as 0 */
void facts_count(struct facts *f, enum fact key, int64_t n);      /* below 0: unknown, adds nothing */
void facts_name(struct facts *f, enum fact key, struct str name); /* empty: adds nothing; a byte that no
								   * name has becomes '?' */
void facts_code(struct facts *f, enum fact key,
		const char *code); /* TEXT: see facts_text() in text/texts.h */
void facts_quoted(struct facts *f, enum fact key, struct str words); /* empty: adds nothing; what is not
								      * printable becomes '?' */
/* The same, of which no more than `most` bytes are kept, so that there is room for what follows. */
void facts_quoted_within(struct facts *f, enum fact key, struct str words, size_t most);
void facts_sentence(struct facts *f, enum fact key,
		    const char *sentence); /* model/sentence.h; "", or none: adds nothing */
void facts_facts(struct facts *f, enum fact key, const struct facts *about); /* none: adds nothing */
/* A copy that takes as few bytes as it can: it is read through a pointer and never assigned or added to. The
 * caller frees it; NULL of NULL. */
struct facts *facts_dup(const struct facts *f);
/* Make it say what `from` says, which may be a copy by facts_dup. */
void facts_set(struct facts *f, const struct facts *from);
/* Add all of `from` that fits. */
void facts_add(struct facts *f, const struct facts *from);

/* One fact. text: for the kinds from NAME on, borrowed from the facts; number: for the others. */
struct fact_value {
	enum fact key;
	int64_t number;
	struct str text;
};
/* Iterate in the order in which facts were added: *at begins as 0. False at the end. */
bool facts_next(const struct facts *f, size_t *at, struct fact_value *ret);
/* The first fact of a key. */
bool facts_find(const struct facts *f, enum fact key, struct fact_value *ret);
/* The same in the bytes of a map, without reading the rest of it. False, too, where the bytes before it are
 * no such map. *ret borrows from them. */
bool facts_find_in(struct str bytes, enum fact key, struct fact_value *ret);
/* NULL is empty. */
bool facts_empty(const struct facts *f);
bool facts_equal(const struct facts *a, const struct facts *b);

/* The msgpack map; borrowed from f, also when there are no facts. */
struct str facts_bytes(const struct facts *f);
/* Read such a map from bytes that nobody vouches for: every key known and in its place, every value of its
 * kind, in range, printable, in its shortest form. 0; -EBADMSG (*ret is empty then). *ret_n: bytes read,
 * NULL: there must be no others behind the map. */
int facts_read(const void *bytes, size_t n, struct facts *ret, size_t *ret_n);

/* The facts that a fact of kind FACTS holds; none where it is none. */
void fact_facts(const struct fact_value *v, struct facts *ret);

const char *fact_key(enum fact key);
/* The fact of that key; FACT__MAX when there is none. */
enum fact fact_of(struct str key);
enum fact_kind fact_kind(enum fact key);
/* May it be there several times? */
bool fact_is_list(enum fact key);
/* What people read before the value. */
const char *fact_label(enum fact key, enum language l);

#endif
