/* wiped.c - see wiped.h. The linker's --wrap turns free() into __wrap_free(). */
// SPDX-License-Identifier: Apache-2.0
#include "tests/wiped.h"

#include <curl/curl.h>
#include <malloc.h>
#include <string.h>

static const char *watched;
static size_t missed;

void __real_free(void *p);
void __wrap_free(void *p);
void __real_curl_slist_free_all(struct curl_slist *l);
void __wrap_curl_slist_free_all(struct curl_slist *l);

void wiped_watch(const char *secret)
{
	watched = secret;
	missed = 0;
}

size_t wiped_missed(void)
{
	return missed;
}

void __wrap_free(void *p)
{
	if (p && watched && memmem(p, malloc_usable_size(p), watched, strlen(watched)))
		missed++;
	__real_free(p);
}

/* Its frees are libcurl's. */
void __wrap_curl_slist_free_all(struct curl_slist *l)
{
	for (struct curl_slist *i = l; i && watched; i = i->next)
		missed += strstr(i->data, watched) != NULL;
	__real_curl_slist_free_all(l);
}
