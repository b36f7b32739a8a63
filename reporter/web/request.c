/* request.c - see request.h. */
// SPDX-License-Identifier: Apache-2.0
#include "reporter/web/request.h"

#include <string.h>
#include <strings.h>

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

void request_header(char *line, struct web_request *ret)
{
	static const char name[] = "accept:";

	if (strncasecmp(line, name, sizeof(name) - 1) == 0 && !ret->accept)
		ret->accept = line + sizeof(name) - 1;
}
