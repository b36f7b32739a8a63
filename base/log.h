/* log.h - one line per event on stderr, typed key/value pairs, no format strings with cluster data.
 * Layer: base.  Only process folders log; library layers return errors instead.
 * Formats: text on a terminal, JSON lines otherwise, else as configured; OPC_LOG_FORMAT=text|json beats
 * both. What is below the level (debug, info, warn, error) is not written: OPC_LOG_LEVEL, else the
 * configuration, else info. Control bytes, invalid
 * UTF-8 and over-long values (> 512 bytes) are escaped or cut, so a line is always one line. A line that
 * stderr does not take at once is dropped, never waited for, and the next one that is taken is preceded by
 * how many those were. Where stderr is the journal, a line begins with its priority ("<4>"), so that
 * `journalctl -p warning` shows what matters. */
// SPDX-License-Identifier: Apache-2.0
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdint.h>
#include <stddef.h>

#include "base/bucket.h"

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR };

enum log_format { LOG_FORMAT_AUTO, LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

struct log_kv {
	const char *key;
	enum { LOG_KV_STR, LOG_KV_U64, LOG_KV_I64 } kind;
	union {
		const char *s;
		uint64_t u;
		int64_t i;
	} v;
};

#define kv_s(k, val) ((struct log_kv){ .key = (k), .kind = LOG_KV_STR, .v.s = (val) })
#define kv_u(k, val) ((struct log_kv){ .key = (k), .kind = LOG_KV_U64, .v.u = (uint64_t)(val) })
#define kv_i(k, val) ((struct log_kv){ .key = (k), .kind = LOG_KV_I64, .v.i = (int64_t)(val) })

/* Of OPC_LOG_FORMAT: stderr is a pipe to the supervisor, which knows by itself who writes, and makes the
 * line. */
#define LOG_FORMAT_OF_A_CHILD "parts"

/* Name this process in every line, e.g. "worker/0"; copied; format and level are taken from the environment.
 * Call at start. */
void log_init(const char *component);
void log_set_level(enum log_level level);
/* As the configuration says, where the environment does not. */
void log_configure(enum log_level level, enum log_format format);
/* Another level until that boot time; 0 ends it. It beats everything else. */
void log_override_level(enum log_level level, uint64_t until_ms);
/* "debug", ...; -1 of anything else. */
int log_parse_level(const char *name);
/* Every further line says that it is about this cluster; copied, at most 63 bytes; NULL for none. */
void log_set_cluster(const char *name);

/* Lines that one party may have written, so that none fills the log: LOG_QUOTA_BURST at once, then one in
 * LOG_QUOTA_PERIOD_MS. All zero at first. */
struct log_quota {
	struct bucket bucket;
	uint64_t left_out;
	uint64_t told_ms; /* boot time */
};

#define LOG_QUOTA_BURST     200u
#define LOG_QUOTA_PERIOD_MS 1000u
#define LOG_QUOTA_TELL_MS   60000u

/* From now on lines count against q, which is borrowed, and are left out when it is used up; NULL: they do
 * not. Returns the quota before. */
struct log_quota *log_charge(struct log_quota *q);
/* How many lines were left out since this was last told, or 0: once a minute at most. It counts as told. */
uint64_t log_quota_left_out(struct log_quota *q);

/* Write one line; err is 0 or a negative errno that is appended as text. Returns err. */
int log_write(enum log_level level, int err, const char *msg, const struct log_kv *kv, size_t n);

/* Write what a child has written to such a pipe, without its newline; it is changed. child and pid name it,
 * whatever the line says. What is no line of the log (a library's last words, the report of a sanitizer) is a
 * warning with that text. */
void log_relay(const char *child, uint64_t pid, char *line);

#define LOG_KVS_(...) ((const struct log_kv[]){ { 0 }, ##__VA_ARGS__ })
#define LOG_(level, err, msg, ...)                                                                           \
	log_write(level, err, "" msg, LOG_KVS_(__VA_ARGS__) + 1,                                             \
		  sizeof(LOG_KVS_(__VA_ARGS__)) / sizeof(struct log_kv) - 1)

#define log_debug(msg, ...)      ((void)LOG_(LOG_LEVEL_DEBUG, 0, msg, ##__VA_ARGS__))
#define log_info(msg, ...)       ((void)LOG_(LOG_LEVEL_INFO, 0, msg, ##__VA_ARGS__))
#define log_warn(err, msg, ...)  LOG_(LOG_LEVEL_WARN, err, msg, ##__VA_ARGS__)
#define log_error(err, msg, ...) LOG_(LOG_LEVEL_ERROR, err, msg, ##__VA_ARGS__)

#endif
