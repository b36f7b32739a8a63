/* facts_text.h - facts for people: "phase Failed, reason Evicted, threshold 1h", in the language and zone of
 * who reads. Layer: text. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TEXT_FACTS_TEXT_H
#define TEXT_FACTS_TEXT_H

#include "base/rfc3339.h"
#include "model/facts.h"

struct facts_view {
	enum language language;
	/* Prints a time in the reader's zone; NULL: RFC 3339 in UTC. */
	void (*format_time)(const void *zone, int64_t unix_ms, char ret[static RFC3339_MAX]);
	const void *zone;
};

/* One line, "" without facts; the caller frees it. view NULL: in English, times in UTC, as logs have it.
 * Words of others stand behind ": ", byte for byte. */
char *facts_render(const struct facts *f, const struct facts_view *view);
/* The same in a language, times in UTC. */
char *facts_render_in(const struct facts *f, enum language l);
/* A row of text/texts.def (its head says what a row is) with its places filled from the facts; a fact that is
 * not there is "?". The caller frees it. view NULL: as above. */
char *facts_fill(const char *row, const struct facts *f, const struct facts_view *view);

#endif
