/* Continue tokens: opaque to clients, a resourceVersion and the key to go on after. */
// SPDX-License-Identifier: Apache-2.0
#ifndef APISIM_TOKEN_H
#define APISIM_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

/* rv -1: go on with whatever is there then. The result is the caller's. */
char *token_encode(int64_t rv, const char *after);

/* False when it is no token of ours. The key is the caller's. */
bool token_decode(const char *token, int64_t *ret_rv, char **ret_after);

#endif
