/* listener.c - see listener.h. libevent's own HTTP server knows neither a limit of connections nor a deadline
 * for a whole request, so a slow client could hold it. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/web/listener.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <event2/util.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "base/xalloc.h"
#include "ipc/timer.h"
#include "model/phrases.h"

/* What a refused client still sends is read for so long, and so much of it: closed before, the kernel would
 * reset the connection, and the refusal with it (RFC 9112 9.6). */
#define LINGER_MS  1000
#define LINGER_MAX (1u << 20)
/* How long nothing is accepted after that has failed. */
#define ACCEPT_PAUSE_MS 500
/* So many are accepted in a row before those that have asked already are read: a burst drives out none that
 * has not had its turn. */
#define ACCEPT_BURST (LISTENER_HEADS_MAX / 4)

static const size_t share_max[LISTENER__MAX] = {
	[LISTENER_SMALL] = LISTENER_SMALL_MAX,
	[LISTENER_LARGE] = LISTENER_LARGE_MAX,
	[LISTENER_HEADS] = LISTENER_HEADS_MAX,
};

struct web_connection {
	struct web_listener *listener;
	struct bufferevent *bev;
	struct timer *deadline;
	enum listener_share share;
	bool refused;
	size_t discarded;
	TAILQ_ENTRY(web_connection) entry;
};

/* The oldest first. */
TAILQ_HEAD(connections, web_connection);

struct web_listener {
	struct event_base *base;
	struct evconnlistener *accept;
	listener_fn *fn;
	void *ctx;
	struct timer *accept_again;
	unsigned accepted; /* in a row */
	struct connections connections[LISTENER__MAX];
	size_t n[LISTENER__MAX];
	char *address;
};

static void share_leave(struct web_connection *c)
{
	TAILQ_REMOVE(&c->listener->connections[c->share], c, entry);
	c->listener->n[c->share]--;
}

static void connection_free(struct web_connection *c)
{
	share_leave(c);
	timer_free(&c->deadline);
	bufferevent_free(c->bev);
	free(c);
}

/* The oldest of them makes room. */
static void share_enter(struct web_connection *c, enum listener_share share)
{
	struct web_listener *l = c->listener;

	if (l->n[share] == share_max[share])
		connection_free(TAILQ_FIRST(&l->connections[share]));
	c->share = share;
	TAILQ_INSERT_TAIL(&l->connections[share], c, entry);
	l->n[share]++;
}

/* -- answers -- */

static const char *status_text(int status)
{
	static const struct {
		int status;
		const char *text;
	} table[] = {
		{ 200, "OK" },
		{ 400, "Bad Request" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 421, "Misdirected Request" },
		{ 431, "Request Header Fields Too Large" },
		{ 500, "Internal Server Error" },
		{ 505, "HTTP Version Not Supported" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].status == status)
			return table[i].text;
	return "Unknown";
}

static void on_late(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);
	struct web_connection *c = arg;

	c->discarded += evbuffer_get_length(in);
	(void)evbuffer_drain(in, evbuffer_get_length(in));
	if (c->discarded > LINGER_MAX)
		connection_free(c);
}

static void on_event(struct bufferevent *bev, short what, void *arg);

static void on_written(struct bufferevent *bev, void *arg)
{
	struct web_connection *c = arg;

	if (!c->refused) {
		connection_free(c);
		return;
	}
	(void)shutdown(bufferevent_getfd(bev), SHUT_WR);
	bufferevent_setcb(bev, on_late, NULL, on_event, c);
	timer_set(c->deadline, LINGER_MS);
	(void)bufferevent_enable(bev, EV_READ);
	on_late(bev, c);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	(void)what;
	connection_free(arg);
}

static void answer(struct web_connection *c, const struct listener_answer *a, bool head)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);

	share_leave(c);
	share_enter(c, a->share);
	(void)evbuffer_add_printf(
		out,
		"HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
		"X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n%s%sConnection: close\r\n\r\n",
		a->status, status_text(a->status), a->content_type, a->size, a->headers ? a->headers : "",
		a->status == 405 ? "Allow: GET, HEAD\r\n" : "");
	if (!head)
		(void)evbuffer_add(out, a->body, a->size);
	(void)bufferevent_disable(c->bev, EV_READ);
	timer_set(c->deadline, LISTENER_ANSWER_MS);
	bufferevent_setcb(c->bev, NULL, on_written, on_event, c);
}

/* The text is freed. */
static void refuse_with(struct web_connection *c, int status, char *text)
{
	const struct listener_answer a = { LISTENER_SMALL, status, "text/plain; charset=utf-8",
					   NULL,           text,   strlen(text) };

	c->refused = true;
	answer(c, &a, false);
	free(text);
}

static void refuse(struct web_connection *c, int status)
{
	refuse_with(c, status, xasprintf("%d %s\n", status, status_text(status)));
}

static void refuse_request(struct web_connection *c, const struct web_request *r, int status)
{
	if (status == 421) /* who gets this is an operator, perhaps */
		refuse_with(c, status, xconcat(phrase(LIVE_OTHER_NAME, request_language(r)), "\n", NULL));
	else
		refuse(c, status);
}

/* -- requests -- */

static char *read_line(struct web_connection *c)
{
	return evbuffer_readln(bufferevent_get_input(c->bev), NULL, EVBUFFER_EOL_CRLF_STRICT);
}

/* What is taken down of the headers; *ret borrows from `kept`. */
static void read_headers(struct web_connection *c, struct web_request *ret, struct str_list *kept)
{
	char *line;

	while ((line = read_line(c)) && *line) {
		if (!request_header(line, ret)) {
			free(line);
			continue;
		}
		kept->v = xreallocarray(kept->v, kept->n + 1, sizeof(*kept->v));
		kept->v[kept->n++] = line;
	}
	free(line);
}

static bool is_local(struct web_connection *c)
{
	struct sockaddr_storage at = { 0 };
	socklen_t len = sizeof(at);
	const struct in6_addr *v6 = &((struct sockaddr_in6 *)&at)->sin6_addr;

	if (getsockname(bufferevent_getfd(c->bev), (struct sockaddr *)&at, &len) < 0)
		return true;
	if (at.ss_family == AF_INET)
		return ntohl(((struct sockaddr_in *)&at)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(v6) || (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == IN_LOOPBACKNET);
}

static void on_request_line(struct web_connection *c, char *line)
{
	struct listener_answer a = { .status = 404, .content_type = "text/plain; charset=utf-8" };
	struct web_request request;
	struct str_list kept = { 0 };
	int refused = request_parse(line, &request);

	if (refused) {
		refuse(c, refused);
		return;
	}
	read_headers(c, &request, &kept);
	request.local = is_local(c);
	refused = request_refused(&request);
	if (refused) {
		refuse_request(c, &request, refused);
	} else {
		c->listener->fn(c->listener->ctx, &request, &a);
		answer(c, &a, request.head);
	}
	str_list_done(&kept);
	free(a.body);
}

static void on_read(struct bufferevent *bev, void *arg)
{
	struct web_connection *c = arg;
	struct evbuffer *in = bufferevent_get_input(bev);
	const struct evbuffer_ptr end = evbuffer_search(in, "\r\n\r\n", 4, NULL);
	const size_t have = evbuffer_get_length(in);

	if (end.pos < 0 && have < LISTENER_REQUEST_MAX)
		return;
	if (end.pos < 0 || end.pos > (ev_ssize_t)LISTENER_REQUEST_MAX) {
		refuse(c, 431);
		return;
	}
	char *line = read_line(c);

	if (line)
		on_request_line(c, line);
	else
		refuse(c, 400);
	free(line);
}

static void on_deadline(void *ctx)
{
	connection_free(ctx);
}

static void on_accept(struct evconnlistener *lev, evutil_socket_t fd, struct sockaddr *sa, int len, void *arg)
{
	struct web_listener *l = arg;

	(void)sa;
	(void)len;
	if (++l->accepted >= ACCEPT_BURST) {
		(void)evconnlistener_disable(lev);
		timer_set(l->accept_again, 0);
	}
	struct web_connection *c = xcalloc(1, sizeof(*c));

	c->listener = l;
	c->bev = bufferevent_socket_new(l->base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (!c->bev) {
		(void)close(fd);
		free(c);
		return;
	}
	c->deadline = timer_new(l->base, on_deadline, c);
	share_enter(c, LISTENER_HEADS);
	bufferevent_setcb(c->bev, on_read, NULL, on_event, c);
	bufferevent_setwatermark(c->bev, EV_READ, 0, LISTENER_REQUEST_MAX + 4);
	timer_set(c->deadline, LISTENER_HEAD_MS);
	(void)bufferevent_enable(c->bev, EV_READ | EV_WRITE);
}

/* Out of descriptors and the like: the connection waits and keeps the socket readable, so look away. */
static void on_accept_error(struct evconnlistener *lev, void *arg)
{
	(void)evconnlistener_disable(lev);
	timer_set(((struct web_listener *)arg)->accept_again, ACCEPT_PAUSE_MS);
}

static void on_accept_again(void *ctx)
{
	struct web_listener *l = ctx;

	l->accepted = 0;
	(void)evconnlistener_enable(l->accept);
}

/* -- binding -- */

/* "HOST:PORT" -> where to listen. The caller frees *ret_host, the host as a number. */
static int parse_address(const char *text, struct sockaddr_storage *ret, int *ret_len, char **ret_host)
{
	const char *colon = strrchr(text, ':');
	uint64_t port = 0;

	if (!colon || str_to_u64(colon + 1, strlen(colon + 1), &port) < 0 || port > UINT16_MAX)
		return -EINVAL;
	_cleanup_free_ char *host = xstrndup(text, (size_t)(colon - text));
	const char *number = !*host ? "0.0.0.0" : strcmp(host, "localhost") == 0 ? "127.0.0.1" : host;

	*ret_len = (int)sizeof(*ret);
	if ((*number != '[' && strchr(number, ':')) ||
	    evutil_parse_sockaddr_port(number, (struct sockaddr *)ret, ret_len) < 0)
		return -EINVAL;
	*ret_host = xstrdup(number);
	((struct sockaddr_in *)ret)->sin_port = htons((uint16_t)port); /* libevent takes no port 0 */
	_Static_assert(offsetof(struct sockaddr_in, sin_port) == offsetof(struct sockaddr_in6, sin6_port),
		       "one place");
	return 0;
}

int listener_new(struct event_base *base, const char *address, listener_fn *fn, void *ctx,
		 struct web_listener **ret)
{
	struct sockaddr_storage ss;
	socklen_t got = sizeof(ss);
	_cleanup_free_ char *host = NULL;
	int len = 0;

	if (parse_address(address, &ss, &len, &host) < 0)
		return -EINVAL;
	struct web_listener *l = xcalloc(1, sizeof(*l));

	*l = (struct web_listener){ .base = base, .fn = fn, .ctx = ctx };
	for (size_t i = 0; i < LISTENER__MAX; i++)
		TAILQ_INIT(&l->connections[i]);
	errno = 0;
	l->accept = evconnlistener_new_bind(base, on_accept, l,
					    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE,
					    128, (struct sockaddr *)&ss, len);
	if (!l->accept) {
		const int r = errno ? -errno : -EADDRNOTAVAIL;

		free(l);
		return r;
	}
	l->accept_again = timer_new(base, on_accept_again, l);
	evconnlistener_set_error_cb(l->accept, on_accept_error);
	(void)getsockname(evconnlistener_get_fd(l->accept), (struct sockaddr *)&ss, &got);
	l->address = xasprintf("%s:%u", host, ntohs(((struct sockaddr_in *)&ss)->sin_port));
	*ret = l;
	return 0;
}

void listener_free(struct web_listener **l)
{
	if (!*l)
		return;
	for (size_t i = 0; i < LISTENER__MAX; i++)
		while (!TAILQ_EMPTY(&(*l)->connections[i]))
			connection_free(TAILQ_FIRST(&(*l)->connections[i]));
	timer_free(&(*l)->accept_again);
	evconnlistener_free((*l)->accept);
	free((*l)->address);
	free(*l);
	*l = NULL;
}

const char *listener_address(const struct web_listener *l)
{
	return l->address;
}
