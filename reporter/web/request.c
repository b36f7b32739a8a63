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

static struct str cut(struct str *rest, char at)
{
	return str_trim(str_cut(rest, at), " \t\"");
}

/* "0.75" in thousandths, at most three digits behind the point; nonsense is 0. */
static unsigned parse_q(struct str s)
{
	unsigned q = 0, digits = 0;

	if (s.n == 0 || (*s.p != '0' && *s.p != '1') || (s.n > 1 && s.p[1] != '.'))
		return 0;
	for (size_t i = 0; i < s.n && digits < 4; i++) {
		if (i == 1)
			continue;
		if (s.p[i] < '0' || s.p[i] > '9')
			return 0;
		q = q * 10 + (unsigned)(s.p[i] - '0');
		digits++;
	}
	for (; digits < 4; digits++)
		q *= 10;
	return q < 1000 ? q : 1000;
}

struct request_item request_take_item(struct str *list)
{
	struct str params = cut(list, ',');
	struct request_item ret = { .name = cut(&params, ';'), .q = 1000 };

	while (params.n > 0) {
		struct str value = cut(&params, ';');
		const struct str name = cut(&value, '=');

		if (str_is(name, "q"))
			ret.q = parse_q(str_trim(value, " \t"));
		else if (str_is(name, "version"))
			ret.version = str_trim(value, " \t\"");
	}
	return ret;
}

static bool is_of_language(struct str item, enum language l)
{
	const char *name = language_name(l);
	const size_t n = strlen(name);

	return item.n >= n && strncasecmp(item.p, name, n) == 0 && (item.n == n || item.p[n] == '-');
}

enum language request_language(const struct web_request *r)
{
	struct str rest = STR_C(r->languages ? r->languages : "");
	enum language best = LANGUAGE_EN;
	unsigned most = 0;

	while (rest.n > 0) {
		const struct request_item item = request_take_item(&rest);

		for (enum language l = 0; l < LANGUAGE__MAX; l++)
			if (is_of_language(item.name, l) && item.q > most) {
				most = item.q;
				best = l;
			}
	}
	return best;
}
