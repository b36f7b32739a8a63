/* namespace_table.h - the labels of every namespace, where the configuration asks for some. Kept in step by a
 * list and watch of its own. Layer: watcher.  Threads: none.  Owns: everything it holds. */
// SPDX-License-Identifier: Apache-2.0
#ifndef WATCHER_CACHE_NAMESPACE_TABLE_H
#define WATCHER_CACHE_NAMESPACE_TABLE_H

#include "model/pod.h"

struct namespace_table;

struct namespace_table *namespace_table_new(void);
void namespace_table_free(struct namespace_table **t);

/* A list begins; when it is complete, sweep removes what it did not name. */
void namespace_table_list(struct namespace_table *t);
void namespace_table_sweep(struct namespace_table *t);

/* Takes over the labels of the namespace p->name. True: they are others than before, or were not known. One
 * with more labels than were read stays unknown. */
bool namespace_table_put(struct namespace_table *t, const struct pod_facts *p);
void namespace_table_remove(struct namespace_table *t, struct str name);
/* NULL: not known. Valid until the table changes. */
const struct namespace_labels *namespace_table_find(const struct namespace_table *t, struct str name);

#endif
