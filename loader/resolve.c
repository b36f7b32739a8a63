/* resolve.c - names to addresses, so that no lasting process needs a resolver. */
// SPDX-License-Identifier: Apache-2.0
#include "loader/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/str.h"
#include "base/xalloc.h"

#define CANDIDATES 8
#define CONNECT_MS 500

struct candidate {
	struct sockaddr_storage addr;
	socklen_t len;
	char text[INET6_ADDRSTRLEN];
};

#define LIST_MAX (CANDIDATES * (INET6_ADDRSTRLEN + 3)) /* in brackets, with a comma */

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

/* By family in the resolver's order, then by text: a rotating answer is no change. An address of one link
 * (%eth0), as a machine's own name may have, is of no use in a sandbox that knows no interfaces. */
static size_t collect(const struct addrinfo *list, struct candidate *ret)
{
	size_t n = 0;

	for (const struct addrinfo *a = list; a && n < CANDIDATES; a = a->ai_next) {
		struct candidate c = { .len = a->ai_addrlen };
		size_t at = n;

		if (a->ai_addrlen > sizeof(c.addr) ||
		    getnameinfo(a->ai_addr, a->ai_addrlen, c.text, sizeof(c.text), NULL, 0, NI_NUMERICHOST) !=
			    0 ||
		    strchr(c.text, '%'))
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

/* The one that answers before the others, which stay in order. */
static void list_text(const struct candidate *all, size_t n, size_t best, char ret[static LIST_MAX])
{
	int at = 0;

	for (size_t i = 0; i < n; i++) {
		const struct candidate *c = &all[i == 0 ? best : i - (i <= best)];
		const bool six = c->addr.ss_family == AF_INET6;

		at += snprintf(ret + at, LIST_MAX - (size_t)at, "%s%s%s%s", i ? "," : "", six ? "[" : "",
			       c->text, six ? "]" : "");
	}
}

int loader_resolve(const char *host, unsigned port, char **ret, char why[static SENTENCE_MAX])
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct candidate all[CANDIDATES];
	struct addrinfo *list = NULL;
	char service[8], addresses[LIST_MAX];
	size_t n, best = 0;

	(void)snprintf(service, sizeof(service), "%u", port);
	const int r = getaddrinfo(host, service, &hints, &list);

	n = r == 0 ? collect(list, all) : 0;
	if (list)
		freeaddrinfo(list);
	if (n == 0) {
		sentence_make(why, NO_NAME_OF, host, gai_strerror(r ? r : EAI_NODATA));
		return -EAGAIN;
	}
	for (size_t i = 0; n > 1 && i < n; i++)
		if (answers(&all[i])) {
			best = i;
			break;
		}
	list_text(all, n, best, addresses);
	*ret = xasprintf("%s:%u", addresses, port);
	return 0;
}

/* -- several at once -- */

/* In another process, which ends with it: '=' and the address, or '!' and why there is none. */
static _Noreturn void answer(int fd, const struct lookup *k)
{
	char why[SENTENCE_MAX], *address = NULL, text[SENTENCE_MAX + 1];

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (loader_resolve(k->host, k->port, &address, why) == 0)
		(void)snprintf(text, sizeof(text), "=%s", address);
	else
		(void)snprintf(text, sizeof(text), "!%s", why);
	_exit(write(fd, text, strlen(text)) < 0); /* less than PIPE_BUF: all or nothing */
}

/* The process that looks it up, and in *ret_fd what will hold its answer; -1 = none. */
static pid_t ask(const struct lookup *k, int *ret_fd)
{
	int fds[2];

	*ret_fd = -1;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	const pid_t pid = fork();

	if (pid == 0)
		answer(fds[1], k);
	(void)close(fds[1]);
	if (pid < 0)
		(void)close(fds[0]);
	else
		*ret_fd = fds[0];
	return pid;
}

static void hear(struct lookup *k, int fd, uint64_t until_ms)
{
	char text[SENTENCE_MAX + 1] = "";
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n = -1;
	uint64_t now;

	while (fd >= 0 && n < 0 && (now = clock_boot_ms()) < until_ms)
		if (poll(&p, 1, (int)(until_ms - now)) > 0)
			n = read(fd, text, sizeof(text) - 1);
	if (n > 0 && text[0] == '=')
		k->address = xstrdup(text + 1);
	else if (n > 0)
		memcpy(k->why, text + 1, (size_t)n); /* with its NUL */
	else
		sentence_make(k->why, NO_NAME_SERVER, k->host);
}

/* The first of the same name and port. */
static size_t same(const struct lookup *v, size_t i)
{
	size_t k = 0;

	while (v[k].port != v[i].port || strcmp(v[k].host, v[i].host) != 0)
		k++;
	return k;
}

void lookup_init(struct lookup *k, const char *host, unsigned port)
{
	*k = (struct lookup){ .port = port };
	(void)snprintf(k->host, sizeof(k->host), "%s", host);
}

void loader_resolve_all(struct lookup *v, size_t n, uint64_t until_ms)
{
	int fds[SINKS_MAX];
	pid_t pids[SINKS_MAX];

	for (size_t i = 0; i < n; i++)
		pids[i] = *v[i].host && same(v, i) == i ? ask(&v[i], &fds[i]) : 0;
	for (size_t i = 0; i < n; i++) {
		const struct lookup *first = &v[*v[i].host ? same(v, i) : i];

		if (pids[i] != 0) {
			hear(&v[i], fds[i], until_ms);
			if (fds[i] >= 0)
				(void)close(fds[i]);
		} else if (*v[i].host) {
			v[i].address = first->address ? xstrdup(first->address) : NULL;
			memcpy(v[i].why, first->why, sizeof(v[i].why));
		}
	}
	for (size_t i = 0; i < n; i++) {
		if (pids[i] <= 0)
			continue;
		(void)kill(pids[i], SIGKILL);
		(void)waitpid(pids[i], NULL, 0);
	}
}
