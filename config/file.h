/* file.h - read a file that the operator named, whole and bounded.  Layer: config. */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_FILE_H
#define CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "config/diag.h"
#include "config/positions.h"

#define FILE_ERROR_MAX 256

/* A regular file (symbolic links are followed: a mounted ConfigMap is made of them) of at most cap bytes.
 * *ret is NUL-terminated and malloc()ed. 0 or negative errno with what and remedy in reterr (without the
 * path): -EFBIG, -EINVAL (directory, FIFO, device), -EAGAIN (changed while it was read), -EPERM (it belongs
 * to neither root nor us, or group or others may write to it). Never blocks. translate: the language of
 * reterr, NULL = English. */
int file_read(const char *path, size_t cap, char **ret, size_t *ret_n, str_translate_fn *translate,
	      char reterr[static FILE_ERROR_MAX]);
/* Warn when others than we and root may read it: it holds a secret. Our groups are ours. */
void file_tell_exposed(const char *path, struct diags *d);
/* Is it there, and may we read it? Where only we may not, that is a warning: the service may. what: as below.
 */
bool file_can_be_read(const char *path, const char *what, struct diags *d);
/* Warn when the user of the service on this machine may not read it, as far as root, who looks, can tell;
 * without such a user it says nothing. what: what the file is, in front of the warning. */
void file_tell_closed(const char *path, const char *what, struct diags *d);
/* Text of PEM, as far as that is seen without decoding it: it begins something, and holds no NUL. */
bool file_is_pem(const char *text, size_t n);
/* A path that is written in a file: a relative one starts beside it. malloc()ed. */
char *file_beside(const char *file, const char *path);
/* Warn, at a place of the configuration, that the file which `key` names there is missing: it may yet come,
 * and on another machine be there. Of a relative one in standard input ("-"), which is beside nothing, there
 * is no saying. file NULL = none. */
void file_tell_missing(const char *config, const struct position *at, const char *key, const char *file,
		       struct diags *d);

#endif
