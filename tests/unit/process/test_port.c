/* test_port.c - the port that the sandbox opens. */
// SPDX-License-Identifier: Apache-2.0
#include <check.h>

#include "process/sandbox_ports.h"
#include "tests/suite.h"

TEST(ports)
{
	static const struct {
		const char *url;
		uint16_t port;
	} cases[] = {
		{ "https://host", 443 },
		{ "https://host/prefix:8/x", 443 },
		{ "http://host", 80 },
		{ "https://host:6443", 6443 },
		{ "https://host:6443/k8s/clusters/c-1", 6443 },
		{ "https://[::1]", 443 },
		{ "https://[::1]:6443/", 6443 },
		{ "https://user:pass@host:99", 99 },
		{ "https://user:pass@host", 443 },
		{ "10.0.0.1:6443", 6443 },
		{ "[fd00::1]:443", 443 },
		{ "https://host:0", 0 },
		{ "https://host:65536", 0 },
		{ "https://host:x", 0 },
		{ "socks5h://proxy", 1080 },
		{ "smtps://mail", 465 },
		{ "smtp://me%40x@mail/", 25 },
		{ "smtp://me@[::1]:587", 587 },
		{ "", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_msg(sandbox_port_of(cases[i].url) == cases[i].port, "%s", cases[i].url);
}

SUITE("process/port");
