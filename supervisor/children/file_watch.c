/* file_watch.c - see file_watch.h. */
// SPDX-License-Identifier: Apache-2.0
#include "supervisor/children/file_watch.h"

#include <event2/event.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/xalloc.h"

#define NAMES_MAX 4096
#define REST_MS   1000u
#define LONG_MS   5000u

struct watched_name {
	uint64_t watch;
	char *name;
};

struct file_watch {
	int fd;
	struct event *on_read; /* NULL until it has started */
	struct watched_name *v;
	size_t n;
	uint64_t first_ms, last_ms; /* changes, boot time; 0 = none */
	const char *last;           /* name of the last one, borrowed from v */
};

/* The loader reads what others wrote: what it hands over is looked at before it is read. */
static int is_inotify(int fd)
{
	char path[48], target[32] = "";

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target) - 1) > 0 && strcmp(target, "anon_inode:inotify") == 0;
}

struct file_watch *file_watch_new(int fd)
{
	if (!is_inotify(fd)) {
		(void)close(fd);
		return NULL;
	}
	struct file_watch *w = xcalloc(1, sizeof(*w));

	w->fd = fd;
	return w;
}

void file_watch_free(struct file_watch **wp)
{
	struct file_watch *w = *wp;

	*wp = NULL;
	if (!w)
		return;
	if (w->on_read)
		event_free(w->on_read);
	for (size_t i = 0; i < w->n; i++)
		free(w->v[i].name);
	free(w->v);
	(void)close(w->fd);
	free(w);
}

void file_watch_add(struct file_watch *w, uint64_t watch, const char *name)
{
	if (w->n == NAMES_MAX)
		return;
	w->v = xreallocarray(w->v, w->n + 1, sizeof(*w->v));
	w->v[w->n++] = (struct watched_name){ watch, xstrdup(name) };
}

/* NULL when it is none of ours. */
static const char *name_of(const struct file_watch *w, const struct inotify_event *e)
{
	if (e->mask & IN_Q_OVERFLOW)
		return "too many changes to tell which";
	for (size_t i = 0; e->len > 0 && i < w->n; i++)
		if ((uint64_t)e->wd == w->v[i].watch &&
		    (strcmp(e->name, w->v[i].name) == 0 || fnmatch(w->v[i].name, e->name, FNM_PERIOD) == 0))
			return w->v[i].name;
	return NULL;
}

static void take_event(struct file_watch *w, const struct inotify_event *e)
{
	const char *name = name_of(w, e);

	if (!name)
		return;
	w->last = name;
	w->last_ms = clock_boot_ms();
	w->first_ms = w->first_ms ? w->first_ms : w->last_ms;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	_Alignas(struct inotify_event) char buf[4096];
	struct file_watch *w = arg;
	const ssize_t n = read(fd, buf, sizeof(buf));

	(void)what;
	for (ssize_t at = 0; at < n;) {
		const struct inotify_event *e = (const struct inotify_event *)(buf + at);

		take_event(w, e);
		at += (ssize_t)(sizeof(*e) + e->len);
	}
}

void file_watch_start(struct file_watch *w, struct event_base *base)
{
	(void)fcntl(w->fd, F_SETFL, O_NONBLOCK);
	w->on_read = event_new(base, w->fd, EV_READ | EV_PERSIST, on_readable, w);
	(void)event_add(w->on_read, NULL);
}

const char *file_watch_due(const struct file_watch *w, uint64_t now_ms)
{
	if (!w || !w->last_ms)
		return NULL;
	return now_ms - w->last_ms >= REST_MS || now_ms - w->first_ms >= LONG_MS ? w->last : NULL;
}

void file_watch_forget(struct file_watch *w)
{
	if (w)
		w->first_ms = w->last_ms = 0;
}
