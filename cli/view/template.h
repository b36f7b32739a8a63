/* template.h - print a template of text/templates/ that programs read: manifests, scripts of a shell.
 * Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_VIEW_TEMPLATE_H
#define CLI_VIEW_TEMPLATE_H

#include <jansson.h>

/* The template of that name, filled with values, which it frees; owned by the caller. {{name}} writes a value
 * with a backslash before each character of `escaped`, and with ' as '\''; {{{name}}} writes it as it is. */
char *template_filled(const char *name, const char *escaped, json_t *values);
/* Print the same to stdout. */
void template_print(const char *name, const char *escaped, json_t *values);

#endif
