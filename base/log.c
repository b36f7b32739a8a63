/* log.c - see log.h. A line is built in one fixed buffer and written by one write(2): stdio would probe the
 * terminal with system calls that a sandboxed role is not allowed. */
// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <stdbool.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rfc3339.h"
#include "base/str.h"

#define VALUE_MAX 512

static char component[32] = "ops-pod-cleaner", cluster[64];
static enum log_level threshold = LOG_LEVEL_INFO, override;
static uint64_t override_until_ms; /* boot time; 0 = there is none */
static bool as_json = true, with_priority;
static const char *const level_names[] = { "debug", "info", "warn", "error" };

struct line {
	char buf[8192];
	size_t n;
	bool full;
};

static void put(struct line *l, const char *s, size_t n)
{
	if (n > sizeof(l->buf) - 2 - l->n) {
		l->full = true;
		return;
	}
	memcpy(l->buf + l->n, s, n);
	l->n += n;
}

static void put_str(struct line *l, const char *s)
{
	put(l, s, strlen(s));
}

static void put_quoted(struct line *l, const char *s)
{
	char esc[VALUE_MAX * STR_ESCAPED_MAX + 4];

	put(l, "\"", 1);
	put(l, esc, str_escape_json(esc, sizeof(esc), s, strnlen(s, VALUE_MAX)));
	put(l, "\"", 1);
}

static void put_pair(struct line *l, const struct log_kv *kv)
{
	char num[24];

	put_str(l, as_json ? ",\"" : " ");
	put_str(l, kv->key);
	put_str(l, as_json ? "\":" : "=");
	switch (kv->kind) {
	case LOG_KV_STR:
		put_quoted(l, kv->v.s ? kv->v.s : "");
		return;
	case LOG_KV_U64:
		(void)snprintf(num, sizeof(num), "%llu", (unsigned long long)kv->v.u);
		break;
	case LOG_KV_I64:
		(void)snprintf(num, sizeof(num), "%lld", (long long)kv->v.i);
		break;
	}
	put_str(l, num);
}

/* A pair that does not fit is left out whole: the line stays one valid line. */
static void put_kv(struct line *l, const struct log_kv *kv)
{
	const size_t before = l->n;

	put_pair(l, kv);
	if (l->full)
		l->n = before;
	l->full = false;
}

static void put_head(struct line *l, enum log_level level, const char *msg)
{
	static const int priorities[] = { 7, 6, 4,
					  3 }; /* LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERR of syslog(3) */
	char when[RFC3339_MAX], head[192];

	if (with_priority) {
		(void)snprintf(head, sizeof(head), "<%d>", priorities[level]);
		put_str(l, head);
	}
	rfc3339_format(clock_wall_ms(), true, when);
	(void)snprintf(head, sizeof(head),
		       as_json ? "{\"time\":\"%s\",\"level\":\"%s\",\"component\":\"%s\",\"msg\":"
			       : "%s %s %s: ",
		       when, level_names[level], component);
	put_str(l, head);
	if (as_json)
		put_quoted(l, msg);
	else
		put_str(l, msg);
	if (cluster[0])
		put_kv(l, &kv_s("cluster", cluster));
}

/* Is stderr the journal? Then a line may begin with its priority, which is taken off. Source:
 * systemd.exec(5), $JOURNAL_STREAM; sd-daemon(3). */
static bool is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	struct stat st;
	char own[64];

	if (!stream || fstat(STDERR_FILENO, &st) < 0)
		return false;
	(void)snprintf(own, sizeof(own), "%llu:%llu", (unsigned long long)st.st_dev,
		       (unsigned long long)st.st_ino);
	return strcmp(stream, own) == 0;
}

int log_parse_level(const char *name)
{
	for (size_t i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++)
		if (strcmp(name, level_names[i]) == 0)
			return (int)i;
	return -1;
}

void log_init(const char *name)
{
	const char *format = getenv("OPC_LOG_FORMAT"), *text = getenv("OPC_LOG_LEVEL");
	const int level = text ? log_parse_level(text) : -1;

	if (level >= 0)
		threshold = (enum log_level)level;
	(void)str_escape_json(component, sizeof(component), name, strlen(name));
	as_json = format ? strcmp(format, "text") != 0 : !isatty(STDERR_FILENO);
	with_priority = is_journal();
}

void log_set_cluster(const char *name)
{
	(void)snprintf(cluster, sizeof(cluster), "%s", name ? name : "");
}

void log_set_level(enum log_level level)
{
	threshold = level;
}

void log_configure(enum log_level level, enum log_format format)
{
	if (!getenv("OPC_LOG_LEVEL"))
		threshold = level;
	if (!getenv("OPC_LOG_FORMAT"))
		as_json = format == LOG_FORMAT_AUTO ? !isatty(STDERR_FILENO) : format == LOG_FORMAT_JSON;
}

void log_override_level(enum log_level level, uint64_t until_ms)
{
	override = level;
	override_until_ms = until_ms;
}

static enum log_level level_now(void)
{
	if (override_until_ms && clock_boot_ms() >= override_until_ms)
		override_until_ms = 0;
	return override_until_ms ? override : threshold;
}

static void write_line(enum log_level level, int err, const char *msg, const struct log_kv *kv, size_t n)
{
	struct line l = { .n = 0 };

	put_head(&l, level, msg);
	for (size_t i = 0; i < n; i++)
		put_kv(&l, &kv[i]);
	if (err)
		put_kv(&l, &kv_s("error", strerrordesc_np(-err)));
	if (as_json)
		put_str(&l, "}");
	l.buf[l.n++] = '\n';
	(void)!write(STDERR_FILENO, l.buf, l.n);
}

/* Apart from the line, which is eight kilobytes to clear: most of what is said is dropped. */
int log_write(enum log_level level, int err, const char *msg, const struct log_kv *kv, size_t n)
{
	if (level >= level_now())
		write_line(level, err, msg, kv, n);
	return err;
}
