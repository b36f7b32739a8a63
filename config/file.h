/* file.h - read a file that the operator named, whole and bounded.  Layer: config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_FILE_H
#define CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <sys/stat.h>

#include "config/diag.h"

/* Read a regular file of at most cap bytes (symbolic links are followed: a mounted ConfigMap is made of
 * them). *ret is NUL-terminated and malloc()ed. 0 or negative errno with cause and remedy in why, without the
 * path: -EFBIG, -EINVAL (directory, FIFO, device), -EAGAIN (changed while it was read), -EPERM as
 * file_check_owner(). Never blocks. */
int file_read(const char *path, size_t cap, char **ret, size_t *ret_n, char why[static SENTENCE_MAX]);
/* 0, or -EPERM with a sentence in why when it belongs to neither root nor us, or when group or others may
 * write to it; writable: they may. */
int file_check_owner(const struct stat *st, bool writable, char why[static SENTENCE_MAX]);
/* Warn when others than we and root may read a file that holds a secret. Our groups are ours. */
void file_tell_exposed(const char *path, struct diags *d);
/* Is it there, and may we read it? Where only we may not, that is a warning: the service may. what: what the
 * file is, in front of the warning. */
bool file_can_be_read(const char *path, const char *what, struct diags *d);
/* Warn when the user of the service on this machine may not read it, as far as root, who looks, can tell;
 * without such a user nothing happens. what: as above. */
void file_tell_closed(const char *path, const char *what, struct diags *d);
/* Is it text of PEM, as far as that is seen without decoding it: it begins something, and holds no NUL? */
bool file_is_pem(const char *text, size_t n);
/* Does that PEM hold a key that can be read with a password only (RFC 1421 or PKCS #8)? */
bool file_is_locked_pem(const char *text);
/* A path that is written in a file: a relative one starts beside it. malloc()ed. */
char *file_beside(const char *file, const char *path);
/* Warn, at a place of the configuration whose key names it, that a file is missing: it may yet come, and on
 * another machine be there. A relative one in standard input ("-"), which is beside nothing, is not looked
 * for. file NULL = none. */
void file_tell_missing(struct place at, const char *file, struct diags *d);

#endif
