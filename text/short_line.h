/* short_line.h - the reason of an action at a glance, in one line for the history, cards, pages and plans
 * alike: the image and what the registry answered, or what evicted a pod and from which node. `show` has all
 * of it. Layer: text. Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TEXT_SHORT_LINE_H
#define TEXT_SHORT_LINE_H

#include "model/facts.h"
#include "model/quotes.h"

#define SHORT_LINE_MAX 120 /* characters */

/* detail is searched before evidence; both may be NULL. "" when they hold neither; the caller frees it. */
char *short_line(const struct facts *detail, const struct facts *evidence, enum language l);
/* The same beside facts that are shown already: without a node where they name one. shown may be NULL. */
char *short_line_beside(const struct facts *shown, const struct facts *detail, const struct facts *evidence,
			enum language l);

/* What words that were kept with an action are: "last log lines of container web, pod web-0". Empty:
 * container, image. The caller frees it. */
char *quote_title(enum quote_kind kind, struct str pod, struct str container, struct str image,
		  enum language l);

#endif
