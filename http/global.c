/* global.c - see global.h. */
// SPDX-License-Identifier: Apache-2.0
#include "http/global.h"

#include <malloc.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"

/* The last one first; the others are kept, as a handle may still point to one. */
static struct bundle {
	struct bundle *before;
	char *pem;
} * system_ca;

struct curl_blob http_system_ca(void)
{
	char *pem = system_ca ? system_ca->pem : NULL;

	return (struct curl_blob){ pem, pem ? strlen(pem) : 0, CURL_BLOB_NOCOPY };
}

void http_take_system_ca(char **pem)
{
	if (!*pem || (system_ca && strcmp(system_ca->pem, *pem) == 0))
		return;
	struct bundle *b = xmalloc(sizeof(*b));

	*b = (struct bundle){ .before = system_ca, .pem = TAKE_PTR(*pem) };
	system_ca = b;
}

static curl_socket_t give_socket(void *fd, curlsocktype purpose, struct curl_sockaddr *address)
{
	(void)purpose;
	(void)address;
	return TAKE_FD(*(int *)fd);
}

static int already_connected(void *ctx, curl_socket_t fd, curlsocktype purpose)
{
	(void)ctx;
	(void)fd;
	(void)purpose;
	return CURL_SOCKOPT_ALREADY_CONNECTED;
}

/* The beginning of a TLS handshake over a socketpair: makes a TLS context and a first
 * greeting, then throws it away. What OpenSSL loads for that is loaded from then on. */
static void warm_tls(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	_cleanup_close_ int ours = pair[0], theirs = pair[1];
	CURLM *multi = curl_multi_init();
	CURL *easy = curl_easy_init();
	int running = 1;

	curl_easy_setopt(easy, CURLOPT_URL, "https://127.0.0.1:1/");
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, give_socket);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, &theirs);
	curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, already_connected);
	curl_multi_add_handle(multi, easy);
	for (int i = 0; i < 20 && running > 0; i++) {
		struct pollfd greeting = { .fd = ours, .events = POLLIN };

		curl_multi_perform(multi, &running);
		if (poll(&greeting, 1, 1) > 0)
			break;
	}
	curl_multi_remove_handle(multi, easy);
	curl_easy_cleanup(easy);
	curl_multi_cleanup(multi);
}

/* -- memory: what libcurl frees may hold a token; it is asked for none that is not wiped -- */

static void wipe_free(void *p)
{
	if (p)
		explicit_bzero(p, malloc_usable_size(p));
	free(p);
}

/* The C library's would leave the old place as it is. */
static void *wipe_realloc(void *p, size_t n)
{
	const size_t had = p ? malloc_usable_size(p) : 0;

	if (p && n <= had)
		return p;
	void *moved = xmalloc(n);

	if (p) {
		memcpy(moved, p, had);
		wipe_free(p);
	}
	return moved;
}

void http_global_init(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	tzset();
	if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, malloc, wipe_free, wipe_realloc, strdup, calloc) !=
	    CURLE_OK)
		abort();
	warm_tls();
}
