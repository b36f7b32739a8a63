/* floor.c - the least that a bound deletion can cost: libcurl reads each pod and deletes it with what it read
 * as its preconditions, and nothing else happens: no cache, no judgement, no record, no sandbox.
 *
 *     bench_floor URL TOKEN CA_FILE NAMESPACE PROCESSES < names, one a line
 *
 * The names are dealt out to the processes; each has one connection, as a worker has. Exits 1 when any answer
 * was no 200. */
// SPDX-License-Identifier: Apache-2.0
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "base/xalloc.h"

#define ANSWER_MAX (1u << 20)
#define LINE_SIZE  256

struct floor {
	CURL *easy;
	const char *base;
	struct curl_slist *headers;
	char answer[ANSWER_MAX];
	size_t n;
};

static size_t on_body(char *p, size_t size, size_t n, void *ctx)
{
	struct floor *f = ctx;
	const size_t more = size * n;

	if (f->n + more >= sizeof(f->answer))
		return 0;
	memcpy(f->answer + f->n, p, more);
	f->n += more;
	f->answer[f->n] = '\0';
	return more;
}

/* The value of the first "key":"…" of the answer: an API server writes a pod's metadata before all else. */
static int text_of(const char *answer, const char *key, char *ret, size_t size)
{
	const char *begin = strstr(answer, key), *end = begin ? strchr(begin + strlen(key), '"') : NULL;

	if (!end || (size_t)(end - begin) - strlen(key) >= size)
		return -1;
	(void)snprintf(ret, size, "%.*s", (int)(end - begin - (long)strlen(key)), begin + strlen(key));
	return 0;
}

static int ask(struct floor *f, const char *method, const char *name, const char *body)
{
	char url[1024];
	long status = 0;

	(void)snprintf(url, sizeof(url), "%s/%s", f->base, name);
	f->n = 0;
	curl_easy_setopt(f->easy, CURLOPT_URL, url);
	curl_easy_setopt(f->easy, CURLOPT_CUSTOMREQUEST, method);
	if (body)
		curl_easy_setopt(f->easy, CURLOPT_POSTFIELDS, body);
	else
		curl_easy_setopt(f->easy, CURLOPT_HTTPGET, 1L);
	if (curl_easy_perform(f->easy) != CURLE_OK)
		return -1;
	curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &status);
	return status == 200 ? 0 : -1;
}

static int delete_bound(struct floor *f, const char *name)
{
	char uid[64], rv[64], body[256];

	if (ask(f, "GET", name, NULL) < 0 || text_of(f->answer, "\"uid\":\"", uid, sizeof(uid)) < 0 ||
	    text_of(f->answer, "\"resourceVersion\":\"", rv, sizeof(rv)) < 0)
		return -1;
	(void)snprintf(body, sizeof(body), "{\"preconditions\":{\"uid\":\"%s\",\"resourceVersion\":\"%s\"}}",
		       uid, rv);
	return ask(f, "DELETE", name, body);
}

static int work(struct floor *f, const char *token, const char *ca, char **names, size_t n, size_t step)
{
	char line[4096];
	int failed = 0;

	(void)snprintf(line, sizeof(line), "Authorization: Bearer %s", token);
	f->easy = curl_easy_init();
	f->headers = curl_slist_append(curl_slist_append(NULL, line), "Content-Type: application/json");
	curl_easy_setopt(f->easy, CURLOPT_HTTPHEADER, f->headers);
	curl_easy_setopt(f->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(f->easy, CURLOPT_CAINFO, ca);
	curl_easy_setopt(f->easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(f->easy, CURLOPT_WRITEDATA, f);
	for (size_t i = 0; i < n; i += step)
		failed |= delete_bound(f, names[i]) < 0;
	curl_slist_free_all(f->headers);
	curl_easy_cleanup(f->easy);
	return failed;
}

static size_t read_names(char ***ret)
{
	char line[LINE_SIZE], **names = NULL;
	size_t n = 0;

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		names = xreallocarray(names, n + 1, sizeof(*names));
		names[n++] = xstrdup(line);
	}
	*ret = names;
	return n;
}

int main(int argc, char **argv)
{
	static struct floor f;
	char base[1024], **names;
	uint64_t processes;
	int status, failed = 0;

	if (argc != 6 || str_to_u64(argv[5], strlen(argv[5]), &processes) < 0 || processes == 0) {
		(void)fprintf(stderr, "usage: bench_floor URL TOKEN CA_FILE NAMESPACE PROCESSES < names\n");
		return 2;
	}
	const size_t n = read_names(&names);

	(void)snprintf(base, sizeof(base), "%s/api/v1/namespaces/%s/pods", argv[1], argv[4]);
	f.base = base;
	for (size_t i = 0; i < processes && i < n; i++) {
		const pid_t pid = fork();

		if (pid < 0)
			abort();
		if (pid == 0)
			_exit(work(&f, argv[2], argv[3], names + i, n - i, processes));
	}
	while (wait(&status) > 0)
		failed |= status != 0;
	return failed;
}
