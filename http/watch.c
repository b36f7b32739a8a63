/* watch.c - libcurl's sockets in libevent. libcurl takes a socket back when its request ends and gives it out
 * again with the next one: a socket that is kept stays with the kernel meanwhile, until something arrives on
 * it that nobody waits for. */
// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "http/internal.h"

struct watch {
	LIST_ENTRY(watch) entry;
	struct http_client *client;
	struct event *event;
	curl_socket_t fd;
	short events; /* that are waited for */
	bool in_use;  /* by a request */
};

static struct watch *watch_of(const struct http_client *c, curl_socket_t fd)
{
	struct watch *w;

	LIST_FOREACH (w, &c->watches, entry)
		if (w->fd == fd)
			return w;
	return NULL;
}

static void watch_free(struct watch *w)
{
	LIST_REMOVE(w, entry);
	event_free(w->event);
	free(w);
}

static void on_socket(evutil_socket_t fd, short what, void *ctx)
{
	struct watch *w = ctx;

	if (w->in_use)
		client_drive(w->client, fd,
			     (what & EV_READ ? CURL_CSELECT_IN : 0) |
				     (what & EV_WRITE ? CURL_CSELECT_OUT : 0));
	else
		watch_free(w); /* most often closed by the server: libcurl looks before it uses it again */
}

static struct watch *watch_new(struct http_client *c, curl_socket_t fd)
{
	struct watch *w = xcalloc(1, sizeof(*w));

	*w = (struct watch){ .client = c, .event = event_new(c->base, fd, 0, on_socket, w), .fd = fd };
	LIST_INSERT_HEAD(&c->watches, w, entry);
	return w;
}

static void watch_for(struct watch *w, short events)
{
	if (events == w->events)
		return;
	(void)event_del(w->event);
	(void)event_assign(w->event, w->client->base, w->fd, events | EV_PERSIST, on_socket, w);
	(void)event_add(w->event, NULL);
	w->events = events;
}

/* Once it was answered on, a socket is closed by watch_close alone; before, libcurl closes it by itself. */
static bool is_kept(CURL *easy, const struct watch *w)
{
	const struct http_request *r = NULL;

	(void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &r);
	return r && r->headers_done && w->events == EV_READ;
}

int watch_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *assigned)
{
	struct http_client *c = ctx;
	struct watch *w = assigned ? assigned : watch_of(c, fd);

	if (what == CURL_POLL_REMOVE) {
		if (w && is_kept(easy, w))
			w->in_use = false;
		else if (w)
			watch_free(w);
		return 0;
	}
	if (!w)
		w = watch_new(c, fd);
	w->in_use = true;
	watch_for(w, (short)((what & CURL_POLL_IN ? EV_READ : 0) | (what & CURL_POLL_OUT ? EV_WRITE : 0)));
	(void)curl_multi_assign(c->multi, fd, w);
	return 0;
}

int watch_close(void *ctx, curl_socket_t fd)
{
	struct watch *w = watch_of(ctx, fd);

	if (w)
		watch_free(w);
	return close(fd);
}
