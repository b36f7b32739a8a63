/* sink_files.h - the files that hold the address, the secret or the certificates of a sink: read, and held to
 * what is asked of the same value in the configuration. No message repeats what a file holds.  Layer: config.
 */
// SPDX-License-Identifier: Apache-2.0
#ifndef CONFIG_SINK_FILES_H
#define CONFIG_SINK_FILES_H

#include "config/diag.h"
#include "config/value.h"

/* One key that names a file. */
struct sink_file {
	const char *key;              /* of `sinks`: "urlFile" */
	const char *original;         /* the same in tooManyRestart, NULL where it has none */
	const char *of, *of_original; /* the key whose value it holds: "url", "apiurl" */
	size_t value, file;           /* in struct sink_settings: what it fills, and its path */
};

/* NULL behind the last one. */
const struct sink_file *sink_file_at(size_t i);
/* The row of what it fills. */
const struct setting *sink_file_value(const struct sink_file *f);
/* Where it is, for a configuration of that path. NULL when s names none, else malloc()ed. */
char *sink_file_path(const struct sink_file *f, const char *config, const struct sink_settings *s);

/* Read it into s. 0, -EBADMSG when it holds no such value, or the errno of file_read(). What is wrong goes to
 * d, without a place. */
int sink_file_read(const struct sink_file *f, const char *path, struct sink_settings *s, struct diags *d);

/* What is wrong with the files that c names, in place of the process that will read them: what they hold is
 * an error, and that one is missing or closed to us here only a warning. 0, or -EINVAL after an error. */
int config_check_sink_files(const char *path, const struct config *c, struct diags *d);

#endif
