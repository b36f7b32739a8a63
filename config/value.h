/* value.h - one value written as text -> one member.  Layer: config.  Pure. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_VALUE_H
#define CONFIG_VALUE_H

#include "config/diag.h"
#include "config/table.h"

/* Of a name; the first is neither '.' nor '-'. */
#define SETTING_NAME_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

/* The text among `options` (n of them) that is nearest to `word` without regard to case, or NULL when none is
 * near. */
const char *setting_nearest(const char *word, const char *const *options, size_t n);

/* Is text a DNS subdomain (RFC 1123), which the API server demands of most names, a namespace's among them?
 * Kubernetes: apimachinery pkg/util/validation, IsDNS1123Subdomain. */
bool setting_is_object_name(const char *text);

/* Assign a value written as text: syntax and range of the row's kind; lists are separated by commas. The old
 * value is released. 0, or -EINVAL with base untouched. Errors and warnings go to d, with `at` as their
 * place; d may be NULL. */
int setting_assign(const struct setting *row, void *base, const char *text, size_t n, struct diags *d,
		   struct place at);
/* Add one item to a list row, checked. As setting_assign. */
int setting_add_item(const struct setting *row, void *base, const char *text, size_t n, struct diags *d,
		     struct place at);

#endif
