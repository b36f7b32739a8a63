/* log.c - see log.h. A line is built in one fixed buffer and written by one write(2): stdio would probe the
 * terminal with system calls that a sandboxed role is not allowed. */
// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "base/str.h"

#define VALUE_MAX 512
#define PAIRS_MAX 24
/* A line between a child and its supervisor: BEGIN, the level, the message, and for each pair NEXT, its kind,
 * the key, '=', the value. A control byte of a text becomes SHIFT and a letter, so these three and the
 * newline mark nothing else. */
#define PART_BEGIN     '\x1e'
#define PART_NEXT      '\x1f'
#define PART_SHIFT     '\x1d'
#define KEY_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"

/* The log of a process. */
static struct {
	char component[32], cluster[64];
	enum log_level threshold, override;
	uint64_t override_until_ms; /* boot time; 0 = there is none */
	bool as_json, as_parts, with_priority;
	uint64_t dropped; /* lines that stderr did not take */
	struct log_quota *charged;
} self = { .component = "ops-pod-cleaner", .threshold = LOG_LEVEL_INFO, .as_json = true };
static const char *const level_names[] = { "debug", "info", "warn", "error" };
static const char kinds[] = { [LOG_KV_STR] = 's', [LOG_KV_U64] = 'u', [LOG_KV_I64] = 'i', '\0' };

struct line {
	char buf[PIPE_BUF]; /* a pipe takes it whole or not at all */
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

/* What is shown of s, which ends at the border of a character. */
static size_t shown(const char *s)
{
	size_t n = strnlen(s, VALUE_MAX);

	for (size_t back = 0; n == VALUE_MAX && back < 3 && (s[n - back] & 0xc0) == 0x80; back++)
		if ((s[n - back - 1] & 0xc0) == 0xc0)
			return n - back - 1;
	return n;
}

static void put_quoted(struct line *l, const char *s)
{
	char esc[VALUE_MAX * STR_ESCAPED_MAX + 4];

	put(l, "\"", 1);
	put(l, esc, str_escape_json(esc, sizeof(esc), s, shown(s)));
	put(l, "\"", 1);
}

static void put_pair(struct line *l, const struct log_kv *kv)
{
	char num[24];

	put_str(l, self.as_json ? ",\"" : " ");
	put_str(l, kv->key);
	put_str(l, self.as_json ? "\":" : "=");
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

static void put_head(struct line *l, enum log_level level, const char *of, const char *msg)
{
	static const int priorities[] = { 7, 6, 4,
					  3 }; /* LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERR of syslog(3) */
	char when[RFC3339_MAX], head[192], text[VALUE_MAX * STR_ESCAPED_MAX + 1];

	if (self.with_priority) {
		(void)snprintf(head, sizeof(head), "<%d>", priorities[level]);
		put_str(l, head);
	}
	rfc3339_format(clock_wall_ms(), true, when);
	(void)snprintf(head, sizeof(head),
		       self.as_json ? "{\"time\":\"%s\",\"level\":\"%s\",\"component\":\"%s\",\"msg\":"
				    : "%s %s %s: ",
		       when, level_names[level], of);
	put_str(l, head);
	if (self.as_json)
		put_quoted(l, msg);
	else
		put(l, text, str_copy_printable(text, sizeof(text), msg, shown(msg)));
}

/* -- from a child to its supervisor -- */

static void put_shifted(struct line *l, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const bool control = (unsigned char)s[i] < 0x20;
		const char two[2] = { control ? PART_SHIFT : s[i], (char)(s[i] | 0x40) };

		put(l, two, control ? 2 : 1);
	}
}

static void put_part(struct line *l, const struct log_kv *kv)
{
	const size_t before = l->n;
	char text[64];

	(void)snprintf(text, sizeof(text), "%c%c%s=", PART_NEXT, kinds[kv->kind], kv->key);
	put_str(l, text);
	(void)snprintf(text, sizeof(text), kv->kind == LOG_KV_I64 ? "%lld" : "%llu", (long long)kv->v.u);
	if (kv->kind != LOG_KV_STR)
		put_str(l, text);
	else if (kv->v.s)
		put_shifted(l, kv->v.s, shown(kv->v.s));
	if (l->full)
		l->n = before;
	l->full = false;
}

/* The supervisor's own words about a line of a child. */
static const char *const heads[] = { "time", "level", "component", "msg", "pid" };

/* The text up to the next part, as it was; *sp goes on behind it, NULL at the end. */
static char *take_part(char **sp)
{
	char *begin = *sp, *w = begin;
	const char *r = begin;

	for (; *r && *r != PART_NEXT; r++)
		*w++ = *r == PART_SHIFT && r[1] ? (char)(*++r & ~0x40) : *r;
	*sp = *r ? begin + (r - begin) + 1 : NULL;
	*w = '\0';
	return begin;
}

static bool take_pair(char *part, struct log_kv *ret)
{
	const char *kind = *part ? strchr(kinds, *part) : NULL;
	char *key = part + 1, *equals = kind ? strchr(key, '=') : NULL;

	if (!equals || equals == key || strspn(key, KEY_CHARACTERS) != (size_t)(equals - key))
		return false;
	*equals = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		if (strcmp(key, heads[i]) == 0)
			return false;
	const char *value = equals + 1;
	const size_t n = strlen(value);

	if (*kind == 's')
		*ret = kv_s(key, value);
	else
		*ret = (struct log_kv){ .key = key, .kind = *kind == 'u' ? LOG_KV_U64 : LOG_KV_I64 };
	return *kind == 's' ||
	       (*kind == 'u' ? str_to_u64(value, n, &ret->v.u) : str_to_i64(value, n, &ret->v.i)) == 0;
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
		self.threshold = (enum log_level)level;
	(void)str_escape_json(self.component, sizeof(self.component), name, strlen(name));
	self.as_json = format ? strcmp(format, "text") != 0 : !isatty(STDERR_FILENO);
	self.as_parts = format && strcmp(format, LOG_FORMAT_OF_A_CHILD) == 0;
	self.with_priority = is_journal();
}

void log_set_cluster(const char *name)
{
	(void)snprintf(self.cluster, sizeof(self.cluster), "%s", name ? name : "");
}

void log_set_level(enum log_level level)
{
	self.threshold = level;
}

void log_configure(enum log_level level, enum log_format format)
{
	if (!getenv("OPC_LOG_LEVEL"))
		self.threshold = level;
	if (!getenv("OPC_LOG_FORMAT"))
		self.as_json = format == LOG_FORMAT_AUTO ? !isatty(STDERR_FILENO) : format == LOG_FORMAT_JSON;
}

void log_override_level(enum log_level level, uint64_t until_ms)
{
	self.override = level;
	self.override_until_ms = until_ms;
}

static enum log_level level_now(void)
{
	if (self.override_until_ms && clock_boot_ms() >= self.override_until_ms)
		self.override_until_ms = 0;
	return self.override_until_ms ? self.override : self.threshold;
}

/* Take it whole or not at all, now. */
static bool write_out(struct line *l)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	l->buf[l->n++] = '\n';
	return poll(&p, 1, 0) == 1 && (p.revents & POLLOUT) && write(p.fd, l->buf, l->n) == (ssize_t)l->n;
}

static bool write_shown(enum log_level level, const char *of, const char *msg, const struct log_kv *kv,
			size_t n)
{
	struct line l = { .n = 0 };

	put_head(&l, level, of, msg);
	for (size_t i = 0; i < n; i++)
		put_kv(&l, &kv[i]);
	if (self.as_json)
		put_str(&l, "}");
	return write_out(&l);
}

static bool write_parts(enum log_level level, const char *msg, const struct log_kv *kv, size_t n)
{
	struct line l = { .n = 2, .buf = { PART_BEGIN, (char)('0' + level) } };

	put_shifted(&l, msg, shown(msg));
	for (size_t i = 0; i < n; i++)
		put_part(&l, &kv[i]);
	return write_out(&l);
}

static bool write_either(enum log_level level, const char *of, const char *msg, const struct log_kv *kv,
			 size_t n)
{
	return self.as_parts ? write_parts(level, msg, kv, n) : write_shown(level, of, msg, kv, n);
}

/* What is missing is counted, and told in its place as soon as a line is taken again. */
static void write_line(enum log_level level, const char *of, const char *msg, const struct log_kv *kv,
		       size_t n)
{
	if (self.dropped > 0 && write_either(LOG_LEVEL_WARN, self.component,
					     "lines of the log were dropped: they were not taken in time",
					     &kv_u("lines", self.dropped), 1))
		self.dropped = 0;
	if (self.dropped > 0 || !write_either(level, of, msg, kv, n))
		self.dropped++;
}

static void write_own(enum log_level level, int err, const char *msg, const struct log_kv *kv, size_t n)
{
	struct log_kv all[PAIRS_MAX];
	size_t k = 0;

	if (self.cluster[0])
		all[k++] = kv_s("cluster", self.cluster);
	for (size_t i = 0; i < n && k < PAIRS_MAX - 1; i++)
		all[k++] = kv[i];
	if (err)
		all[k++] = kv_s("error", strerrordesc_np(-err));
	write_line(level, self.component, msg, all, k);
}

static bool may_write(void)
{
	static const struct bucket_size rate = { LOG_QUOTA_BURST, LOG_QUOTA_PERIOD_MS };

	if (!self.charged || bucket_take(&self.charged->bucket, &rate, clock_boot_ms()))
		return true;
	self.charged->left_out++;
	return false;
}

/* Apart from the line, which is kilobytes to clear: most of what is said is dropped. */
int log_write(enum log_level level, int err, const char *msg, const struct log_kv *kv, size_t n)
{
	if (level >= level_now() && may_write())
		write_own(level, err, msg, kv, n);
	return err;
}

void log_relay(const char *child, uint64_t pid, char *line)
{
	const bool is_ours = line[0] == PART_BEGIN && line[1] >= '0' && line[1] <= '3';
	struct log_kv all[PAIRS_MAX + 1];
	size_t k = 0;
	char *rest = line + 2;
	const char *msg = is_ours ? take_part(&rest) : "output that is no line of the log";

	if (!is_ours)
		all[k++] = kv_s("text", line);
	while (is_ours && rest && k < PAIRS_MAX)
		k += take_pair(take_part(&rest), &all[k]);
	all[k++] = kv_u("pid", pid);
	write_line(is_ours ? (enum log_level)(line[1] - '0') : LOG_LEVEL_WARN, child, msg, all, k);
}

struct log_quota *log_charge(struct log_quota *q)
{
	struct log_quota *before = self.charged;

	self.charged = q;
	return before;
}

uint64_t log_quota_left_out(struct log_quota *q)
{
	const uint64_t now = clock_boot_ms(), n = q->left_out;

	if (n == 0 || (q->told_ms && now - q->told_ms < LOG_QUOTA_TELL_MS))
		return 0;
	q->told_ms = now;
	q->left_out = 0;
	return n;
}
