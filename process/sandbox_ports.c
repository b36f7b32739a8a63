/* sandbox_ports.c - see sandbox_ports.h. */
// SPDX-License-Identifier: Apache-2.0
#include "process/sandbox_ports.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/str.h"

static uint16_t default_port(const char *url)
{
	static const struct {
		const char *scheme;
		uint16_t port;
	} defaults[] = { { "https:", 443 },    { "http:", 80 },   { "socks5:", 1080 },
			 { "socks5h:", 1080 }, { "smtps:", 465 }, { "smtp:", 25 } };

	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
		if (strncmp(url, defaults[i].scheme, strlen(defaults[i].scheme)) == 0)
			return defaults[i].port;
	return 0;
}

uint16_t sandbox_port_of(const char *url)
{
	const char *start = strstr(url, "://");
	const char *host = start ? start + 3 : url;
	const size_t n = strcspn(host, "/?#");
	const char *at = memrchr(host, '@', n);
	const char *colon = memrchr(host, ':', n);
	const char *bracket = memrchr(host, ']', n);
	uint64_t port;

	if (!colon || (at && colon < at) || (bracket && colon < bracket))
		return default_port(url);
	if (str_to_u64(colon + 1, (size_t)(host + n - colon - 1), &port) < 0 || port == 0 || port > 65535)
		return 0;
	return (uint16_t)port;
}

static bool has_port(const struct sandbox_params *p, uint16_t port)
{
	for (size_t i = 0; i < SANDBOX_PORTS_MAX; i++)
		if (p->ports[i] == port)
			return true;
	return false;
}

void sandbox_allow_port(struct sandbox_params *p, uint16_t port)
{
	size_t i = 0;

	if (port == 0 || has_port(p, port))
		return;
	while (i < SANDBOX_PORTS_MAX && p->ports[i] != 0)
		i++;
	if (i < SANDBOX_PORTS_MAX)
		p->ports[i] = port;
}

bool sandbox_has_ports(const struct sandbox_params *p, const struct sandbox_params *wanted)
{
	for (size_t i = 0; i < SANDBOX_PORTS_MAX; i++)
		if (wanted->ports[i] != 0 && !has_port(p, wanted->ports[i]))
			return false;
	return true;
}
