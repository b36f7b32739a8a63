/* drop.c - the least that reading a WatchList can cost: libcurl reads the stream and drops it, up to the
 * bookmark that ends the initial events. Exits 0 when that came; with --hold it goes on.
 *     bench_drop [--hold] URL TOKEN [CA_FILE] */
// SPDX-License-Identifier: Apache-2.0
#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LIST_END "k8s.io/initial-events-end"
#define TAIL     512u /* the bookmark is the last of the bytes sent by then, and shorter */
#define BUFFER   (128L << 10)

struct drop {
	char tail[2 * TAIL];
	size_t n;
	bool ended, hold;
};

/* Only the end of what has come so far is looked at. */
static size_t on_data(char *p, size_t size, size_t n, void *ctx)
{
	struct drop *d = ctx;
	const size_t len = size * n, keep = len < TAIL ? len : TAIL, old = d->n < TAIL ? d->n : TAIL;

	memmove(d->tail, d->tail + d->n - old, old);
	memcpy(d->tail + old, p + len - keep, keep);
	d->n = old + keep;
	d->ended = memmem(d->tail, d->n, LIST_END, strlen(LIST_END)) != NULL;
	return d->ended && !d->hold ? 0 : len;
}

int main(int argc, char **argv)
{
	struct drop d = { 0 };
	struct curl_slist *headers = NULL;
	char url[1024], token[4096];

	if (argc > 1 && strcmp(argv[1], "--hold") == 0)
		d.hold = true, argc--, argv++;
	if (argc != 3 && argc != 4) {
		(void)fprintf(stderr, "usage: bench_drop [--hold] URL TOKEN [CA_FILE]\n");
		return 2;
	}
	(void)snprintf(url, sizeof(url),
		       "%s/api/v1/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
		       "resourceVersion=&allowWatchBookmarks=true",
		       argv[1]);
	(void)snprintf(token, sizeof(token), "Authorization: Bearer %s", argv[2]);
	headers = curl_slist_append(headers, token);
	headers = curl_slist_append(headers, "Accept: application/vnd.kubernetes.protobuf;stream=watch");

	CURL *easy = curl_easy_init();

	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, BUFFER);
	curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, &d);
	if (argc == 4)
		curl_easy_setopt(easy, CURLOPT_CAINFO, argv[3]);

	const CURLcode code = curl_easy_perform(easy);

	if (!d.ended)
		(void)fprintf(stderr, "bench_drop: the stream ended before its bookmark: %s\n",
			      curl_easy_strerror(code));
	curl_easy_cleanup(easy);
	curl_slist_free_all(headers);
	return d.ended ? 0 : 1;
}
