/* url.c - see url.h. */
// SPDX-License-Identifier: Apache-2.0
#include "config/url.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/str.h"

static int fail(enum phrase *ret_why, enum phrase why)
{
	*ret_why = why;
	return -EINVAL;
}

static int parse_port(const char *s, size_t n, struct url *u, enum phrase *ret_why)
{
	uint64_t port;

	if (n == 0)
		return 0;
	if (*s != ':' || str_to_u64(s + 1, n - 1, &port) < 0 || port == 0 || port > 65535)
		return fail(ret_why, PHRASE_DIAG_URL_PORT);
	u->port = (unsigned)port;
	return 0;
}

static int parse_host(const char *s, size_t n, struct url *u, enum phrase *ret_why)
{
	const char *end;
	struct in6_addr a;

	if (memchr(s, '@', n))
		return fail(ret_why, PHRASE_DIAG_URL_USER);
	u->six = n > 0 && *s == '[';
	end = memchr(s, u->six ? ']' : ':', n);
	if (u->six && !end)
		return fail(ret_why, PHRASE_DIAG_URL_BRACKET);
	if (!end)
		end = s + n;
	if (u->six)
		s++, n--;
	const size_t len = (size_t)(end - s);
	if (len == 0 || len >= sizeof(u->host))
		return fail(ret_why, PHRASE_DIAG_URL_HOST);
	memcpy(u->host, s, len);
	u->host[len] = '\0';
	u->ip = inet_pton(u->six ? AF_INET6 : AF_INET, u->host, &a) == 1;
	if (u->six && !u->ip)
		return fail(ret_why, PHRASE_DIAG_URL_IPV6);
	if (!u->six &&
	    strspn(u->host, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_") != len)
		return fail(ret_why, PHRASE_DIAG_URL_CHARACTERS);
	end += u->six;
	return parse_port(end, n - (size_t)(end - s), u, ret_why);
}

static const struct scheme {
	const char *name;
	bool tls;
	unsigned port;
	bool user; /* may stand in front of the host */
} schemes[] = {
	{ "https", true, 443, false }, { "http", false, 80, false },      { "smtps", true, 465, true },
	{ "smtp", false, 25, true },   { "socks5h", false, 1080, false },
};

bool url_scheme_is(const char *text, const char *name, size_t n)
{
	return strncasecmp(text, name, n) == 0 && strncmp(text + n, "://", 3) == 0;
}

/* Its row, when it is one of `allowed`. */
static const struct scheme *scheme_of(const char *text, const char *allowed)
{
	for (struct str rest = STR_C(allowed), one; rest.n > 0;) {
		one = str_cut(&rest, '|');
		for (size_t i = 0; url_scheme_is(text, one.p, one.n) && i < ARRAY_SIZE(schemes); i++)
			if (str_is(one, schemes[i].name))
				return &schemes[i];
	}
	return NULL;
}

/* Behind the user, whose '@' is written %40. */
static int skip_user(const char **s, size_t n, enum phrase *ret_why)
{
	const char *at = memchr(*s, '@', n);

	if (at && memchr(*s, ':', (size_t)(at - *s)))
		return fail(ret_why, PHRASE_DIAG_URL_PASSWORD);
	*s = at ? at + 1 : *s;
	return 0;
}

int url_parse_as(const char *text, const char *allowed, struct url *ret, enum phrase *ret_why)
{
	const struct scheme *scheme = scheme_of(text, allowed);
	struct url u = { 0 };
	const char *s;
	int r = 0;

	for (s = text; *s; s++)
		if ((unsigned char)*s <= 0x20 || *s == 0x7f)
			return fail(ret_why, PHRASE_DIAG_URL_SPACE);
	if (!scheme)
		return fail(ret_why, strstr(allowed, "socks")  ? PHRASE_DIAG_URL_SCHEME_PROXY
				     : strstr(allowed, "smtp") ? PHRASE_DIAG_URL_SCHEME_SINK
							       : PHRASE_DIAG_URL_SCHEME);
	u.https = scheme->tls;
	u.port = scheme->port;
	s = text + strlen(scheme->name) + 3;
	u.path = s + strcspn(s, "/?#");
	if (scheme->user)
		r = skip_user(&s, (size_t)(u.path - s), ret_why);
	if (r == 0)
		r = parse_host(s, (size_t)(u.path - s), &u, ret_why);
	if (r == 0)
		*ret = u;
	return r;
}

int url_parse(const char *text, struct url *ret, enum phrase *ret_why)
{
	return url_parse_as(text, "https|http", ret, ret_why);
}

bool url_is_loopback(const struct url *u)
{
	return strcasecmp(u->host, "localhost") == 0 || strcmp(u->host, "::1") == 0 ||
	       (u->ip && !u->six && strncmp(u->host, "127.", 4) == 0);
}

static bool is_private(const char *ip)
{
	struct in_addr a;

	if (inet_pton(AF_INET, ip, &a) != 1)
		return false;
	const uint32_t n = ntohl(a.s_addr);
	return n >> 24 == 10 || n >> 20 == (172 << 4 | 1) || n >> 16 == (192 << 8 | 168);
}

bool url_is_inside(const struct url *u)
{
	const char *dot = strchr(u->host, '.');
	const char *svc = dot ? strchr(dot + 1, '.') : NULL;

	if (url_is_loopback(u) || u->ip)
		return url_is_loopback(u) || is_private(u->host);
	return !dot || (svc && (strcasecmp(svc, ".svc") == 0 || strncasecmp(svc, ".svc.", 5) == 0));
}

bool url_has_parameter(const struct url *u, const char *name)
{
	const size_t n = strlen(name);

	for (const char *p = strchr(u->path, '?'); p; p = strchr(p + 1, '&'))
		if (strncmp(p + 1, name, n) == 0 && p[1 + n] == '=' && p[2 + n] && p[2 + n] != '&')
			return true;
	return false;
}
