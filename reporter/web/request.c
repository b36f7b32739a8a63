/* request.c - see request.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/web/request.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/str.h"

static int parse_target(char *target, struct web_request *ret)
{
	char *query = strchr(target, '?');

	if (target[0] != '/')
		return 400;
	if (query)
		*query++ = '\0';
	ret->path = target;
	ret->query = query;
	return 0;
}

int request_parse(char *line, struct web_request *ret)
{
	char *target = strchr(line, ' ');
	char *version = target ? strchr(target + 1, ' ') : NULL;

	if (!version)
		return 400;
	*target++ = '\0';
	*version++ = '\0';
	if (strcmp(version, "HTTP/1.1") != 0 && strcmp(version, "HTTP/1.0") != 0)
		return strncmp(version, "HTTP/", 5) == 0 ? 505 : 400;
	*ret = (struct web_request){ 0 };
	ret->head = strcmp(line, "HEAD") == 0;
	if (!ret->head && strcmp(line, "GET") != 0)
		return 405;
	return parse_target(target, ret);
}

bool request_header(char *line, struct web_request *ret)
{
	const struct {
		const char *name;
		const char **value;
	} headers[REQUEST_HEADERS] = {
		{ "accept:", &ret->accept },
		{ "accept-language:", &ret->languages },
		{ "host:", &ret->host },
	};

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
		const size_t n = strlen(headers[i].name);

		if (strncasecmp(line, headers[i].name, n) != 0)
			continue;
		if (*headers[i].value) {
			ret->two_hosts = ret->two_hosts || headers[i].value == &ret->host;
			return false;
		}
		*headers[i].value = line + n;
		return true;
	}
	return false;
}

static bool names_address(const struct web_request *r)
{
	const struct str host = str_trim(STR_C(r->host ? r->host : ""), " \t");
	const bool is_v6 = host.n > 0 && *host.p == '[';
	const char *end = memchr(host.p, is_v6 ? ']' : ':', host.n);
	char name[INET6_ADDRSTRLEN];
	struct in6_addr address;

	(void)snprintf(name, sizeof(name), "%.*s", (int)((end ? (size_t)(end - host.p) : host.n) - is_v6),
		       host.p + is_v6);
	return host.n == 0 || strcasecmp(name, "localhost") == 0 ||
	       inet_pton(is_v6 ? AF_INET6 : AF_INET, name, &address) == 1;
}

int request_refused(const struct web_request *r)
{
	if (r->two_hosts)
		return 400;
	return r->local && !names_address(r) ? 421 : 0;
}

/* "0.75" as 750: a weight has one digit before the point. */
static unsigned thousandths(const char *p, const char *end)
{
	unsigned v = 0, unit = 1000;

	for (; p < end && ((*p >= '0' && *p <= '9') || *p == '.'); p++) {
		if (*p == '.')
			continue;
		v += (unsigned)(*p - '0') * unit;
		unit /= 10;
	}
	return v < 1000 ? v : 1000;
}

/* How much one item ("zh-CN;q=0.9") wants that language, in thousandths. */
static unsigned weight_of(struct str item, enum language l)
{
	const char *name = language_name(l), *q = memmem(item.p, item.n, "q=", 2);
	const size_t n = strlen(name);

	if (item.n < n || strncasecmp(item.p, name, n) != 0 || (item.n > n && !strchr("-; \t", item.p[n])))
		return 0;
	return q ? thousandths(q + 2, item.p + item.n) : 1000;
}

enum language request_language(const struct web_request *r)
{
	enum language best = LANGUAGE_EN;
	unsigned most = 0;

	for (const char *p = r->languages ? r->languages : ""; *p; p += strcspn(p, ","), p += *p == ',') {
		const struct str item = str_trim((struct str){ p, strcspn(p, ",") }, " \t");

		for (enum language l = 0; l < LANGUAGE__MAX; l++)
			if (weight_of(item, l) > most) {
				most = weight_of(item, l);
				best = l;
			}
	}
	return best;
}
