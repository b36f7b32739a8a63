/* links.h - the operator's links under the entries of a message, each filled with the entry's own facts.
 * Layer: process (reporter), news.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef REPORTER_NEWS_LINKS_H
#define REPORTER_NEWS_LINKS_H

#include "config/settings.h"
#include "reporter/news/document.h"

/* Add to each entry the links that its facts suffice for; what has ended gets none. links NULL: there are
 * none. */
void links_add(struct document *d, const struct link_settings *links);

#endif
