/* child_log.c - see child_log.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/children/child_log.h"

#include <event2/event.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "ipc/timer.h"

#define BURST_BYTES (1u << 20)
#define BYTES_A_MS  64u
#define PAUSE_MS    1000u
#define WARN_MS     60000u
#define DRAIN_READS 64 /* a pipe holds 64 KiB; who inherited its other end may go on */

struct child_log {
	int fd;
	const char *role;
	pid_t pid;
	struct event *readable;
	struct timer *later;
	uint64_t budget, at_ms; /* bytes that may be read, as of that boot time */
	uint64_t warned_ms;     /* boot time, 0 = never */
	size_t n;
	char line[PIPE_BUF]; /* the begin of one whose end has not come */
};

static void relay(struct child_log *log, size_t n)
{
	log->line[n] = '\0';
	if (n > 0)
		log_relay(log->role, (uint64_t)log->pid, log->line);
}

/* Every whole line, and what is too long to be one in pieces. A NUL is none of a text. */
static void relay_lines(struct child_log *log, size_t came)
{
	char *newline;

	for (size_t i = log->n; i < log->n + came; i++)
		if (log->line[i] == '\0')
			log->line[i] = '\x7f';
	log->n += came;
	while ((newline = memchr(log->line, '\n', log->n)) || log->n == sizeof(log->line) - 1) {
		const size_t n = newline ? (size_t)(newline - log->line) : log->n,
			     taken = newline ? n + 1 : n;

		relay(log, n);
		log->n -= taken;
		memmove(log->line, log->line + taken, log->n);
	}
}

/* Bytes read; 0 when there are none now, or never again. */
static size_t read_some(struct child_log *log)
{
	const ssize_t n = read(log->fd, log->line + log->n, sizeof(log->line) - 1 - log->n);

	if (n == 0)
		(void)event_del(log->readable);
	if (n <= 0)
		return 0;
	relay_lines(log, (size_t)n);
	return (size_t)n;
}

static void refill(struct child_log *log)
{
	const uint64_t now = clock_boot_ms(), budget = log->budget + (now - log->at_ms) * BYTES_A_MS;

	log->budget = budget < BURST_BYTES ? budget : BURST_BYTES;
	log->at_ms = now;
}

static void pause_reading(struct child_log *log)
{
	(void)event_del(log->readable);
	timer_set(log->later, PAUSE_MS);
	if (!log->warned_ms || log->at_ms - log->warned_ms > WARN_MS)
		(void)log_warn(0, "a child writes more log than is taken: it drops what is beyond",
			       kv_s("role", log->role), kv_u("pid", log->pid),
			       kv_u("bytes_a_second", BYTES_A_MS * 1000));
	log->warned_ms = log->at_ms;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct child_log *log = arg;

	(void)fd;
	(void)what;
	refill(log);
	const size_t n = read_some(log);

	log->budget -= n < log->budget ? n : log->budget;
	if (log->budget < sizeof(log->line))
		pause_reading(log);
}

static void on_later(void *ctx)
{
	(void)event_add(((struct child_log *)ctx)->readable, NULL);
}

struct child_log *child_log_new(struct event_base *base, int fd, const char *role, pid_t pid)
{
	struct child_log *log = xcalloc(1, sizeof(*log));

	log->fd = fd;
	log->role = role;
	log->pid = pid;
	log->budget = BURST_BYTES;
	log->at_ms = clock_boot_ms();
	log->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, log);
	log->later = timer_new(base, on_later, log);
	(void)event_add(log->readable, NULL);
	return log;
}

void child_log_drain(struct child_log *log)
{
	for (int i = 0; log && i < DRAIN_READS && read_some(log) > 0; i++)
		;
	if (log) {
		relay(log, log->n);
		log->n = 0;
	}
}

void child_log_free(struct child_log **lp)
{
	struct child_log *log = *lp;

	*lp = NULL;
	if (!log)
		return;
	event_free(log->readable);
	timer_free(&log->later);
	(void)close(log->fd);
	free(log);
}
