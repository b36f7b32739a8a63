/* shrink.h - the smallest history that still fails: delta debugging (Zeller, Hildebrandt: "Simplifying and
 * isolating failure-inducing input", 2002) over the steps, then simpler arguments. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_INFORMER_SHRINK_H
#define TESTS_INFORMER_SHRINK_H

#include "tests/integration/informer/history.h"

/* Does it still fail? */
typedef bool shrink_fails_fn(void *ctx, const struct history *h);

/* Makes h smaller in place, which fails now; at most `tries` questions. No single step of the result can be
 * left out when there were enough. */
void shrink(struct history *h, unsigned tries, shrink_fails_fn *fails, void *ctx);

#endif
