/* hints.h - a remedy behind the errors that people make most, from config/hints.def.  Layer: config.  Pure.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_HINTS_H
#define CONFIG_HINTS_H

#include <stddef.h>

#include "config/diag.h"

/* Append the hints that fit to the errors from index `from` on, which are about this text. */
void hints_add(const char *text, size_t n, struct diags *d, size_t from);

/* The one of `options` (n of them) that people mean by that word, which is none of them; NULL when nobody has
 * said so. Static. */
const char *hint_meant(const char *word, const char *const *options, size_t n);

#endif
