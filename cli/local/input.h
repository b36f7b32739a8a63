/* input.h - a file that an operator names, whole.
 * Process: cli. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CLI_LOCAL_INPUT_H
#define CLI_LOCAL_INPUT_H

#include <stddef.h>

/* Its bytes, at most 16 MiB, freed by the caller; "-" is standard input. NULL after a message on stderr. */
char *input_read(const char *path, size_t *ret_n);

#endif
