/* Label and field selectors of list and watch. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_SELECTOR_H
#define APISIM_SELECTOR_H

#include "tests/apisim/object.h"

struct selector;

/* labels: "a=b,c!=d,e in (f,g),h notin (i),j,!k". fields: "metadata.name=x,status.phase!=Failed". Either may
 * be NULL or "". 0 and a selector (NULL when it selects everything); -EINVAL with a text in why (256 bytes)
 * as kube-apiserver words it. */
int selector_new(const struct kind *kind, const char *labels, const char *fields, char why[256],
		 struct selector **ret);
void selector_free(struct selector *s);

/* Whether the object is selected; selector, a struct selector, may be NULL. A store_match_fn. */
bool selector_match(const void *selector, const struct obj *o);

/* The same for a label selector alone and labels as JSON (NULL: none). */
bool selector_match_labels(const struct selector *s, const json_t *labels);

#endif
