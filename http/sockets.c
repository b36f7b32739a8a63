/* sockets.c - see sockets.h. */
// SPDX-License-Identifier: Apache-2.0
#include "http/sockets.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/xalloc.h"

struct socket_watch {
	LIST_ENTRY(socket_watch) entry;
	struct sockets *sockets;
	struct event *event;
	curl_socket_t fd;
	short events; /* that are waited for */
	bool in_use;  /* by a request */
};

static struct socket_watch *watch_of(const struct sockets *s, curl_socket_t fd)
{
	struct socket_watch *w;

	LIST_FOREACH (w, &s->watches, entry)
		if (w->fd == fd)
			return w;
	return NULL;
}

static void watch_free(struct socket_watch *w)
{
	LIST_REMOVE(w, entry);
	event_free(w->event);
	free(w);
}

static void on_socket(evutil_socket_t fd, short what, void *ctx)
{
	struct socket_watch *w = ctx;

	if (w->in_use)
		w->sockets->drive(w->sockets->ctx, fd,
				  (what & EV_READ ? CURL_CSELECT_IN : 0) |
					  (what & EV_WRITE ? CURL_CSELECT_OUT : 0));
	else
		watch_free(w); /* most often closed by the server: libcurl looks before it uses it again */
}

static struct socket_watch *watch_new(struct sockets *s, curl_socket_t fd)
{
	struct socket_watch *w = xcalloc(1, sizeof(*w));

	*w = (struct socket_watch){ .sockets = s,
				    .event = event_new(s->base, fd, 0, on_socket, w),
				    .fd = fd };
	LIST_INSERT_HEAD(&s->watches, w, entry);
	return w;
}

static void watch_for(struct socket_watch *w, short events)
{
	if (events == w->events)
		return;
	(void)event_del(w->event);
	(void)event_assign(w->event, w->sockets->base, w->fd, events | EV_PERSIST, on_socket, w);
	(void)event_add(w->event, NULL);
	w->events = events;
}

int sockets_watch(CURL *easy, curl_socket_t fd, int what, void *ctx, void *assigned)
{
	struct sockets *s = ctx;
	struct socket_watch *w = watch_of(s, fd);

	(void)assigned;
	if (what == CURL_POLL_REMOVE) {
		/* Once it was answered on, a socket is closed by sockets_close alone; before, libcurl does
		 * it. */
		if (w && w->events == EV_READ && s->is_answered(easy)) {
			w->in_use = false;
		} else if (w) {
			watch_free(w);
			s->lost = true;
		}
		return 0;
	}
	if (!w)
		w = watch_new(s, fd);
	w->in_use = true;
	watch_for(w, (short)((what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0)));
	return 0;
}

int sockets_close(void *ctx, curl_socket_t fd)
{
	struct socket_watch *w = watch_of(ctx, fd);

	if (w)
		watch_free(w);
	return close(fd);
}

/* When an address fails libcurl 7.88 turns to the next one, and connects to it at the end of a timer of its
 * own: at the end of all its time, if need be. */
void sockets_nudge(CURL *easy)
{
	(void)curl_easy_pause(easy, CURLPAUSE_RECV);
	(void)curl_easy_pause(easy, CURLPAUSE_CONT);
}
