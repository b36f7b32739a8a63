/* resolve.c - names to addresses, so that no lasting process needs a resolver. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/resolve.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

#define CANDIDATES 8
#define CONNECT_MS 500

struct candidate {
	struct sockaddr_storage addr;
	socklen_t len;
	char text[INET6_ADDRSTRLEN];
};

static bool answers(const struct candidate *c)
{
	_cleanup_close_ int fd = socket(c->addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int err = 0;
	socklen_t n = sizeof(err);

	if (fd < 0)
		return false;
	if (connect(fd, (const struct sockaddr *)&c->addr, c->len) == 0)
		return true;
	if (errno != EINPROGRESS || poll(&p, 1, CONNECT_MS) != 1)
		return false;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &n) == 0 && err == 0;
}

/* By family in the resolver's order, then by text: a rotating answer is no change. */
static size_t collect(const struct addrinfo *list, struct candidate *ret)
{
	size_t n = 0;

	for (const struct addrinfo *a = list; a && n < CANDIDATES; a = a->ai_next) {
		struct candidate c = { .len = a->ai_addrlen };
		size_t at = n;

		if (a->ai_addrlen > sizeof(c.addr) ||
		    getnameinfo(a->ai_addr, a->ai_addrlen, c.text, sizeof(c.text), NULL, 0, NI_NUMERICHOST) !=
			    0)
			continue;
		memcpy(&c.addr, a->ai_addr, a->ai_addrlen);
		while (at > 0 && ret[at - 1].addr.ss_family == c.addr.ss_family &&
		       strcmp(ret[at - 1].text, c.text) > 0) {
			ret[at] = ret[at - 1];
			at--;
		}
		ret[at] = c;
		n++;
	}
	return n;
}

int loader_resolve(const char *host, unsigned port, char **ret, char reterr[static LOADER_ERROR_MAX])
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct candidate all[CANDIDATES];
	struct addrinfo *list = NULL;
	char service[8];
	size_t n, best = 0;

	(void)snprintf(service, sizeof(service), "%u", port);
	const int r = getaddrinfo(host, service, &hints, &list);

	n = r == 0 ? collect(list, all) : 0;
	if (list)
		freeaddrinfo(list);
	if (n == 0) {
		(void)snprintf(reterr, LOADER_ERROR_MAX, "the name \"%.253s\" cannot be resolved: %s", host,
			       r ? gai_strerror(r) : "no address");
		return -EAGAIN;
	}
	for (size_t i = 0; n > 1 && i < n; i++)
		if (answers(&all[i])) {
			best = i;
			break;
		}
	const bool six = all[best].addr.ss_family == AF_INET6;

	*ret = xasprintf("%s%s%s:%u", six ? "[" : "", all[best].text, six ? "]" : "", port);
	return 0;
}
