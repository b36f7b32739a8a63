/* cel.h - print what a configuration says as expressions of CEL, for the admission policy (admission.yaml).
 * The namespace of a request and its labels are variables.ns and variables.labels. Process: cli. Sources:
 * github.com/google/cel-spec, doc/langdef.md. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_LOCAL_CEL_H
#define CLI_LOCAL_CEL_H

#include <stdio.h>

#include "base/str.h"

/* Print s as a literal; quotes, backslashes and control characters are escaped. */
void cel_string(FILE *f, struct str s);
/* Print the texts of l as a list, six on a line. */
void cel_list(FILE *f, const struct str_list *l);
/* Print an expression that is true when the expression `what` matches a pattern of l. */
void cel_matches_any(FILE *f, const char *what, const struct str_list *l);
/* Print an expression that is true in the namespaces that l means: names, patterns, labels, exceptions. */
void cel_in_namespaces(FILE *f, const struct str_list *l);
/* Print an expression that is true in the namespaces that l names without a pattern (namespaces_name()). */
void cel_named(FILE *f, const struct str_list *l);

#endif
