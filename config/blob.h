/* blob.h - settings in a sealed memfd, for the process that they are for.  Layer: config.  Equal settings
 * give equal bytes. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_BLOB_H
#define CONFIG_BLOB_H

#include "config/settings.h"

#define SETTINGS_ERROR_MAX 256

/* Read a generation from a sealed memfd (fd stays the caller's). Strict: unknown key, wrong type, range,
 * trailing bytes are -EBADMSG with a text for people in reterr. */
int settings_read_blob(int fd, struct settings *ret, char reterr[static SETTINGS_ERROR_MAX]);
/* Write what `role` may see of s into a new sealed memfd. Returns the fd or negative errno. */
int settings_write_blob(const struct settings *s, enum role role);
/* The decoder of settings_read_blob on plain bytes. */
int settings_decode(const void *p, size_t n, struct settings *ret, char reterr[static SETTINGS_ERROR_MAX]);

#endif
