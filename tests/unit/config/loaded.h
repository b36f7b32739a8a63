/* loaded.h - the configuration that a test loads, and what was said of it. Of tests with the parser. Layer:
 * tests. */
// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_UNIT_CONFIG_LOADED_H
#define TESTS_UNIT_CONFIG_LOADED_H

#include <stdio.h>

#include "config/config.h"
#include "config/diag.h"

/* New for each test by the fixture. */
extern struct config config;
extern struct diags diags;
void loaded_setup(void);
void loaded_teardown(void);

/* As a file called "f". 0, or negative errno. */
int load(const char *text);
/* What is printed of c, as text of the caller. */
char *printed(void (*print)(const struct config *, FILE *), const struct config *c);

#endif
