/* xalloc.c - see xalloc.h. */
// SPDX-License-Identifier: Apache-2.0
#include "base/xalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"

static void *checked(void *p)
{
	static const char text[] = "out of memory\n";

	if (p)
		return p;
	/* No formatting here: it might allocate. */
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(EXIT_CODE_RESOURCE);
}

void *xmalloc(size_t n)
{
	return checked(malloc(n ? n : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	return checked(reallocarray(p, n ? n : 1, size ? size : 1));
}

void *xgrow(void *p, uint32_t *cap, uint32_t need, size_t size)
{
	const uint32_t to = need + need / 2 + 64;

	if (need < *cap)
		return p;
	p = xreallocarray(p, to, size);
	memset((char *)p + (size_t)*cap * size, 0, (size_t)(to - *cap) * size);
	*cap = to;
	return p;
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	return checked(strndup(s, n));
}

void *xmemdup(const void *p, size_t n)
{
	void *copy = xmalloc(n);

	if (n)
		memcpy(copy, p, n);
	return copy;
}

char *xconcat(const char *first, ...)
{
	size_t n = 1;
	va_list ap;

	va_start(ap, first);
	for (const char *s = first; s; s = va_arg(ap, const char *))
		n += strlen(s);
	va_end(ap);
	char *text = xmalloc(n), *end = text;

	va_start(ap, first);
	for (const char *s = first; s; s = va_arg(ap, const char *))
		end = mempcpy(end, s, strlen(s));
	va_end(ap);
	*end = '\0';
	return text;
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *s = NULL;

	return vasprintf(&s, fmt, ap) < 0 ? checked(NULL) : s;
}

void xappend(char **text, const char *between, const char *more)
{
	char *longer = *text ? xconcat(*text, between, more, NULL) : xstrdup(more);

	free(*text);
	*text = longer;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}
