// SPDX-License-Identifier: Apache-2.0
#include "tests/apisim/util.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t random_state = 1;
static double clock_skew;

void *util_alloc(size_t n)
{
	void *p = calloc(1, n ? n : 1);

	if (!p)
		util_die(71, "out of memory");
	return p;
}

void *util_alloc_raw(size_t n)
{
	return util_realloc(NULL, n);
}

void *util_realloc(void *p, size_t n)
{
	p = realloc(p, n ? n : 1);
	if (!p)
		util_die(71, "out of memory");
	return p;
}

char *util_strndup(const char *s, size_t n)
{
	char *p = util_alloc_raw(n + 1);

	memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

char *util_strdup(const char *s)
{
	return util_strndup(s, strlen(s));
}

char *util_format(const char *fmt, ...)
{
	va_list ap;
	char *s = NULL;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		util_die(71, "out of memory");
	va_end(ap);
	return s;
}

void util_die(int code, const char *fmt, ...)
{
	va_list ap;

	fputs("apisim: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(code);
}

uint64_t util_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

void util_random_seed(uint64_t seed)
{
	random_state = seed;
}

uint64_t util_random(void)
{
	uint64_t r = util_mix(random_state);

	random_state += 0x9e3779b97f4a7c15u;
	return r;
}

void util_uuid(char out[37], uint64_t hi, uint64_t lo)
{
	static const char hex[] = "0123456789abcdef";
	int n = 0;

	hi = (hi & 0xffffffffffff0fffu) | 0x4000u;
	lo = (lo & 0x3fffffffffffffffu) | 0x8000000000000000u;
	for (int i = 0; i < 32; i++) {
		uint64_t half = i < 16 ? hi : lo;

		if (i == 8 || i == 12 || i == 16 || i == 20)
			out[n++] = '-';
		out[n++] = hex[(half >> (60 - 4 * (i % 16))) & 15];
	}
	out[n] = '\0';
}

void util_clock_skew_set(double seconds)
{
	clock_skew = seconds;
}

double util_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9 + clock_skew;
}

void util_time_format(int64_t seconds, char out[21])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	gmtime_r(&t, &tm);
	if (!strftime(out, 21, "%Y-%m-%dT%H:%M:%SZ", &tm))
		memcpy(out, "1970-01-01T00:00:00Z", 21);
}

bool util_time_parse(const char *text, int64_t *ret_seconds)
{
	struct tm tm = { 0 };
	const char *p = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	int hours = 0, minutes = 0, sign;

	if (!p)
		return false;
	if (*p == '.') {
		p++;
		p += strspn(p, "0123456789");
	}
	*ret_seconds = (int64_t)timegm(&tm);
	if ((*p == 'Z' || *p == 'z') && !p[1])
		return true;
	sign = *p == '-' ? -1 : 1;
	if ((*p != '+' && *p != '-') || strlen(p) != 6 || sscanf(p + 1, "%2d:%2d", &hours, &minutes) != 2)
		return false;
	*ret_seconds -= sign * (hours * 3600 + minutes * 60);
	return true;
}

bool util_parse_int(const char *s, int64_t *ret)
{
	char *end;

	if (!s || !*s || *s == ' ')
		return false;
	errno = 0;
	*ret = strtoll(s, &end, 10);
	return errno == 0 && !*end;
}

bool util_parse_double(const char *s, double *ret)
{
	char *end;

	if (!s || !*s || *s == ' ')
		return false;
	errno = 0;
	*ret = strtod(s, &end);
	return errno == 0 && !*end;
}

static bool is_ascii(const char *s)
{
	while (*s && !(*s & 0x80))
		s++;
	return !*s;
}

char *util_make_text(char *s)
{
	json_t *v;

	if (is_ascii(s))
		return s;
	v = json_string(s);
	for (char *p = s; !v && *p; p++)
		if (*p & 0x80)
			*p = '?';
	json_decref(v);
	return s;
}

/* Writes one character for another. */
static char *translate(char *text, const char *from, const char *to)
{
	for (char *p = text; (p = strpbrk(p, from)); p++)
		*p = to[strchr(from, *p) - from];
	return text;
}

char *util_base64url(const void *data, size_t n)
{
	char *out = util_alloc((n + 2) / 3 * 4 + 1);

	EVP_EncodeBlock((unsigned char *)out, data, (int)n);
	return translate(out, "+/=", "-_");
}

char *util_base64url_decode(const char *text, size_t *ret_n)
{
	const size_t padding = -strlen(text) % 4;
	char *in = translate(util_format("%s%.*s", text, (int)padding, "==="), "-_", "+/"),
	     *out = util_alloc(strlen(in) + 1);
	const int n = EVP_DecodeBlock((unsigned char *)out, (const unsigned char *)in, (int)strlen(in));

	free(in);
	*ret_n = n < 0 ? 0 : (size_t)n - padding;
	return out;
}

const char *util_number(uint64_t n, char out[21])
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + n % 10);
	while (n /= 10);
	memcpy(out, digits + at, sizeof(digits) - at);
	out[sizeof(digits) - at] = '\0';
	return out;
}

char *util_copy(char *out, size_t room, const char *s)
{
	const size_t n = strnlen(s, room - 1);

	memcpy(out, s, n);
	out[n] = '\0';
	return out;
}

const char *util_str(const json_t *o, const char *key)
{
	return o ? json_string_value(json_object_get(o, key)) : NULL;
}

bool util_fits(const json_t *rule, const char *key, const char *value)
{
	const char *want = util_str(rule, key);

	return !want || !strcmp(want, "*") || !strcmp(want, value);
}

bool util_streq(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}
