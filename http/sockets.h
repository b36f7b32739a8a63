/* sockets.h - libcurl's sockets in libevent. libcurl takes a socket back when its request ends and gives it
 * out again with the next one: one that is kept stays with the kernel meanwhile, until something arrives on
 * it that nobody waits for. Layer: http, internal to it. */
// SPDX-License-Identifier: Apache-2.0
#ifndef HTTP_SOCKETS_H
#define HTTP_SOCKETS_H

#include <curl/curl.h>
#include <event2/event.h>
#include <stdbool.h>
#include <sys/queue.h>

struct sockets {
	struct event_base *base;
	LIST_HEAD(socket_list, socket_watch) watches;
	/* Something happened to a socket that libcurl waits for; events are CURL_CSELECT_*. */
	void (*drive)(void *ctx, curl_socket_t fd, int events);
	void *ctx;
	/* Has an answer arrived to the request of this handle? */
	bool (*is_answered)(CURL *easy);
	bool lost; /* a socket went before an answer: whoever still connects is to be nudged */
};

/* libcurl's callbacks; ctx is the struct sockets. */
int sockets_watch(CURL *easy, curl_socket_t fd, int what, void *ctx, void *assigned);
int sockets_close(void *ctx, curl_socket_t fd);
/* Have libcurl look at a handle that connects as soon as the loop runs. From outside libcurl only. */
void sockets_nudge(CURL *easy);

#endif
